package permission

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/workspace/host"
)

// Judge implements [Judge].
func (p *Policy) Judge(c Call, grants ...Rule) Verdict {
	if len(grants) > 0 {
		p = p.With(grants...)
	}
	needs, a := p.needs(c)
	j := judgement{policy: p, call: c, mode: p.effective().row(), analysis: a, needs: needs, mentioned: map[int][]string{}}
	v := j.decide()
	if v.Action == Ask {
		v.Suggest = j.suggest()
		v.mode = j.wider()
	}
	return v
}

// judgement is one call on its way to a verdict.
type judgement struct {
	policy    *Policy
	call      Call
	mode      *modeRow
	analysis  command.Analysis
	needs     []need
	found     []ruling         // for each need
	mentioned map[int][]string // the files that partly unknown commands may mean
}

// ruling is the answer to one need.
type ruling struct {
	action Action
	rule   *Rule // nil: the mode decided
	unsure bool  // it cannot be determined in advance whether the rule applies
}

func (j *judgement) decide() Verdict {
	j.found = make([]ruling, len(j.needs))
	last := 0
	for i := range j.needs {
		j.found[i] = j.rule(&j.needs[i])
		if j.found[i].action.rank() > j.found[last].action.rank() {
			last = i
		}
	}
	v := Verdict{Tool: j.call.Tool, Action: j.found[last].action, Mode: j.policy.mode, Code: j.code(last), Runs: j.call.Effects.Command}
	v.Rule, v.Reason = j.words(last)
	for _, problem := range j.analysis.Problems {
		v.Problems = append(v.Problems, problem.String())
	}
	closed := v.Action == Allow && j.policy.options.Sandboxed && !j.mode.free && !j.call.Effects.Unconfined && len(j.policy.network) == 0
	for i, c := range j.analysis.Commands {
		v.Commands = append(v.Commands, j.part(i, c))
		if closed && v.Note == "" && cutOff(c) {
			v.Note = show(c) + " has no network in the sandbox, and fails if it needs one; " + host.Allow("HOST")
		}
	}
	return v
}

// cutOff reports whether a command uses the network, and names no hosts that it would get by its approval.
func cutOff(c command.Command) bool {
	return c.Does&command.Network != 0 && !slices.ContainsFunc(c.Hosts, func(h string) bool { return h != "" })
}

// part is the verdict on one command of the line.
func (j *judgement) part(i int, c command.Command) Part {
	last := -1
	for n := range j.needs {
		if j.needs[n].command == i && (last < 0 || j.found[n].action.rank() > j.found[last].action.rank()) {
			last = n
		}
	}
	part := Part{Command: c}
	if last >= 0 {
		part.Action, part.Code = j.found[last].action, j.code(last)
		part.Rule, part.Reason = j.words(last)
	}
	return part
}

// rule finds the mode or the rule that decides about one need.
func (j *judgement) rule(n *need) ruling {
	best := ruling{action: j.mode.on(n.kind)}
	lifted := false
	for i := range j.policy.rules {
		r := &j.policy.rules[i]
		switch r.action {
		case Deny:
			switch j.hits(r, n) {
			case yes:
				return ruling{action: Deny, rule: r}
			case maybe:
				if best.action != Deny {
					best, lifted = ruling{action: Ask, rule: r, unsure: true}, true
				}
			}
		case Ask:
			if !j.mode.free && best.action != Deny && !lifted && j.hits(r, n) != no {
				best, lifted = ruling{action: Ask, rule: r}, true
			}
		}
	}
	if best.action != Ask || lifted {
		return best
	}
	for i := range j.policy.rules {
		if r := &j.policy.rules[i]; r.action == Allow && j.covers(r, n) {
			return ruling{action: Allow, rule: r}
		}
	}
	return best
}

