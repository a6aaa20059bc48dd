package console

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The size of a cell in pixels, for programs that ask.
const pixelsAcross, pixelsDown = 8, 16

// csi handles a control sequence.
func (e *emulator) csi(cmd ansi.Cmd, params ansi.Params) {
	known := true
	switch p, i := cmd.Prefix(), cmd.Intermediate(); {
	case p == 0 && i == 0:
		known = e.plain(cmd.Final(), params)
	case p == '?' && i == 0:
		known = e.private(cmd.Final(), params)
	default:
		known = e.special(string(append(nonzero(p, i), cmd.Final())), params)
	}
	if !known {
		e.strange("CSI", written(cmd, params))
	}
}

func nonzero(bytes ...byte) (found []byte) {
	for _, b := range bytes {
		if b != 0 {
			found = append(found, b)
		}
	}
	return found
}

// written is a control sequence as text.
func written(cmd ansi.Cmd, params ansi.Params) string {
	var numbers []string
	for _, p := range params {
		numbers = append(numbers, strconv.Itoa(p.Param(0)))
	}
	return string(nonzero(cmd.Prefix())) + strings.Join(numbers, ";") + string(nonzero(cmd.Intermediate(), cmd.Final()))
}

// arg returns a parameter; 0 and nothing mean the default.
func arg(params ansi.Params, i, normal int) int {
	n, _, _ := params.Param(i, normal)
	if n == 0 {
		return normal
	}
	return n
}

// plain handles a sequence without a prefix.
func (e *emulator) plain(final byte, params ansi.Params) bool {
	p := e.now
	c := &p.cursor
	n := arg(params, 0, 1)
	switch final {
	case '@':
		e.insertCells(n)
	case 'A':
		e.vertical(-n)
	case 'B', 'e':
		e.vertical(n)
	case 'C', 'a':
		e.move(c.x+n, c.y)
	case 'D':
		e.move(c.x-n, c.y)
	case 'E':
		e.vertical(n)
		e.move(0, c.y)
	case 'F':
		e.vertical(-n)
		e.move(0, c.y)
	case 'G', '`':
		e.move(n-1, c.y)
	case 'H', 'f':
		e.position(arg(params, 1, 1)-1, n-1)
	case 'd':
		e.position(c.x, n-1)
	case 'I':
		e.tab(n)
	case 'Z':
		e.tab(-n)
	case 'J':
		return e.eraseDisplay(arg(params, 0, 0))
	case 'K':
		return e.eraseLine(arg(params, 0, 0))
	case 'X':
		e.erase(c.y, c.x, c.x+n)
		c.pending = false
	case 'L', 'M':
		if final == 'L' {
			n = -n
		}
		if c.y >= p.top && c.y <= p.bottom {
			e.shift(c.y, n)
			e.move(0, c.y)
		}
	case 'P':
		e.deleteCells(n)
	case 'S':
		e.scroll(n)
	case 'T':
		e.shift(p.top, -n)
	case 'b':
		for range min(n, e.width*e.height) {
			if e.last != "" {
				e.put(e.last, e.wide(e.last))
			}
		}
	case 'g':
		if arg(params, 0, 0) == 3 {
			clear(e.tabs)
		} else {
			e.tabs[c.x] = false
		}
	case 'h', 'l':
		for _, m := range params {
			if m.Param(0) != 4 {
				return false
			}
			e.insert = final == 'h'
		}
	case 'm':
		e.style(params)
	case 'r':
		e.margins(arg(params, 0, 1)-1, arg(params, 1, e.height)-1)
	case 's':
		p.saved = *c
	case 'u':
		*c = p.saved
	case 't':
		return e.window(params)
	case 'c', 'n':
		return e.asked(final, params)
	default:
		return false
	}
	return true
}

// wide returns the width of a whole character.
func (e *emulator) wide(text string) int {
	if e.modes[modeGraphemes] {
		return max(1, ansi.StringWidth(text))
	}
	return max(1, ansi.StringWidthWc(text))
}

