package permission

import "fmt"

// Mode decides where no rule does.
type Mode string

// The modes, from the narrowest to the widest.
const (
	Inspect Mode = "inspect"
	Plan    Mode = "plan"
	AskMode Mode = "ask" // the default
	Edits   Mode = "edits"
	Auto    Mode = "auto"
	Yolo    Mode = "yolo"
)

// modeRow is one mode: the effects that it allows and asks about, and its descriptions. It denies all other effects.
type modeRow struct {
	mode  Mode
	about string // for people
	model string // for a model, which reads it as "Permission: ..."
	allow effects
	ask   effects

	unconfined Mode // how the mode decides where the operating system does not confine commands; "": no differently
	free       bool // it lifts the sandbox, secret and protected paths, and rules that ask
}

// The effects that several modes treat alike.
const (
	safe     = effects(1<<nothing | 1<<readInside | 1<<harmless | 1<<asksPerson)
	beyond   = effects(1<<readOutside | 1<<readKeys | 1<<queries | 1<<readSomewhere | 1<<ownServer | 1<<otherHost | 1<<unknownTool | 1<<startsAgents)
	changes  = effects(1<<writeInside | 1<<writeLater | 1<<writeAround | 1<<writeProtected | 1<<writeOutside | 1<<writeSomewhere)
	commands = effects(1<<runsCode | 1<<publishes | 1<<discards | 1<<destroysFiles | 1<<destroys | 1<<unknownCommand | 1<<unreadable | 1<<leaves | 1<<usesNetwork | 1<<unconfined)
	risky    = effects(1<<publishes | 1<<discards | 1<<writeProtected | 1<<writeOutside | 1<<destroys | 1<<unreadable | 1<<leaves | 1<<otherHost | 1<<unknownTool | 1<<unconfined)
)

// modes is the table of all modes, from the narrowest to the widest. A new mode is a new row; an effect that a row does not
// name is denied.
var modes = []modeRow{
	{
		mode: Inspect, allow: safe,
		about: "read only: read-only commands joined by | or ||, and nothing outside the workspace",
		model: "you can read, and run single commands that only read",
	},
	{
		mode: Plan, allow: safe | 1<<chained | 1<<listedHost, ask: beyond,
		about: "read only, and ask to read more; changes nothing",
		model: "you can read, and run commands that only read; make a plan of the changes",
	},
	{
		mode: AskMode, allow: safe | 1<<chained | 1<<listedHost | 1<<queries, ask: beyond&^(1<<queries) | changes | commands,
		about: "the default: reading is free, everything else needs approval",
		model: "you can read freely; changes and other commands need the user's approval",
	},
	{
		mode: Edits, allow: safe | 1<<chained | 1<<listedHost | 1<<queries | 1<<writeInside | 1<<ownServer, ask: beyond&^(1<<queries|1<<ownServer) | changes&^(1<<writeInside) | commands,
		about: "changing files in the workspace is free too",
		model: "you can read and change files here freely; commands that do more than read need the user's approval",
	},
	{
		mode: Auto, allow: (safe | 1<<chained | 1<<listedHost | beyond | changes | commands) &^ risky, ask: risky, unconfined: AskMode,
		about: "everything that the sandbox confines is free; leaving it needs approval. Without a sandbox, `auto` decides like `ask`, and Tenon warns",
		model: "you can do everything that the sandbox confines; leaving it needs the user's approval",
	},
	{
		mode: Yolo, allow: 1<<kinds - 1, free: true,
		about: "everything is free, except calls that a rule denies",
		model: "you can do everything",
	},
}

// row returns the row of the mode. A mode that is not in the table has a row that denies everything.
func (m Mode) row() *modeRow {
	if w := m.width(); w >= 0 {
		return &modes[w]
	}
	return &modeRow{mode: m}
}

// on returns the action of the mode for an effect.
func (r *modeRow) on(k kind) Action {
	switch {
	case r.allow.has(k):
		return Allow
	case r.ask.has(k):
		return Ask
	}
	return Deny
}

// Modes returns all modes, from the narrowest to the widest.
func Modes() []Mode {
	all := make([]Mode, len(modes))
	for i := range modes {
		all[i] = modes[i].mode
	}
	return all
}

// ParseMode reads the name of a mode. The error names the modes, and the nearest one.
func ParseMode(s string) (Mode, error) {
	names := make([]string, len(modes))
	for i := range modes {
		if names[i] = string(modes[i].mode); names[i] == s {
			return modes[i].mode, nil
		}
	}
	return "", fmt.Errorf("unknown mode %q%s; the modes are %s", s, nearest(s, names), list(names))
}

// About describes the mode in a line for people.
func (m Mode) About() string { return m.row().about }

// ForModel describes in a line, to a model, the calls that the mode allows.
func (m Mode) ForModel() string { return m.row().model }

// Free reports whether only rules that deny limit the mode: it runs commands without the sandbox, and no path is secret or protected.
func (m Mode) Free() bool { return m.row().free }

// Changes reports whether the mode lets tools change files, perhaps with approval.
func (m Mode) Changes() bool { return m.row().on(writeInside) != Deny }

// Reaches reports whether the mode lets tools reach hosts, perhaps with approval.
func (m Mode) Reaches() bool { return m.row().on(listedHost) != Deny }

// In returns the mode that decides: the mode itself, or the one that takes its place where the operating system does not confine
// commands.
func (m Mode) In(sandboxed bool) Mode {
	if as := m.row().unconfined; as != "" && !sandboxed {
		return as
	}
	return m
}

// width is the position of a mode from the narrowest to the widest, -1 for an unknown one.
func (m Mode) width() int {
	for i := range modes {
		if m == modes[i].mode {
			return i
		}
	}
	return -1
}
