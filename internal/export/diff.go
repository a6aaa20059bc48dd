package export

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace/contents"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

type change struct {
	session.FileDiff
	Note string // the reason if there is no text
}

// changes returns the changes of a call: as its tool reported them, as the saved contents show them, or as its arguments say. Calls of
// imported sessions have arguments only.
func (o *overview) changes(c *transcript.Call) (all []change) {
	known := false
	for _, d := range c.Diffs {
		all, known = append(all, change{FileDiff: d}), true
	}
	if known {
		return all
	}
	for _, f := range c.Files {
		d := undo.Compare(paths.Show(o.Dir, f.Path), f.Before, f.After, o.opts.content)
		known = known || d.Note == ""
		all = append(all, change{Note: d.Note, FileDiff: session.FileDiff{Path: d.Path, Added: d.Added, Removed: d.Removed, Text: d.Diff}})
	}
	if c.Seq > 0 && !c.OK() && len(all) == 0 {
		return nil // the arguments say what did not happen
	}
	if d, ok := fromArguments(c.Arguments); ok && !known && len(all) < 2 {
		d.Path = paths.Show(o.Dir, d.Path)
		return []change{d}
	}
	return all
}

// content returns the contents of a file without keys.
func (o Options) content(hash string) ([]byte, error) {
	if o.Content == nil {
		return nil, contents.ErrNotKept
	}
	data, err := o.Content(hash)
	if err == nil && o.Redact != nil {
		data = []byte(o.Redact(string(data)))
	}
	return data, err
}

// lines returns the first lines of the diff, without its header, and the number of the other lines.
func (c change) lines(most int) (lines []string, more int) {
	const longest = 2000
	n := 0
	for line := range strings.Lines(strings.ToValidUTF8(c.Text, "\uFFFD")) {
		if n++; n <= 2 && (strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ")) {
			continue
		}
		if len(lines) == most {
			more++
			continue
		}
		line = strings.TrimRight(line, "\r\n")
		if len(line) > longest {
			line = strings.ToValidUTF8(line[:longest], "") + "…"
		}
		lines = append(lines, line)
	}
	return lines, more
}

// fromArguments reads the change of a file from the arguments of a call.
func fromArguments(arguments string) (d change, ok bool) {
	const longest = 512 << 10
	var args map[string]json.RawMessage
	if len(arguments) > longest || json.Unmarshal([]byte(arguments), &args) != nil {
		return d, false
	}
	d.Path, _ = text(args, "path", "file_path", "filePath", "filename", "notebook_path")
	edits := []map[string]json.RawMessage{args}
	if raw, ok := args["edits"]; ok {
		_ = json.Unmarshal(raw, &edits) // other forms have no change that is known
	}
	for _, e := range edits {
		from, ok1 := text(e, "old_text", "old_string", "oldText", "oldString")
		to, ok2 := text(e, "new_text", "new_string", "newText", "newString")
		if ok1 && ok2 {
			lines, _ := change{FileDiff: session.FileDiff{Text: udiff.Unified("a", "b", ended(from), ended(to))}}.lines(len(from) + len(to))
			d.Text += strings.Join(append(lines, ""), "\n")
		}
	}
	patch, _ := text(args, "patch", "patchText", "input", "diff")
	content, whole := text(args, "content")
	switch {
	case d.Text != "":
	case slices.ContainsFunc([]string{"*** Begin Patch", "--- ", "diff --git "}, func(s string) bool { return strings.HasPrefix(patch, s) }):
		d.Text = patch
	case whole && d.Path != "":
		d.Text = udiff.Unified("a", "b", "", ended(content))
	}
	lines, _ := d.lines(longest)
	for _, line := range lines {
		switch kind(line) {
		case "add":
			d.Added++
		case "del":
			d.Removed++
		}
	}
	return d, d.Text != ""
}

func kind(line string) string {
	switch {
	case strings.HasPrefix(line, "@@"):
		return "hunk"
	case strings.HasPrefix(line, "+"):
		return "add"
	case strings.HasPrefix(line, "-"):
		return "del"
	}
	return "same"
}

// text returns the first argument that is a text.
func text(args map[string]json.RawMessage, names ...string) (s string, ok bool) {
	for _, name := range names {
		if raw, found := args[name]; found && json.Unmarshal(raw, &s) == nil {
			return s, true
		}
	}
	return "", false
}

// ended returns the text with an end of its last line.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// total returns the numbers of lines that changes add and remove.
func total(all []change) (added, removed int) {
	for _, c := range all {
		added, removed = added+c.Added, removed+c.Removed
	}
	return added, removed
}
