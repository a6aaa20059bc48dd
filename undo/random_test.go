//go:build unix

package undo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// Whatever a session does to a few files, an undo to any of its entries brings back the tree of that time, and a redo what was
// before the undo.
func TestUndoToAnyEntry(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBenchFor(t, rt)
		defer b.close()
		paths := []string{"a", "b", "d/a", "d/b", "d/e/a", "f/a"}
		states := map[session.ID]map[string]string{}
		var entries []session.ID
		mark := func() {
			e := b.append(session.Todo{})
			entries = append(entries, e.ID)
			states[e.ID] = b.tree()
		}
		b.begin("go")
		mark()
		for i := range rapid.IntRange(1, 12).Draw(rt, "steps") {
			path := rapid.SampledFrom(paths).Draw(rt, "path")
			other := rapid.SampledFrom(paths).Draw(rt, "other")
			switch what := rapid.IntRange(0, 9).Draw(rt, "what"); what {
			case 0, 1, 2:
				_ = b.ws.Apply(t.Context(), []workspace.Edit{{Path: path, Data: fmt.Append(nil, i)}})
			case 3:
				_ = b.ws.Apply(t.Context(), []workspace.Edit{{Path: path}})
			case 4:
				_ = b.ws.Rename(t.Context(), path, other, nil)
			case 5:
				_ = b.ws.Apply(t.Context(), []workspace.Edit{{Path: path, Data: fmt.Append(nil, i)}, {Path: other}})
			case 6:
				b.shell(fmt.Sprintf("rm -rf %s; mkdir -p $(dirname %[1]s) 2>/dev/null && echo %d > %[1]s || true", path, i))
			case 7:
				b.shell(fmt.Sprintf("rm -rf %s; mv %s %[1]s 2>/dev/null || true", filepath.Dir(path)+"/x", path))
			case 8:
				b.shell(fmt.Sprintf("chmod 7%d0 %s 2>/dev/null || ln -s %[3]s %[2]s 2>/dev/null || true", i%8, path, other))
			case 9:
				entry := rapid.SampledFrom(entries).Draw(rt, "undo to")
				before := b.tree()
				switch _, err := b.undo(string(entry), undo.Files, false); {
				case isNothing(err):
				case err != nil:
					rt.Fatalf("undo to %s: %v", entry, err)
				case rapid.Bool().Draw(rt, "redo"):
					trees.Same(rt, b.tree(), states[entry])
					if _, err := b.redo(); err != nil {
						rt.Fatal(err)
					}
					trees.Same(rt, b.tree(), before)
				}
			}
			mark()
		}
		last := b.tree()
		for _, entry := range entries {
			_, err := b.undo(string(entry), undo.Files, false)
			if isNothing(err) {
				trees.Same(rt, b.tree(), states[entry])
				continue
			}
			if err != nil {
				rt.Fatalf("undo to %s: %v", entry, err)
			}
			trees.Same(rt, b.tree(), states[entry])
			if _, err := b.redo(); err != nil {
				rt.Fatal(err)
			}
			trees.Same(rt, b.tree(), last)
		}
	})
}

func newBenchFor(t *testing.T, rt *rapid.T) *bench {
	base, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		rt.Fatal(err)
	}
	if base, err = filepath.EvalSymlinks(base); err != nil {
		rt.Fatal(err)
	}
	b := &bench{t: t, base: base, dir: filepath.Join(base, "project")}
	b.must(os.Mkdir(b.dir, 0o755))
	b.open("")
	return b
}
