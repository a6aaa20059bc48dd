package export

import (
	"cmp"
	"fmt"

	"github.com/tenon-agent/tenon/internal/markup"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

func entry(it item, class string, inside ...markup.Node) markup.Node {
	dead := ""
	if it.Dead {
		dead = "dead"
	}
	return markup.El("section",
		markup.Class("entry", class, dead).Set("id", fmt.Sprintf("e%d", it.Seq)).Set("data-id", string(it.ID)), inside...)
}

func numbered(it item) markup.Node {
	return markup.El("a", markup.Class("anchor").Set("href", fmt.Sprintf("#e%d", it.Seq)).Set("title", "Link to entry "+string(it.ID)),
		markup.Text(fmt.Sprintf("#%d", it.Seq)))
}

// titleLine is the line above a message: its author and its time.
func titleLine(it item) markup.Node {
	return markup.El("h2", markup.Class("line"), span("who", it.Who()), markup.Leaf("time", "", clock(it.Time)), markup.Text(" "), numbered(it))
}

func span(class, words string) markup.Node {
	return markup.Nodes{markup.Leaf("span", class, words), markup.Text(" ")}
}

// dim is less important words, with a space before them.
func dim(words string) markup.Node {
	return markup.Nodes{markup.Text(" "), markup.Leaf("span", "dim", words)}
}

// folding is content that people unfold.
func folding(class string, summary markup.Node, inside ...markup.Node) markup.Node {
	return markup.El("details", markup.Class("fold", class), markup.El("summary", nil, summary), markup.Nodes(inside))
}

// markdown is an untrusted text as rich text.
func (p *page) markdown(class, text string) markup.Node {
	if text == "" {
		return nil
	}
	return markup.El("div", markup.Class(class, "text"), p.rich.html(text))
}

func (p *page) prompt(it item) markup.Node {
	if it.Speaker.Kind != session.SpeakerPerson && it.Source != session.FromRevert {
		return entry(it, "user program", folding("", markup.Nodes{span("who", it.Who()), numbered(it)}, p.parts(it.Content)))
	}
	return entry(it, "user", titleLine(it), p.parts(it.Content))
}

func (p *page) answer(it item) markup.Node {
	inside := markup.Nodes{titleLine(it)}
	thinking, hidden := it.Thinking()
	if thinking != "" {
		inside = append(inside, folding("thinking", markup.Text("Thinking"), p.markdown("", thinking)))
	}
	if hidden {
		inside = append(inside, markup.Leaf("p", "dim small", "(thinking that only the provider can read)"))
	}
	if intent := it.Intent(); intent != "" {
		inside = append(inside, markup.Leaf("p", "intent", intent))
	}
	inside = append(inside, p.markdown("", it.Text()))
	for _, c := range it.Calls {
		inside = append(inside, p.call(c))
	}
	inside = append(inside, p.markdown("todo", transcript.Todo(it.Todo)))
	if stop, usage := it.Facts(); stop+usage != "" {
		inside = append(inside, markup.El("p", markup.Class("usage"), span("bad", stop), markup.Text(usage)))
	}
	return entry(it, "answer", inside)
}

// call is one line, with the details of the call folded.
func (p *page) call(c *transcript.Call) markup.Node {
	changes, mark, failed := p.over.changes(c), "✓", ""
	if !c.OK() {
		mark, failed = "✗", "failed"
	}
	line := markup.Nodes{
		markup.El("span", markup.Class("mark").Set("aria-hidden", "true"), markup.Text(mark)), markup.Text(" "),
		span("name", c.Name), span("gist", c.Title),
	}
	if len(changes) > 0 {
		line = append(line, lineCount(total(changes)), markup.Text(" "))
	}
	switch outcome := outcome(c); {
	case failed != "":
		line = append(line, span("bad", outcome))
	case len(changes) == 0:
		line = append(line, dim(outcome))
	}
	if took := c.Took(); took > 0 {
		line = append(line, dim(transcript.Duration(took)))
	}
	attrs := markup.Class("call", failed)
	if c.Seq > 0 {
		attrs = attrs.Set("id", fmt.Sprintf("e%d", c.Seq))
	}
	return markup.El("details", attrs, markup.El("summary", nil, line...), markup.El("div", markup.Class("inside"), p.details(c, changes)...))
}

func outcome(c *transcript.Call) string {
	if c.Result == nil && c.Denied != "" {
		return "denied"
	}
	return cmp.Or(c.Brief, "no result")
}

// details are the verdict, the changes or arguments, and the result of a call.
func (p *page) details(c *transcript.Call, changes []change) (out markup.Nodes) {
	if c.Denied != "" {
		out = append(out, markup.Leaf("p", "bad", "Denied by "+c.Denied))
	}
	for _, d := range changes {
		out = append(out, diff(d))
	}
	arguments, more := cut(c.Pretty(), maxShown/4)
	switch {
	case len(changes) == 0:
		out = append(out, markup.Leaf("pre", "arguments", arguments))
	default:
		if c.More > 0 {
			out = append(out, markup.Leaf("p", "dim", "… and "+transcript.Count(c.More, "more file")))
		}
		out = append(out, folding("", markup.Text("Arguments"), markup.Leaf("pre", "", arguments)))
	}
	if c.Result != nil {
		text, cut := cut(c.Result.Text(), maxShown)
		more = more || cut
		head, rest, n := split(text, fewLines)
		if head != "" {
			out = append(out, markup.Leaf("pre", "result", head))
		}
		if n > 0 {
			out = append(out, folding("", markup.Text(transcript.Count(n, "more line")), markup.Leaf("pre", "result", rest)))
		}
		for _, part := range c.Result.Content {
			out = append(out, other(part))
		}
	}
	if more {
		out = append(out, markup.Leaf("p", "dim", elsewhere))
	}
	return out
}

const elsewhere = "(cut; the exports as JSON have all of it)"

func lineCount(added, removed int) markup.Node {
	return markup.El("span", markup.Class("count"),
		span("plus", fmt.Sprintf("+%d", added)), markup.Leaf("span", "minus", fmt.Sprintf("−%d", removed)))
}

func diff(c change) markup.Node {
	const most = 600
	lines, more := c.lines(most)
	path := markup.Nodes{markup.Text(cmp.Or(c.Path, "change") + " "), lineCount(c.Added, c.Removed)}
	if c.Note != "" {
		path = append(path, dim(c.Note))
	}
	out := markup.Nodes{markup.El("p", markup.Class("path"), path...)}
	if len(lines) > 0 {
		spans := make(markup.Nodes, len(lines))
		for i, line := range lines {
			spans[i] = markup.Leaf("span", kind(line), line+"\n")
		}
		out = append(out, markup.El("pre", nil, spans...))
	}
	if more > 0 {
		out = append(out, markup.Leaf("p", "dim", "… "+transcript.Count(more, "more line")))
	}
	return markup.El("div", markup.Class("diff"), out...)
}

func (p *page) note(it item) markup.Node {
	n := p.over.note(it.Item)
	title := markup.Nodes{span("title", n.Title), numbered(it)}
	class := "between " + string(n.Kind)
	if n.Detail == "" && n.Plain == "" {
		return entry(it, class, markup.El("p", nil, title))
	}
	attrs := markup.Class("fold")
	if n.Kind == transcript.NoteText {
		attrs = attrs.Set("open", "")
	}
	inside := markup.Nodes{markup.El("summary", nil, title), p.markdown("", n.Detail)}
	if plain, _ := cut(n.Plain, maxShown); plain != "" {
		inside = append(inside, markup.Leaf("pre", "plain", plain))
	}
	return entry(it, class, markup.El("details", attrs, inside...))
}

// parts are the texts, pictures and files of a message.
func (p *page) parts(content llm.Content) (out markup.Nodes) {
	for _, part := range content {
		if t, ok := part.(llm.Text); ok {
			text, more := cut(t.Text, maxShown)
			if more {
				text += "\n\n… " + elsewhere
			}
			out = append(out, p.markdown("", text))
		}
		out = append(out, other(part))
	}
	return out
}

// other is a picture, or the name of another part; nil for text.
func other(part llm.Part) markup.Node {
	if c, ok := part.(llm.Image); ok && len(c.Data) <= maxPicture {
		if picture, ok := markup.Picture(c.MIME, c.Data, "picture"); ok {
			return picture
		}
	}
	if name := attachment(part); name != "" {
		return markup.Leaf("p", "file", "File: "+name)
	}
	return nil
}

// attachment returns the name of a part that people cannot read; empty for others.
func attachment(part llm.Part) string {
	size := func(data []byte) string { return fmt.Sprintf("%d kB", (len(data)+1023)/1024) }
	switch c := part.(type) {
	case llm.Image:
		return fmt.Sprintf("picture (%s, %s)", c.MIME, size(c.Data))
	case llm.Document:
		return fmt.Sprintf("%s (%s, %s)", cmp.Or(c.Name, "document"), c.MIME, size(c.Data))
	case llm.UnknownPart:
		return "a part of the type " + c.Type
	}
	return ""
}
