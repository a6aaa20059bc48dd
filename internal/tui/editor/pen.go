package editor

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// pen edits a buffer as keys do.
type pen struct {
	*buffer
	column int // where the cursor wants to be when it moves between rows; negative: where it is
	kills  []string
	killed bool // the last key deleted text for the kill ring
}

// put replaces a range of the text by a draft.
func (p *pen) put(from, to int, d Draft, kind changeKind) {
	text := clean(d.Text)
	if hasChip(text) {
		used := p.numbers(string(p.text[:from] + p.text[to:]))
		text = eachChip(text, func(i int) string {
			if i >= len(d.Parts) || len(p.parts) >= int(lastChip-firstChip) {
				return ""
			}
			part := d.Parts[i]
			if part.Number == 0 || used[number{part.Kind, part.Number}] {
				for part.Number = 1; used[number{part.Kind, part.Number}]; part.Number++ {
				}
			}
			used[number{part.Kind, part.Number}] = true
			p.parts = append(p.parts, part)
			return string(firstChip + rune(len(p.parts)-1))
		})
	}
	p.replace(from, to, text, kind)
	p.column = -1
}

// number is the number of a part.
type number struct {
	kind Kind
	n    int
}

// numbers returns the numbers of the parts in a text.
func (p *pen) numbers(text string) map[number]bool {
	used := map[number]bool{}
	eachChip(text, func(i int) string {
		if i < len(p.parts) {
			used[number{p.parts[i].Kind, p.parts[i].Number}] = true
		}
		return ""
	})
	return used
}

// draft returns the text with the parts that are in it, in its order.
func (p *pen) draft() (d Draft) {
	d.Text = eachChip(string(p.text), func(i int) string {
		if i >= len(p.parts) {
			return ""
		}
		d.Parts = append(d.Parts, p.parts[i])
		return string(firstChip + rune(len(d.Parts)-1))
	})
	return d
}

// set replaces the whole text, as one step of undo.
func (p *pen) set(d Draft) {
	p.sealed = true
	p.put(0, len(p.text), d, other)
	p.sealed = true
}

// reset empties the buffer and forgets its changes.
func (p *pen) reset() {
	*p.buffer = buffer{width: p.width}
	p.column = -1
	p.kills = slices.DeleteFunc(p.kills, hasChip) // their parts are gone
}

// write inserts text that keys or an input method wrote.
func (p *pen) write(text string) {
	p.replace(p.cursor, p.cursor, chipless(text), typed)
}

// vertical moves the cursor to the row above or below, and reports whether there is one.
func (p *pen) vertical(next func(row int) (int, bool)) bool {
	at, column := p.row(p.cursor)
	to, ok := next(at)
	if !ok {
		return false
	}
	if p.column < 0 {
		p.column = column
	}
	p.move(p.at(to, p.column))
	return true
}

// maxKills bounds the kill ring.
const maxKills = 30

// kill deletes a range and keeps it for a yank. It extends the last kill if the key before was a kill too.
func (p *pen) kill(from, to int, again bool) {
	if from == to {
		return
	}
	text := strings.Clone(string(p.text[from:to]))
	switch {
	case !again || len(p.kills) == 0:
		p.kills = append(p.kills[max(len(p.kills)-maxKills+1, 0):], text)
	case from < p.cursor:
		p.kills[len(p.kills)-1] = text + p.kills[len(p.kills)-1]
	default:
		p.kills[len(p.kills)-1] += text
	}
	p.killed = true
	p.replace(from, to, "", other)
}

// bash reports whether the text is a command line.
func (p *pen) bash() bool { return p.show == nil && strings.HasPrefix(string(p.text), "!") }

// Typed returns the text of a key, or nothing if the key is no text.
func Typed(msg tea.KeyPressMsg) string {
	if msg.Mod&^(tea.ModShift|tea.ModCapsLock|tea.ModNumLock|tea.ModScrollLock) != 0 {
		return ""
	}
	return msg.Text
}

// edit handles the keys that edit the text or move the cursor, and reports whether it knows the key.
func (p *pen) edit(msg tea.KeyPressMsg, is func(keys.Action) bool) bool {
	again := p.killed
	p.killed = false
	start, end := p.line(p.cursor)
	switch key := msg.String(); {
	case is(keys.Newline):
		p.replace(p.cursor, p.cursor, "\n", typed)
	case is(keys.Undo):
		p.undo()
	case is(keys.Redo):
		p.redo()
	case is(keys.LineStart):
		p.move(start)
	case is(keys.LineEnd):
		p.move(end)
	case is(keys.WordLeft):
		p.move(p.text.wordLeft(p.cursor))
	case is(keys.WordRight):
		p.move(p.text.wordRight(p.cursor))
	case is(keys.DeleteWord):
		p.kill(p.text.wordLeft(p.cursor), p.cursor, again)
	case is(keys.DeleteWordNext):
		p.kill(p.cursor, p.text.wordRight(p.cursor), again)
	case is(keys.DeleteToEnd):
		if end == p.cursor {
			end = p.text.next(end) // the newline
		}
		p.kill(p.cursor, end, again)
	case is(keys.DeleteToStart):
		if start == p.cursor {
			start = p.text.prev(start)
		}
		p.kill(start, p.cursor, again)
	case is(keys.Yank):
		if len(p.kills) > 0 {
			p.replace(p.cursor, p.cursor, p.kills[len(p.kills)-1], other)
		}
	case key == "up":
		return p.vertical(p.above)
	case key == "down":
		return p.vertical(p.below)
	case key == "left":
		p.move(p.text.prev(p.cursor))
	case key == "right":
		p.move(p.text.next(p.cursor))
	case key == "backspace", key == "shift+backspace", key == "ctrl+h":
		p.replace(p.text.prev(p.cursor), p.cursor, "", erased)
	case key == "delete", key == "ctrl+d":
		p.replace(p.cursor, p.text.next(p.cursor), "", other)
	case key == "ctrl+home":
		p.move(0)
	case key == "ctrl+end":
		p.move(len(p.text))
	case Typed(msg) != "":
		p.write(msg.Text)
	default:
		return false
	}
	p.column = -1
	return true
}
