package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// Change is what was done to a file, in the details of results: one of write and edit, a list of them of patch and delete.
type Change struct {
	Path    string `json:"path"`          // from the root of the workspace
	From    string `json:"from,omitzero"` // where it was before it was moved
	Created bool   `json:"created,omitzero"`
	Deleted bool   `json:"deleted,omitzero"`
	Added   int    `json:"added"` // lines
	Removed int    `json:"removed"`
	Diff    string `json:"diff,omitzero"`  // unified; empty for files that are binary or large
	Hash    string `json:"hash,omitzero"`  // SHA-256 of the new content, in hex
	Whole   bool   `json:"whole,omitzero"` // the model knows all of it
}

// plan is what a call would change, made from one look at the files.
type plan struct {
	steps []step
	notes []string
}

// step is one file of a plan.
type step struct {
	workspace.Edit
	Change
	verb  string
	kind  fs.FileMode // of a link or a directory that is removed
	base  *version    // of the file that is replaced, moved or removed; nil: there is none
	after *version    // nil: none
}

// source is a file that a plan changes.
type source struct {
	name, abs string
	text      string // as it is edited: in UTF-8
	coding
	base version
}

// open reads a file to be changed. The model must have seen this version of it.
func (s *Set) open(ctx context.Context, name string) (source, error) {
	f := source{name: name}
	var err error
	if f.abs, err = s.ws.Resolve(name); err != nil {
		return f, s.unreadable(ctx, name, err)
	}
	data, err := s.ws.ReadFile(f.abs, maxEdit)
	if err != nil {
		return f, s.unreadable(ctx, name, err)
	}
	f.base = sha256.Sum256(data)
	if err := s.fresh(name, f.abs, f.base); err != nil {
		return f, err
	}
	f.text, f.coding = decodeText(data)
	return f, nil
}

// replaced is the step that gives a file a new text, and keeps its encoding.
func (s *Set) replaced(f source, text string) (step, error) {
	data, err := f.encode(text)
	if err != nil {
		return step{}, fmt.Errorf("%s: %w", workspace.Quote(f.name), err)
	}
	k, _ := s.knows(f.abs)
	return s.step(f.abs, &f.base, f.text, text, data, k.whole), nil
}

// step is the step that puts data in the place of base, or of nothing.
func (s *Set) step(abs string, base *version, before, after string, data []byte, whole bool) step {
	v := version(sha256.Sum256(data))
	c := s.describe(abs, before, after, base == nil, false)
	c.Hash, c.Whole = v.String(), whole
	one := step{Edit: workspace.Edit{Path: abs, Data: data}, Change: c, verb: "edited", base: base, after: &v}
	if one.Data == nil {
		one.Data = []byte{}
	}
	if base == nil {
		one.verb = "created"
	}
	one.Exact = true
	return one
}

// apply makes all steps or none, and remembers the new versions.
func (s *Set) apply(ctx context.Context, p plan) error {
	var undo []func()
	edits := make([]workspace.Edit, len(p.steps))
	for i, one := range p.steps {
		edits[i] = one.Edit
		edits[i].Check = func() error {
			if err := s.check(one); err != nil {
				return err
			}
			// Before anyone else can look: who comes next must find this version known.
			if one.after != nil {
				undo = append(undo, s.wrote(one.Edit.Path, *one.after, one.Whole))
			}
			return nil
		}
	}
	if err := s.ws.Apply(ctx, edits); err != nil {
		for _, back := range undo {
			back()
		}
		return err
	}
	return nil
}

// check looks whether a file is still what the plan was made from. It is called while nothing else of the workspace writes.
func (s *Set) check(one step) error {
	from := one.Edit.Path
	if one.Edit.From != "" {
		from = one.Edit.From
	}
	if one.base == nil {
		if one.after == nil {
			return s.same(from, one.kind)
		}
		_, exists, err := s.current(from)
		if err == nil && exists {
			err = fmt.Errorf("%s was created by someone else just now; read it first, then change it", workspace.Quote(one.Change.Path))
		}
		return err
	}
	v, exists, err := s.current(from)
	if err == nil && (!exists || v != *one.base) {
		err = fmt.Errorf("%s has changed just now; read it again, then change it", workspace.Quote(s.ws.Rel(from)))
	}
	return err
}

