package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// Change is a changed file. A list of them is the details of all results that change files. [Set.Recall] reads it.
type Change struct {
	Path  string `json:"path"`           // from the root of the workspace
	From  string `json:"from,omitzero"`  // the path before a move
	Hash  string `json:"hash,omitzero"`  // SHA-256 of the new content, in hex; empty if the model does not know it
	Whole bool   `json:"whole,omitzero"` // the model knows all of it
}

// plan is the changes of a call, made from one look at the files.
type plan struct {
	steps []step
	notes []string // for the model
}

type step struct {
	workspace.Edit
	diff  tool.FileDiff
	verb  string      // in the past tense
	kind  fs.FileMode // of a removed link or directory
	base  *version    // of the file that is replaced, moved or removed; nil: there is none
	after *version    // nil: no file is left
	known bool        // the model knows the new content, at least in part
	whole bool        // the model knows all of it
}

// editor plans and makes changes of files that the model knows.
type editor struct{ *memory }

// source is a file that a plan changes.
type source struct {
	name, abs string
	text      string // in UTF-8
	coding
	base version
}

// load reads a file and its version. A file that is too large to edit has a version and no data.
func (e editor) load(abs string) (data []byte, v version, err error) {
	data, err = e.ws.ReadFile(abs, maxEdit)
	if _, large := errors.AsType[*workspace.TooLargeError](err); large {
		v, _, err = e.current(abs)
		return nil, v, err
	}
	return data, sha256.Sum256(data), err
}

// open reads a file to change a part of it. The caller checks with proven what the model knows of it.
func (e editor) open(ctx context.Context, name string) (source, error) {
	f := source{name: name}
	var data []byte
	var err error
	if f.abs, err = e.ws.Resolve(name); err == nil {
		data, err = e.ws.ReadFile(f.abs, maxEdit)
	}
	if err != nil {
		return f, e.explain(ctx, name, err)
	}
	f.base = sha256.Sum256(data)
	f.text, f.coding = decodeText(data)
	return f, nil
}

// proven returns an error unless the model knows what it changes: it has read this version of the file, or its old texts fit exactly and
// only once. An error of the match itself gets the advice to read a file that the model has not read, or that has changed since.
func (f source) proven(m *memory, exact bool, err error) error {
	stale := m.fresh(f.name, f.abs, f.base, false)
	switch {
	case stale == nil || err == nil && exact:
		return err
	case err != nil:
		return fmt.Errorf("%w\n%w", err, stale)
	}
	return fmt.Errorf("the old text does not fit exactly and only once, and %w", stale)
}

// replaced is the step that gives a file a new text and keeps its encoding.
func (e editor) replaced(f source, text string) (step, error) {
	data, err := f.encode(text)
	if err != nil {
		return step{}, fmt.Errorf("%s: %w", workspace.Quote(f.name), err)
	}
	k, _ := e.knows(f.abs)
	one := e.step(f.abs, &f.base, f.text, text, data, k.whole)
	if k.version != f.base { // the old text proved its place only
		one.known, one.whole = false, false
	}
	return one, nil
}

// step is the step that writes data to a file; without a base it creates the file.
func (e editor) step(abs string, base *version, before, after string, data []byte, whole bool) step {
	v := version(sha256.Sum256(data))
	if data == nil {
		data = []byte{} // nil data would remove the file
	}
	one := step{
		Edit: workspace.Edit{Path: abs, Data: data, Exact: true}, diff: diffOf(e.ws.Rel(abs), before, after, base == nil, false),
		verb: "edited", base: base, after: &v, known: true, whole: whole,
	}
	if base == nil {
		one.verb = "created"
	}
	return one
}

func (e editor) gone(abs, verb string, kind fs.FileMode) step {
	return step{Edit: workspace.Edit{Path: abs, Exact: true}, diff: tool.FileDiff{Path: e.ws.Rel(abs), Deleted: true}, verb: verb, kind: kind}
}

// apply makes all steps or none, and remembers the new versions.
func (e editor) apply(ctx context.Context, p plan) error {
	var undo []func()
	edits := make([]workspace.Edit, len(p.steps))
	for i, one := range p.steps {
		edits[i] = one.Edit
		edits[i].Check = func() error {
			if err := e.check(one); err != nil {
				return err
			}
			if one.after != nil && one.known { // before any other call can read the new version
				undo = append(undo, e.wrote(one.Edit.Path, *one.after, one.whole))
			}
			return nil
		}
	}
	err := e.ws.Apply(ctx, edits)
	if err != nil {
		for _, back := range undo {
			back()
		}
	}
	return err
}

