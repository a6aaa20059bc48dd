package editor

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/tui/theme"
)

// screen draws the text around the cursor.
type screen struct {
	pen         *pen
	theme       *theme.Theme
	placeholder string
	prompt      string
	focused     bool
	mode        vimMode
	top         int // the start of the first visible row

	selFrom, selTo int // the selected range

	width   int // of the last Lines
	x, y    int // the cursor of the last Lines
	visible bool
}

// Focus sets whether the editor shows a cursor.
func (s *screen) Focus(on bool) { s.focused = on }

// frame is how the editor divides a width: the mark, the text, and one column for a cursor after a full row.
func (s *screen) frame(width int) (mark string, markWidth, text int) {
	mark = s.mark()
	if markWidth = ansi.StringWidth(mark); width < markWidth+4 {
		mark, markWidth = "", 0
	}
	return mark, markWidth, max(width-markWidth-1, 1)
}

// mark returns the mark of the first row: the mode of vim if keys are no text, or that the text is a command line.
func (s *screen) mark() string {
	switch {
	case s.mode == normalMode:
		return "N "
	case s.mode == visualMode:
		return "V "
	case s.pen.bash():
		return "! "
	}
	return s.prompt
}

// Height returns how many rows the editor needs in a width, at least one and at most limit.
func (s *screen) Height(width, limit int) int {
	_, _, text := s.frame(width)
	s.pen.width = text
	return max(s.pen.count(limit), 1)
}

// Lines draws the rows around the cursor.
func (s *screen) Lines(width, height int) []string {
	s.width, s.x, s.y, s.visible = width, 0, 0, false
	if width <= 0 || height <= 0 {
		return nil
	}
	mark, markWidth, textWidth := s.frame(width)
	b := s.pen
	b.width = textWidth
	at, column := b.row(b.cursor)
	s.scroll(at, height)

	style := s.theme.Person
	switch {
	case !s.focused:
		style = s.theme.Faint
	case s.pen.bash():
		style = s.theme.Warn
	case s.pen.show != nil:
		style = s.theme.Accent
	}
	var lines []string
	p := s.top
	for len(lines) < height {
		prefix := strings.Repeat(" ", markWidth)
		if p == 0 {
			prefix = style.Paint(mark)
		}
		if p == at {
			s.x, s.y, s.visible = min(markWidth+column, width-1), len(lines), s.focused
		}
		end, _ := b.next(p)
		lines = append(lines, prefix+s.paint(p, end))
		var more bool
		if p, more = b.below(p); !more {
			break
		}
	}
	if b.text == "" && s.placeholder != "" {
		lines[0] += s.theme.Faint.Paint(ansi.Truncate(s.placeholder, textWidth, ""))
	}
	return lines
}

// scroll moves the first visible row so that the cursor is visible and no row stays empty below the text.
func (s *screen) scroll(at, height int) {
	b := s.pen
	old, _ := b.row(b.text.ceil(min(s.top, at))) // the text may have changed
	rows, last, more := 1, at, false
	for s.top = at; s.top != old && rows < height; rows++ {
		s.top, _ = b.above(s.top)
	}
	for ; rows < height; rows++ {
		if last, more = b.below(last); !more {
			break
		}
	}
	for ; rows < height; rows++ {
		if s.top, more = b.above(s.top); !more {
			break
		}
	}
}

// paint draws a range of one row.
func (s *screen) paint(from, to int) string {
	b := s.pen
	var line, run strings.Builder
	var style theme.Style
	flush := func() {
		line.WriteString(style.Paint(run.String()))
		run.Reset()
	}

	for column := 0; from < to; {
		c := b.cell(from, column)
		next := s.theme.Text
		if c.chip {
			next = s.theme.Chip
		}
		if from >= s.selFrom && from < s.selTo {
			next = next.With(s.theme.Selected)
		}
		if next != style {
			flush()
			style = next
		}
		run.WriteString(c.show)
		from, column = from+c.n, column+c.width
	}
	flush()
	return line.String()
}

// Click moves the cursor to a cell of the lines that Lines drew last.
func (s *screen) Click(x, y int) {
	_, markWidth, _ := s.frame(s.width)
	row := s.top
	for range y {
		row, _ = s.pen.below(row)
	}
	s.pen.move(s.pen.at(row, x-markWidth))
	s.pen.column = -1
}

// Cursor returns the place of the cursor in the lines that Lines drew last.
func (s *screen) Cursor() (x, y int, ok bool) { return s.x, s.y, s.visible }
