package dialog

import (
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// press returns the message of a key, named as package keys names it.
func press(name string) tea.KeyPressMsg {
	special := map[string]tea.KeyPressMsg{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown},
		"space": {Code: tea.KeySpace, Text: " "},
	}
	if k, ok := special[name]; ok {
		return k
	}
	for prefix, mod := range map[string]tea.KeyMod{"ctrl+": tea.ModCtrl, "alt+": tea.ModAlt, "shift+": tea.ModShift} {
		if rest, ok := cutPrefix(name, prefix); ok {
			k := press(rest)
			k.Mod |= mod
			k.Text = ""
			return k
		}
	}
	return tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
}

func cutPrefix(name, prefix string) (string, bool) {
	if len(name) > len(prefix) && name[:len(prefix)] == prefix {
		return name[len(prefix):], true
	}
	return name, false
}

// typed presses keys, and returns the outcomes of the last one.
func typed(d Dialog, names ...string) (out []tea.Msg) {
	for _, name := range names {
		out = outcomes(d.Update(press(name)))
	}
	return out
}

// written types a text.
func written(d Dialog, text string) {
	for _, r := range text {
		d.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

// outcomes runs a command, and those that it consists of, in their order.
func outcomes(cmd tea.Cmd) (out []tea.Msg) {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	list := reflect.ValueOf(msg)
	if msg == nil || list.Kind() != reflect.Slice || list.Type().Elem() != reflect.TypeFor[tea.Cmd]() {
		return append(out, msg)
	}
	for i := range list.Len() {
		out = append(out, outcomes(list.Index(i).Interface().(tea.Cmd))...)
	}
	return out
}

// outcome returns the outcome of type T, and whether the dialog closed after it.
func outcome[T any](t *testing.T, out []tea.Msg) (found T, closed bool) {
	t.Helper()
	has := false
	for _, m := range out {
		switch m := m.(type) {
		case T:
			found, has = m, true
		case Closed:
			closed = true
		}
	}
	if !has {
		t.Fatalf("no %T in %#v", found, out)
	}
	return found, closed
}

// awaken ends the pause in which a dialog takes no keys.
func awaken[D interface {
	Dialog
	pause() *guard
}](d D) D {
	d.Update(Opened{})
	d.Update(Message{d, quietEnded(d.pause().turn)})
	return d
}

func (g *guard) pause() *guard { return g }
