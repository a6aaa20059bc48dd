package permission

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/tenon-agent/tenon/permission/command"
)

// Options say what a policy holds for. The zero value is possible: everything is then outside.
type Options struct {
	Mode  Mode     // what the person chose for this run, which wins over every configuration; "" is what that says, or else ask
	Root  string   // the workspace, absolute; relative patterns start here
	Roots []string // further directories that count as inside, absolute
	Home  string   // the home directory, for ~ in commands and patterns

	Readable  []string // directories outside that are read like those inside, absolute or from Root
	Hidden    []string // secret places, absolute or from Root; no mode but yolo lets anybody touch them
	Protected []string // places inside that are not changed without asking, such as .git/hooks; absolute or from Root

	Sandboxed bool     // the operating system confines commands; without that auto is ask
	Bare      string   // why it does not, for people; default: the system cannot
	Network   []string // the hosts that the sandbox lets commands reach, as patterns of rules: *.example.com:443
	Filtered  bool     // tools that look through trees leave out what [Policy.Unreadable] names
	Tools     []string // names of further tools, for rules
}

// Policy judges calls. It never changes and may be used concurrently.
type Policy struct {
	options  Options
	mode     Mode // as chosen
	rules    []Rule
	roots    []string // Root and Roots, resolved
	network  []hostPattern
	warnings []string
}

// New makes a policy of the layers of a configuration, in any order. Examples that a layer carries are checked against the
// policy. Rules of a [Project] that allow, and a mode of it that is wider than the person's, are ignored; see [Policy.Warnings].
// The error is an [*Errors] with everything that is wrong.
func New(o Options, layers ...Layer) (*Policy, error) {
	p := &Policy{options: o}
	var wrong Errors
	p.place()
	for _, n := range o.Network {
		h, err := parseHost(n)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("network: the host %q cannot be used: %w", n, err))
			continue
		}
		p.network = append(p.network, h)
	}
	for _, l := range layers {
		wrong = append(wrong, p.add(l)...)
	}
	if err := p.choose(layers); err != nil {
		wrong = append(wrong, err)
	}
	if p.mode == Auto && !o.Sandboxed {
		why := cmp.Or(o.Bare, "this system does not confine commands; see tenon doctor sandbox")
		p.warnings = append(p.warnings, "mode auto asks like mode ask here: "+why)
	}
	p.warnings = append(p.warnings, unreachable(p.rules)...)
	if len(wrong) == 0 {
		for _, l := range layers {
			wrong = append(wrong, p.check(l)...)
		}
	}
	if len(wrong) > 0 {
		return nil, &wrong
	}
	return p, nil
}

// place resolves the directories, as paths of effects are.
func (p *Policy) place() {
	o, look := &p.options, lookOnce()
	absolute := func(names []string) (out []string) {
		for _, n := range names {
			if !filepath.IsAbs(n) {
				n = filepath.Join(o.Root, n)
			}
			to, _ := resolveBy(look, "", n)
			if out = append(out, to); filepath.Clean(n) != to {
				out = append(out, filepath.Clean(n))
			}
		}
		return out
	}
	if o.Root != "" {
		o.Root, _ = resolveBy(look, "", o.Root)
		p.roots = []string{o.Root}
	}
	for _, r := range o.Roots {
		r, _ = resolveBy(look, "", r)
		p.roots = append(p.roots, r)
	}
	if o.Home != "" {
		o.Home, _ = resolveBy(look, "", o.Home)
	}
	o.Readable, o.Hidden, o.Protected = absolute(o.Readable), absolute(o.Hidden), absolute(o.Protected)
}

func (p *Policy) add(l Layer) (wrong []error) {
	for _, g := range []struct {
		verdict Verdict
		rules   []string
	}{{Deny, l.Deny}, {Ask, l.Ask}, {Allow, l.Allow}} {
		for i, text := range g.rules {
			r, err := ParseRule(g.verdict, l.Scope, text, p.options.Tools...)
			switch {
			case err != nil:
				wrong = append(wrong, fmt.Errorf("%s: %w", l.at(string(g.verdict), i), err))
			case l.Scope == Project && g.verdict == Allow:
				p.warnings = append(p.warnings, fmt.Sprintf("%s: %q is ignored: a project cannot allow anything, it can only ask and deny", l.at("allow", i), text))
			default:
				p.rules = append(p.rules, r)
			}
		}
	}
	return wrong
}

// choose finds the mode: the person's, or what the layers say; a project's own only when it is narrower.
func (p *Policy) choose(layers []Layer) error {
	p.mode = AskMode
	if p.options.Mode != "" {
		m, err := ParseMode(string(p.options.Mode))
		p.mode = m
		return err
	}
	for _, scope := range []Scope{User, Session, Project} {
		for _, l := range layers {
			if l.Scope != scope || l.Mode == "" {
				continue
			}
			m, err := ParseMode(string(l.Mode))
			if err != nil {
				return fmt.Errorf("%s: %w", l.at("mode", -1), err)
			}
			if scope == Project && m.width() > p.mode.width() {
				p.warnings = append(p.warnings, fmt.Sprintf("%s: %q is ignored: a project can only make the mode narrower than %s", l.at("mode", -1), m, p.mode))
				continue
			}
			p.mode = m
		}
	}
	return nil
}

// Mode returns the mode that was chosen. Where the system confines no commands, auto decides like ask.
func (p *Policy) Mode() Mode { return p.mode }

// Warnings returns what of the configuration has no effect, in words.
func (p *Policy) Warnings() []string { return slices.Clone(p.warnings) }

// Rules returns the rules that hold.
func (p *Policy) Rules() []Rule { return slices.Clone(p.rules) }

// With returns a policy that has more rules, such as those that a person gave during a session. Those of a [Project] that
// allow are left out.
func (p *Policy) With(rules ...Rule) *Policy {
	q := *p
	q.rules = slices.Clone(p.rules)
	for _, r := range rules {
		if r.tool != "" && (r.scope != Project || r.verdict != Allow) {
			q.rules = append(q.rules, r)
		}
	}
	return &q
}

// InMode returns the policy with another mode.
func (p *Policy) InMode(m Mode) *Policy {
	q := *p
	q.mode = m
	return &q
}

// effective is the mode that decides.
func (p *Policy) effective() Mode {
	if p.mode == Auto && !p.options.Sandboxed {
		return AskMode
	}
	return p.mode
}

// Unreadable returns the rule that denies reading a file or directory, an absolute path with its links resolved. Tools that
// look through trees leave such files out.
func (p *Policy) Unreadable(name string) (Rule, bool) {
	for _, r := range p.rules {
		if r.verdict == Deny && r.language == reading && (r.pattern == "" || r.path.hits(name, false, p.roots, p.options.Home) == yes) {
			return r, true
		}
	}
	return Rule{}, false
}

// analyze judges a line as the policy sees it.
func (p *Policy) analyze(line, dir string) command.Analysis {
	if dir == "" {
		dir = p.options.Root
	}
	return command.Analyze(line, command.Options{Dir: dir, Home: p.options.Home, Roots: p.roots})
}
