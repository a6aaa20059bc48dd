package editor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/gofrs/flock"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/complete"
)

// History is the prompts of all sessions of a person, in a file with one line of JSON for each. It belongs to one goroutine; its commands
// run on others.
type History struct {
	path   string
	dir    string
	redact func(string) string
	asked  bool // for the file

	stored []entry // the file, oldest first
	own    []entry // of this process, oldest first
	all    []entry // in the order of recall, each text once; elements never change
}

// entry is a line of the file.
type entry struct {
	Text string    `json:"text"`
	Dir  string    `json:"dir,omitempty"`
	Time time.Time `json:"time"`
}

// Bounds of the file.
const (
	maxEntries      = 10_000
	maxHistoryBytes = 4 << 20
	maxEntryBytes   = 64 << 10 // Tenon remembers longer prompts until it ends
	lockTime        = 2 * time.Second
)

// NewHistory returns the history in a file. dir is the project whose prompts come first. redact hides secrets before a prompt is stored; nil
// hides none.
func NewHistory(path, dir string, redact func(string) string) *History {
	if redact == nil {
		redact = func(text string) string { return text }
	}
	return &History{path: path, dir: dir, redact: redact}
}

// order makes the order of recall: the newest first, prompts of this process before those of this project, and these before others.
func (h *History) order() {
	h.all = nil
	seen := map[string]bool{}
	add := func(entries []entry, everywhere bool) {
		for _, e := range slices.Backward(entries) {
			if !seen[e.Text] && (everywhere || e.Dir == h.dir) {
				seen[e.Text] = true
				h.all = append(h.all, e)
			}
		}
	}
	add(h.own, true)
	add(h.stored, false)
	add(h.stored, true)
}

// Add remembers a prompt and returns the command that stores it. The command yields Failed if it cannot.
func (h *History) Add(text string) tea.Cmd {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	h.own = append(h.own[max(len(h.own)-maxEntries+1, 0):], entry{Text: text, Dir: h.dir, Time: time.Now().UTC().Truncate(time.Second)})
	h.order()
	stored := h.own[len(h.own)-1]
	if len(text) > maxEntryBytes {
		return nil
	}
	return func() tea.Msg {
		stored.Text = h.redact(stored.Text)
		if err := add(h.path, stored); err != nil {
			return Failed{fmt.Errorf("cannot store the prompt in the history %s: %w; check its permissions", h.path, err)}
		}
		return nil
	}
}

// next returns the index of the next prompt, in steps of 1 to older or -1 to newer ones, that begins with a prefix and is not the text shown
// now, or -1.
func (h *History) next(prefix, shown string, at, step int) int {
	for at += step; at >= 0 && at < len(h.all); at += step {
		if strings.HasPrefix(h.all[at].Text, prefix) && h.all[at].Text != shown {
			return at
		}
	}
	return -1
}

// labelBytes bounds the part of a prompt that the search shows and matches.
const labelBytes = 512

// search finds prompts by a fuzzy pattern, newest first if it is empty.
func (h *History) search(pattern string) func() []complete.Item {
	all, dir := h.all, h.dir
	return func() []complete.Item {
		items := make([]complete.Item, len(all))
		for i, e := range all {
			items[i] = complete.Item{Text: e.Text, Label: term.OneLine(strings.ToValidUTF8(e.Text[:min(len(e.Text), labelBytes)], ""))}
			if e.Dir != "" && e.Dir != dir {
				items[i].Detail = filepath.Base(e.Dir)
			}
		}
		return complete.Filter(pattern, items, complete.Match)
	}
}

// read returns the entries of a file, oldest first. It skips damaged lines.
func read(path string) ([]entry, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the history of prompts: %w; check its permissions", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot read the history of prompts: %s is not a file", path)
	}
	from := max(info.Size()-2*maxHistoryBytes, 0) // no Tenon wrote more; its end is enough
	data, err := io.ReadAll(io.NewSectionReader(f, from, 2*maxHistoryBytes))
	if err != nil {
		return nil, fmt.Errorf("cannot read the history of prompts: %w", err)
	}
	var entries []entry
	for line := range bytes.Lines(data) {
		var e entry
		if json.Unmarshal(line, &e) == nil && e.Text != "" && len(e.Text) <= maxEntryBytes {
			e.Text = clean(e.Text)
			entries = append(entries, e)
		}
	}
	return entries[max(len(entries)-maxEntries, 0):], nil
}

// add appends an entry to a file. It drops the oldest half if the file is too large.
func add(path string, e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, 10*time.Millisecond); !ok || err != nil {
		return fmt.Errorf("cannot lock it: %w", err)
	}
	defer lock.Unlock()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte{'\n'}, line...)) // before the line: a process may have ended while it wrote the last one
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if info.Size() < maxHistoryBytes {
		return nil
	}
	return shrink(path)
}

// shrink replaces a file by its newer half.
func shrink(path string) error {
	entries, err := read(path)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	from := len(entries)
	for size := 0; from > 0 && len(entries)-from < maxEntries/2; from-- {
		if size += len(entries[from-1].Text) + len(entries[from-1].Dir); size > maxHistoryBytes/2 {
			break
		}
	}
	for _, e := range entries[from:] {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		out.Write(append(line, '\n'))
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(out.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
