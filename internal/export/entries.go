package export

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/markup"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// entry is the frame of a message, or of what stands between messages.
func entry(it *item, class string, inside ...markup.Node) markup.Node {
	dead := ""
	if it.Dead {
		dead = "dead"
	}
	return markup.El("section",
		markup.Class("entry", class, dead).Set("id", fmt.Sprintf("e%d", it.Seq)).Set("data-id", string(it.ID)), inside...)
}

// numbered is an entry's number, as a link to it.
func numbered(it *item) markup.Node {
	return markup.El("a", markup.Class("anchor").Set("href", fmt.Sprintf("#e%d", it.Seq)).Set("title", "Link to entry "+string(it.ID)),
		markup.Text(fmt.Sprintf("#%d", it.Seq)))
}

// titleLine is the line above a message: who wrote it, and when.
func titleLine(it *item, who string) markup.Node {
	return markup.El("h2", markup.Class("line"), span("who", who), clock(it.Time), markup.Text(" "), numbered(it))
}

func clock(t time.Time) markup.Node { return markup.El("time", nil, markup.Text(timeWords(t))) }

// span is some words of a class, with a space after them.
func span(class, words string) markup.Node {
	return markup.Nodes{markup.Leaf("span", class, words), markup.Text(" ")}
}

// dim is what matters less, with a space before it.
func dim(words string) markup.Node {
	return markup.Nodes{markup.Text(" "), markup.Leaf("span", "dim", words)}
}

// folding is what people see when they ask for it.
func folding(class string, summary markup.Node, inside ...markup.Node) markup.Node {
	return markup.El("details", markup.Class("fold", class), markup.El("summary", nil, summary), markup.Nodes(inside))
}

// markdown is a text of anybody as rich text.
func (p *page) markdown(class, text string) markup.Node {
	return markup.El("div", markup.Class(class, "text"), p.rich.html(text))
}

func (p *page) user(it *item) markup.Node {
	m := it.Message
	if m.Source == session.FromLoop {
		summary := markup.Nodes{span("who", speaker(m.Source)), numbered(it)}
		return entry(it, "user program", folding("", summary, p.parts(m.Content)))
	}
	return entry(it, "user", titleLine(it, speaker(m.Source)), p.parts(m.Content))
}

func (p *page) answer(it *item) markup.Node {
	m := it.Message
	inside := markup.Nodes{titleLine(it, cmp.Or(m.Model, "Model"))}
	hidden := false
	for _, part := range m.Content {
		t, ok := part.(llm.Thinking)
		switch {
		case !ok:
		case strings.TrimSpace(t.Text) == "":
			hidden = true
		default:
			inside = append(inside, folding("thinking", markup.Text("Thinking"), p.markdown("", t.Text)))
		}
	}
	if hidden {
		inside = append(inside, markup.Leaf("p", "dim small", "(thinking that only the provider can read)"))
	}
	text, intent := withoutIntent(m.Text())
	if intent != "" {
		inside = append(inside, markup.Leaf("p", "intent", intent))
	}
	if text != "" {
		inside = append(inside, p.markdown("", text))
	}
	for _, c := range it.Calls {
		inside = append(inside, p.call(c))
	}
	if todo := todoText(it.Todo); todo != "" {
		inside = append(inside, p.markdown("todo", todo))
	}
	if stop := stopWords(m.Stop); stop != "" {
		inside = append(inside, markup.El("p", markup.Class("usage"), span("bad", stop), markup.Text(usageWords(m.Usage))))
	} else if usage := usageWords(m.Usage); usage != "" {
		inside = append(inside, markup.Leaf("p", "usage", usage))
	}
	return entry(it, "answer", inside)
}

// call is a call of a tool: one line, and the rest when it is unfolded.
func (p *page) call(c *callItem) markup.Node {
	diffs, failed := c.diffs(p.over.Dir, p.o), ""
	if c.outcome() != "" {
		failed = "failed"
	}
	attrs := markup.Class("call", failed)
	if c.Seq > 0 {
		attrs = attrs.Set("id", fmt.Sprintf("e%d", c.Seq))
	}
	inside := markup.Nodes{}
	if c.Denied != "" {
		inside = append(inside, markup.Leaf("p", "bad", "Denied. "+c.Denied))
	}
	inside = append(inside, arguments(c, diffs))
	if c.Result != nil {
		inside = append(inside, result(fold(c.Result.Text())), p.others(c.Result.Content))
	}
	return markup.El("details", attrs, callLine(c, diffs), markup.El("div", markup.Class("inside"), inside...))
}

func callLine(c *callItem, diffs []fileDiff) markup.Node {
	mark := "✓"
	if c.outcome() != "" {
		mark = "✗"
	}
	line := markup.Nodes{
		markup.El("span", markup.Class("mark").Set("aria-hidden", "true"), markup.Text(mark)), markup.Text(" "),
		span("name", c.Name), span("gist", c.gist()),
	}
	if len(diffs) > 0 {
		added, removed := 0, 0
		for _, d := range diffs {
			added, removed = added+d.Added, removed+d.Removed
		}
		line = append(line, lineCount(added, removed), markup.Text(" "))
	}
	if outcome := c.outcome(); outcome != "" {
		line = append(line, span("bad", outcome))
	}
	if took := c.ran(); took != "" {
		line = append(line, dim(took))
	}
	return markup.El("summary", nil, line...)
}

