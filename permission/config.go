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

// Example is a test that a configuration carries. Either it names one of its rules and says what that must and must not fit,
// or it names a call and says what the whole policy must decide about it.
type Example struct {
	Rule     string   `json:"rule,omitzero"` // as in the lists, or with its verdict in front: deny shell(rm *)
	Match    []string `json:"match,omitzero"`
	NotMatch []string `json:"not_match,omitzero"`

	Command string  `json:"command,omitzero"` // a command line
	Call    string  `json:"call,omitzero"`    // or another call: write(docs/a.md), fetch(example.com), mcp(server/tool), todo
	Mode    Mode    `json:"mode,omitzero"`    // in which that is decided; "" is the mode that holds
	Want    Verdict `json:"want,omitzero"`
}

// Layer is a [Config] with where it comes from.
type Layer struct {
	Config
	Scope Scope
	Where string // for errors and warnings, such as the name of the file
}

// at names a place in the layer.
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

// Errors is everything that is wrong with a configuration.
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
			fail(`an example has either "rule", "command" or "call"`)
		case calls:
			p.checkCall(x, fail)
		case len(x.Match)+len(x.NotMatch) == 0:
			fail(`the example of %s tests nothing; give it "match" or "not_match"`, x.Rule)
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
		fail(`"want" is %q; it is allow, ask or deny`, x.Want)
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
	if d := q.Judge(c); d.Verdict != x.Want {
		fail("%s%s is to be %q and is %q: %s", x.Command, x.Call, x.Want, d.Verdict, d.Reason)
	}
}

func (p *Policy) checkRule(l Layer, x Example, fail func(string, ...any)) {
	var rule *Rule
	for i := range p.rules {
		if r := &p.rules[i]; r.Text() == x.Rule || string(r.verdict)+" "+r.Text() == x.Rule {
			rule = r
			break
		}
	}
	switch {
	case rule == nil && l.Scope == Project && slices.Contains(l.Allow, strings.TrimPrefix(x.Rule, "allow ")):
		return // it is ignored, and that is told
	case rule == nil:
		fail("there is no rule %q", x.Rule)
		return
	}
	for _, want := range []bool{true, false} {
		for _, text := range map[bool][]string{true: x.Match, false: x.NotMatch}[want] {
			got, err := p.matches(rule, text)
			switch {
			case err != nil:
				fail("%v", err)
			case want && !got:
				fail("the rule %s does not fit %q, which it is to fit", x.Rule, text)
			case !want && got:
				fail("the rule %s fits %q, which it is not to fit", x.Rule, text)
			}
		}
	}
}

// matches reports whether a rule fits what an example says: a command line, a path, a host, a name.
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
	j := judgement{policy: p, call: c, mode: AskMode, analysis: a, needs: needs, mentioned: map[int][]string{}}
	if r.verdict == Allow {
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

// example makes a call of the words of an example.
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
	return Call{}, fmt.Errorf("%q is no call; write write(docs/a.md), fetch(example.com), mcp(server/tool), agent(name) or a bare name", text)
}