// position moves the cursor as CUP does: from the top of the region in origin mode.
func (e *emulator) position(x, y int) {
	if e.modes[modeOrigin] {
		y = min(y+e.now.top, e.now.bottom)
	}
	e.move(x, y)
}

func (e *emulator) margins(top, bottom int) {
	if bottom = min(bottom, e.height-1); top < bottom {
		e.now.top, e.now.bottom = top, bottom
		e.position(0, 0)
	}
}

func (e *emulator) eraseDisplay(how int) bool {
	c := e.now.cursor
	from, to := 0, e.height
	switch how {
	case 0:
		e.erase(c.y, c.x, e.width)
		from = c.y + 1
	case 1:
		e.erase(c.y, 0, c.x+1)
		to = c.y
	case 2:
	case 3:
		e.above = nil
		return true
	default:
		return false
	}
	for y := from; y < to; y++ {
		e.erase(y, 0, e.width)
	}
	return true
}

func (e *emulator) eraseLine(how int) bool {
	c := &e.now.cursor
	switch how {
	case 0:
		e.erase(c.y, c.x, e.width)
	case 1:
		e.erase(c.y, 0, c.x+1)
	case 2:
		e.erase(c.y, 0, e.width)
	default:
		return false
	}
	c.pending = false
	return true
}

// window handles the title stack and questions about the size.
func (e *emulator) window(params ansi.Params) bool {
	switch arg(params, 0, 0) {
	case 22:
		e.titles = append(e.titles, e.title)
	case 23:
		if n := len(e.titles); n > 0 {
			e.title, e.titles = e.titles[n-1], e.titles[:n-1]
		}
	case 14:
		e.answer(fmt.Sprintf("\x1b[4;%d;%dt", e.height*pixelsDown, e.width*pixelsAcross))
	case 16:
		e.answer(fmt.Sprintf("\x1b[6;%d;%dt", pixelsDown, pixelsAcross))
	case 18:
		e.answer(fmt.Sprintf("\x1b[8;%d;%dt", e.height, e.width))
	default:
		return false
	}
	return true
}

// answer types a reply, unless the terminal answers nothing.
func (e *emulator) answer(text string) {
	if e.answers != Silent {
		e.reply(text)
	}
}

// asked handles DA1 and DSR.
func (e *emulator) asked(final byte, params ansi.Params) bool {
	switch n := arg(params, 0, 0); {
	case final == 'c':
		e.answer("\x1b[?62;22;52c")
	case n == 5:
		e.answer("\x1b[0n")
	case n == 6:
		e.answer(fmt.Sprintf("\x1b[%d;%dR", e.now.cursor.y+1, e.now.cursor.x+1))
	default:
		return false
	}
	return true
}

// private handles sequences with a question mark.
func (e *emulator) private(final byte, params ansi.Params) bool {
	switch final {
	case 'h', 'l':
		known := true
		for _, p := range params {
			known = e.mode(p.Param(0), final == 'h') && known
		}
		return known
	case 'u':
		e.answer(fmt.Sprintf("\x1b[?%du", e.flags()))
	case 'n':
		if arg(params, 0, 0) != 996 {
			return false
		}
		e.answer(fmt.Sprintf("\x1b[?997;%dn", map[bool]int{false: 1, true: 2}[e.answers == Light]))
	case 'W':
		e.tabs = nil
		e.stops()
	case 'J', 'K':
		return false
	default:
		return false
	}
	return true
}

// mode sets or resets a mode.
func (e *emulator) mode(n int, on bool) bool {
	switch n {
	case modeCursorKeys, modeWrap, modeCursor, 9, 12, 1000, 1002, 1003, modeFocus, 1005, 1006, 1007, 1015, 1016, 1034, modePaste, modeFrame, modeScheme:
	case modeGraphemes:
		if e.answers == Silent {
			return false
		}
	case modeOrigin:
		e.modes[n] = on
		e.position(0, 0)
	case 47:
		e.alternate(on, false, false)
	case 1047:
		e.alternate(on, false, true)
	case 1048:
		if on {
			e.now.saved = e.now.cursor
		} else {
			e.now.cursor = e.now.saved
		}
	case 1049:
		e.alternate(on, true, true)
	case modeInBand:
		if e.modes[n] = on; on {
			e.answer(ansi.InBandResize(e.height, e.width, e.height*pixelsDown, e.width*pixelsAcross))
		}
	default:
		return false
	}
	e.modes[n] = on
	return true
}

