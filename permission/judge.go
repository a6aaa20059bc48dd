package permission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
)

// Judge decides about a call. It may be called concurrently.
func (p *Policy) Judge(c Call) Decision {
	needs, a := p.needs(c)
	j := judgement{policy: p, call: c, mode: p.effective(), analysis: a, needs: needs, mentioned: map[int][]string{}}
	d := j.decide()
	if d.Verdict == Ask {
		d.Suggest = j.suggest()
		d.modes = j.widest()
	}
	return d
}

// judgement is one call on its way to a decision.
type judgement struct {
	policy    *Policy
	call      Call
	mode      Mode
	analysis  command.Analysis
	needs     []need
	found     []ruling         // for each need
	mentioned map[int][]string // the files that commands of which not all is known may mean
}

// ruling is what was decided about one need.
type ruling struct {
	verdict Verdict
	rule    *Rule // nil: the mode
	unsure  bool  // the rule may fit: that is not known before
}

func (j *judgement) decide() Decision {
	j.found = make([]ruling, len(j.needs))
	last := 0
	for i := range j.needs {
		j.found[i] = j.rule(&j.needs[i])
		if j.found[i].verdict.rank() > j.found[last].verdict.rank() {
			last = i
		}
	}
	d := Decision{Tool: j.call.Tool, Verdict: j.found[last].verdict, Mode: j.policy.mode}
	d.Rule, d.Reason = j.words(last)
	for _, problem := range j.analysis.Problems {
		d.Problems = append(d.Problems, problem.String())
	}
	for i, c := range j.analysis.Commands {
		d.Commands = append(d.Commands, j.part(i, c))
	}
	return d
}

// part is what one command has to do with the decision.
func (j *judgement) part(i int, c command.Command) Part {
	last := -1
	for n := range j.needs {
		if j.needs[n].command == i && (last < 0 || j.found[n].verdict.rank() > j.found[last].verdict.rank()) {
			last = n
		}
	}
	part := Part{Command: c}
	if last >= 0 {
		part.Verdict = j.found[last].verdict
		part.Rule, part.Reason = j.words(last)
	}
	return part
}

// rule finds what decides about one need.
func (j *judgement) rule(n *need) ruling {
	best := ruling{verdict: n.kind.in(j.mode)}
	lifted := false
	for i := range j.policy.rules {
		r := &j.policy.rules[i]
		switch r.verdict {
		case Deny:
			switch j.hits(r, n) {
			case yes:
				return ruling{verdict: Deny, rule: r}
			case maybe:
				if best.verdict != Deny {
					best, lifted = ruling{verdict: Ask, rule: r, unsure: true}, true
				}
			}
		case Ask:
			if j.mode != Yolo && best.verdict != Deny && !lifted && j.hits(r, n) != no {
				best, lifted = ruling{verdict: Ask, rule: r}, true
			}
		}
	}
	if best.verdict != Ask || lifted {
		return best
	}
	for i := range j.policy.rules {
		if r := &j.policy.rules[i]; r.verdict == Allow && j.covers(r, n) {
			return ruling{verdict: Allow, rule: r}
		}
	}
	return best
}

// hits says whether a rule asks about or denies a need.
func (j *judgement) hits(r *Rule, n *need) certainty {
	files := n.path != "" || n.kind == readSomewhere || n.kind == writeSomewhere
	switch r.language {
	case anything:
		return yes
	case reading, writing:
		switch {
		case files && n.write == (r.language == writing):
			return j.touches(r, n)
		case n.kind == unknownCommand || n.kind == runsCode:
			return j.mentions(r, n)
		}
	case filing:
		if takes(r.tool, j.call.Tool) && (files || r.pattern == "") {
			return j.touches(r, n)
		}
	case running:
		if r.pattern == "" && j.call.Tool == r.tool {
			return yes
		}
		return j.runs(r, n)
	case freeing:
		if j.call.Effects.Unconfined {
			return j.runs(r, n)
		}
	case reaching:
		switch {
		case n.host != "":
			return either(r.pattern == "", r.host.hits(n.host))
		case n.kind == usesNetwork || n.kind == unknownCommand || n.kind == runsCode:
			return j.calls(r, n)
		}
	case hosting:
		if takes(r.tool, j.call.Tool) && (n.host != "" || r.pattern == "") {
			return either(r.pattern == "", r.host.hits(n.host))
		}
	default:
		return j.named(r)
	}
	return no
}

