package tool

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Effects declares what a call will touch before it runs. Scheduling, permission, the sandbox, undo and crash recovery all use this
// value.
//
// The zero value declares nothing, so the effects are unknown: permission asks about the call, [Effects.ReadOnly] is false, and
// no call that reads or writes runs at the same time. None declares that a call touches nothing.
type Effects struct {
	None       bool     `json:"none,omitzero"`       // it touches nothing
	Reads      []Path   `json:"reads,omitzero"`      // files and trees
	Writes     []Path   `json:"writes,omitzero"`     // files and trees that it creates, changes or removes
	Unknown    bool     `json:"unknown,omitzero"`    // it may touch more than it declares: permission asks, and no write runs at the same time
	Exclusive  bool     `json:"exclusive,omitzero"`  // no call that reads or writes runs at the same time
	Command    string   `json:"command,omitzero"`    // the text that the shell runs, for people and rules
	Dir        string   `json:"dir,omitzero"`        // the directory of the command, absolute
	Unconfined bool     `json:"unconfined,omitzero"` // the command runs outside the sandbox
	Hosts      []string `json:"hosts,omitzero"`      // network: "host" or "host:port"
	Agents     bool     `json:"agents,omitzero"`     // it starts other agents
	Asks       bool     `json:"asks,omitzero"`       // it waits for the person
	Idempotent bool     `json:"idempotent,omitzero"` // Tenon may run it again after a crash

	// Analysis is the analysis of Command, for the package that made it and for readers that need its syntax tree, so that each line is
	// analyzed once. It is immutable, and the journal does not store it. Nil: a reader analyzes Command itself.
	Analysis any `json:"-"`
}

type effectsKey struct{}

// EffectsOf returns the effects of the running call, as its Prepare returned them. Only calls of tools that [New] made have them.
func EffectsOf(ctx context.Context) (Effects, bool) {
	e, ok := ctx.Value(effectsKey{}).(Effects)
	return e, ok
}

// Nothing declares that calls of a tool touch nothing. Pass it to [New] as the effects.
func Nothing[A any](context.Context, A) (Effects, error) { return Effects{None: true}, nil }

// Path is a path on disk.
type Path struct {
	Name string `json:"name"`          // absolute and clean; links resolved as far as the path exists
	Tree bool   `json:"tree,omitzero"` // with everything below it
}

// Valid reports whether the name is absolute and clean, and leads to the same place in each process. Other paths can be anything.
func (p Path) Valid() bool {
	name := filepath.FromSlash(p.Name)
	rooted := filepath.IsAbs(name) || strings.HasPrefix(name, string(filepath.Separator))
	return rooted && filepath.Clean(name) == name && !paths.Magic(name)
}

// File is the path of one file.
func File(name string) Path { return Path{Name: name} }

// Tree is the path of a directory and everything below it.
func Tree(name string) Path { return Path{Name: name, Tree: true} }

// Declared reports whether the effects name everything that the call may touch, by valid paths.
func (e Effects) Declared() bool {
	invalid := func(p Path) bool { return !p.Valid() }
	return !e.Unknown && !e.empty() && !slices.ContainsFunc(e.Reads, invalid) && !slices.ContainsFunc(e.Writes, invalid)
}

// empty reports whether the effects declare nothing, not even None.
func (e Effects) empty() bool {
	return !e.None && !e.Agents && !e.Asks && len(e.Reads) == 0 && len(e.Writes) == 0 && len(e.Hosts) == 0
}

// ReadOnly reports whether the call only reads: its effects are declared, and it writes nothing, reaches no host and starts no agent.
func (e Effects) ReadOnly() bool {
	return e.Declared() && len(e.Writes) == 0 && len(e.Hosts) == 0 && !e.Agents
}

// Collides reports whether e and f must not run at the same time: one writes what the other reads or writes, one is exclusive
// and the other reads or writes, one has unknown effects and the other writes, or both ask the person.
//
// An exclusive call also collides with calls that only read, because their results would depend on chance. Effects that declare nothing
// are exclusive.
func (e Effects) Collides(f Effects) bool {
	switch {
	case e.Asks && f.Asks,
		e.exclusive() && !f.idle(), f.exclusive() && !e.idle(),
		e.Unknown && len(f.Writes) > 0, f.Unknown && len(e.Writes) > 0:
		return true
	}
	return overlaps(e.Writes, f.Writes) || overlaps(e.Writes, f.Reads) || overlaps(e.Reads, f.Writes)
}

func (e Effects) exclusive() bool { return e.Exclusive || !e.Unknown && e.empty() }

// idle reports whether an exclusive call may run at the same time.
func (e Effects) idle() bool {
	return len(e.Reads) == 0 && len(e.Writes) == 0 && !e.Unknown && !e.exclusive() && !e.Agents
}

func overlaps(a, b []Path) bool {
	return slices.ContainsFunc(a, func(p Path) bool {
		return slices.ContainsFunc(b, p.overlaps)
	})
}

func (p Path) overlaps(q Path) bool {
	return paths.Same(p.Name, q.Name) || p.Tree && paths.Inside(p.Name, q.Name) || q.Tree && paths.Inside(q.Name, p.Name)
}
