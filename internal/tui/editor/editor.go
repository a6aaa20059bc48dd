// Package editor is the editor of prompts. It keeps a text with chips, which represent pastes, images and files, and breaks only the visible
// rows, so that long texts do not slow a key down.
package editor

import (
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// Options configure an Editor.
type Options struct {
	Theme       *theme.Theme
	Keys        *keys.Map
	Vim         bool
	Placeholder string // shown if the prompt is empty
	Prompt      string // the mark of the first row; "› " if empty

	History  *History               // nil: no history
	Files    *complete.Files        // files that @ completes, or nil; the editor owns it
	Commands func() []complete.Item // commands that a slash completes, or nil; each Text begins with a slash
	Dir      string                 // paths of dropped files are relative to it
	Getenv   func(string) string    // os.Getenv if nil
}

// Editor is the editor of prompts. It belongs to one goroutine.
type Editor struct {
	screen
	pen         *pen
	vim         vim
	suggestions suggestions
	recall      recall
	options     Options
}

// Lane says when the agent gets a prompt that is sent during a run.
type Lane string

// The lanes.
const (
	Steer    Lane = "steer"     // at the next step of the run
	FollowUp Lane = "follow_up" // after the run
)

// Submitted says that the person sent a prompt. The editor is empty then.
type Submitted struct {
	Draft Draft
	Lane  Lane
}

// Bash says that the person sent a command line, which was written after an exclamation mark.
type Bash struct{ Command string }

// Changed says that the text changed.
type Changed struct{}

// Refresh says that [Options.Commands] changed.
type Refresh struct{}

// Failed says that something that the person asked for did not work, such as a paste from the clipboard.
type Failed struct{ Err error }

// Own is work of an editor that its program passes to Update. An editor ignores that of others.
type Own struct {
	to *Editor
	do func() tea.Cmd
}

// New returns an empty editor that has the focus.
func New(o Options) *Editor {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	p := &pen{buffer: newBuffer(), column: -1}
	e := &Editor{screen: screen{pen: p, placeholder: o.Placeholder, focused: true}, pen: p, options: o}
	e.vim = vim{pen: p, mode: insertMode, on: o.Vim}
	e.suggestions = suggestions{pen: p, keys: o.Keys, files: o.Files, history: o.History, commands: o.Commands, later: e.later, dismissed: -1}
	e.recall = recall{pen: p, history: o.History}
	e.SetTheme(o.Theme)
	return e
}

// Close ends the work of the editor.
func (e *Editor) Close() {
	if e.options.Files != nil {
		e.options.Files.Close()
	}
}

// SetProject changes the directory of the prompt, with the files that @ completes, which the editor owns then.
func (e *Editor) SetProject(dir string, files *complete.Files) {
	e.Close()
	e.suggestions.close()
	e.options.Dir, e.options.Files, e.suggestions.files = dir, files, files
	if h := e.options.History; h != nil {
		h.dir = dir
		h.order()
	}
}

// SetTheme changes the colors and glyphs.
func (e *Editor) SetTheme(t *theme.Theme) {
	e.theme, e.suggestions.popup.Theme = t, t
	if e.prompt = e.options.Prompt; e.prompt == "" {
		e.prompt = t.Glyph("› ", "> ")
	}
}

// SetVim switches the keys of vim on or off.
func (e *Editor) SetVim(on bool) {
	e.vim.enter(insertMode)
	e.vim.on, e.mode = on, insertMode
}

// Mode returns the mode of vim: insert, normal or visual. It is empty without the keys of vim.
func (e *Editor) Mode() string {
	if !e.vim.on {
		return ""
	}
	return string(e.vim.mode)
}

// Popup returns the open popup, or nil. The program draws it above the prompt.
func (e *Editor) Popup() *complete.Popup {
	if e.suggestions.kind == nothing {
		return nil
	}
	return &e.suggestions.popup
}

// Wants reports whether the editor now needs a key that the program would use otherwise, such as esc while a popup is open.
func (e *Editor) Wants(msg tea.KeyPressMsg) bool {
	is := func(a keys.Action) bool { return e.options.Keys.Is(a, msg.String()) }
	switch {
	case is(keys.Interrupt), is(keys.Suspend):
		return false
	case e.suggestions.kind == ofHistory:
		return true
	case e.suggestions.kind != nothing && (is(keys.Cancel) || is(keys.Up) || is(keys.Down) || is(keys.Submit) || is(keys.Complete)):
		return true
	}
	return e.vim.wants(msg)
}

// Value returns the prompt.
func (e *Editor) Value() Draft { return e.pen.draft() }

// SetValue replaces the prompt and puts the cursor at its end. Undo brings the old one back.
func (e *Editor) SetValue(d Draft) {
	e.pen.set(d)
	e.suggestions.close()
}

// Insert inserts text at the cursor.
func (e *Editor) Insert(text string) { e.pen.put(e.pen.cursor, e.pen.cursor, Text(text), other) }

// InsertChip inserts a chip at the cursor.
func (e *Editor) InsertChip(p Part) {
	e.pen.put(e.pen.cursor, e.pen.cursor, Draft{Text: string(firstChip), Parts: []Part{p}}, other)
}

// Text returns the prompt with the content of pastes.
func (e *Editor) Text() string { return e.Value().Expanded() }

// Empty reports whether the prompt has no text but blanks, and no chips.
func (e *Editor) Empty() bool { return strings.TrimSpace(string(e.pen.text)) == "" }

// Clear closes the search of the history, or empties the prompt. Undo brings the text back.
func (e *Editor) Clear() {
	if e.suggestions.kind == ofHistory {
		e.suggestions.close()
		return
	}
	e.SetValue(Draft{})
}

// Expand replaces the paste before or at the cursor by its text. It reports whether there is one.
func (e *Editor) Expand() bool {
	b := e.pen
	for _, at := range []int{b.text.prev(b.cursor), b.cursor} {
		if i, ok := chipAt(string(b.text[at:])); ok && i < len(b.parts) && b.parts[i].Kind == Paste && !hasChip(b.parts[i].Text) {
			b.put(at, at+chipLen, Draft{Text: b.parts[i].Text}, other)
			return true
		}
	}
	return false
}

// Update handles keys, pastes and messages of the editor to itself.
func (e *Editor) Update(msg tea.Msg) tea.Cmd {
	text, cursor := e.pen.text, e.pen.cursor
	var cmd tea.Cmd
	typing := false
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		typing = true
		cmd = e.press(msg)
	case tea.PasteMsg:
		cmd = e.paste(msg.Content)
	case Refresh:
		if e.suggestions.kind == ofCommands {
			cmd = e.suggestions.refresh(false)
		}
	case Own:
		if msg.to == e {
			cmd = msg.do()
		}
	}
	e.mode = e.vim.mode
	e.selFrom, e.selTo = e.vim.selection()
	changed := len(text) != len(e.pen.text) || text != e.pen.text
	if changed {
		cmd = tea.Batch(cmd, send(Changed{}))
	}
	if open := e.suggestions.kind != nothing; changed && (typing && !e.recall.active || open) || open && cursor != e.pen.cursor {
		cmd = tea.Batch(cmd, e.suggestions.refresh(false))
	}
	return cmd
}

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// failed reports an error, if there is one.
func failed(err error) tea.Cmd {
	if err == nil {
		return nil
	}
	return send(Failed{err})
}

