package permission

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tenon-agent/tenon/workspace/host"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Options describe the workspace and the system of a policy. With the zero value every path is outside the workspace.
type Options struct {
	Mode  Mode     // the person's choice for this run, which overrides every configuration; "": the configured mode, or ask
	Root  string   // the workspace, absolute; relative patterns start here
	Roots []string // further directories of the workspace, absolute
	Home  string   // the home directory, for ~ in commands and patterns

	Readable  []string // directories outside the workspace that calls read as if inside, absolute or from Root
	Hidden    []string // secret paths, absolute or from Root; only a free mode such as yolo lets calls touch them
	Protected []string // paths in the workspace that need approval to change, such as .git/hooks; absolute or from Root

	Scratch paths.Scratch // the directory for temporary files of calls in the sandbox; it counts as the workspace

	Loopback bool // calls in the sandbox share a private network: a server at 127.0.0.1 is one of them, unless Network has it

	Sandboxed bool     // the operating system confines commands; otherwise auto decides like ask
	Bare      string   // the reason that it does not, for people; default: the system cannot
	Shell     string   // the name of the shell that runs commands; default: bash
	Network   []string // the hosts that commands in the sandbox can reach, as package host reads them
	Filtered  bool     // tools that search directories leave out files for which [Policy.Unreadable] has a rule
	Tools     []string // names of further tools, for rules
}

// Policy judges calls. It is immutable and safe for concurrent use.
type Policy struct {
	environment
	mode     Mode // the chosen one
	rules    []Rule
	warnings []string
}

// environment is the directories and hosts of a policy, on which the kinds of effects depend.
type environment struct {
	options  Options
	roots    []string // Root and Roots, resolved
	shown    []string // directories that calls read although they lie in hidden ones, resolved
	resolver paths.Resolver
	network  host.List
}

// New makes a policy of the layers of a configuration, in any order, and checks the examples of the layers. It ignores allow rules
// of a [Project], and a mode of one that is wider than the person's; see [Policy.Warnings]. The error is an [*Errors] with all errors.
func New(o Options, layers ...Layer) (*Policy, error) {
	p := &Policy{environment: environment{options: o}}
	var wrong Errors
	p.place()
	for _, n := range o.Network {
		list, err := host.Parse(n)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("network: %w", err))
		}
		p.network = append(p.network, list...)
	}
	for _, l := range layers {
		wrong = append(wrong, p.add(l)...)
	}
	if err := p.choose(layers); err != nil {
		wrong = append(wrong, err)
	}
	if as := p.effective(); as != p.mode {
		why := cmp.Or(o.Bare, "this system cannot confine commands; see tenon doctor sandbox")
		p.warnings = append(p.warnings, fmt.Sprintf("mode %s decides like mode %s: %s", p.mode, as, why))
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

// place resolves the links in the directories, as tools do in the paths of effects.
func (e *environment) place() {
	o := &e.options
	b := paths.Bounds{Root: o.Root, Roots: o.Roots, Readable: o.Readable, Hidden: o.Hidden, Protected: o.Protected}.Resolve()
	o.Root, o.Readable, o.Hidden, o.Protected = b.Root, b.Readable, b.Hidden, b.Protected
	if o.Root != "" {
		e.roots = []string{o.Root}
	}
	e.roots = append(e.roots, b.Roots...)
	e.resolver.Bases, e.resolver.Scratch = e.roots, o.Scratch
	if o.Home != "" {
		o.Home = e.resolver.Guess(o.Home).Path
	}
}

// Show returns a policy by which calls also read from these directories, as if they were inside, although they lie in hidden ones: such as
// the kept outputs of a session. They are absolute.
func (p *Policy) Show(dirs ...string) *Policy {
	q := *p
	q.shown = append(slices.Clone(p.shown), paths.Bounds{Shown: dirs}.Resolve().Shown...)
	return &q
}

// In returns a policy with another directory for temporary files, such as that of a session.
func (p *Policy) In(s paths.Scratch) *Policy {
	q := *p
	q.options.Scratch, q.resolver.Scratch = s, s
	return &q
}

// bare returns the policy for calls outside the sandbox.
func (p *Policy) bare() *Policy {
	q := p.In(paths.Scratch{})
	q.options.Loopback = false
	return q
}

func (p *Policy) add(l Layer) (wrong []error) {
	for _, g := range []struct {
		action Action
		rules  []string
	}{{Deny, l.Deny}, {Ask, l.Ask}, {Allow, l.Allow}} {
		for i, text := range g.rules {
			r, err := ParseRule(g.action, l.Scope, text, p.options.Tools...)
			switch {
			case err != nil:
				wrong = append(wrong, fmt.Errorf("%s: %w", l.at(string(g.action), i), err))
			case l.Scope == Project && g.action == Allow:
				p.warnings = append(p.warnings, fmt.Sprintf("%s: ignored %q: a project cannot allow calls, only ask and deny", l.at("allow", i), text))
			default:
				p.rules = append(p.rules, r)
			}
		}
	}
	return wrong
}

// choose finds the mode: the person's, or that of a layer. A project's own counts only if it is narrower.
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
				p.warnings = append(p.warnings, fmt.Sprintf("%s: ignored %q: a project can only choose a narrower mode than %s", l.at("mode", -1), m, p.mode))
				continue
			}
			p.mode = m
		}
	}
	return nil
}

// Mode returns the chosen mode. On a system that does not confine commands, auto decides like ask.
func (p *Policy) Mode() Mode { return p.mode }

// Warnings lists the parts of the configuration without effect.
func (p *Policy) Warnings() []string { return slices.Clone(p.warnings) }

// Rules returns the rules of the policy.
func (p *Policy) Rules() []Rule { return slices.Clone(p.rules) }

// With returns the policy with more rules, such as grants. It leaves out allow rules of a [Project].
func (p *Policy) With(rules ...Rule) *Policy {
	q := *p
	q.rules = slices.Clone(p.rules)
	for _, r := range rules {
		if r.tool != "" && (r.scope != Project || r.action != Allow) {
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
func (p *Policy) effective() Mode { return p.mode.In(p.options.Sandboxed) }

// Unreadable returns the rule that denies reading a file or directory, an absolute path with its links resolved. Tools that
// search directories leave out such files.
func (p *Policy) Unreadable(name string) (Rule, bool) {
	for _, r := range p.rules {
		if r.action == Deny && r.language == reading && (r.pattern == "" || r.path.hits(name, false, p.roots, p.options.Home) == yes) {
			return r, true
		}
	}
	return Rule{}, false
}
