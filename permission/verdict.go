package permission

import (
	"fmt"
	"strings"
)

// Verdict is what is decided about a call. Any other value, the zero one too, denies.
type Verdict string

// The verdicts.
const (
	Allow Verdict = "allow" // it runs
	Ask   Verdict = "ask"   // somebody is asked
	Deny  Verdict = "deny"  // it does not run
)

func (v Verdict) rank() int {
	switch v {
	case Allow:
		return 0
	case Ask:
		return 1
	}
	return 2
}

// verb is what one who gives the verdict does.
func (v Verdict) verb() string {
	switch v {
	case Allow:
		return "allows"
	case Ask:
		return "asks about"
	}
	return "denies"
}

// on is what a mode does about one thing of the table: "asks about a call that reads outside the workspace", "denies a command that uses
// the network".
func (v Verdict) on(thing string) string {
	for _, subject := range []string{"a command line", "a command"} {
		if does, ok := strings.CutPrefix(thing, subject+" "); ok {
			return v.verb() + " " + subject + " that " + does
		}
	}
	return v.verb() + " a call that " + thing
}

// Scope is where a rule comes from, and how long it holds.
type Scope string

// The scopes.
const (
	Session Scope = "session" // until the session ends
	User    Scope = "user"    // everywhere, always
	Project Scope = "project" // of the project's own file, which can only narrow what the others say
)

// words is how long a rule of the scope holds.
func (s Scope) words() string {
	switch s {
	case Session:
		return "in this session"
	case Project:
		return "in this project"
	}
	return "always and everywhere"
}

// Mode is what is decided where no rule says anything.
type Mode string

// The modes, from the narrowest to the widest.
const (
	Inspect Mode = "inspect" // harmless commands alone, joined by | and ||; nothing outside the workspace
	Plan    Mode = "plan"    // looking, without changing anything
	AskMode Mode = "ask"     // looking is free, all else is asked; the default
	Edits   Mode = "edits"   // changes of files in the workspace are free too
	Auto    Mode = "auto"    // what the sandbox confines is free; leaving it is asked
	Yolo    Mode = "yolo"    // everything that no rule denies
)

// Modes returns all modes, from the narrowest to the widest.
func Modes() []Mode { return []Mode{Inspect, Plan, AskMode, Edits, Auto, Yolo} }

// ParseMode reads the name of a mode. The error names the modes there are, and the nearest one.
func ParseMode(s string) (Mode, error) {
	names := make([]string, 0, len(Modes()))
	for _, m := range Modes() {
		if string(m) == s {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("there is no mode %q%s; the modes are %s", s, nearest(s, names), list(names))
}

// width is the place of a mode from the narrowest to the widest.
func (m Mode) width() int {
	for i, other := range Modes() {
		if m == other {
			return i
		}
	}
	return 0
}
