package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/transcript"
)

const (
	panelFrom  = 120 // columns from which a panel stands next to the transcript
	panelWidth = 34
	mostDrafts = 3 // rows of queued prompts above the prompt
	mostPopup  = 8
)

// rows are the heights of the parts of the screen.
type rows struct {
	top, transcript, drafts, line, popup, editor, status int
	width                                                int // of the transcript and everything below it
}

// measure divides the screen. On a small one the prompt comes first, then the status, then the rest.
func (a *app) measure() rows {
	r := rows{width: a.width}
	if a.panel && a.width >= panelFrom && !a.o.Config.Inline && !a.o.Config.Reader {
		r.width -= panelWidth + 1
	}
	left := a.height
	take := func(want, spare int) int {
		n := max(min(want, left-spare), 0)
		left -= n
		return n
	}
	r.editor = take(a.editor.Height(r.width, max(min(10, a.height/3), 1)), 0)
	r.status = take(1, 1)
	r.line = take(1, 2)
	if p := a.editor.Popup(); p != nil {
		r.popup = take(p.Height(mostPopup), 3)
	}
	r.drafts = take(min(len(a.pane.drafts()), mostDrafts), 4)
	if a.home != nil && !a.o.Config.Inline {
		r.top = take(1, 3)
	}
	r.transcript = left
	return r
}

// layout gives the parts their sizes.
func (a *app) layout() {
	if a.width == 0 {
		return
	}
	r := a.measure()
	a.list.SetSize(r.width, r.transcript)
}

// View draws the screen. Only the lines of visible items are laid out.
func (a *app) View() tea.View {
	if a.width == 0 || a.left && a.o.Config.Inline {
		return tea.View{AltScreen: !a.o.Config.Inline}
	}
	r, d := a.measure(), a.top()
	var question []string // it takes the place of the rows above the prompt, so that the end of the transcript stays visible
	if d != nil && d.Bottom() {
		height := a.height - r.editor - r.status - r.top
		if height > 0 {
			question = dialog.Box(d, r.width, height, a.theme)
		}
		r.transcript, r.drafts, r.line, r.popup = max(height-len(question), 0), 0, 0, 0
	}
	a.list.SetSize(r.width, r.transcript)
	lines := make([]string, 0, a.height)
	if r.top > 0 {
		lines = append(lines, fit(a.theme.Heading.Paint(term.OneLine(viewed(a))), r.width))
	}
	lines = append(lines, a.list.Lines()...)
	if !a.o.Config.Inline {
		for len(lines) < r.top+r.transcript {
			lines = append(lines, "")
		}
	}
	lines = append(lines, draftLines(a, r.width, r.drafts)...)
	if r.line > 0 {
		lines = append(lines, activityLine(a, r.width))
	}
	if p := a.editor.Popup(); p != nil && r.popup > 0 {
		lines = append(lines, p.Lines(r.width, r.popup)...)
	}
	above := len(lines)
	lines = append(lines, question...)
	top := len(lines)
	lines = append(lines, a.editor.Lines(r.width, r.editor)...)
	if r.status > 0 {
		lines = append(lines, statusLine(a, r.width))
	}
	if r.width < a.width {
		lines = columns(lines, r.width, panelLines(a, panelWidth, a.height), a.theme.Border.Paint(a.theme.Glyph("│", "|")))
	}
	v := tea.View{AltScreen: !a.o.Config.Inline, ReportFocus: true}
	if x, y, ok := a.editor.Cursor(); ok && !a.browsing && (d == nil || d.Bottom()) {
		v.Cursor = tea.NewCursor(x, top+y)
	}
	switch {
	case d == nil:
	case d.Bottom():
		if x, y, ok := d.Cursor(); ok {
			dx, dy := dialog.Inset(d, r.width, a.height-r.editor-r.status-r.top)
			v.Cursor = tea.NewCursor(x+dx, above+y+dy)
		}
	default:
		lines, v.Cursor = over(a, lines, d)
	}
	if c := v.Cursor; c != nil {
		c.X, c.Y = min(c.X, a.width-1), min(c.Y, a.height-1)
	}
	v.Content = strings.Join(lines, "\n")
	if a.o.Config.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if !a.o.Config.NoTitle {
		v.WindowTitle = windowTitle(a)
	}
	if a.pane.busy() && !a.o.Config.Reader {
		v.ProgressBar = tea.NewProgressBar(tea.ProgressBarIndeterminate, 0)
	}
	return v
}

// columns puts two columns next to each other.
func columns(lines []string, width int, right []string, border string) []string {
	for i := range lines {
		cell := ""
		if i < len(right) {
			cell = right[i]
		}
		lines[i] += strings.Repeat(" ", max(width-term.Cells(lines[i]), 0)) + border + cell
	}
	return lines
}

// over draws a dialog in the middle of the screen.
func over(a *app, lines []string, d dialog.Dialog) ([]string, *tea.Cursor) {
	box := dialog.Box(d, a.width, a.height, a.theme)
	if len(box) == 0 {
		return lines, nil
	}
	width := 0
	for _, l := range box {
		width = max(width, ansi.StringWidth(l))
	}
	for len(lines) < min(len(box), a.height) {
		lines = append(lines, "")
	}
	x, y := max((a.width-width)/2, 0), max((len(lines)-len(box))/2, 0)
	for i, l := range box {
		if y+i >= len(lines) {
			break
		}
		under := lines[y+i]
		left := ansi.Truncate(under, x, "")
		lines[y+i] = left + strings.Repeat(" ", max(x-ansi.StringWidth(left), 0)) + l +
			strings.Repeat(" ", max(width-ansi.StringWidth(l), 0)) + ansi.TruncateLeft(under, x+width, "")
	}
	if cx, cy, ok := d.Cursor(); ok {
		dx, dy := dialog.Inset(d, a.width, a.height)
		return lines, tea.NewCursor(x+dx+cx, y+dy+cy)
	}
	return lines, nil
}

// draftLines are the queued prompts, the next one first.
func draftLines(a *app, width, most int) (lines []string) {
	drafts := a.pane.drafts()
	for i, d := range drafts {
		if len(lines) == most {
			break
		}
		mark := a.theme.Glyph("◷ ", "+ ")
		if d.Lane == "steering" {
			mark = a.theme.Glyph("↳ ", "> ")
		}
		text := term.OneLine(d.Message.Text())
		if more := len(drafts) - most; i == most-1 && more > 0 {
			text += " (and " + transcript.Count(more, "more prompt") + ")"
		}
		hint := ""
		if i == 0 && d.Lane != "steering" && a.editor.Empty() {
			hint = "  " + a.keys.Key(keys.Submit) + " sends it now, " + a.keys.Key(keys.Queue) + " edits"
		}
		text = fit(mark+text, max(width-ansi.StringWidth(hint), width/2))
		lines = append(lines, fit(a.theme.Dim.Paint(text)+a.theme.Faint.Paint(hint), width))
	}
	return lines
}