// hits reports whether an ask or deny rule matches a need.
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
			return either(r.pattern == "", within(r.hosts, n.host))
		case n.kind == usesNetwork || n.kind == unknownCommand || n.kind == runsCode:
			return j.calls(r, n)
		}
	case hosting:
		if takes(r.tool, j.call.Tool) && (n.host != "" || r.pattern == "") {
			return either(r.pattern == "", within(r.hosts, n.host))
		}
	default:
		return j.named(r)
	}
	return no
}

// touches reports whether a rule about paths matches the path of a need.
func (j *judgement) touches(r *Rule, n *need) certainty {
	o := &j.policy.options
	switch {
	case r.pattern == "":
		return yes
	case n.path == "":
		return maybe
	case n.tree && !n.write && o.Filtered && n.command == noCommand && r.action == Deny:
		return r.path.hits(n.path, false, j.policy.roots, o.Home) // the tool leaves out unreadable files
	case n.pattern != "" && r.path.apart(n.pattern):
		return r.path.hits(filepath.Join(n.path, filepath.Base(n.pattern)), false, j.policy.roots, o.Home)
	}
	return r.path.hits(n.path, n.tree, j.policy.roots, o.Home)
}

// mentions reports whether a partly unknown command names a file of the rule.
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

// calls reports whether a partly unknown command reaches a host of the rule, or names it in one of its words.
func (j *judgement) calls(r *Rule, n *need) certainty {
	switch {
	case n.kind == usesNetwork && (r.pattern == "" || within(r.hosts, "") == yes):
		return yes
	case r.pattern == "" || n.command == noCommand:
		return no
	case n.any:
		return maybe
	}
	for _, w := range j.analysis.Commands[n.command].Words {
		for name := range strings.FieldsFuncSeq(w, func(c rune) bool { return strings.ContainsRune(" \t\n/@=\"'`,;()<>|&?#\\{}", c) }) {
			if strings.ContainsAny(name, ".:") && within(r.hosts, name) != no {
				return maybe
			}
		}
	}
	return no
}

// files reads the words of a command as paths.
func (e *environment) files(c *command.Command) (all []string) {
	for _, w := range c.Words[min(1, len(c.Words)):] {
		if strings.HasPrefix(w, "-") {
			_, w, _ = strings.Cut(w, "=")
		}
		if w == "" || strings.ContainsAny(w, " \n") {
			continue
		}
		if !filepath.IsAbs(w) {
			w = filepath.Join(cmp.Or(c.Dir, e.options.Root), w)
		}
		all = append(all, e.resolver.Guess(w).Path)
	}
	return all
}

func either(is bool, c certainty) certainty {
	if is {
		return yes
	}
	return c
}

// runs reports whether a rule about commands matches the command of a need.
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