// touches says whether a rule about paths fits the one of a need.
func (j *judgement) touches(r *Rule, n *need) certainty {
	o := &j.policy.options
	switch {
	case r.pattern == "":
		return yes
	case n.path == "":
		return maybe
	case n.tree && !n.write && o.Filtered && n.command == noCommand && r.verdict == Deny:
		return r.path.hits(n.path, false, j.policy.roots, o.Home) // the tool leaves out what is below
	case n.pattern != "" && r.path.apart(n.pattern):
		return r.path.hits(filepath.Join(n.path, filepath.Base(n.pattern)), false, j.policy.roots, o.Home)
	}
	return r.path.hits(n.path, n.tree, j.policy.roots, o.Home)
}

// mentions says whether a command of which not all is known names a file of the rule.
func (j *judgement) mentions(r *Rule, n *need) certainty {
	if r.pattern == "" || n.command == noCommand {
		return no
	}
	files, done := j.mentioned[n.command]
	if !done {
		files = j.policy.files(&j.analysis.Commands[n.command])
		j.mentioned[n.command] = files
	}
	if slices.ContainsFunc(files, func(at string) bool { return r.path.hits(at, false, j.policy.roots, j.policy.options.Home) == yes }) {
		return maybe
	}
	return no
}

// calls says whether a command of which not all is known reaches a host of the rule, or has its name in one of its words.
func (j *judgement) calls(r *Rule, n *need) certainty {
	switch {
	case n.kind == usesNetwork && (r.pattern == "" || r.host.hits("") == yes):
		return yes
	case r.pattern == "" || n.command == noCommand:
		return no
	case n.any:
		return maybe
	}
	for _, w := range j.analysis.Commands[n.command].Words {
		for name := range strings.FieldsFuncSeq(w, func(c rune) bool { return strings.ContainsRune(" \t\n/@=\"'`,;()<>|&?#\\{}", c) }) {
			if strings.ContainsAny(name, ".:") && r.host.hits(name) != no {
				return maybe
			}
		}
	}
	return no
}

// files is what the words of a command would be as paths.
func (p *Policy) files(c *command.Command) (all []string) {
	for _, w := range c.Words[min(1, len(c.Words)):] {
		if strings.HasPrefix(w, "-") {
			_, w, _ = strings.Cut(w, "=")
		}
		if w == "" || strings.ContainsAny(w, " \n") {
			continue
		}
		if !filepath.IsAbs(w) {
			w = filepath.Join(cmp.Or(c.Dir, p.options.Root), w)
		}
		at, _ := resolve(p.options.Root, w)
		all = append(all, at)
	}
	return all
}

func either(is bool, c certainty) certainty {
	if is {
		return yes
	}
	return c
}

// runs says whether a rule about commands fits the one that needs this.
func (j *judgement) runs(r *Rule, n *need) certainty {
	switch {
	case j.call.Effects.Command == "":
		return no
	case r.pattern == "":
		return yes
	case n.kind == unreadable:
		return maybe
	case n.command == noCommand:
		return no
	}
	return r.words.hits(&j.analysis.Commands[n.command])
}

// named says whether a rule that goes by names means the call.
func (j *judgement) named(r *Rule) certainty {
	switch r.language {
	case serving:
		rest, ok := strings.CutPrefix(j.call.Tool, "mcp__")
		if !ok {
			return no
		}
		server, name, _ := strings.Cut(rest, "__")
		return either(r.pattern == "" || r.name.is(server+"/"+name), no)
	case sending:
		if !j.call.Effects.Agents && j.call.Tool != "agent" {
			return no
		}
		if name := j.call.agent(); name != "" || r.pattern == "" {
			return either(r.pattern == "" || r.name.is(name), no)
		}
		return maybe
	}
	return either(takes(r.tool, j.call.Tool), no)
}

// agent is the name of the agent that the call starts, "" when it is not known.
func (c Call) agent() string {
	var arguments struct {
		Agent string `json:"agent"`
	}
	if json.Unmarshal(c.Arguments, &arguments) != nil {
		return ""
	}
	return arguments.Agent
}

// covers reports whether a rule allows what is needed.
func (j *judgement) covers(r *Rule, n *need) bool {
	o := &j.policy.options
	if n.kind == unconfined {
		return r.language == freeing && j.all(r)
	}
	if n.kind == writeProtected && !j.names(r, n) {
		return false
	}
	files := n.path != "" || r.pattern == "" && (n.kind == readSomewhere || n.kind == writeSomewhere)
	path := func() bool {
		return r.pattern == "" || r.path.covers(n.path, j.policy.roots[:min(1, len(j.policy.roots))], o.Home)
	}
	switch r.language {
	case anything:
		return true
	case reading:
		return files && !n.write && path()
	case writing:
		return files && n.write && path()
	case filing:
		return takes(r.tool, j.call.Tool) && (r.pattern == "" || files && path())
	case running, freeing:
		if r.language == freeing && !j.call.Effects.Unconfined || j.call.Effects.Command == "" {
			return false
		}
		return r.pattern == "" || n.own && j.means(r, &j.analysis.Commands[n.command])
	case reaching:
		return n.host != "" && (r.pattern == "" || r.host.hits(n.host) == yes)
	case hosting:
		return takes(r.tool, j.call.Tool) && (r.pattern == "" || n.host != "" && r.host.hits(n.host) == yes)
	}
	return j.named(r) == yes
}