// special handles the remaining control sequences by their prefix, intermediate and final bytes.
func (e *emulator) special(name string, params ansi.Params) bool {
	p := e.now
	switch name {
	case " q":
		e.form = arg(params, 0, 0)
	case "!p":
		e.modes[modeCursor], e.modes[modeWrap], e.modes[modeOrigin], e.insert, e.keypad = true, true, false, false, false
		e.now.top, e.now.bottom, e.now.cursor.style = 0, e.height-1, Style{}
	case "?$p":
		n := arg(params, 0, 0)
		state := 0 // not recognized
		switch n {
		case modeCursorKeys, modeOrigin, modeWrap, modeCursor, 1000, 1002, 1003, modeFocus, 1006, 1049, modePaste, modeFrame, modeGraphemes, modeScheme, modeInBand:
			state = 2
			if e.modes[n] {
				state = 1
			}
		}
		e.answer(fmt.Sprintf("\x1b[?%d;%d$y", n, state))
	case ">c":
		e.answer("\x1b[>1;10;0c")
	case ">q":
		e.answer("\x1bP>|console 1\x1b\\")
	case ">u":
		p.keyboards = append(p.keyboards, arg(params, 0, 0))
	case "<u":
		p.keyboards = p.keyboards[:max(0, len(p.keyboards)-arg(params, 0, 1))]
	case "=u":
		if len(p.keyboards) == 0 {
			p.keyboards = []int{0}
		}
		now, flags := &p.keyboards[len(p.keyboards)-1], arg(params, 0, 0)
		switch arg(params, 1, 1) {
		case 1:
			*now = flags
		case 2:
			*now |= flags
		case 3:
			*now &^= flags
		}
	case ">m":
		if arg(params, 0, 0) == 4 {
			e.modifyOther = arg(params, 1, 0)
		}
	case "?m", ">n", ">t":
	default:
		return false
	}
	if e.answers == Silent && strings.HasSuffix(name, "u") {
		p.keyboards = nil
	}
	return true
}

// escape handles a short sequence.
func (e *emulator) escape(cmd ansi.Cmd) {
	c := &e.now.cursor
	switch name := string(append(nonzero(cmd.Intermediate()), cmd.Final())); name {
	case "7":
		e.now.saved = *c
	case "8":
		*c = e.now.saved
		e.move(c.x, c.y)
	case "D":
		e.index()
	case "E":
		e.move(0, c.y)
		e.index()
	case "M":
		e.reverse()
	case "H":
		e.tabs[c.x] = true
	case "c":
		e.reset()
	case "=", ">":
		e.keypad = name == "="
	case "(B", "(0", "(A":
		e.charsets[0] = name[1]
	case ")B", ")0", ")A":
		e.charsets[1] = name[1]
	case "\\": // the end of a string
	default:
		e.strange("ESC", name)
	}
}

// osc handles a command of the operating system.
func (e *emulator) osc(cmd int, data []byte) {
	_, rest, _ := strings.Cut(string(data), ";")
	switch cmd {
	case 0, 2:
		e.title = rest
	case 1, 7, 133:
	case 8:
		_, e.now.cursor.link, _ = strings.Cut(rest, ";")
	case 9:
		if progress, ok := strings.CutPrefix(rest, "4;"); ok {
			e.progress = progress
		} else {
			e.notices = append(e.notices, rest)
		}
	case 99, 777:
		e.notices = append(e.notices, rest)
	case 10, 11, 12:
		if rest != "?" {
			e.strange("OSC", string(data))
			return
		}
		dark := e.answers != Light
		if light := cmd != 11; dark == light {
			e.answer(fmt.Sprintf("\x1b]%d;rgb:f0f0/f0f0/f0f0\x1b\\", cmd))
		} else {
			e.answer(fmt.Sprintf("\x1b]%d;rgb:1a1a/1a1a/1a1a\x1b\\", cmd))
		}
	case 110, 111, 112:
	case 52:
		_, coded, _ := strings.Cut(rest, ";")
		text, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			e.strange("OSC", string(data))
			return
		}
		e.clipboard = append(e.clipboard, string(text))
	case 1337:
		e.pictures++
	default:
		e.strange("OSC", string(data))
	}
}