// lineCount says how many lines came and went.
func lineCount(added, removed int) markup.Node {
	return markup.El("span", markup.Class("count"),
		span("plus", fmt.Sprintf("+%d", added)), markup.Leaf("span", "minus", fmt.Sprintf("−%d", removed)))
}

// arguments are what a tool was asked for: as changes of files where that is what they are.
func arguments(c *callItem, diffs []fileDiff) markup.Node {
	text, more := cut(c.pretty(), maxShown/4)
	var out markup.Nodes
	for _, d := range diffs {
		out = append(out, diff(d))
	}
	if len(diffs) == 0 {
		out = append(out, markup.Leaf("pre", "arguments", text))
	} else {
		if c.More > 0 {
			out = append(out, markup.Leaf("p", "dim", "… and "+counted(c.More, "more file")))
		}
		out = append(out, folding("", markup.Text("Arguments"), markup.El("pre", nil, markup.Text(text))))
	}
	if more {
		out = append(out, elsewhere())
	}
	return out
}

// elsewhere says where the rest of a text is.
func elsewhere() markup.Node {
	return markup.Leaf("p", "dim", "(cut; the whole is in the exports as JSON)")
}

// result is what a tool answered.
func result(f folded) markup.Node {
	var out markup.Nodes
	if f.Head != "" {
		out = append(out, markup.Leaf("pre", "result", f.Head))
	}
	if f.Rest != "" {
		out = append(out, folding("", markup.Text(counted(f.More, "more line")), markup.Leaf("pre", "result", f.Rest)))
	}
	if f.Cut {
		out = append(out, elsewhere())
	}
	return out
}

// diff is how a file changes.
func diff(d fileDiff) markup.Node {
	path := markup.Nodes{markup.Text(cmp.Or(d.Path, "change") + " ")}
	if len(d.Lines) > 0 {
		path = append(path, lineCount(d.Added, d.Removed))
	}
	if d.Note != "" {
		path = append(path, dim(d.Note))
	}
	out := markup.Nodes{markup.El("p", markup.Class("path"), path...)}
	if len(d.Lines) > 0 {
		lines := make(markup.Nodes, len(d.Lines))
		for i, l := range d.Lines {
			lines[i] = markup.Leaf("span", l.Kind, l.Text+"\n")
		}
		out = append(out, markup.El("pre", nil, lines...))
	}
	if d.More > 0 {
		out = append(out, markup.Leaf("p", "dim", "… "+counted(d.More, "more line")))
	}
	return markup.El("div", markup.Class("diff"), out...)
}

// mark is something between messages.
func (p *page) mark(it *item, m mark) markup.Node {
	title := markup.Nodes{span("title", m.Title), numbered(it)}
	if m.Detail == "" && m.Plain == "" {
		return entry(it, "between "+m.Kind, markup.El("p", nil, title))
	}
	attrs := markup.Class("fold")
	if m.Kind == "text" {
		attrs = attrs.Set("open", "")
	}
	inside := markup.Nodes{markup.El("summary", nil, title)}
	if m.Detail != "" {
		inside = append(inside, p.markdown("", m.Detail))
	}
	if m.Plain != "" {
		inside = append(inside, markup.Leaf("pre", "plain", m.Plain))
	}
	return entry(it, "between "+m.Kind, markup.El("details", attrs, inside...))
}

// parts are the texts, pictures and files of a message.
func (p *page) parts(content llm.Content) (out markup.Nodes) {
	for _, part := range content {
		if t, ok := part.(llm.Text); ok {
			text, more := cut(t.Text, maxShown)
			if more {
				text += "\n\n… (cut; the whole is in the exports as JSON)"
			}
			if text != "" {
				out = append(out, p.markdown("", text))
			}
		}
		out = append(out, other(part))
	}
	return out
}

// others are the pictures and files alone.
func (p *page) others(content llm.Content) (out markup.Nodes) {
	for _, part := range content {
		out = append(out, other(part))
	}
	return out
}

// other is a picture, or the name of what cannot be shown; nil for other parts.
func other(part llm.Part) markup.Node {
	file := func(name string) markup.Node { return markup.Leaf("p", "file", "File: "+name) }
	switch c := part.(type) {
	case llm.Image:
		if len(c.Data) <= maxPicture {
			if picture, ok := markup.Picture(c.MIME, c.Data, "picture"); ok {
				return picture
			}
		}
		return file(fmt.Sprintf("picture (%s, %s)", c.MIME, kilobytes(c.Data)))
	case llm.Document:
		return file(fmt.Sprintf("%s (%s, %s)", cmp.Or(c.Name, "document"), c.MIME, kilobytes(c.Data)))
	case llm.UnknownPart:
		return file("a part of the type " + c.Type)
	}
	return nil
}

func kilobytes(data []byte) string { return fmt.Sprintf("%d kB", (len(data)+1023)/1024) }