// check returns an error unless the path of a step is still as planned. Nothing else of the workspace writes meanwhile.
func (e editor) check(one step) error {
	from := one.Edit.Path
	if one.Edit.From != "" {
		from = one.Edit.From
	}
	name := workspace.Quote(e.ws.Rel(from))
	if one.base == nil && one.after == nil {
		info, err := e.ws.Lstat(from)
		if err == nil && info.Mode().Type() != one.kind {
			err = tool.Codef("tool.changed", "%s is no longer the same kind of file; look at it again", name)
		}
		return err
	}
	v, exists, err := e.current(from)
	switch {
	case err != nil:
		return err
	case one.base == nil && exists:
		return tool.Codef("tool.changed", "%s was created by someone else just now; read it first, then change it", name)
	case one.base != nil && (!exists || v != *one.base):
		return tool.Codef("tool.changed", "%s has changed just now; read it again, then change it", name)
	}
	return nil
}

// text reports a finished plan to the model.
func (p plan) text() string {
	var lines []string
	for _, one := range p.steps {
		d := one.diff
		line := one.verb + " " + workspace.Quote(d.Path)
		if d.From != "" {
			line = fmt.Sprintf("%s %s to %s", one.verb, workspace.Quote(d.From), workspace.Quote(d.Path))
		}
		if !d.Deleted && (d.From == "" || d.Added+d.Removed > 0) {
			line += fmt.Sprintf(": %s added, %d removed", tool.Count(d.Added, "line"), d.Removed)
		}
		lines = append(lines, line)
	}
	return strings.Join(append(lines, p.notes...), "\n")
}

// changes is the details of a finished plan.
func (p plan) changes() (all []Change) {
	for _, one := range p.steps {
		c := Change{Path: one.diff.Path, From: one.diff.From, Whole: one.whole}
		if one.after != nil && one.known {
			c.Hash = one.after.String()
		}
		all = append(all, c)
	}
	return all
}

func (p plan) diffs() (all []tool.FileDiff) {
	for _, one := range p.steps {
		all = append(all, one.diff)
	}
	return all
}

// brief is a finished plan in one line.
func (p plan) brief() string {
	if len(p.steps) == 0 {
		return "no change"
	}
	added, removed := 0, 0
	for _, one := range p.steps {
		added, removed = added+one.diff.Added, removed+one.diff.Removed
	}
	text := fmt.Sprintf("+%d -%d", added, removed)
	switch d := p.steps[0].diff; {
	case len(p.steps) > 1:
		return text + ", " + tool.Count(len(p.steps), "file")
	case d.Created:
		return text + ", new"
	case d.Deleted:
		return text + ", deleted"
	case d.From != "":
		return text + ", moved"
	}
	return text
}

func (p plan) preview() string {
	var b strings.Builder
	for _, one := range p.steps {
		switch d := one.diff; {
		case d.From != "":
			fmt.Fprintf(&b, "rename from %s\nrename to %s\n%s", workspace.Quote(d.From), workspace.Quote(d.Path), d.Text)
		case d.Text != "":
			b.WriteString(d.Text)
		default: // "deleted link x" becomes "delete link x"
			fmt.Fprintf(&b, "%s %s\n", imperatives.Replace(one.verb), workspace.Quote(d.Path))
		}
	}
	for _, note := range p.notes {
		fmt.Fprintf(&b, "[%s]\n", note)
	}
	text, _ := tool.Bound(b.String(), maxShown)
	return text
}

var imperatives = strings.NewReplacer("edited", "edit", "created", "create", "replaced", "replace", "deleted", "delete")

const (
	maxEdit  = 16 << 20 // bytes of the largest file that the tools edit
	maxDiff  = 1 << 20  // bytes of the largest file with a diff; for a larger one only lines are counted
	maxShown = 64 << 10 // bytes of a diff
)

// diffOf compares two versions of a file.
func diffOf(path, before, after string, created, deleted bool) tool.FileDiff {
	d := tool.FileDiff{Path: path, Created: created, Deleted: deleted}
	if tool.Binary(before) || tool.Binary(after) {
		return d
	}
	if max(len(before), len(after)) > maxDiff {
		d.Added, d.Removed = countLines(after), countLines(before)
		return d
	}
	name := workspace.Quote(path) // a header is one line
	from, to := "a/"+name, "b/"+name
	if created {
		from = "/dev/null"
	}
	if deleted {
		to = "/dev/null"
	}
	d.Text = udiff.Unified(from, to, before, after)
	if _, body, ok := strings.Cut(d.Text, "\n@@"); ok {
		for line := range strings.Lines(body) {
			switch line[0] {
			case '+':
				d.Added++
			case '-':
				d.Removed++
			}
		}
	}
	text, lost := tool.Bound(d.Text, maxShown)
	d.Text, d.Cut = text, lost > 0
	return d
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
