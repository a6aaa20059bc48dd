package card

import (
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/highlight"
	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/diff"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// Limits of texts in unfolded cards, in lines.
const (
	argumentLines = 40
	outputLines   = 60
	liveLines     = 3
	diffLines     = 200
	thinkingLines = 400
	todoLines     = 30
)

func (c *Card) answer(p *page) {
	it := c.it
	text := it.Text()
	thinking, hidden := it.Thinking()
	c.bare = text == ""
	p.blank()
	if text != "" || thinking != "" || hidden {
		p.time(it.Time)
		if p.o.Reader {
			p.add(p.t.Model.Paint(term.OneLine(it.Who()) + ":"))
		}
	}
	if thinking != "" || hidden {
		c.thinking(p, thinking, hidden)
	}
	if text != "" {
		if thinking != "" || hidden {
			p.blank()
		}
		c.prose(p, text)
	}
	if len(it.Calls) > 0 && text != "" {
		p.blank()
	}
	for _, call := range it.Calls {
		c.call(p, call)
	}
	p.todo("    ", it.Todo[:min(len(it.Todo), todoLines)])
	if more := len(it.Todo) - todoLines; more > 0 {
		p.text("    ", p.t.Dim, transcript.Count(more, "more task"), 1)
	}
	stop, usage := it.Facts()
	if it.Open && it.Partial {
		stop = ""
	}
	if stop != "" {
		p.text("  ", p.t.Warn, transcript.Capital(stop), 0)
	}
	if p.o.Times && usage != "" {
		p.text("  ", p.t.Faint, usage, 0)
	}
}

// prose adds the text of an answer. While the answer streams, finished blocks are not laid out again.
func (c *Card) prose(p *page, text string) {
	if !c.it.Partial {
		c.doc = nil
		p.markdown(text)
		return
	}
	if c.doc == nil || c.looks != p.t || p.width < 4 {
		c.doc, c.looks = markdown.NewDoc(p.styles()), p.t
	}
	p.lines = append(p.lines, c.doc.Lines(short(text), p.width-len(p.indent()))...)
}

func (c *Card) thinking(p *page, text string, hidden bool) {
	word := "Thought"
	took := c.it.Thought
	if !c.it.Thinks.IsZero() && c.it.Open {
		word, took = "Thinking", took+p.o.Now().Sub(c.it.Thinks)
	}
	if took >= time.Second {
		word += " for " + transcript.Duration(took.Truncate(time.Second))
	}
	if hidden && text == "" {
		word += ", not shown by the provider"
	}
	p.add("  " + p.mark("∴", p.t.Dim) + p.t.Dim.Paint(word))
	if !c.Folded() && text != "" {
		p.cut("    ", p.t.Quote, text, thinkingLines)
	}
}

// looks of the states of calls.
func (p *page) state(s transcript.State) (mark string, style theme.Style) {
	switch s {
	case transcript.Running:
		return "●", p.t.Accent
	case transcript.Succeeded:
		return "✓", p.t.Good
	case transcript.Failed:
		return "✗", p.t.Bad
	case transcript.Denied:
		return "⊘", p.t.Warn
	case transcript.Waiting, transcript.Unknown:
		return "?", p.t.Warn
	case transcript.Skipped, transcript.Cancelled:
		return "⊘", p.t.Dim
	}
	return "○", p.t.Dim
}

// smallDiff is how many changed lines a diff has at most that a folded card shows.
const smallDiff = 12

func (c *Card) call(p *page, call *transcript.Call) {
	t := p.t
	mark, style := p.state(call.State)
	brief, reason := outcome(call)
	took := call.Took()
	if call.State == transcript.Running && !call.Started.IsZero() {
		if took = p.o.Now().Sub(call.Started).Truncate(time.Second); took < time.Second {
			took = 0
		}
	}
	added, removed := 0, 0
	for _, d := range call.Diffs {
		added, removed = added+d.Added, removed+d.Removed
	}
	changes := counts(added, removed)
	if strings.Contains(brief, changes) {
		changes = ""
	}
	facts, between := "", t.Glyph(" · ", " - ")
	if p.o.Reader {
		between = ", "
	}
	for _, fact := range []string{brief, changes, duration(took)} {
		if fact != "" {
			facts += between + fact
		}
	}
	name, title := term.OneLine(call.Name), term.OneLine(call.Title)
	lead := p.mark(mark, style)
	if p.o.Reader {
		lead = "Call, " + string(call.State) + ": "
	}
	room := p.width - 2 - term.Cells(lead) - term.Cells(name) - 1
	facts = term.Fit(facts, max(room/2, 1))
	title = term.Fit(title, max(room-term.Cells(facts), 1))
	p.add("  " + lead + t.Bold.Paint(name) + " " + t.Text.Paint(title) + t.Dim.Paint(facts))
	if reason != "" && c.Folded() && call.State != transcript.Denied { // the reason of a denial says how to allow the call
		reason = term.Fit(reason, max(p.width-4, 1))
	}
	if reason != "" {
		p.text("    ", style, reason, 8)
	}
	if c.Folded() {
		if call.State == transcript.Running {
			p.tail(call.Output(), liveLines)
		}
		if call.State == transcript.Succeeded && added+removed > 0 && added+removed <= smallDiff {
			p.diffs(call.Diffs, len(call.Diffs) > 1)
		}
		return
	}
	c.details(p, call)
}

// code adds the arguments of a call: a command, a patch or JSON.
func (p *page) code(text string) {
	language := "bash"
	switch {
	case strings.HasPrefix(text, "{"):
		language = "json"
	case strings.HasPrefix(text, "*** ") || strings.HasPrefix(text, "--- "):
		language = "diff"
	}
	state := 0
	p.excerpt("    ", text, argumentLines, func(line string) string {
		var spans []highlight.Span
		spans, state = highlight.Line(language, state, line)
		return "    " + diff.Paint(p.t, line, spans, nil, "")
	})
}

// outcome returns a brief outcome for the line of a call, and the reason of a failure or a denial for a line of its own: for a command the last
// line of its output.
func outcome(call *transcript.Call) (brief, reason string) {
	brief = term.OneLine(call.Brief)
	switch {
	case call.State == transcript.Failed && call.Result.Outcome == session.OutcomeOK:
		for rest := call.Result.Text(); rest != "" && reason == ""; {
			at := strings.LastIndexByte(rest, '\n')
			if line := term.OneLine(short(rest[at+1:])); !strings.HasPrefix(line, "[exit code") {
				reason = line
			}
			rest = rest[:max(at, 0)]
		}
		if reason != "" {
			return brief, reason
		}
		fallthrough
	case call.State == transcript.Failed, call.State == transcript.Denied:
		return "", brief
	}
	return brief, ""
}

func duration(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return transcript.Duration(d)
}

// tail adds the last lines of an output.
func (p *page) tail(text string, most int) {
	if strings.TrimSpace(text) == "" {
		return
	}
	all := strings.Split(text, "\n")
	lines := flow(strings.Join(all[max(len(all)-most, 0):], "\n"), p.width-4)
	for _, line := range lines[max(len(lines)-most, 0):] {
		p.add("    " + p.t.Dim.Paint(line))
	}
}

// details adds the arguments, the output and the changes of a call.
func (c *Card) details(p *page, call *transcript.Call) {
	if pretty := call.Pretty(); pretty != "" && pretty != "{}" && pretty != call.Title {
		p.code(pretty)
	}
	p.diffs(call.Diffs, true)
	switch {
	case call.Result == nil:
		p.tail(call.Output(), outputLines)
	case call.State != transcript.Denied && (len(call.Diffs) == 0 || call.State != transcript.Succeeded):
		p.cut("    ", p.t.Dim, call.Result.Text(), outputLines)
	}
	if call.Result != nil {
		for _, line := range placeholders(call.Result.Content) {
			p.text("    ", p.t.Dim, line, 1)
		}
		p.pictures("    ", call.Result.Content)
	}
	if len(call.Diffs) == 0 {
		for _, f := range call.Files {
			p.text("    ", p.t.Dim, "changed "+f.Path, 1)
		}
		if call.More > 0 {
			p.text("    ", p.t.Dim, "and "+transcript.Count(call.More, "more file"), 1)
		}
	}
}

// diffs adds the changes of files. headed says whether each has a line with the path.
func (p *page) diffs(all []session.FileDiff, headed bool) {
	for _, d := range all {
		if headed {
			what := ""
			switch {
			case d.Created:
				what = "new file"
			case d.Deleted:
				what = "deleted"
			case d.From != "":
				what = "moved from " + term.OneLine(d.From)
			}
			p.add("    " + p.t.Bold.Paint(term.OneLine(d.Path)) + " " + p.t.Dim.Paint(joined(" ", counts(d.Added, d.Removed), what)))
		}
		o := diff.Options{Path: d.Path, Split: !p.o.Reader && d.Added > 0 && d.Removed > 0, Max: diffLines} // half of others would be empty
		p.all("    ", diff.Lines(d.Text, max(p.width-4, 1), p.t, o))
		if d.Cut {
			p.text("    ", p.t.Faint, "The diff is not complete.", 1)
		}
	}
}

// counts returns the numbers of added and removed lines: "+3 -1".
func counts(added, removed int) string {
	text := ""
	if added > 0 {
		text = "+" + strconv.Itoa(added)
	}
	if removed > 0 {
		text = joined(" ", text, "-"+strconv.Itoa(removed))
	}
	return text
}

// Todo draws a list of tasks.
func Todo(items []session.TodoItem, o *Options, width int) []string {
	p := &page{o: o, t: o.Theme, width: max(width, 1)}
	p.todo("", items)
	return p.lines
}

// todo adds a list of tasks.
func (p *page) todo(indent string, items []session.TodoItem) {
	for _, item := range items {
		mark, word, style, text := "☐", "pending", p.t.Dim, p.t.Text
		switch item.Status {
		case "completed":
			mark, word, style, text = "☑", "completed", p.t.Good, p.t.Dim
		case "in_progress":
			mark, word, style, text = "▸", "in progress", p.t.Accent, p.t.Bold
		}
		lead := p.mark(mark, style)
		if p.o.Reader {
			lead = word + ": "
		}
		for j, line := range flow(term.OneLine(item.Text), p.width-len(indent)-term.Cells(lead)) {
			if j > 0 {
				lead = strings.Repeat(" ", term.Cells(lead))
			}
			p.add(indent + lead + text.Paint(line))
		}
	}
}
