package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/tenon-agent/tenon/internal/term"
)

// style is how a terminal shows a character.
type style struct {
	dim, bold, italic, underline bool
	color                        string // red, green, yellow, ..., or nothing
}

// cell is one column. A wide character has its text in the first of its two columns, and the second is empty.
type cell struct {
	text string
	style
}

type line []cell

func (l line) String() string {
	var b strings.Builder
	for _, c := range l {
		b.WriteString(c.text)
	}
	return strings.TrimRight(b.String(), " ")
}

// screen is a terminal that never scrolls away what it showed.
type screen struct {
	columns int
	lines   []line
	at      int // column of the cursor, in the last line
	style   style
}

// sequence is an escape sequence that begins a text.
var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

// show returns the lines that a terminal shows after it got text. A control character or escape sequence that it does not know is an error.
func show(text string, columns int) ([]line, error) {
	s := &screen{columns: columns, lines: []line{nil}}
	for text != "" {
		if found := sequence.FindStringSubmatch(text); found != nil {
			if err := s.escape(found[1], found[2]); err != nil {
				return nil, err
			}
			text = text[len(found[0]):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		if err := s.put(r); err != nil {
			return nil, err
		}
	}
	for len(s.lines) > 0 && s.lines[len(s.lines)-1].String() == "" {
		s.lines = s.lines[:len(s.lines)-1]
	}
	return s.lines, nil
}

func (s *screen) escape(numbers, letter string) error {
	last := &s.lines[len(s.lines)-1]
	switch {
	case letter == "K" && numbers == "":
		*last = (*last)[:min(s.at, len(*last))]
		return nil
	case letter != "m":
		return fmt.Errorf("escape sequence ESC [ %s %s: the terminal of the screenshots does not know it", numbers, letter)
	}
	for n := range strings.SplitSeq(numbers, ";") {
		switch n {
		case "", "0":
			s.style = style{}
		case "1":
			s.style.bold = true
		case "2":
			s.style.dim = true
		case "3":
			s.style.italic = true
		case "4":
			s.style.underline = true
		case "31", "32", "33", "34", "35", "36":
			s.style.color = colors[n[1]-'1']
		default:
			return fmt.Errorf("color %s: the terminal of the screenshots does not know it", n)
		}
	}
	return nil
}

var colors = []string{"red", "green", "yellow", "blue", "magenta", "cyan"}

func (s *screen) put(r rune) error {
	last := &s.lines[len(s.lines)-1]
	switch {
	case r == '\n':
		s.lines = append(s.lines, nil)
		return nil
	case r == '\r':
		s.at = 0
		return nil
	case r == '\t':
		for range 8 - s.at%8 {
			if err := s.put(' '); err != nil {
				return err
			}
		}
		return nil
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return fmt.Errorf("control character %q on the terminal", r)
	}
	width := term.Cells(string(r))
	if width == 0 { // it belongs to the character before
		if s.at > 0 {
			(*last)[s.at-1].text += string(r)
		}
		return nil
	}
	if s.at+width > s.columns {
		s.lines, s.at = append(s.lines, nil), 0
		last = &s.lines[len(s.lines)-1]
	}
	for len(*last) < s.at+width {
		*last = append(*last, cell{text: " "})
	}
	(*last)[s.at] = cell{string(r), s.style}
	for i := 1; i < width; i++ {
		(*last)[s.at+i] = cell{style: s.style}
	}
	s.at += width
	return nil
}

// typed is the line of a person who typed the command.
func typed(args []string) []line {
	words := []string{"$", "tenon"}
	for _, a := range args {
		if strings.ContainsAny(a, " '\"") {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	var l line
	for _, r := range strings.Join(words, " ") {
		l = append(l, cell{string(r), style{bold: true}})
	}
	return []line{l}
}

// plain is the text of lines, without any style.
func plain(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// run is a part of a line with one style.
type run struct {
	column, width int
	text          string
	style
}

// runs cuts a line where the style changes, and around each wide character, whose width fonts disagree about.
func (l line) runs(yield func(run) bool) {
	wide := func(i int) bool { return i+1 < len(l) && l[i+1].text == "" }
	for start := 0; start < len(l); {
		end := start + 1
		if wide(start) {
			end++
		} else {
			for end < len(l) && l[end].style == l[start].style && !wide(end) {
				end++
			}
		}
		r := run{column: start, width: end - start, style: l[start].style}
		for _, c := range l[start:end] {
			r.text += c.text
		}
		if strings.TrimSpace(r.text) != "" && !yield(r) {
			return
		}
		start = end
	}
}
