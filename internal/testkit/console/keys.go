package console

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// functional are the keys without a character: the number and the final byte of their sequence. A number of 1 is left out without modifiers.
var functional = map[string]struct {
	number int
	final  byte
}{
	"up": {1, 'A'}, "down": {1, 'B'}, "right": {1, 'C'}, "left": {1, 'D'}, "home": {1, 'H'}, "end": {1, 'F'},
	"f1": {1, 'P'}, "f2": {1, 'Q'}, "f3": {13, '~'}, "f4": {1, 'S'}, "f5": {15, '~'}, "f6": {17, '~'}, "f7": {18, '~'}, "f8": {19, '~'},
	"f9": {20, '~'}, "f10": {21, '~'}, "f11": {23, '~'}, "f12": {24, '~'},
	"insert": {2, '~'}, "delete": {3, '~'}, "pgup": {5, '~'}, "pgdown": {6, '~'},
}

// named are the keys with a control character.
var named = map[string]rune{"enter": '\r', "tab": '\t', "esc": 0x1b, "backspace": 0x7f, "space": ' '}

var modifiers = map[string]int{"shift": 1, "alt": 2, "ctrl": 4, "super": 8}

// key returns what a terminal sends for a key in its present modes.
func (e *emulator) key(name string) (string, error) {
	bits := 0
	base := name
	for {
		before, after, ok := strings.Cut(base, "+")
		bit := modifiers[before]
		if !ok || bit == 0 || after == "" {
			break
		}
		bits, base = bits|bit, after
	}
	if f, ok := functional[base]; ok {
		return e.function(f.number, f.final, bits), nil
	}
	r, ok := named[base]
	if !ok {
		if utf8.RuneCountInString(base) != 1 {
			return "", fmt.Errorf("there is no key %q", name)
		}
		r, _ = utf8.DecodeRuneInString(base)
	}
	if e.flags()&1 != 0 && name == "ctrl+_" { // where "_" is shift and "-"; the protocol names the key without shift
		return e.key("ctrl+shift+-")
	}
	if e.flags()&1 != 0 && (bits&^1 != 0 || r == 0x1b || bits != 0 && r < ' ' || bits != 0 && r == 0x7f || e.flags()&8 != 0) {
		return fmt.Sprintf("\x1b[%d%su", r, modified(bits)), nil
	}
	return legacy(r, bits)
}

// modified is the parameter for modifiers.
func modified(bits int) string {
	if bits == 0 {
		return ""
	}
	return fmt.Sprintf(";%d", bits+1)
}

func (e *emulator) function(number int, final byte, bits int) string {
	switch {
	case final == '~':
		return fmt.Sprintf("\x1b[%d%s~", number, modified(bits))
	case bits != 0:
		return fmt.Sprintf("\x1b[1%s%c", modified(bits), final)
	case final >= 'P' && final <= 'S' && e.flags() == 0, e.modes[modeCursorKeys] && final < 'P':
		return fmt.Sprintf("\x1bO%c", final)
	default:
		return fmt.Sprintf("\x1b[%c", final)
	}
}

// legacy is a key as terminals sent it since the 1970s.
func legacy(r rune, bits int) (string, error) {
	text := string(r)
	if bits&1 != 0 {
		switch r {
		case '\t':
			text = "\x1b[Z"
		case '\r', 0x1b, 0x7f, ' ': // there is no such key: the terminal sends it without shift
		default:
			text = strings.ToUpper(text)
		}
	}
	if bits&4 != 0 {
		switch {
		case r >= 'a' && r <= 'z':
			text = string(r - 'a' + 1)
		case r >= '@' && r <= '_':
			text = string(r - '@')
		case r == ' ':
			text = "\x00"
		case r == '/':
			text = "\x1f"
		case r == 0x7f:
			text = "\b"
		case r < ' ': // sent without ctrl
		default:
			return "", fmt.Errorf("a terminal without the kitty keyboard protocol has no key ctrl+%c", r)
		}
	}
	if bits&2 != 0 {
		text = "\x1b" + text
	}
	return text, nil
}
