package permission

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Config is the member "permissions" of a configuration.
type Config struct {
	Mode     Mode      `json:"mode,omitzero"`
	Allow    []string  `json:"allow,omitzero"`
	Ask      []string  `json:"ask,omitzero"`
	Deny     []string  `json:"deny,omitzero"`
	Examples []Example `json:"examples,omitzero"`
}

// Example is a test in a configuration. It names a rule and lists texts that the rule must and must not match, or it names a call
// and the action of the whole policy.
type Example struct {
	Rule     string   `json:"rule,omitzero"` // as in the lists, or with its action in front: deny shell(rm *)
	Match    []string `json:"match,omitzero"`
	NotMatch []string `json:"not_match,omitzero"`

	Command string `json:"command,omitzero"` // a command line
	Call    string `json:"call,omitzero"`    // or another call: write(docs/a.md), fetch(example.com), mcp(server/tool), todo
	Mode    Mode   `json:"mode,omitzero"`    // "": the mode of the policy
	Want    Action `json:"want,omitzero"`
}

// Layer is a [Config] and its origin.
type Layer struct {
	Config
	Scope Scope
	Where string // names the origin in errors and warnings, such as a file
}

// at names a member of the layer in errors and warnings.
func (l Layer) at(member string, i int) string {
	where := "permissions." + member
	if i >= 0 {
		where = fmt.Sprintf("permissions.%s[%d]", member, i)
	}
	if l.Where != "" {
		where = l.Where + ": " + where
	}
	return where
}

// Errors is all errors of a configuration.
type Errors []error

// Error lists the errors, one to a line.
func (e *Errors) Error() string { return errors.Join(*e...).Error() }

// Unwrap returns the errors.
func (e *Errors) Unwrap() []error { return *e }

// check runs the examples of a layer.
func (p *Policy) check(l Layer) (wrong []error) {
	for i, x := range l.Examples {
		fail := func(format string, args ...any) {
			wrong = append(wrong, fmt.Errorf("%s: %s", l.at("examples", i), fmt.Sprintf(format, args...)))
		}
		switch calls := x.Command != "" || x.Call != ""; {
		case calls == (x.Rule != "") || x.Command != "" && x.Call != "":
			fail(`needs exactly one of "rule", "command" and "call"`)
		case calls:
			p.checkCall(x, fail)
		case len(x.Match)+len(x.NotMatch) == 0:
			fail(`the example of %s tests nothing; add "match" or "not_match"`, x.Rule)
		default:
			p.checkRule(l, x, fail)
		}
	}
	return wrong
}

func (p *Policy) checkCall(x Example, fail func(string, ...any)) {
	c, err := p.example(x.Command, x.Call)
	if err != nil {
		fail("%v", err)
		return
	}
	if x.Want != Allow && x.Want != Ask && x.Want != Deny {
		fail(`invalid "want" %q; use allow, ask or deny`, x.Want)
		return
	}
	q := p
	if x.Mode != "" {
		m, err := ParseMode(string(x.Mode))
		if err != nil {
			fail("%v", err)
			return
		}
		q = p.InMode(m)
	}
	if v := q.Judge(c); v.Action != x.Want {
		fail("want %s for %s%s, got %s: %s", x.Want, x.Command, x.Call, v.Action, v.Reason)
	}
}

func (p *Policy) checkRule(l Layer, x Example, fail func(string, ...any)) {
	var rule *Rule
	for i := range p.rules {
		if r := &p.rules[i]; r.Text() == x.Rule || string(r.action)+" "+r.Text() == x.Rule {
			rule = r
			break
		}
	}
	switch {
	case rule == nil && l.Scope == Project && slices.Contains(l.Allow, strings.TrimPrefix(x.Rule, "allow ")):
		return // the policy ignores the rule, and warns
	case rule == nil:
		fail("unknown rule %q", x.Rule)
		return
	}
	for _, want := range []bool{true, false} {
		for _, text := range map[bool][]string{true: x.Match, false: x.NotMatch}[want] {
			got, err := p.matches(rule, text)
			switch {
			case err != nil:
				fail("%v", err)
			case want && !got:
				fail("the rule %s must match %q, and does not", x.Rule, text)
			case !want && got:
				fail("the rule %s must not match %q, and does", x.Rule, text)
			}
		}
	}
}

// matches reports whether a rule matches the text of an example: a command line, a path, a host or a name.
func (p *Policy) matches(r *Rule, text string) (bool, error) {
	call, line := text, ""
	switch {
	case r.language == running || r.language == freeing:
		call, line = "", text
	case r.language != anything && r.language != bare:
		call = r.tool + "(" + text + ")"
	}
	c, err := p.example(line, call)
	if err != nil {
		return false, err
	}
	c.Effects.Unconfined = r.language == freeing
	needs, a := p.needs(c)
	j := judgement{policy: p, call: c, mode: AskMode.row(), analysis: a, needs: needs, mentioned: map[int][]string{}}
	if r.action == Allow {
		for i := range needs {
			if !j.covers(r, &needs[i]) {
				return false, nil
			}
		}
		return true, nil
	}
	for i := range needs {
		if j.hits(r, &needs[i]) != no {
			return true, nil
		}
	}
	return false, nil
}

// example makes the call of an example.
func (p *Policy) example(line, text string) (Call, error) {
	name, subject, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	if name == "shell" {
		line = subject
	}
	if line != "" {
		return p.Command(line), nil
	}
	if c, ok := p.call(name, subject); ok {
		return c, nil
	}
	return Call{}, fmt.Errorf("invalid call %q; use write(docs/a.md), fetch(example.com), mcp(server/tool), agent(name) or the name of a tool", text)
}
