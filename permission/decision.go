package permission

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
)

// Decision is what is decided about a call, and why.
type Decision struct {
	Tool     string
	Verdict  Verdict
	Mode     Mode         // of the policy
	Rule     string       // what decided: a rule as written, with its verdict and scope, or the mode
	Reason   string       // in words
	Commands []Part       // the simple commands of a command line, in the order in which they stand
	Problems []string     // what of the line could not be judged
	Suggest  []Suggestion // what would allow the call, from narrow to wide; only where it is asked about

	modes []Mode // that would allow it
}

// Part is one command of a line and its part in the decision.
type Part struct {
	Command command.Command
	Verdict Verdict
	Rule    string
	Reason  string
}

// Suggestion is rules that together allow a call that is asked about, and others like it.
type Suggestion struct {
	Rules []Rule
}

// In returns the suggestion for another scope.
func (s Suggestion) In(scope Scope) Suggestion {
	rules := make([]Rule, len(s.Rules))
	for i, r := range s.Rules {
		rules[i] = r.In(scope)
	}
	return Suggestion{rules}
}

// Words says in words for people exactly what the rules allow, and for how long.
func (s Suggestion) Words() string {
	words := make([]string, len(s.Rules))
	for i, r := range s.Rules {
		words[i] = r.subject()
	}
	if len(s.Rules) == 0 {
		return ""
	}
	return strings.Join(words, " and ") + ", " + s.Rules[0].scope.words()
}

// Or returns the decision for where nobody can be asked: v in place of [Ask]. The reason of a denial then says how the call
// can be allowed.
func (d Decision) Or(v Verdict) Decision {
	if d.Verdict != Ask {
		return d
	}
	if d.Verdict = v; v == Allow {
		return d
	}
	var ways []string
	if n := len(d.Suggest); n > 0 {
		flags := ""
		for _, r := range d.Suggest[n-1].Rules {
			flags += " --allow " + quote(r.Text())
		}
		ways = append(ways, strings.TrimSpace(flags))
	}
	for _, m := range d.modes {
		ways = append(ways, "--mode "+string(m))
	}
	d.Reason += "; nobody can be asked here"
	if len(ways) > 0 {
		d.Reason += ", allow it with " + strings.Join(ways, " or ")
	} else {
		d.Reason += ", and a rule given with --ask or --deny stands against it"
	}
	return d
}

// quote writes a text as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// String returns the decision in a few lines for people: the verdict, the rule and the reason, then each command.
func (d Decision) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", d.Verdict, d.Reason)
	fmt.Fprintf(&b, "  decided by  %s\n", d.Rule)
	for _, p := range d.Problems {
		fmt.Fprintf(&b, "  problem     %s\n", p)
	}
	for _, p := range d.Commands {
		fmt.Fprintf(&b, "  %-5s  %d:%d  %s\n", p.Verdict, p.Command.Line, p.Command.Column, show(p.Command))
		fmt.Fprintf(&b, "         %s: %s\n", p.Command.Does, p.Command.Why)
		fmt.Fprintf(&b, "         %s\n", p.Rule)
	}
	for _, s := range d.Suggest {
		for _, r := range s.Rules {
			fmt.Fprintf(&b, "  --allow %s\n", quote(r.Text()))
		}
		fmt.Fprintf(&b, "         allows %s\n", s.Words())
	}
	return b.String()
}

// MarshalJSON writes the decision with its commands, problems and suggestions.
func (d Decision) MarshalJSON() ([]byte, error) {
	type part struct {
		Words   []string `json:"words"`
		Dynamic []int    `json:"dynamic,omitempty"` // words that are not known before it runs
		Via     []string `json:"via,omitempty"`
		Dir     string   `json:"dir,omitempty"`
		Does    string   `json:"does"`
		Reads   []string `json:"reads,omitempty"`
		Writes  []string `json:"writes,omitempty"`
		Hosts   []string `json:"hosts,omitempty"`
		Why     string   `json:"why"`
		Line    int      `json:"line"`
		Column  int      `json:"column"`
		Verdict Verdict  `json:"verdict"`
		Rule    string   `json:"rule"`
		Reason  string   `json:"reason"`
	}
	type suggestion struct {
		Rules []string `json:"rules"`
		Words string   `json:"words"`
	}
	out := struct {
		Tool     string       `json:"tool"`
		Verdict  Verdict      `json:"verdict"`
		Mode     Mode         `json:"mode"`
		Rule     string       `json:"rule"`
		Reason   string       `json:"reason"`
		Commands []part       `json:"commands"`
		Problems []string     `json:"problems,omitempty"`
		Suggest  []suggestion `json:"suggest,omitempty"`
	}{Tool: d.Tool, Verdict: d.Verdict, Mode: d.Mode, Rule: d.Rule, Reason: d.Reason, Commands: []part{}, Problems: d.Problems}
	for _, p := range d.Commands {
		c := p.Command
		out.Commands = append(out.Commands, part{
			c.Words, c.Dynamic, c.Via, c.Dir, c.Does.String(), c.ReadPaths, c.WritePaths, c.Hosts, c.Why, c.Line, c.Column,
			p.Verdict, p.Rule, p.Reason,
		})
	}
	for _, s := range d.Suggest {
		one := suggestion{Words: s.Words()}
		for _, r := range s.Rules {
			one.Rules = append(one.Rules, r.Text())
		}
		out.Suggest = append(out.Suggest, one)
	}
	return json.Marshal(out)
}