// later runs work outside of the program's loop, and what the work returns in Update.
func (e *Editor) later(work func() func() tea.Cmd) tea.Cmd {
	return func() tea.Msg { return Own{e, work()} }
}

// load reads the history for a key, the first time, and presses the key again. A person who never looks at the history does not pay for it.
func (e *Editor) load(key tea.KeyPressMsg) tea.Cmd {
	h := e.options.History
	if h == nil || h.asked {
		return nil
	}
	h.asked = true
	return e.later(func() func() tea.Cmd {
		entries, err := read(h.path)
		return func() tea.Cmd {
			h.stored = entries
			h.order()
			return tea.Batch(e.press(key), failed(err))
		}
	})
}

// press handles a key: first in the popup, then in the modes of vim, then in the text.
func (e *Editor) press(msg tea.KeyPressMsg) tea.Cmd {
	if cmd, handled, submit := e.suggestions.key(msg); handled {
		e.recall.active = false
		if submit {
			return e.submit(FollowUp)
		}
		return cmd
	}
	is := func(a keys.Action) bool { return e.options.Keys.Is(a, msg.String()) }
	if !is(keys.HistoryPrev) && !is(keys.HistoryNext) {
		e.recall.active = false
	}
	if e.vim.key(msg) {
		return nil
	}
	p := e.pen
	switch {
	case is(keys.Submit), msg.Code == tea.KeyKpEnter && msg.Mod == 0:
		if p.cursor > 0 && p.text[p.cursor-1] == '\\' {
			p.replace(p.cursor-1, p.cursor, "\n", other)
			return nil
		}
		return e.submit(FollowUp)
	case is(keys.Steer):
		return e.submit(Steer)
	case is(keys.HistoryPrev):
		p.killed = false
		if !e.recall.active && msg.Code == tea.KeyUp && p.vertical(p.above) {
			return nil
		}
		if load := e.load(msg); load != nil {
			return load
		}
		e.recall.step(1)
	case is(keys.HistoryNext):
		p.killed = false
		if e.recall.active || msg.Code != tea.KeyDown || !p.vertical(p.below) {
			e.recall.step(-1)
		}
	case is(keys.HistorySearch):
		if load := e.load(msg); load != nil {
			return load
		}
		if e.options.History != nil {
			return e.suggestions.searchHistory()
		}
	case is(keys.Complete):
		if e.suggestions.kind == nothing && e.Expand() {
			return nil
		}
		return e.suggestions.refresh(true)
	case is(keys.External):
		return e.OpenExternal()
	case is(keys.PasteImage):
		return e.PasteClipboard()
	default:
		p.edit(msg, is)
	}
	return nil
}

// submit sends the prompt.
func (e *Editor) submit(lane Lane) tea.Cmd {
	d := e.Value()
	if d.Empty() {
		return nil
	}
	text := d.Expanded()
	var msg tea.Msg = Submitted{Draft: d, Lane: lane}
	if e.pen.bash() {
		command := strings.TrimSpace(text[len("!"):])
		if command == "" {
			return nil
		}
		msg = Bash{Command: command}
	}
	cmd := send(msg)
	if e.options.History != nil {
		cmd = tea.Batch(cmd, e.options.History.Add(text))
	}
	e.pen.reset()
	e.vim.enter(insertMode)
	if hasChip(e.vim.register) {
		e.vim.register = "" // its parts are gone
	}
	e.recall.active = false
	e.suggestions.close()
	e.suggestions.dismissed = -1
	return cmd
}
