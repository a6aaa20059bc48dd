package files

import (
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// Set is the file tools of one session. It remembers what the model has seen of each file. It is safe for concurrent use.
type Set struct {
	seen  *memory
	heavy chan struct{} // one image or PDF file at a time: decoding them takes memory
}

// NewSet returns a set that has seen no file of the workspace.
func NewSet(ws *workspace.Workspace) *Set {
	return &Set{seen: &memory{ws: ws, files: map[string]knowledge{}}, heavy: make(chan struct{}, 1)}
}

// New returns the tools of a new set.
func New(ws *workspace.Workspace) []tool.Tool { return NewSet(ws).Tools() }

// Tools returns the tools of the set, which share its memory: edit, list, read, write, delete, multi_edit and patch.
func (s *Set) Tools() []tool.Tool {
	r, e := reader{s.seen, s.heavy}, editor{s.seen}
	return []tool.Tool{e.editTool(), listTool(s.seen), r.tool(), e.writeTool(), e.deleteTool(), e.multiEditTool(), e.patchTool()}
}

// Recall restores the memory when a session continues in another process. Call it with the name and the recorded details of every
// successful call, in their order. It ignores other tools, and details that it cannot decode.
func (s *Set) Recall(tool string, details json.RawMessage) {
	var shown Shown
	var changes []Change
	switch {
	case tool == nameRead && json.Unmarshal(details, &shown) == nil:
		s.seen.recallShown(shown)
	case Changes(tool) && json.Unmarshal(details, &changes) == nil:
		for _, c := range changes {
			s.seen.recallChange(c)
		}
	}
}

// Observe records the output of a command that named these files, as absolute paths: the model knows a file if the output has all of it.
func (s *Set) Observe(output string, names ...string) {
	for _, abs := range names[:min(len(names), maxObserved)] {
		if info, err := os.Stat(abs); err != nil || !info.Mode().IsRegular() || info.Size() == 0 || info.Size() > int64(len(output)) {
			continue
		}
		if data, v, err := (editor{s.seen}).load(abs); err == nil && strings.Contains(output, string(data)) {
			s.seen.shown(abs, v, Shown{Whole: true})
		}
	}
}

// maxObserved limits the files of one command.
const maxObserved = 16

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

// Changes reports whether a tool of this name changes files: all of its changes at once, after the journal has them.
func Changes(name string) bool {
	return slices.Contains([]string{nameWrite, nameEdit, nameMultiEdit, namePatch, nameDelete}, name)
}

func changer[A any](
	e editor, name, description string,
	effects func(ctx context.Context, args A) (tool.Effects, error),
	plan func(ctx context.Context, args A) (plan, error),
	title func(A) string,
) tool.Tool {
	return tool.New(name, description, effects,
		func(ctx context.Context, args A, _ tool.Report) (tool.Result, error) {
			p, err := plan(ctx, args)
			if err == nil && len(p.steps) > 0 {
				err = e.apply(ctx, p)
			}
			if err != nil {
				return tool.Result{}, err
			}
			result := tool.TextResult(p.text()).With(p.brief(), nil)
			if result.Diffs = p.diffs(); len(p.steps) > 0 {
				result.Details = p.changes()
			}
			return result, nil
		},
		tool.WithTitle(title), tool.WithPreview(func(ctx context.Context, args A) (string, error) {
			p, err := plan(ctx, args)
			return p.preview(), err
		}))
}

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
