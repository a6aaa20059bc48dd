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
)

const (
	mdResultLines = 30  // of a result
	mdDiffLines   = 200 // of one file
)

// Markdown writes the conversation to read and to paste: calls as short blocks, with what they changed; long results are cut, and say so.
func Markdown(ctx context.Context, w io.Writer, store session.Store, s session.Summary, o Options) error {
	over, err := look(ctx, store, s, o)
	if err != nil {
		return err
	}
	text := valid(w)
	p := &mdPage{w: bufio.NewWriterSize(text, 64<<10), over: over, o: o}
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

// mdPage is a Markdown text that is being written.
type mdPage struct {
	w    *bufio.Writer
	over *overview
	o    Options
	dead bool // within a branch that was left
	err  error
}

func (p *mdPage) print(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format, args...); p.err == nil {
		p.err = err
	}
}

func (p *mdPage) head() {
	o := p.over
	p.print("# %s\n\n", mdLine(cmp.Or(firstLine(o.Title, 200), "Session "+string(o.ID))))
	if o.Dir != "" {
		p.print("- Directory: %s\n", mdCode(o.Dir))
	}
	for _, m := range o.Models {
		p.print("- Model: %s, %s\n", mdCode(m.Name), counted(m.Answers, "answer"))
	}
	p.print("- Time: %s to %s UTC\n", timeWords(o.First), timeWords(o.Last))
	p.print("- %s, %s, %s\n", counted(len(o.Turns), "turn"), counted(o.Answers, "answer"), counted(o.Calls, "call"))
	if u := usageWords(o.Usage); u != "" {
		p.print("- Tokens and cost: %s\n", u)
	}
	if i := o.Root.Imported; i.Program != "" {
		p.print("- Imported from %s %s\n", mdLine(i.Program), mdCode(i.ID))
	}
	p.print("- Session: %s\n", mdCode(string(o.ID)))
}

// branch says where a branch that was left begins and ends.
func (p *mdPage) branch(dead bool) {
	if dead != p.dead {
		words := "what follows is on a branch that was left"
		if !dead {
			words = "the branch that was left ends here"
		}
		p.print("\n---\n\n*(%s)*\n", words)
	}
	p.dead = dead
}

func (p *mdPage) item(it *item) {
	if it.Between != nil {
		p.between(it)
		return
	}
	p.branch(it.Dead)
	m := it.Message
	if m.Role == llm.RoleUser {
		p.print("\n## %s\n\n", speaker(m.Source))
		p.content(m.Content)
		return
	}
	p.print("\n### %s\n\n", mdLine(cmp.Or(m.Model, "Model")))
	for _, part := range m.Content {
		if t, ok := part.(llm.Thinking); ok && strings.TrimSpace(t.Text) != "" {
			p.print("%s\n\n", quoted("*Thinking*\n\n"+mdText(t.Text)))
		}
	}
	if text, _ := withoutIntent(m.Text()); text != "" {
		p.print("%s\n\n", mdText(text))
	}
	for _, c := range it.Calls {
		p.call(c)
	}
	if len(it.Todo) > 0 {
		p.print("%s\n", todoText(it.Todo))
	}
	words := strings.TrimPrefix(stopWords(m.Stop)+" · "+usageWords(m.Usage), " · ")
	if words = strings.TrimSuffix(words, " · "); words != "" {
		p.print("*%s*\n", words)
	}
}

func (p *mdPage) content(content llm.Content) {
	for _, part := range content {
		switch c := part.(type) {
		case llm.Text:
			p.print("%s\n\n", mdText(c.Text))
		case llm.Image:
			p.print("*(picture, %s, %d kB)*\n\n", mdLine(c.MIME), (len(c.Data)+1023)/1024)
		case llm.Document:
			p.print("*(%s, %s, %d kB)*\n\n", mdLine(cmp.Or(c.Name, "document")), mdLine(c.MIME), (len(c.Data)+1023)/1024)
		}
	}
}

func (p *mdPage) call(c *callItem) {
	mark := "✓"
	outcome := c.outcome()
	if outcome != "" {
		mark, outcome = "✗", " — "+mdLine(outcome)
	}
	diffs := c.diffs(p.over.Dir, p.o)
	p.print("%s **%s** %s%s", mark, mdLine(c.Name), mdCode(c.gist()), outcome)
	if added, removed := changed(diffs); len(diffs) > 0 {
		p.print(" (+%d −%d)", added, removed)
	}
	p.print("\n\n")
	if c.Denied != "" {
		p.print("Denied. %s\n\n", mdLine(c.Denied))
	}
	for _, d := range diffs {
		var b strings.Builder
		for i, l := range d.Lines {
			if i == mdDiffLines {
				break
			}
			b.WriteString(l.Text + "\n")
		}
		if more := len(d.Lines) + d.More - mdDiffLines; more > 0 {
			fmt.Fprintf(&b, "… %s\n", counted(more, "more line"))
		}
		p.print("%s %s\n\n", mdCode(d.Path), mdLine(d.Note))
		if b.Len() > 0 {
			p.fence("diff", b.String())
		}
	}
	if c.Result == nil || len(diffs) > 0 && outcome == "" {
		return
	}
	text, more := firstLines(c.Result.Text(), mdResultLines)
	if more > 0 {
		text += fmt.Sprintf("… %s\n", counted(more, "more line"))
	}
	if strings.TrimSpace(text) != "" {
		p.fence("", text)
	}
}

func changed(diffs []fileDiff) (added, removed int) {
	for _, d := range diffs {
		added, removed = added+d.Added, removed+d.Removed
	}
	return added, removed
}

// firstLines is the beginning of a text, and how many lines are left out.
func firstLines(text string, most int) (string, int) {
	text, _ = cut(text, maxShown)
	lines := strings.SplitAfter(ended(strings.TrimRight(text, "\n")), "\n")
	lines = lines[:len(lines)-1]
	if len(lines) <= most+5 {
		return strings.Join(lines, ""), 0
	}
	return strings.Join(lines[:most], ""), len(lines) - most
}

func (p *mdPage) between(it *item) {
	m, ok := p.over.between(it.Between)
	if !ok {
		return
	}
	if session.OnBranch(it.Between) {
		p.branch(it.Dead)
	}
	switch m.Kind {
	case "cut", "back":
		p.print("\n---\n\n*%s*\n", mdLine(m.Title))
	default:
		p.print("\n*%s*\n", mdLine(m.Title))
	}
	if m.Detail != "" {
		p.print("\n%s\n", quoted(mdText(m.Detail)))
	}
}

// fence writes text as a block of code, whatever is in it.
func (p *mdPage) fence(kind, text string) {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	p.print("%s%s\n%s%s\n\n", marks, kind, ended(strings.ToValidUTF8(text, "\uFFFD")), marks)
}

func quoted(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n> ")
}

// mdText is a text that is Markdown already. A heading in it stands below ours, and a fence that it leaves open is closed.
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

// mdLine is a text on one line in which nothing is Markdown.
func mdLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "#", `\#`, "|", `\|`,
	).Replace(text)
}

// mdCode is a text on one line as code, whatever is in it.
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
