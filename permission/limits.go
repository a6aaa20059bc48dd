package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// Codes of verdicts that [Limits] give.
const (
	CodeScope = prefix + "scope" // the call may write outside its scope
	CodeTool  = prefix + "tool"  // the role does not have the tool
)

// Limits narrow the calls of a sub-agent or a role beyond its policy. The zero value narrows nothing.
type Limits struct {
	Tools   []string // the only tools; nil: all. Calls that touch nothing and questions are always allowed
	Without []string // tools that are denied

	ReadOnly bool     // no call may change anything
	Paths    []string // calls write only these files and directories, absolute, with links resolved; nil: no limit

	// Confined reports whether the sandbox lets commands write exactly Paths. Otherwise only commands run whose effects are known in advance.
	// Nil: it does not.
	Confined func() bool
}

// Over returns a judge that denies the calls beyond the limits, and leaves all others to j.
func (l Limits) Over(j Judge) Judge { return limited{l, j} }

type limited struct {
	limits Limits
	judge  Judge
}

// Judge implements [Judge]. No grant of a person lifts the limits.
func (l limited) Judge(c Call, grants ...Rule) Verdict {
	v := l.judge.Judge(c, grants...)
	code, reason := l.limits.refuse(c)
	if v.Action == Deny || code == "" {
		return v
	}
	v.Action, v.Code, v.Reason, v.Rule, v.Suggest, v.mode = Deny, code, reason, "the limits of this agent", nil, ""
	return v
}

// refuse returns why a call is beyond the limits, "" if it is not.
func (l Limits) refuse(c Call) (code, reason string) {
	e := c.Effects
	touches := !e.None && !e.Asks || len(e.Reads)+len(e.Writes)+len(e.Hosts) > 0 || e.Unknown || e.Command != ""
	named := func(name string) bool { return takes(name, c.Tool) }
	if slices.ContainsFunc(l.Without, named) || touches && l.Tools != nil && !slices.ContainsFunc(l.Tools, named) {
		return CodeTool, "this role does not have the tool " + c.Tool
	}
	if !l.ReadOnly && l.Paths == nil {
		return "", ""
	}
	for _, w := range e.Writes {
		if l.ReadOnly || !w.Valid() || !contains(l.Paths, w.Name) {
			return CodeScope, fmt.Sprintf("%s is outside the scope of this task, which is %s", w.Name, l.scope())
		}
	}
	confined := e.Command != "" && !e.Unconfined && !l.ReadOnly && l.Confined != nil && l.Confined()
	if e.Unconfined || !confined && !foreseen(e) {
		return CodeScope, "it may change files outside the scope of this task, which is " + l.scope()
	}
	return "", ""
}

// scope describes the paths of the limits.
func (l Limits) scope() string {
	if l.ReadOnly {
		return "read-only"
	}
	return strings.Join(l.Paths, ", ")
}

// foreseen reports whether a call names in advance all that it writes. A call that starts agents writes nothing itself, and the limits of those
// are narrower.
func foreseen(e tool.Effects) bool { return e.Declared() || e.Agents && !e.Unknown }
