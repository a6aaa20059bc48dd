package files

import (
	"context"
	_ "embed"
	"sync"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// Set is the file tools of one session. It remembers what the model has seen of each file. It is safe for concurrent use.
type Set struct {
	ws    *workspace.Workspace
	heavy chan struct{} // held by who takes a picture or a PDF apart: they take memory

	mu   sync.Mutex
	seen map[string]knowledge // by absolute path
}

// NewSet returns a set for a workspace that has seen nothing yet.
func NewSet(ws *workspace.Workspace) *Set {
	return &Set{ws: ws, heavy: make(chan struct{}, 1), seen: map[string]knowledge{}}
}

// New returns the tools of a new set for a model that replaces texts: edit, list, read, write, delete and multi_edit.
func New(ws *workspace.Workspace) []tool.Tool { return NewSet(ws).Tools(Replace) }

// Tools returns the tools for a way of editing. All tools of a set share its memory: when the model changes in the middle of a
// session, the other one knows what was read.
func (s *Set) Tools(editing Editing) []tool.Tool {
	if editing == Patch {
		return []tool.Tool{s.list(), s.patch(), s.read()}
	}
	return []tool.Tool{s.edit(), s.list(), s.read(), s.write(), s.delete(), s.multiEdit()}
}

// The names of the tools.
const (
	nameRead      = "read"
	nameList      = "list"
	nameWrite     = "write"
	nameEdit      = "edit"
	nameMultiEdit = "multi_edit"
	namePatch     = "patch"
	nameDelete    = "delete"
)

// reads is the effects of looking at one file.
func (s *Set) reads(name string) (tool.Effects, error) {
	abs, err := s.ws.Resolve(name)
	return tool.Effects{Reads: []tool.Path{tool.File(abs)}, Idempotent: true}, err
}

func (s *Set) writes(name string) (tool.Effects, error) {
	abs, err := s.ws.Resolve(name)
	return tool.Effects{Writes: []tool.Path{tool.File(abs)}}, err
}

// changer makes a tool that changes files from a function that plans a call and one that tells what came of it.
func changer[A any](
	s *Set, name, description string,
	effects func(ctx context.Context, args A) (tool.Effects, error),
	plan func(ctx context.Context, args A) (plan, error),
	details func(plan) any,
) tool.Tool {
	return tool.New(name, description, effects,
		func(ctx context.Context, args A, _ tool.Report) (tool.Result, error) {
			p, err := plan(ctx, args)
			if err != nil {
				return tool.Result{}, err
			}
			if len(p.steps) > 0 {
				if err := s.apply(ctx, p); err != nil {
					return tool.Result{}, err
				}
			}
			result := tool.TextResult(p.text())
			if len(p.steps) > 0 {
				result.Details = details(p)
			}
			return result, nil
		},
		tool.WithPreview(func(ctx context.Context, args A) (string, error) {
			p, err := plan(ctx, args)
			return p.preview(), err
		}))
}

// one is the details of a plan of one file, many of a plan of several.
func one(p plan) any  { return p.steps[0].Change }
func many(p plan) any { return p.changes() }

var (
	//go:embed read.md
	readText string
	//go:embed list.md
	listText string
	//go:embed write.md
	writeText string
	//go:embed edit.md
	editText string
	//go:embed multi_edit.md
	multiEditText string
	//go:embed patch.md
	patchText string
	//go:embed delete.md
	deleteText string
)