// named reports whether a rule about names matches the call.
func (j *judgement) named(r *Rule) certainty {
	switch r.language {
	case serving:
		rest, ok := strings.CutPrefix(j.call.Tool, r.tool+"__")
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

// agent is the name of the agent that the call starts, "" if it is unknown.
func (c Call) agent() string {
	var arguments struct {
		Agent string `json:"agent"`
	}
	if json.Unmarshal(c.Arguments, &arguments) != nil {
		return ""
	}
	return arguments.Agent
}

// covers reports whether an allow rule covers a need. A rule covers only needs of its own kind. Without a pattern, a rule about changes
// covers the workspace only.
func (j *judgement) covers(r *Rule, n *need) bool {
	o := &j.policy.options
	if n.kind == unconfined {
		return r.language == freeing && j.all(r)
	}
	if n.kind == writeProtected && !j.names(r, n) {
		return false
	}
	files := n.path != "" || r.pattern == "" && n.kind == readSomewhere
	path := func() bool {
		if r.pattern == "" {
			return !n.write || n.kind != writeOutside
		}
		return r.path.covers(n.path, j.policy.roots[:min(1, len(j.policy.roots))], o.Home)
	}
	switch r.language {
	case anything:
		return true
	case reading:
		return files && !n.write && path()
	case writing:
		return files && n.write && path()
	case filing:
		return takes(r.tool, j.call.Tool) && files && path()
	case running, freeing:
		if r.language == freeing && !j.call.Effects.Unconfined || j.call.Effects.Command == "" {
			return false
		}
		return r.pattern == "" || n.own && j.means(r, &j.analysis.Commands[n.command])
	case reaching:
		return n.host != "" && (r.pattern == "" || within(r.hosts, n.host) == yes)
	case hosting:
		return takes(r.tool, j.call.Tool) && n.host != "" && (r.pattern == "" || within(r.hosts, n.host) == yes)
	case sending:
		return n.kind == startsAgents && j.named(r) == yes
	}
	return n.kind != writeOutside && n.kind != writeSomewhere && j.named(r) == yes
}

// names reports whether an allow rule is about everything, or names this protected path. A rule about src/** or cp * does not cover
// .git/hooks.
func (j *judgement) names(r *Rule, n *need) bool {
	switch r.language {
	case anything:
		return true
	case running, freeing:
		return r.pattern == ""
	case writing, filing:
		for _, base := range r.path.bases(j.policy.roots[:min(1, len(j.policy.roots))], j.policy.options.Home) {
			at := filepath.Join(base, filepath.FromSlash(r.path.prefix))
			if r.path.prefix != "" && (contains(j.policy.options.Protected, at) || steersGit(at)) {
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
			covered = covered || r.action == Allow && r.language == freeing &&
				(r.pattern == "" || j.means(r, &j.analysis.Commands[i]))
		}
		if !covered {
			return false
		}
	}
	return len(j.analysis.Problems) == 0 && len(j.analysis.Commands) > 0
}

// means reports whether an allow rule about commands covers this one. The command must run in the workspace: elsewhere the same words
// have other effects.
func (j *judgement) means(r *Rule, c *command.Command) bool {
	return r.words.covers(c, j.policy.options.Root) && (len(j.policy.roots) == 0 || contains(j.policy.roots, filepath.FromSlash(c.Dir)))
}

// code is the code of the verdict on a need.
func (j *judgement) code(i int) string {
	switch f := j.found[i]; {
	case f.rule == nil:
		return prefix + table[j.needs[i].kind].code
	case f.unsure:
		return ruleUnsure
	case f.action == Allow:
		return ruleAllowed
	case f.action == Ask:
		return ruleAsks
	}
	return ruleDenied
}

// words names the mode or rule that decided about a need, and the reason.
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
	case f.rule == nil:
		mode := "mode " + string(j.policy.mode)
		if j.mode.mode != j.policy.mode {
			mode += " without a sandbox"
		}
		return mode, fmt.Sprintf("%s; %s %s %s", what, mode, f.action.toDo(), table[n.kind].words)
	case f.unsure:
		return f.rule.String(), fmt.Sprintf("%s; cannot determine in advance whether the %s rule %s applies", what, f.rule.scope, f.rule.Text())
	}
	as := ""
	if n.command >= 0 && f.action != Allow {
		as = f.rule.words.synonyms(&j.analysis.Commands[n.command])
	}
	if as != "" {
		as = " (" + as + ")"
	}
	return f.rule.String(), fmt.Sprintf("%s; the %s rule %s %s%s", what, f.rule.scope, f.rule.Text(), f.action.toIt(), as)
}

// show is a command for people, with … for unknown words.
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

// wider returns the narrowest wider mode that would allow the call, "" if there is none.
func (j *judgement) wider() Mode {
	for i := j.mode.mode.width() + 1; i < len(modes); i++ {
		if m := modes[i].mode; m.In(j.policy.options.Sandboxed) == m && j.allowed(j.policy.InMode(m), &modes[i]) {
			return m
		}
	}
	return ""
}

// allowed reports whether another policy would allow the call.
func (j *judgement) allowed(p *Policy, mode *modeRow) bool {
	other := judgement{policy: p, call: j.call, mode: mode, analysis: j.analysis, needs: j.needs, mentioned: j.mentioned}
	return !slices.ContainsFunc(other.needs, func(n need) bool { return other.rule(&n).action != Allow })
}
