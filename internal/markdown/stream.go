package markdown

import (
	"bytes"
	"strings"
)

// Stream draws Markdown that arrives in pieces: one block after the other, each when it is complete.
type Stream struct {
	width  func() int
	styles Styles

	held  []byte // not drawn yet
	seen  int    // bytes of whole lines in held
	split splitter
	begun bool // a block was drawn
}

// NewStream returns a stream for a terminal.
func NewStream(width func() int, s Styles) *Stream { return &Stream{width: width, styles: s} }

// Next returns the drawn blocks that are complete with a further piece. Each ends with a newline.
func (s *Stream) Next(piece string) (out string) {
	s.held = append(s.held, piece...)
	for {
		n := bytes.IndexByte(s.held[s.seen:], '\n')
		if n < 0 {
			return out
		}
		line := string(s.held[s.seen : s.seen+n])
		if s.split.starts(line) && s.seen > 0 {
			out += s.draw(string(s.held[:s.seen]))
			s.held = append([]byte(nil), s.held[s.seen:]...)
			s.seen = 0
		}
		s.seen += n + 1
	}
}

// splitter finds the beginnings of blocks.
type splitter struct {
	fence string // of code that is open; empty: none
	empty bool   // the last line was empty
}

// starts reports whether a block begins with a line that no text before it can have a part in: a line without an indent after an empty one, outside
// of fenced code. Lists stay whole, so that their numbers go on.
func (s *splitter) starts(line string) bool {
	bare := strings.TrimSpace(line)
	after := s.empty
	s.empty = bare == "" && s.fence == ""
	switch {
	case s.fence != "":
		if strings.HasPrefix(bare, s.fence) && strings.Trim(bare, s.fence[:1]) == "" {
			s.fence = ""
		}
		return false
	case bare == "":
		return false
	}
	for _, mark := range []string{"`", "~"} {
		if rest := strings.TrimLeft(bare, mark); len(bare)-len(rest) >= 3 && !(mark == "`" && strings.Contains(rest, mark)) {
			s.fence = bare[:len(bare)-len(rest)]
		}
	}
	return after && line[0] != ' ' && line[0] != '\t' && !item(bare)
}

// item reports whether a line may begin an item of a list.
func item(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	if len(rest) == len(line) {
		return strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ")
	}
	return strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")
}

// Flush draws the rest and begins again.
func (s *Stream) Flush() string {
	out := s.draw(string(s.held))
	s.Drop()
	return out
}

// Drop forgets everything: the answer starts again.
func (s *Stream) Drop() { *s = Stream{width: s.width, styles: s.styles} }

func (s *Stream) draw(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	out := Render(text, s.width(), s.styles)
	if s.begun && out != "" {
		out = "\n" + out
	}
	s.begun = s.begun || out != ""
	return out
}
