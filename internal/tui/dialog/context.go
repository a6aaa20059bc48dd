package dialog

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// WindowItem is one of the largest items of the context window.
type WindowItem struct {
	conversation.WindowItem
	Pinned bool
}

// Context shows the use of the context window: a bar by kind, and the largest items. A person pins and unpins messages, and trims old tool
// results. Its outcomes are those of a picker of [WindowItem].
type Context struct {
	*Picker[WindowItem]
	window conversation.ContextWindow
}

// NewContext returns the dialog. SetWindow fills it.
func NewContext(o *Options) *Context {
	c := &Context{}
	c.Picker = NewPicker(List[WindowItem]{
		Title: "Context window", Fixed: true, Empty: "The context window is empty.",
		Columns: []Column{{Head: "TOKENS", Right: true}, {Head: "KIND"}, {Head: "LARGEST ITEMS"}, {}},
		Keys: []Key[WindowItem]{
			{Action: keys.Trim, Words: "trim old results", Stay: true},
			{Action: keys.Pin, Words: "pin or unpin", Stay: true, Can: func(i WindowItem) bool { return i.Entry != "" }},
		},
		Head: func(width int) []string { return c.bar(width) },
		Row: func(i WindowItem) Row[WindowItem] {
			pinned := ""
			if i.Pinned {
				pinned = "pinned"
			}
			return Row[WindowItem]{Cells: []string{transcript.Tokens(int64(i.Tokens)), string(i.Kind), i.Name, pinned}}
		},
	}, o)
	c.owner = c
	return c
}

// SetWindow replaces the contents. A failure is an error of loading, in words.
func (c *Context) SetWindow(w conversation.ContextWindow, pinned func(entry session.ID) bool, failure string) {
	c.window = w
	items := make([]WindowItem, len(w.Largest))
	for i, item := range w.Largest {
		items[i] = WindowItem{item, item.Entry != "" && pinned(item.Entry)}
	}
	c.Set(items, failure)
}

// bar draws the use by kind, and a legend.
func (c *Context) bar(width int) []string {
	o, t, w := c.o, c.o.Theme, c.window
	size := max(w.Size, w.Used, 1)
	total := fmt.Sprintf("%s of %s tokens, %d %%", transcript.Tokens(int64(w.Used)), transcript.Tokens(int64(w.Size)), w.Used*100/size)
	lines := []string{t.Bold.Paint(fit(total, width))}
	styles := []theme.Style{t.Accent, t.Good, t.Model, t.Info, t.Warn, t.Bad}
	marks := []string{t.Glyph("█", "#"), t.Glyph("▓", "="), t.Glyph("▒", "+"), t.Glyph("░", ":"), t.Glyph("▚", "%"), t.Glyph("▞", "@")}
	var bar, legend strings.Builder
	drawn, sum, used := 0, 0, 0
	for i, k := range w.Parts {
		sum += max(k.Tokens, 0)
		n := max(min(sum, size)*width/size-drawn, 0)
		drawn += n
		style, mark := styles[i%len(styles)], marks[i%len(marks)]
		bar.WriteString(style.Paint(strings.Repeat(mark, n)))
		entry := style.Paint(mark) + " "
		if o.Reader {
			entry = ""
		}
		entry += t.Dim.Paint(string(k.Kind) + " " + transcript.Tokens(int64(k.Tokens)))
		cells := ansi.StringWidth(entry) + 3
		if used > 0 && used+cells > width {
			legend.WriteByte('\n')
			used = 0
		}
		used += cells
		legend.WriteString(entry + "   ")
	}
	bar.WriteString(t.Faint.Paint(strings.Repeat(t.Glyph("·", "."), max(width-drawn, 0))))
	if !o.Reader {
		lines = append(lines, bar.String())
	}
	return append(lines, strings.Split(legend.String(), "\n")...)
}