// same returns an error unless a path is still what it was: a link, a directory.
func (s *Set) same(abs string, kind fs.FileMode) error {
	info, err := os.Lstat(abs)
	if err == nil && info.Mode().Type() != kind {
		err = fmt.Errorf("%s has become something else just now; look at it again", workspace.Quote(s.ws.Rel(abs)))
	}
	return err
}

// text is what the model is told of a plan that was carried out.
func (p plan) text() string {
	var lines []string
	for _, one := range p.steps {
		c := one.Change
		line := one.verb + " " + workspace.Quote(c.Path)
		if c.From != "" {
			line = fmt.Sprintf("%s %s to %s", one.verb, workspace.Quote(c.From), workspace.Quote(c.Path))
		}
		if one.base != nil || c.Created {
			if !c.Deleted && (c.From == "" || c.Added+c.Removed > 0) {
				line += fmt.Sprintf(": %s added, %d removed", count(c.Added, "line"), c.Removed)
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, p.notes...), "\n")
}

// changes is the details of a plan that was carried out.
func (p plan) changes() []Change {
	out := make([]Change, len(p.steps))
	for i, one := range p.steps {
		out[i] = one.Change
	}
	return out
}

// preview is what a plan would change, as a diff.
func (p plan) preview() string {
	var b strings.Builder
	for _, one := range p.steps {
		switch c := one.Change; {
		case c.From != "":
			fmt.Fprintf(&b, "rename from %s\nrename to %s\n%s", workspace.Quote(c.From), workspace.Quote(c.Path), c.Diff)
		case c.Diff != "":
			b.WriteString(c.Diff)
		default:
			fmt.Fprintf(&b, "%s %s\n", present(one.verb), workspace.Quote(c.Path))
		}
	}
	for _, note := range p.notes {
		fmt.Fprintf(&b, "[%s]\n", note)
	}
	text, _ := tool.Bound(b.String(), maxShown)
	return text
}

// present is what will be done, of a verb for what was done.
func present(verb string) string {
	first, rest, _ := strings.Cut(verb, " ")
	word := map[string]string{"edited": "edit", "created": "create", "replaced": "replace", "deleted": "delete"}[first]
	return strings.TrimSpace(word + " " + rest)
}

const (
	maxEdit  = 16 << 20 // bytes of the largest file that is changed
	maxDiff  = 1 << 20  // bytes of a file, beyond which its change is counted but not shown
	maxShown = 64 << 10 // bytes of a diff that are shown
)

// describe compares two versions of a file.
func (s *Set) describe(abs, before, after string, created, deleted bool) Change {
	c := Change{Path: s.ws.Rel(abs), Created: created, Deleted: deleted}
	if tool.Binary(before) || tool.Binary(after) {
		return c
	}
	if max(len(before), len(after)) > maxDiff {
		c.Added, c.Removed = countLines(after), countLines(before)
		return c
	}
	name := workspace.Quote(c.Path) // its header is one line
	from, to := "a/"+name, "b/"+name
	if created {
		from = "/dev/null"
	}
	if deleted {
		to = "/dev/null"
	}
	c.Diff = udiff.Unified(from, to, before, after)
	c.Added, c.Removed = countChanges(c.Diff)
	c.Diff, _ = tool.Bound(c.Diff, maxShown)
	return c
}

// countChanges counts the lines that a diff of one file adds and removes.
func countChanges(diff string) (added, removed int) {
	for _, header := range []string{"--- ", "+++ "} {
		if line, rest, ok := strings.Cut(diff, "\n"); ok && strings.HasPrefix(line, header) {
			diff = rest
		}
	}
	for line := range strings.Lines(diff) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// count is a number of things: "1 line", "3 lines".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// missing adds to the error for a file that does not exist what may have been meant.
func (s *Set) missing(ctx context.Context, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if near := s.ws.Similar(ctx, name, 5); len(near) > 0 {
		for i, name := range near {
			near[i] = workspace.Quote(name)
		}
		return fmt.Errorf("%s does not exist; did you mean %s?", workspace.Quote(name), strings.Join(near, ", "))
	}
	return fmt.Errorf("%s does not exist", workspace.Quote(name))
}
