package permission

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
)

// Codes of verdicts that a rule gives. Where a mode decides, the table of effects has the code. docs/permissions.md lists all.
const (
	prefix      = "permission."
	ruleAllowed = prefix + "rule_allowed"
	ruleAsks    = prefix + "rule_asks"
	ruleDenied  = prefix + "rule_denied"
	ruleUnsure  = prefix + "rule_unsure" // it cannot be determined in advance whether the rule applies
)

// Verdict is the answer to one call, with its reason.
type Verdict struct {
	Action   Action
	Code     string // the reason, stable: "permission.outside_read"
	Tool     string
	Mode     Mode         // of the policy
	Rule     string       // the rule that decided, with its action and scope, or the mode
	Reason   string       // in words
	Commands []Part       // the simple commands of a command line, in their order
	Problems []string     // the parts of the line that cannot be judged
	Note     string       // the reason why an allowed command may fail: it has no network; "" if it has what it needs
	Runs     string       // the text that the shell runs; "" if the call runs none
	Suggest  []Suggestion // rules that would allow the call, from narrow to wide, if the action is Ask

	mode Mode // that would allow it, "" for none
}

// Part is one command of a line with its own verdict.
type Part struct {
	Command command.Command
	Action  Action
	Code    string
	Rule    string
	Reason  string
}

// Suggestion is rules that together would allow a call, and others like it.
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

// Words describes exactly the calls that the rules allow, and how long the rules apply.
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

// Unattended returns the verdict for a run in which no person answers: it denies the call instead of asking. The reason then says
// how to allow the call.
func (v Verdict) Unattended() Verdict {
	if v.Action != Ask {
		return v
	}
	mode, flags := v.Remedy()
	v.Action = Deny
	var ways []string
	if flags != "" {
		if strings.Contains(flags, "--network ") {
			flags += " (sandbox.network in tenon.json)"
		}
		ways = append(ways, flags)
	}
	if mode != "" {
		ways = append(ways, "--mode "+string(mode))
	}
	v.Reason += "; this run is not interactive"
	if len(ways) > 0 {
		v.Reason += ": use " + strings.Join(ways, " or ")
	} else {
		v.Reason += ", and no flag overrides the rule that asks or denies"
	}
	return v
}

// Remedy returns what would allow a call about which the policy asks: the narrowest mode, and flags of the program as words for a shell. Both are
// empty if nothing would.
func (v Verdict) Remedy() (mode Mode, flags string) {
	if v.Action != Ask {
		return "", ""
	}
	if n := len(v.Suggest); n > 0 {
		for _, r := range v.Suggest[n-1].Rules {
			flags += " " + r.flag()
		}
	}
	return v.mode, strings.TrimSpace(flags)
}

// flag is the flag that has the effect of an allow rule.
func (r Rule) flag() string {
	if r.language == reaching && r.pattern != "" {
		return "--network " + r.pattern
	}
	return "--allow " + quote(r.Text())
}

// quote writes a text as one word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// String returns the verdict in a few lines for people: the action and the reason, the rule, then each command.
func (v Verdict) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", v.Action, v.Reason)
	fmt.Fprintf(&b, "  decided by  %s\n", v.Rule)
	fmt.Fprintf(&b, "  code        %s\n", v.Code)
	if v.Runs != "" {
		fmt.Fprintf(&b, "  runs        %s\n", strings.ReplaceAll(strings.TrimSuffix(v.Runs, "\n"), "\n", "\n              "))
	}
	if v.Note != "" {
		fmt.Fprintf(&b, "  note        %s\n", v.Note)
	}
	for _, p := range v.Problems {
		fmt.Fprintf(&b, "  problem     %s\n", p)
	}
	for _, p := range v.Commands {
		fmt.Fprintf(&b, "  %-5s  %d:%d  %s\n", p.Action, p.Command.Line, p.Command.Column, show(p.Command))
		fmt.Fprintf(&b, "         %s: %s\n", p.Command.Does, p.Command.Why)
		fmt.Fprintf(&b, "         %s [%s]\n", p.Rule, p.Code)
	}
	for _, s := range v.Suggest {
		for _, r := range s.Rules {
			fmt.Fprintf(&b, "  %s\n", r.flag())
		}
		fmt.Fprintf(&b, "         allows %s\n", s.Words())
	}
	return b.String()
}

// MarshalJSON writes the verdict with its commands, problems and suggestions.
func (v Verdict) MarshalJSON() ([]byte, error) {
	type part struct {
		Words   []string `json:"words"`
		Dynamic []int    `json:"dynamic,omitempty"` // the indexes of words that cannot be determined in advance
		Via     []string `json:"via,omitempty"`
		Dir     string   `json:"dir,omitempty"`
		Does    string   `json:"does"`
		Reads   []string `json:"reads,omitempty"`
		Writes  []string `json:"writes,omitempty"`
		Hosts   []string `json:"hosts,omitempty"`
		Why     string   `json:"why"`
		Line    int      `json:"line"`
		Column  int      `json:"column"`
		Verdict Action   `json:"verdict"`
		Code    string   `json:"code"`
		Rule    string   `json:"rule"`
		Reason  string   `json:"reason"`
	}
	type suggestion struct {
		Rules []string `json:"rules"`
		Words string   `json:"words"`
	}
	out := struct {
		Tool     string       `json:"tool"`
		Verdict  Action       `json:"verdict"`
		Code     string       `json:"code"`
		Mode     Mode         `json:"mode"`
		Rule     string       `json:"rule"`
		Reason   string       `json:"reason"`
		Note     string       `json:"note,omitempty"`
		Runs     string       `json:"runs,omitempty"`
		Commands []part       `json:"commands"`
		Problems []string     `json:"problems,omitempty"`
		Suggest  []suggestion `json:"suggest,omitempty"`
	}{Tool: v.Tool, Verdict: v.Action, Code: v.Code, Mode: v.Mode, Rule: v.Rule, Reason: v.Reason, Note: v.Note, Runs: v.Runs, Commands: []part{}, Problems: v.Problems}
	for _, p := range v.Commands {
		c := p.Command
		out.Commands = append(out.Commands, part{
			c.Words, c.Dynamic, c.Via, c.Dir, c.Does.String(), c.ReadPaths, c.WritePaths, c.Hosts, c.Why, c.Line, c.Column,
			p.Action, p.Code, p.Rule, p.Reason,
		})
	}
	for _, s := range v.Suggest {
		one := suggestion{Words: s.Words()}
		for _, r := range s.Rules {
			one.Rules = append(one.Rules, r.Text())
		}
		out.Suggest = append(out.Suggest, one)
	}
	return json.Marshal(out)
}