// dcs handles a device control string: XTGETTCAP and pictures.
func (e *emulator) dcs(cmd ansi.Cmd, _ ansi.Params, data []byte) {
	switch name := string(append(nonzero(cmd.Prefix(), cmd.Intermediate()), cmd.Final())); name {
	case "+q":
		for coded := range strings.SplitSeq(string(data), ";") {
			capability, _ := hex.DecodeString(coded)
			switch string(capability) {
			case "RGB", "Tc":
				e.answer("\x1bP1+r" + coded + "\x1b\\")
			default:
				e.answer("\x1bP0+r" + coded + "\x1b\\")
			}
		}
	case "q":
		e.pictures++
	default:
		e.strange("DCS", name+" "+string(data))
	}
}

// apc handles application commands: the graphics of Kitty.
func (e *emulator) apc(data []byte) {
	if len(data) == 0 || data[0] != 'G' {
		e.strange("APC", string(data))
		return
	}
	e.pictures++
}

// style handles SGR.
func (e *emulator) style(params ansi.Params) {
	s := &e.now.cursor.style
	if len(params) == 0 {
		*s = Style{}
	}
	for i := 0; i < len(params); i++ {
		n := params[i].Param(0)
		switch {
		case n == 0:
			*s = Style{}
		case n == 1:
			s.Bold = true
		case n == 2:
			s.Dim = true
		case n == 3:
			s.Italic = true
		case n == 4:
			s.Underline = true
			if params[i].HasMore() && i+1 < len(params) {
				i++
				s.Underline = params[i].Param(0) != 0
			}
		case n == 21:
			s.Underline = true
		case n == 5, n == 6:
			s.Blink = true
		case n == 7:
			s.Reverse = true
		case n == 9:
			s.Strike = true
		case n == 22:
			s.Bold, s.Dim = false, false
		case n == 23:
			s.Italic = false
		case n == 24:
			s.Underline = false
		case n == 25:
			s.Blink = false
		case n == 27:
			s.Reverse = false
		case n == 29:
			s.Strike = false
		case n >= 30 && n <= 37:
			s.Foreground = index(n - 30)
		case n >= 90 && n <= 97:
			s.Foreground = index(n - 90 + 8)
		case n >= 40 && n <= 47:
			s.Background = index(n - 40)
		case n >= 100 && n <= 107:
			s.Background = index(n - 100 + 8)
		case n == 39:
			s.Foreground = ""
		case n == 49:
			s.Background = ""
		case n == 38, n == 48, n == 58:
			color, used := direct(params[i+1:])
			i += used
			switch n {
			case 38:
				s.Foreground = color
			case 48:
				s.Background = color
			}
		case n == 59:
		default:
			e.strange("SGR", strconv.Itoa(n))
		}
	}
}

func index(n int) Color { return Color(strconv.Itoa(n)) }

// direct reads the parameters of a color after 38, 48 or 58, and returns how many there were.
func direct(params ansi.Params) (Color, int) {
	n := func(i int) int { v, _, _ := params.Param(i, 0); return v }
	switch {
	case len(params) >= 2 && n(0) == 5:
		return index(n(1)), 2
	case len(params) >= 5 && n(0) == 2 && params[0].HasMore() && params[4-1].HasMore(): // 38:2::r:g:b names a color space
		return Color(fmt.Sprintf("#%02x%02x%02x", n(2), n(3), n(4))), 5
	case len(params) >= 4 && n(0) == 2:
		return Color(fmt.Sprintf("#%02x%02x%02x", n(1), n(2), n(3))), 4
	default:
		return "", len(params)
	}
}
