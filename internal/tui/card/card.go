// Package card draws the items of a transcript: prompts, answers with their calls, notes and questions. A Card is an item of a list.
package card

import (
	"bytes"
	"fmt"
	"image"
	_ "image/gif"  // for the size of pictures
	_ "image/jpeg" // for the size of pictures
	_ "image/png"  // for the size of pictures
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// Options are the looks that all cards of a list share. Change them only on the goroutine of the cards, and draw the list again afterwards.
type Options struct {
	Theme  *theme.Theme
	Now    func() time.Time
	Folded bool           // calls, thinking, long prompts and details of notes are folded, unless a person unfolds a card
	Times  bool           // show the time of everything and the usage of answers
	Zone   *time.Location // of these times; nil: the local one
	Reader bool           // for screen readers: words instead of marks, and no columns
	Links  bool           // the terminal shows links that a person can open
	// Picture returns the cells of an image in at most width columns; nil if there are none, or not yet. May be nil.
	Picture func(image llm.Image, width int) []string
	Self    string // the name of this frontend; answers of others have theirs
}

// Card is an item of a transcript on the screen. It is not safe for concurrent use.
type Card struct {
	it      *transcript.Item
	o       *Options
	changes uint64
	fold    fold
	doc     *markdown.Doc // of an answer that streams
	looks   *theme.Theme  // of doc
	bare    bool          // the answer that Lines drew has no text
}

// fold says whether a person folded or unfolded a card.
type fold uint8

const (
	usual fold = iota
	folded
	unfolded
)

// New returns a card. Call [Card.Changed] after each change of the item.
func New(it *transcript.Item, o *Options) *Card { return &Card{it: it, o: o} }

// Item returns the item of the transcript.
func (c *Card) Item() *transcript.Item { return c.it }

// Changed notes that the item changed.
func (c *Card) Changed() { c.changes++ }

// Folded reports whether the card shows little.
func (c *Card) Folded() bool {
	if c.fold == usual {
		return c.o.Folded
	}
	return c.fold == folded
}

// SetFolded folds or unfolds the card.
func (c *Card) SetFolded(on bool) {
	if c.fold = unfolded; on {
		c.fold = folded
	}
	c.changes++
}

// Toggle folds an unfolded card, and unfolds a folded one.
func (c *Card) Toggle() { c.SetFolded(!c.Folded()) }

// Reveal unfolds the card.
func (c *Card) Reveal() { c.SetFolded(false) }

// Version differs whenever Lines would: after a change, and each second while the model thinks or a call runs.
func (c *Card) Version() uint64 {
	const seconds = 24
	version := c.changes << seconds
	if c.it.Open {
		since := c.it.Thinks
		for _, call := range c.it.Calls {
			if call.State == transcript.Running && (since.IsZero() || call.Started.Before(since)) {
				since = call.Started
			}
		}
		if !since.IsZero() {
			version |= (1 + uint64(c.o.Now().Sub(since)/time.Second)) & (1<<seconds - 1)
		}
	}
	return version
}

// Stop reports whether the card is a prompt of a person.
func (c *Card) Stop() bool {
	return c.it.Kind == transcript.KindPrompt && c.it.Speaker.Kind == session.SpeakerPerson
}

// Joins reports whether the card has no text, and the one before it ends with a call on a line or is a note of one line.
func (c *Card) Joins(before list.Item) bool {
	b, ok := before.(*Card)
	if !ok || !c.bare {
		return false
	}
	n := len(b.it.Calls)
	return n > 0 && len(b.it.Calls[n-1].Diffs) == 0 || b.it.Note.Kind == transcript.NoteInfo
}

// Text returns the whole content as plain text.
func (c *Card) Text() string {
	it := c.it
	switch it.Kind {
	case transcript.KindNote:
		return joined("\n", it.Note.Title, it.Note.Detail, it.Note.Plain)
	case transcript.KindQuestion:
		return strings.Join(questionText(it), "\n")
	}
	var b strings.Builder
	if thinking, _ := it.Thinking(); thinking != "" {
		b.WriteString(thinking + "\n\n")
	}
	b.WriteString(it.Text())
	for _, call := range it.Calls {
		fmt.Fprintf(&b, "\n%s %s\n", call.Name, call.Title)
		if pretty := call.Pretty(); pretty != call.Title {
			b.WriteString(pretty + "\n")
		}
		if call.Result != nil {
			b.WriteString(call.Result.Text())
		}
	}
	return b.String()
}

// Unmarked returns the text of an answer about as Lines shows it, for the search: without the usual marks of Markdown, on one line.
func (c *Card) Unmarked() string {
	text := c.it.Text()
	if c.it.Kind != transcript.KindAnswer || !strings.ContainsAny(text, "*_`~[\n") {
		return ""
	}
	letter := func(at int) bool {
		return at >= 0 && at < len(text) && (text[at] >= utf8.RuneSelf || text[at]|0x20 >= 'a' && text[at]|0x20 <= 'z' || text[at] >= '0' && text[at] <= '9')
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch char, rest := text[i], text[i+1:]; {
		case char == '*', char == '`', char == '~' && (strings.HasPrefix(rest, "~") || i > 0 && text[i-1] == '~'):
		case char == '_' && (!letter(i-1) || !letter(i+1)): // not as in snake_case
		case char == ']' && strings.HasPrefix(rest, "("):
			const longest = 1000 // text or target of a link
			if end := strings.IndexAny(rest[:min(longest, len(rest))], ")\n"); end >= 0 && rest[end] == ')' {
				i += end + 1
			}
			near := max(len(out)-longest, 0)
			if open := bytes.LastIndexByte(out[near:], '['); open >= 0 {
				out = append(out[:near+open], out[near+open+1:]...)
			}
		case char != ' ' && char != '\n' && char != '\t':
			out = append(out, char)
		case len(out) > 0 && out[len(out)-1] != ' ':
			out = append(out, ' ')
		}
	}
	return string(out)
}

// Blocks returns the blocks of code in the text.
func (c *Card) Blocks() []string { return markdown.Blocks(c.it.Text()) }

// Lines draws the card.
func (c *Card) Lines(width int) []string {
	if c.it.Void() {
		return nil
	}
	p := &page{o: c.o, t: c.o.Theme, width: max(width, 1)}
	switch c.it.Kind {
	case transcript.KindPrompt:
		c.prompt(p)
	case transcript.KindAnswer:
		c.answer(p)
	case transcript.KindCommand:
		c.command(p)
	case transcript.KindNote:
		c.note(p)
	case transcript.KindQuestion:
		c.question(p)
	}
	return p.lines
}

// Limits of folded texts, in lines.
const (
	promptLines = 20
	noteLines   = 12
)

func (c *Card) prompt(p *page) {
	it := c.it
	p.blank()
	who := ""
	if name := it.Who(); name != "You" || p.o.Reader {
		who = name + ": "
	}
	p.time(it.Time)
	text, more := it.Text(), placeholders(it.Content)
	if strings.TrimSpace(text) == "" && len(more) > 0 {
		text, more = more[0], more[1:]
	}
	most := 0
	if c.Folded() {
		most = promptLines
		text, more = withoutFiles(it.Content, text, more)
	}
	style := p.t.Text
	if c.Stop() {
		style = p.t.Bold
	}
	p.hang(p.t.Glyph("›", ">"), p.t.Person, who, style, text, most)
	for _, line := range more {
		p.text("  ", p.t.Dim, line, 1)
	}
	p.pictures("  ", it.Content)
}

// withoutFiles replaces the texts of attached files by a line for each.
func withoutFiles(content llm.Content, text string, more []string) (string, []string) {
	for i, part := range content {
		t, ok := part.(llm.Text)
		if i == 0 || !ok { // the person wrote the first one
			continue
		}
		head, body, _ := strings.Cut(strings.TrimPrefix(t.Text, "\n\n"), "\n")
		quoted, ok := strings.CutPrefix(strings.TrimSuffix(head, ">"), "<file name=")
		name, err := strconv.Unquote(quoted)
		if !ok || err != nil || !strings.HasSuffix(body, "\n</file>") {
			continue
		}
		text = strings.Replace(text, t.Text, "", 1)
		more = append(more, "[file: "+name+", "+transcript.Count(strings.Count(body, "\n"), "line")+"]")
	}
	return text, more
}

// command draws a command of the person. Its output is visible although the card is folded: the person ran it to see it.
func (c *Card) command(p *page) {
	p.blank()
	p.time(c.it.Time)
	for _, call := range c.it.Calls {
		c.call(p, call)
		if c.Folded() && call.Result != nil && call.State != transcript.Denied {
			p.cut("    ", p.t.Text, strings.TrimSpace(strings.TrimSuffix(call.Result.Text(), "[exit code 0]")), noteLines)
		}
	}
}

func (c *Card) note(p *page) {
	n := c.it.Note
	t := p.t
	mark, style, text := "·", t.Dim, t.Dim
	switch n.Kind {
	case transcript.NoteText:
		mark, style, text = "▪", t.Info, t.Text
	case transcript.NoteWarning:
		mark, style, text = "!", t.Warn, t.Warn
	case transcript.NoteError:
		mark, style, text = "✗", t.Bad, t.Bad
	case transcript.NoteCut:
		mark, style = "✂", t.Info
	case transcript.NoteBack:
		mark, style, text = "↶", t.Accent, t.Text
	case transcript.NoteEnd:
		mark = "─"
	}
	if n.Kind != transcript.NoteInfo {
		p.blank()
	}
	word := ""
	if p.o.Reader {
		if word = transcript.Capital(string(n.Kind)) + ": "; n.Kind == transcript.NoteText {
			word = "Note: "
		}
	}
	p.time(c.it.Time)
	title := n.Title
	if t.ASCII {
		title = strings.ReplaceAll(title, " · ", " - ")
	}
	p.hang(p.glyph(mark), style, word, text, title, 0)
	if c.Folded() && n.Kind != transcript.NoteText {
		return
	}
	if n.Detail != "" {
		p.markdown(n.Detail)
	}
	if n.Plain != "" {
		p.cut("  ", t.Dim, n.Plain, 2*noteLines)
	}
}

// pictures draws the images of a content, if the terminal can.
func (p *page) pictures(indent string, content llm.Content) {
	for _, part := range content {
		if image, ok := part.(llm.Image); ok && p.o.Picture != nil {
			p.all(indent, p.o.Picture(image, p.width-len(indent)))
		}
	}
}

// placeholders returns a line for each part of a content that is not text.
func placeholders(content llm.Content) (lines []string) {
	for _, part := range content {
		switch part := part.(type) {
		case llm.Image:
			facts := []string{strings.TrimPrefix(part.MIME, "image/")}
			if shape, _, err := image.DecodeConfig(bytes.NewReader(part.Data)); err == nil {
				facts = append(facts, fmt.Sprintf("%dx%d", shape.Width, shape.Height))
			}
			if len(part.Data) > 0 {
				facts = append(facts, transcript.Bytes(int64(len(part.Data))))
			}
			lines = append(lines, "[image: "+strings.Join(facts, ", ")+"]")
		case llm.Document:
			facts := joined(", ", part.Name, part.MIME)
			if len(part.Data) > 0 {
				facts = joined(", ", facts, transcript.Bytes(int64(len(part.Data))))
			}
			lines = append(lines, "[document: "+facts+"]")
		}
	}
	return lines
}

// joined joins the texts that are not empty.
func joined(with string, texts ...string) string {
	var all []string
	for _, text := range texts {
		if text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, with)
}
