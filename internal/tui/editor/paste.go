package editor

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/complete"
)

// Sizes from which a paste becomes a chip.
const (
	maxPasteLines = 8
	maxPasteBytes = 1000
)

// maxPaste bounds a paste.
const maxPaste = 16 << 20

// paste inserts pasted text, or attaches the files that were dropped.
func (e *Editor) paste(content string) tea.Cmd {
	if len(content) > maxPaste {
		return failed(fmt.Errorf("cannot paste more than %d MB; mention a file with @", maxPaste>>20))
	}
	if paths := complete.Dropped(content); paths != nil && !e.pen.bash() {
		dir := e.options.Dir
		return e.later(func() func() tea.Cmd {
			parts, ok := attach(dir, paths)
			if !ok {
				parts = []Part{{Kind: Paste, Text: content}}
			}
			return func() tea.Cmd { return e.pasted(parts...) }
		})
	}
	return e.pasted(Part{Kind: Paste, Text: content})
}

// PasteClipboard reads the clipboard with a program of the system and inserts its image or its text.
func (e *Editor) PasteClipboard() tea.Cmd {
	getenv := e.options.Getenv
	return e.later(func() func() tea.Cmd {
		part, err := clipboard(getenv)
		return func() tea.Cmd {
			if err != nil {
				return failed(err)
			}
			return e.pasted(part)
		}
	})
}

// pasted inserts parts: chips of images and long texts, mentions of files, and short texts.
func (e *Editor) pasted(parts ...Part) tea.Cmd {
	if e.suggestions.kind == ofHistory {
		e.suggestions.close()
	}
	e.recall.active = false
	p := e.pen
	p.sealed = true
	for _, part := range parts {
		text := clean(part.Text)
		switch {
		case part.Kind == File:
			e.Insert(complete.Write(part.Path) + " ")
		case part.Kind == Image:
			e.InsertChip(part)
			e.Insert(" ")
		case len(text) > maxPasteBytes || strings.Count(text, "\n") > maxPasteLines || hasChip(text):
			e.InsertChip(Part{Kind: Paste, Text: text})
		default:
			e.Insert(text)
		}
	}
	p.sealed = true
	return nil
}

// OpenExternal writes the prompt in an external editor: $VISUAL, $EDITOR, or one that most systems have. Chips are their labels there.
func (e *Editor) OpenExternal() tea.Cmd {
	before := e.Value()
	return external(before.Shown(), e.options.Getenv, func(text string, err error) tea.Msg {
		return Own{e, func() tea.Cmd {
			if err != nil {
				return failed(err)
			}
			d := Text(text)
			for i, p := range before.Parts { // the labels that are left
				d.Text = strings.Replace(d.Text, p.Label(), string(firstChip+rune(i)), 1)
			}
			d.Parts = before.Parts
			e.SetValue(d)
			return nil
		}}
	})
}
