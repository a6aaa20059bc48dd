package team

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// maxDenied bounds the denied calls that a report names: they are a hint for the owner, and the journal has all.
const maxDenied = 5

// Verify compares the claims of a report with the journal of the sub-agent, from the entry after a number on, and returns the report with its
// facts: the files that changed, which checks passed after the last change, the calls that were denied, and a doubt for each claim that the
// journal does not support. root is the directory of the sub-agent. Verify only downgrades: no claim counts more than before.
func Verify(ctx context.Context, log session.Log, id session.SessionID, after int64, root string, r session.TaskReport) (session.TaskReport, error) {
	work, err := readWork(ctx, log, id, after, root)
	if err != nil {
		return r, err
	}
	r.Denied, r.Denials = work.denied, work.denials
	r.Checks, r.Doubts = slices.Clone(r.Checks), slices.Clone(r.Doubts)
	for i, c := range r.Checks {
		c.Doubt = work.doubt(root, c.Command)
		c.Verified = c.Doubt == ""
		if r.Checks[i] = c; !c.Verified {
			r.Doubts = append(r.Doubts, c.Doubt)
		}
	}
	changed := work.changed(root)
	r.Changed = slices.Sorted(maps.Keys(changed))
	if work.incomplete {
		r.Doubts = append(r.Doubts, "the list of changed files is incomplete, because too many files changed")
		return r, nil
	}
	named := map[string]bool{}
	for _, name := range r.Files {
		name = relative(root, name)
		if named[name] = true; !changed[name] {
			r.Doubts = append(r.Doubts, "it names "+name+" as changed, but the file did not change")
		}
	}
	for _, name := range r.Changed {
		if !named[name] && len(r.Files) > 0 {
			r.Doubts = append(r.Doubts, "it changed "+name+" without naming it")
		}
	}
	return r, nil
}

// work is the commands, the changes of files and the denied calls in a journal.
type work struct {
	commands   []ran
	changes    []change
	files      map[string]session.FileChange // the first state and the last one of each file
	incomplete bool
	denied     []string // the first ones
	denials    int
}

// ran is a command that ended.
type ran struct {
	call, line string
	passed     bool
	seq        int64 // of its result
}

// change is an entry about changed files.
type change struct {
	call string // that changed them
	path string // of the first one
	seq  int64
}

func readWork(ctx context.Context, log session.Log, id session.SessionID, after int64, root string) (*work, error) {
	w := &work{files: map[string]session.FileChange{}}
	lines := map[string]string{} // of the commands that run, by call
	asked := map[string]string{} // the tools of the calls
	kinds := []string{session.Message{}.Kind(), session.Decision{}.Kind(), session.CallStarted{}.Kind(), session.FilesChanged{}.Kind()}
	for e, err := range log.Read(ctx, id, after, kinds...) {
		if err != nil {
			return nil, err
		}
		if e.Imported {
			continue
		}
		switch b := e.Body.(type) {
		case session.CallStarted:
			var effects tool.Effects
			if json.Unmarshal(b.Effects, &effects) == nil && effects.Command != "" {
				lines[b.Call] = effects.Command
			}
		case session.Decision:
			if b.Verdict == "deny" {
				w.deny(cmp.Or(b.As, asked[b.Call])+" "+b.Title, cmp.Or(b.Code, b.By))
			}
		case session.Message:
			for _, c := range b.Calls() {
				asked[c.ID] = c.Name
			}
			w.block(root, b)
			if line, ok := lines[b.CallID]; ok && b.Role == llm.RoleTool {
				passed := b.Outcome == session.OutcomeOK && !b.IsError && !b.Failed
				w.commands = append(w.commands, ran{call: b.CallID, line: line, passed: passed, seq: e.Seq})
				delete(lines, b.CallID)
			}
		case session.FilesChanged:
			w.add(e.Seq, b)
		}
	}
	return w, nil
}

func (w *work) add(seq int64, b session.FilesChanged) {
	w.incomplete = w.incomplete || b.More > 0
	for i, f := range b.Files {
		if i == 0 {
			w.changes = append(w.changes, change{call: b.Call, path: f.Path, seq: seq})
		}
		if first, known := w.files[f.Path]; known {
			f.Before = first.Before
		}
		w.files[f.Path] = f
	}
}

// deny adds a call that was denied.
func (w *work) deny(what, code string) {
	what = fmt.Sprintf("%s (%s)", tool.Clip(what, maxWhat), code)
	if w.denials++; len(w.denied) < maxDenied && !slices.Contains(w.denied, what) {
		w.denied = append(w.denied, what)
	}
}

// maxWhat bounds the text about a denied call, in characters.
const maxWhat = 200

// block adds the call of a result if the sandbox blocked what its command did.
func (w *work) block(root string, m session.Message) {
	var details struct {
		Blocked []struct{ What, Path, Host string }
	}
	if m.Role != llm.RoleTool || json.Unmarshal(m.Details, &details) != nil || len(details.Blocked) == 0 {
		return
	}
	first := details.Blocked[0]
	where := first.Host
	if first.Path != "" {
		where = relative(root, first.Path)
	}
	w.deny(strings.TrimSpace(m.Tool+": "+first.What+" "+where), "sandbox")
}

// doubt returns why a command is no verification, "" if it is: its newest run passed, and no file changed after it.
func (w *work) doubt(root, command string) string {
	i := len(w.commands) - 1
	for ; i >= 0 && !includes(w.commands[i].line, command); i-- {
	}
	if i < 0 {
		return "it names " + command + " as verification, but did not run it"
	}
	last := w.commands[i]
	if !last.passed {
		return "it names " + command + " as verification, but its last run failed"
	}
	for _, c := range slices.Backward(w.changes) {
		if c.seq > last.seq && c.call != last.call {
			return "it names " + command + " as verification, but changed " + relative(root, c.path) + " after its last run"
		}
	}
	return ""
}

// includes reports whether a command line passes only if a command passes: it is the command, or commands joined by && of which it is one.
func includes(line, command string) bool {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if line, command = words(line), words(command); line == command {
		return true
	}
	plain := strings.ReplaceAll(line, "&&", "")
	if command == "" || strings.ContainsAny(plain, "&|;'\"`$(){}#\\<>") {
		return false
	}
	return slices.ContainsFunc(strings.Split(line, "&&"), func(part string) bool { return words(part) == command })
}

// changed returns the files whose last state differs from their first one, relative to the root.
func (w *work) changed(root string) map[string]bool {
	out := map[string]bool{}
	for name, f := range w.files {
		same := f.Before == nil && f.After == nil ||
			f.Before != nil && f.After != nil && f.Before.Hash != "" && f.Before.Hash == f.After.Hash && f.Before.Mode == f.After.Mode && f.Before.Link == f.After.Link
		folder := f.Before == nil && f.After != nil && fs.FileMode(f.After.Mode).IsDir() // made for a file, which counts
		if !same && !folder {
			out[relative(root, name)] = true
		}
	}
	return out
}

// relative is a path as reports have it: with slashes, and relative to the root if it is inside.
func relative(root, name string) string {
	if !filepath.IsAbs(name) {
		return filepath.ToSlash(filepath.Clean(name))
	}
	rel, err := filepath.Rel(root, name)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(rel)
}
