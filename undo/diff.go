package undo

import (
	"context"
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
	"github.com/tenon-agent/tenon/workspace/contents"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// FileDiff is the difference between two states of a file.
type FileDiff struct {
	Path    string             `json:"path"` // from the directory of the session, or absolute
	Before  *session.FileState `json:"before,omitzero"`
	After   *session.FileState `json:"after,omitzero"`
	Added   int                `json:"added"` // lines
	Removed int                `json:"removed"`
	Diff    string             `json:"diff,omitzero"` // unified; empty if the file is not text
	Note    string             `json:"note,omitzero"` // the reason why there is no diff, or that others have changed the file, too
}

// maxDiffed is the size of the largest file whose text is compared, in bytes.
const maxDiffed = 4 << 20

// Diff compares the files at the time of an entry, or before the session, with the files now: those that the session has changed since, and
// that are different.
func (h *History) Diff(ctx context.Context, from string, kept contents.Store) ([]FileDiff, error) {
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
	look, err := newLooker(h.Dir, h.bounds)
	if err != nil {
		return nil, err
	}
	defer look.close()
	last, unsure := h.lastChanges(), h.unsure(seq)
	var out []FileDiff
	for _, path := range slices.Sorted(maps.Keys(before)) {
		d := FileDiff{Path: look.ws.Rel(path), Before: before[path]}
		if d.After, err = look.state(path); err != nil {
			out = append(out, FileDiff{Path: d.Path, Note: err.Error()})
			continue
		} else if same(d.Before, d.After) {
			continue
		} else if !same(d.After, last[path].After) && !same(d.After, last[path].Before) {
			d.Note = "others have changed it too"
		} else if why := unsure[path]; why != "" {
			d.Note = why
		}
		d.compare(
			func() ([]byte, error) { return contents.Get(ctx, kept, d.Before.Hash) },
			func() ([]byte, error) { return look.ws.ReadFile(path, maxDiffed) })
		out = append(out, d)
	}
	return out, nil
}

// Compare returns the difference between two states of a file; nil is a file that does not exist. content returns contents by their hash.
func Compare(path string, before, after *session.FileState, content func(hash string) ([]byte, error)) FileDiff {
	d := FileDiff{Path: path, Before: before, After: after}
	d.compare(func() ([]byte, error) { return content(before.Hash) }, func() ([]byte, error) { return content(after.Hash) })
	return d
}

// compare sets the difference of two texts.
func (d *FileDiff) compare(before, after func() ([]byte, error)) {
	old, err := text(d.Before, before)
	var now string
	if err == nil {
		now, err = text(d.After, after)
	}
	switch {
	case errors.Is(err, contents.ErrNotKept) && d.Before != nil && d.Before.Lost != "":
		d.Note = joinNotes(d.Note, "its old content was not kept: "+d.Before.Lost)
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

// text returns the content of a file, or the target of a link.
func text(s *session.FileState, read func() ([]byte, error)) (string, error) {
	switch {
	case s == nil || isDir(s):
		return "", nil
	case s.Link != "":
		return s.Link + "\n", nil
	case s.Size > maxDiffed:
		return "", errTooLarge
	case s.Lost != "" && s.Hash == "":
		return "", contents.ErrNotKept
	}
	data, err := read()
	return string(data), err
}

// Rel returns a path from the directory of the session, with slashes. A path outside stays absolute.
func (p *Plan) Rel(path string) string { return paths.Show(p.dir, path) }

// Difference returns the change that the plan would make to a file by force.
func (p *Plan) Difference(ctx context.Context, f File, kept contents.Store) FileDiff {
	d := FileDiff{Path: p.Rel(f.Path), Before: f.Now, After: f.Want}
	look, err := newLooker(p.dir, p.bounds)
	if err != nil {
		d.Note = err.Error()
		return d
	}
	defer look.close()
	d.compare(
		func() ([]byte, error) { return look.ws.ReadFile(f.Path, maxDiffed) },
		func() ([]byte, error) { return contents.Get(ctx, kept, f.Want.Hash) })
	return d
}