// names reports whether a rule that allows is about all there is, or about this protected place: a rule about src/** or cp * was
// not meant for .git/hooks.
func (j *judgement) names(r *Rule, n *need) bool {
	switch r.language {
	case anything:
		return true
	case running, freeing:
		return r.pattern == ""
	case writing, filing:
		for _, base := range r.path.bases(j.policy.roots[:min(1, len(j.policy.roots))], j.policy.options.Home) {
			at := filepath.Join(base, filepath.FromSlash(r.path.prefix))
			if r.path.prefix != "" && (in(j.policy.options.Protected, at) || steersGit(at)) {
				return true
			}
		}
	}
	return false
}

// all reports whether rules about commands outside the sandbox cover every command of the line.
func (j *judgement) all(r *Rule) bool {
	if r.pattern == "" {
		return true
	}
	for i := range j.analysis.Commands {
		covered := false
		for k := range j.policy.rules {
			r := &j.policy.rules[k]
			covered = covered || r.verdict == Allow && r.language == freeing &&
				(r.pattern == "" || j.means(r, &j.analysis.Commands[i]))
		}
		if !covered {
			return false
		}
	}
	return len(j.analysis.Problems) == 0 && len(j.analysis.Commands) > 0
}

// means reports whether a rule that allows commands means this one, which must run in the workspace: elsewhere the same words
// do something else.
func (j *judgement) means(r *Rule, c *command.Command) bool {
	return r.words.covers(c, j.policy.options.Root) && (len(j.policy.roots) == 0 || in(j.policy.roots, filepath.FromSlash(c.Dir)))
}

// words says what decided, and why.
func (j *judgement) words(i int) (rule, reason string) {
	n, f := j.needs[i], j.found[i]
	what := n.text
	if what == "" {
		what = j.call.Tool
	}
	if n.command >= 0 {
		if shown := show(j.analysis.Commands[n.command]); !strings.Contains(what, shown) {
			what = shown + ": " + what
		}
	}
	switch {
	case f.rule == nil && j.mode != j.policy.mode:
		rule = fmt.Sprintf("mode %s (as mode %s, where nothing confines commands)", j.policy.mode, j.mode)
		return rule, fmt.Sprintf("%s; mode %s %s, and mode auto does the same where nothing confines commands", what, j.mode, f.verdict.on(table[n.kind].words))
	case f.rule == nil:
		return "mode " + string(j.mode), fmt.Sprintf("%s; mode %s %s", what, j.mode, f.verdict.on(table[n.kind].words))
	case f.unsure:
		return f.rule.String(), fmt.Sprintf("%s; it cannot be told before whether it is what the rule %s %s", what, f.rule.Text(), f.rule.verdict.verb())
	}
	as := ""
	if n.command >= 0 && f.rule.verdict != Allow {
		as = f.rule.words.synonyms(&j.analysis.Commands[n.command])
	}
	if as != "" {
		as = " (" + as + ")"
	}
	return f.rule.String(), fmt.Sprintf("%s; the rule %s %s it%s, %s", what, f.rule.Text(), f.rule.verdict.verb(), as, f.rule.scope.words())
}

// show is a command for people, with … for what is not known.
func show(c command.Command) string {
	words := slices.Clone(c.Words)
	for _, i := range c.Dynamic {
		words[i] = "…"
	}
	text := strings.Join(words, " ")
	if r := []rune(text); len(r) > 100 {
		text = string(r[:100]) + "…"
	}
	if len(c.Via) > 0 {
		text += " (in " + strings.Join(c.Via, ", ") + ")"
	}
	return text
}

// widest returns the narrowest mode beside the present one that would allow the call.
func (j *judgement) widest() []Mode {
	for _, m := range []Mode{Edits, Auto, Yolo} {
		if m == Auto && !j.policy.options.Sandboxed {
			continue
		}
		other := judgement{policy: j.policy.InMode(m), call: j.call, mode: m, analysis: j.analysis, needs: j.needs, mentioned: j.mentioned}
		allowed := true
		for i := range other.needs {
			if allowed = other.rule(&other.needs[i]).verdict == Allow; !allowed {
				break
			}
		}
		if allowed {
			return []Mode{m}
		}
	}
	return nil
}
