package undo

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// FileDiff is what became of one file.
type FileDiff struct {
	Path    string             `json:"path"` // from the directory of the session, or absolute
	Before  *session.FileState `json:"before,omitzero"`
	After   *session.FileState `json:"after,omitzero"`
	Added   int                `json:"added"` // lines
	Removed int                `json:"removed"`
	Diff    string             `json:"diff,omitzero"` // unified; empty for what is no text
	Note    string             `json:"note,omitzero"` // why there is no diff, or that others have changed the file too
}

// maxDiffed is the size of the largest file whose text is compared, in bytes.
const maxDiffed = 4 << 20

// Diff compares what files were at an entry, or before the session, with what they are now: those that the session changed
// since. What is as it was is left out.
func (h *History) Diff(from string, contents *checkpoint.Store) ([]FileDiff, error) {
	seq := int64(0)
	if from != "" {
		p, err := h.find(from)
		if err != nil {
			return nil, err
		}
		seq = p.seq
	}
	before := map[string]*session.FileState{}
	for _, c := range h.changes {
		for _, f := range c.body.Files {
			if _, first := before[f.Path]; c.seq > seq && !first {
				before[f.Path] = f.Before
			}
		}
	}
	look, err := newLooker(h.Dir)
	if err != nil {
		return nil, err
	}
	defer look.close()
	last, unsure := h.lastChanges(), h.unsure(seq)
	var out []FileDiff
	for _, path := range slices.Sorted(maps.Keys(before)) {
		d := FileDiff{Path: look.ws.Rel(path), Before: before[path]}
		if d.After, err = look.state(path); err != nil {
			d.Note = err.Error()
		} else if same(d.Before, d.After) {
			continue
		} else if !same(d.After, last[path].After) && !same(d.After, last[path].Before) {
			d.Note = "others have changed it too"
		} else if why := unsure[path]; why != "" {
			d.Note = why
		}
		d.compare(
			func() ([]byte, error) { return contents.Get(d.Before.Hash) },
			func() ([]byte, error) { return look.ws.ReadFile(path, maxDiffed) })
		out = append(out, d)
	}
	return out, nil
}

// compare fills in the difference of two texts.
func (d *FileDiff) compare(before, after func() ([]byte, error)) {
	old, err := text(d.Before, before)
	var now string
	if err == nil {
		now, err = text(d.After, after)
	}
	switch {
	case errors.Is(err, checkpoint.ErrNotKept) && d.Before != nil && d.Before.Lost != "":
		d.Note = joinNotes(d.Note, "what it had before was not kept: "+d.Before.Lost)
		return
	case err != nil:
		d.Note = joinNotes(d.Note, err.Error())
		return
	case tool.Binary(old) || tool.Binary(now):
		d.Note = joinNotes(d.Note, "not text")
		return
	}
	name := workspace.Quote(filepath.ToSlash(d.Path)) // a header is one line
	from, to := "a/"+name, "b/"+name
	if d.Before == nil {
		from = "/dev/null"
	}
	if d.After == nil {
		to = "/dev/null"
	}
	d.Diff = udiff.Unified(from, to, old, now)
	i := 0
	for line := range strings.Lines(d.Diff) {
		if i++; i <= 2 {
			continue // the header
		}
		switch line[0] {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
	}
}

func joinNotes(a, b string) string { return strings.TrimPrefix(a+"; "+b, "; ") }

var errTooLarge = fmt.Errorf("larger than %d MiB", maxDiffed>>20)

// text is what a file has. A link has where it leads to.
func text(s *session.FileState, read func() ([]byte, error)) (string, error) {
	switch {
	case s == nil || isDir(s):
		return "", nil
	case s.Link != "":
		return s.Link + "\n", nil
	case s.Size > maxDiffed:
		return "", errTooLarge
	case s.Lost != "" && s.Hash == "":
		return "", checkpoint.ErrNotKept
	}
	data, err := read()
	return string(data), err
}

// Rel is a path from the directory of the session, with slashes; what lies elsewhere stays as it is.
func (p *Plan) Rel(path string) string {
	if rel, err := filepath.Rel(p.dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// Difference is what a plan would do to a file by force: from what it has now to what it would have.
func (p *Plan) Difference(f File, contents *checkpoint.Store) FileDiff {
	d := FileDiff{Path: p.Rel(f.Path), Before: f.Now, After: f.Want}
	look, err := newLooker(p.dir)
	if err != nil {
		d.Note = err.Error()
		return d
	}
	defer look.close()
	d.compare(
		func() ([]byte, error) { return look.ws.ReadFile(f.Path, maxDiffed) },
		func() ([]byte, error) { return contents.Get(f.Want.Hash) })
	return d
}
