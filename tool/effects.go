package tool

import (
	"path/filepath"
	"slices"
	"strings"
)

// Effects is what a call would touch, known before it runs. Scheduling, permission, the sandbox, undo and recovery after a
// crash all read this one value. The zero value touches nothing.
type Effects struct {
	Reads      []Path   `json:"reads,omitzero"`      // files and trees
	Writes     []Path   `json:"writes,omitzero"`     // files and trees that it creates, changes or removes
	Exec       bool     `json:"exec,omitzero"`       // it runs something whose effects are not known
	Command    string   `json:"command,omitzero"`    // what it runs, for people and rules
	Dir        string   `json:"dir,omitzero"`        // where it runs that, absolute
	Unconfined bool     `json:"unconfined,omitzero"` // it runs that outside the sandbox
	Hosts      []string `json:"hosts,omitzero"`      // network: "host" or "host:port"
	Agents     bool     `json:"agents,omitzero"`     // it starts other agents
	Asks       bool     `json:"asks,omitzero"`       // it waits for the person
	Idempotent bool     `json:"idempotent,omitzero"` // it may be run again after a crash
}

// Path is a place in the file system.
type Path struct {
	Name string `json:"name"`          // absolute and clean, links resolved as far as it exists
	Tree bool   `json:"tree,omitzero"` // all below it too
}

// File is the path of one file.
func File(name string) Path { return Path{Name: name} }

// Tree is the path of a directory and all below it.
func Tree(name string) Path { return Path{Name: name, Tree: true} }

// ReadOnly reports whether the call only looks: it writes nothing, runs nothing, reaches no host and starts no agent.
func (e Effects) ReadOnly() bool {
	return len(e.Writes) == 0 && !e.Exec && len(e.Hosts) == 0 && !e.Agents
}

// Collides reports whether e and f must not run side by side: one writes what the other reads or writes, or the effects of
// one are not known and the other is not read-only, or both want the person's attention.
//
// A command whose effects are not known collides even with calls that only look: what they saw would depend on chance.
func (e Effects) Collides(f Effects) bool {
	if e.Asks && f.Asks {
		return true
	}
	if e.Exec && !f.idle() || f.Exec && !e.idle() {
		return true
	}
	return overlaps(e.Writes, f.Writes) || overlaps(e.Writes, f.Reads) || overlaps(e.Reads, f.Writes)
}

// idle reports whether a command with unknown effects cannot disturb the call.
func (e Effects) idle() bool {
	return len(e.Reads) == 0 && len(e.Writes) == 0 && !e.Exec && !e.Agents
}

func overlaps(a, b []Path) bool {
	return slices.ContainsFunc(a, func(p Path) bool {
		return slices.ContainsFunc(b, p.overlaps)
	})
}

func (p Path) overlaps(q Path) bool {
	return p.Name == q.Name || p.Tree && below(p.Name, q.Name) || q.Tree && below(q.Name, p.Name)
}

// below reports whether name lies in the tree of dir. Both are clean.
func below(dir, name string) bool {
	rest, ok := strings.CutPrefix(name, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || dir[len(dir)-1] == filepath.Separator)
}
