package export

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

const (
	mdResultLines = 30  // of a result
	mdDiffLines   = 200 // of one file
)

// Markdown writes the conversation to read and to paste: calls as short blocks with their changes. It cuts long results and says so.
func Markdown(ctx context.Context, w io.Writer, store index.Store, s index.Summary, o Options) error {
	over, err := look(ctx, store, s, o)
	if err != nil {
		return err
	}
	text := valid(w)
	p := &mdPage{w: bufio.NewWriterSize(text, 64<<10), over: over}
	p.head()
	for it, err := range over.items(ctx, store) {
		if err != nil {
			return err
		}
		p.item(it)
		if p.err != nil {
			return p.err
		}
	}
	p.branch(false)
	return cmp.Or(p.err, p.w.Flush(), text.Close())
}

type mdPage struct {
	w    *bufio.Writer
	over *overview
	dead bool // within an abandoned branch
	err  error
}

func (p *mdPage) print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format, args...); p.err == nil {
		p.err = err
	}
}

func (p *mdPage) head() {
	p.print("# %s\n\n", mdLine(p.over.name()))
	for _, f := range p.over.facts() {
		p.print("- %s:", f.name)
		for i, text := range f.value {
			switch {
			case text == "":
			case i%2 == 1:
				p.print(" %s", mdCode(text))
			default:
				p.print(" %s", mdLine(text))
			}
		}
		p.print("\n")
	}
}

// branch writes where an abandoned branch begins and ends.
func (p *mdPage) branch(dead bool) {
	if dead != p.dead {
		words := "an abandoned branch begins here"
		if !dead {
			words = "the abandoned branch ends here"
		}
		p.print("\n---\n\n*(%s)*\n", words)
	}
	p.dead = dead
}

func (p *mdPage) item(it item) {
	switch it.Kind {
	case transcript.KindPrompt:
		p.branch(it.Dead)
		p.print("\n## %s\n\n", mdLine(it.Who()))
		for _, part := range it.Content {
			if t, ok := part.(llm.Text); ok {
				p.print("%s\n\n", mdText(t.Text))
			} else if name := attachment(part); name != "" {
				p.print("*%s*\n\n", mdLine(name))
			}
		}
	case transcript.KindAnswer, transcript.KindCommand:
		p.branch(it.Dead)
		p.answer(it)
	default:
		p.note(it)
	}
}

func (p *mdPage) answer(it item) {
	p.print("\n### %s\n\n", mdLine(it.Who()))
	if thinking, _ := it.Thinking(); thinking != "" {
		p.print("%s\n\n", quoted("*Thinking*\n\n"+mdText(thinking)))
	}
	if text := it.Text(); text != "" {
		p.print("%s\n\n", mdText(text))
	}
	for _, c := range it.Calls {
		p.call(c)
	}
	if len(it.Todo) > 0 {
		p.print("%s\n", transcript.Todo(it.Todo))
	}
	if stop, usage := it.Facts(); stop+usage != "" {
		p.print("*%s*\n", strings.Trim(stop+" · "+usage, " ·"))
	}
}

func (p *mdPage) call(c *transcript.Call) {
	mark, changes := "✓", p.over.changes(c)
	if !c.OK() {
		mark = "✗"
	}
	p.print("%s **%s** %s", mark, mdLine(c.Name), mdCode(c.Title))
	if added, removed := total(changes); len(changes) > 0 {
		p.print(" (+%d −%d)", added, removed)
	}
	if !c.OK() || len(changes) == 0 {
		p.print(" — %s", mdLine(outcome(c)))
	}
	p.print("\n\n")
	if c.Denied != "" {
		p.print("Denied by %s\n\n", mdLine(c.Denied))
	}
	for _, d := range changes {
		lines, more := d.lines(mdDiffLines)
		p.print("%s %s\n\n", mdCode(d.Path), mdLine(d.Note))
		p.block("diff", strings.Join(lines, "\n"), more)
	}
	if c.Result != nil && c.State != transcript.Denied && (len(changes) == 0 || !c.OK()) {
		text, _ := cut(c.Result.Text(), maxShown)
		head, _, more := split(text, mdResultLines)
		p.block("", head, more)
	}
}

func (p *mdPage) note(it item) {
	n := p.over.note(it.Item)
	if (session.Event{Body: it.Body}).OnBranch() {
		p.branch(it.Dead)
	}
	if n.Kind == transcript.NoteCut || n.Kind == transcript.NoteBack {
		p.print("\n---\n")
	}
	p.print("\n*%s*\n", mdLine(n.Title))
	if n.Detail != "" {
		p.print("\n%s\n", quoted(mdText(n.Detail)))
	}
}

// block writes text as a block of code, whatever it contains, and the number of lines that it lacks.
func (p *mdPage) block(kind, text string, more int) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if text = ended(strings.ToValidUTF8(text, "\uFFFD")); more > 0 {
		text += "… " + transcript.Count(more, "more line") + "\n"
	}
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	p.print("%s%s\n%s%s\n\n", marks, kind, text, marks)
}

func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n> ")
}

// mdText returns Markdown whose headings are below the headings of the export, and which closes its fences.
func mdText(text string) string {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\n")
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		start := strings.TrimLeft(line, " ")
		marks := start[:len(start)-len(strings.TrimLeft(start, "`~"))]
		switch {
		case fence == "" && len(marks) >= 3:
			fence = marks
		case fence != "" && strings.HasPrefix(marks, fence) && strings.TrimSpace(start) == marks:
			fence = ""
		case fence == "" && strings.HasPrefix(line, "#"):
			b.WriteString("###")
		}
		b.WriteString(line)
	}
	if fence != "" {
		b.WriteString("\n" + fence)
	}
	return b.String()
}

func mdLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "#", `\#`, "|", `\|`,
	).Replace(text)
}

// mdCode returns a text on one line as code, whatever it contains.
func mdCode(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if text == "" {
		return ""
	}
	marks := "`"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return marks + text + marks
}
