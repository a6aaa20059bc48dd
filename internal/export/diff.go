package export

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/tenon-agent/tenon/session"
)

// fileDiff is how one file changes.
type fileDiff struct {
	Path    string
	Added   int
	Removed int
	Lines   []diffLine
	Note    string // why there are no lines
	More    int    // lines that are left out
}

// diffLine is a line of a unified difference.
type diffLine struct {
	Kind string // "add", "del", "hunk", "same"
	Text string
}

const (
	maxDiffBytes = 512 << 10 // of a file whose text is compared
	maxDiffLines = 600       // that are shown of one file
)

// diffs is what a call changed: by what was kept of the files, else as its arguments say.
func (c *callItem) diffs(dir string, o Options) []fileDiff {
	var out []fileDiff
	for _, f := range c.Files {
		d := fileDiff{Path: relative(dir, f.Path)}
		old, err1 := stateText(f.Before, o)
		now, err2 := stateText(f.After, o)
		switch {
		case err1 == "" && err2 == "":
			d.unified(udiff.Unified("a", "b", old, now))
		case len(c.Files) == 1:
			if said := c.said(dir); len(said) > 0 {
				return said
			}
			fallthrough
		default:
			d.Note = joined(err1, err2)
			if err1 == err2 {
				d.Note = err1
			}
		}
		if d.Note == "" && len(d.Lines) == 0 {
			d.Note = "nothing in its text changed"
		}
		out = append(out, d)
	}
	if len(out) == 0 {
		return c.said(dir)
	}
	return out
}

// stateText is the text of a file, or why there is none.
func stateText(s *session.FileState, o Options) (text, why string) {
	switch {
	case s == nil:
		return "", ""
	case s.Link != "":
		return s.Link + "\n", ""
	case s.Hash == "" || o.Content == nil:
		return "", "its content is not known"
	case s.Size > maxDiffBytes:
		return "", "too large to compare"
	}
	data, err := o.Content(s.Hash)
	switch {
	case err != nil:
		return "", "its content was not kept"
	case bytes.IndexByte(data, 0) >= 0:
		return "", "not text"
	}
	return o.text(strings.ToValidUTF8(string(data), "\uFFFD")), ""
}

func relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); dir != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// unified reads a unified difference with its two lines of a header.
func (d *fileDiff) unified(text string) {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > 2 {
			d.line(line)
		}
	}
}

// line adds a line with its mark.
func (d *fileDiff) line(text string) {
	text = strings.TrimRight(text, "\r\n")
	kind := "same"
	switch {
	case strings.HasPrefix(text, "@@"):
		kind = "hunk"
	case strings.HasPrefix(text, "+"):
		kind = "add"
		d.Added++
	case strings.HasPrefix(text, "-"):
		kind = "del"
		d.Removed++
	}
	if len(d.Lines) >= maxDiffLines {
		d.More++
		return
	}
	if len(text) > 2000 {
		text = strings.ToValidUTF8(text[:2000], "") + "…"
	}
	d.Lines = append(d.Lines, diffLine{kind, text})
}

// said is the change that a call's arguments tell of, whatever the tool is called.
func (c *callItem) said(dir string) []fileDiff {
	var args map[string]json.RawMessage
	if len(c.Arguments) > maxDiffBytes || json.Unmarshal([]byte(c.Arguments), &args) != nil {
		return nil
	}
	path := relative(dir, text(args, "path", "file_path", "filePath", "filename", "notebook_path"))
	if patch := text(args, "patch", "patchText", "input", "diff"); isPatch(patch) {
		return patchDiffs(patch)
	}
	d := fileDiff{Path: path}
	var edits []map[string]json.RawMessage
	if raw, ok := args["edits"]; ok && json.Unmarshal(raw, &edits) == nil {
		for _, e := range edits {
			d.replaced(e)
		}
	} else {
		d.replaced(args)
	}
	if _, whole := args["content"]; len(d.Lines) == 0 && whole && path != "" {
		for line := range strings.Lines(text(args, "content")) {
			d.line("+" + line)
		}
	}
	if len(d.Lines) == 0 {
		return nil
	}
	return []fileDiff{d}
}

// replaced adds the replacement that arguments name.
func (d *fileDiff) replaced(args map[string]json.RawMessage) {
	for _, names := range [][2]string{
		{"old_text", "new_text"}, {"old_string", "new_string"}, {"oldText", "newText"}, {"oldString", "newString"},
	} {
		_, from := args[names[0]]
		_, to := args[names[1]]
		if from && to {
			old, now := text(args, names[0]), text(args, names[1])
			d.unified(udiff.Unified("a", "b", ended(old), ended(now)))
			return
		}
	}
}

// ended is a text whose last line ends.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// text is the first of the arguments that is a text.
func text(args map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		var s string
		if raw, ok := args[name]; ok && json.Unmarshal(raw, &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

func isPatch(text string) bool {
	return strings.HasPrefix(text, "*** Begin Patch") || strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "diff --git ")
}

// patchDiffs takes a patch apart by its files.
func patchDiffs(patch string) []fileDiff {
	var out []fileDiff
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		name := ""
		for _, mark := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "+++ b/", "+++ "} {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				name = rest
				break
			}
		}
		switch {
		case name != "":
			out = append(out, fileDiff{Path: name})
		case strings.HasPrefix(line, "*** ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "diff --git ") || len(out) == 0:
		default:
			out[len(out)-1].line(line)
		}
	}
	return out
}
