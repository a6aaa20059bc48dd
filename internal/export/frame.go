package export

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/internal/markup"
)

// What stands around the conversation: the page's head, the facts about the session, the list of contents, and the last line.

// head is what a browser must know before it shows anything.
func (p *page) head() markup.Node {
	meta := func(name, content string) markup.Node {
		return markup.El("meta", markup.Set("name", name).Set("content", content))
	}
	return markup.El("head", nil,
		markup.El("meta", markup.Set("charset", "utf-8")),
		markup.El("meta", markup.Set("http-equiv", "Content-Security-Policy").Set("content", policy())),
		meta("viewport", "width=device-width, initial-scale=1"),
		meta("color-scheme", "light dark"),
		meta("referrer", "no-referrer"),
		meta("generator", "Tenon"),
		markup.El("title", nil, markup.Text(p.title())),
		markup.Style(pageCSS))
}

func (p *page) title() string {
	return cmp.Or(firstLine(p.over.Title, 200), "Session "+string(p.over.ID))
}

// facts are what is known of the session as a whole.
func (p *page) facts() markup.Node {
	o := p.over
	code := func(text string) markup.Node { return markup.El("code", nil, markup.Text(text)) }
	var facts markup.Nodes
	fact := func(name string, value ...markup.Node) {
		facts = append(facts, markup.El("div", nil,
			markup.El("dt", nil, markup.Text(name)), markup.El("dd", nil, value...)))
	}
	if o.Dir != "" {
		fact("Directory", code(o.Dir))
	}
	if len(o.Models) == 1 {
		fact("Model", code(o.Models[0].Name))
	} else if len(o.Models) > 1 {
		fact("Models", manyModels(o.Models)...)
	} else {
		fact("Model", markup.Text("none answered yet"))
	}
	times := markup.Nodes{clock(o.First), markup.Text(" – "), clock(o.Last), markup.Text(" UTC")}
	if d := o.Last.Sub(o.First); d > 0 {
		times = append(times, dim("("+duration(d)+")"))
	}
	fact("Time", times...)
	messages := markup.Nodes{markup.Text(counted(len(o.Turns), "turn") + ", " + counted(o.Answers, "answer") + ", " + counted(o.Calls, "call"))}
	if o.Failed > 0 {
		messages = append(messages, dim(fmt.Sprintf("(%d failed)", o.Failed)))
	}
	fact("Messages", messages...)
	if u := usageWords(o.Usage); u != "" {
		fact("Tokens and cost", markup.Text(u))
	}
	if from := o.Root.Imported; from.Program != "" {
		fact("Imported from", markup.Text(from.Program+" "), code(from.ID))
	}
	fact("Session", code(string(o.ID)))
	return markup.El("header", nil,
		markup.El("h1", nil, markup.Text(p.title())), markup.El("dl", markup.Class("facts"), facts...))
}

// manyModels names those that answered most.
func manyModels(models []modelUse) (list markup.Nodes) {
	const most = 6
	for i, m := range models[:min(len(models), most)] {
		if i > 0 {
			list = append(list, markup.Text(", "))
		}
		list = append(list, markup.El("code", nil, markup.Text(m.Name)), markup.Text(fmt.Sprintf(" ×%d", m.Answers)))
	}
	if more := len(models) - most; more > 0 {
		list = append(list, markup.Text(fmt.Sprintf(" and %d more", more)))
	}
	return list
}

// contents is the search, and the lists of turns and of branches.
func (p *page) contents() markup.Node {
	var turns, branches markup.Nodes
	for _, t := range p.over.Turns {
		turns = append(turns, markup.El("li", left(t.Dead), toEntry(t.Seq, cmp.Or(t.Title, "(no words)"))))
	}
	if len(turns) == 0 {
		turns = markup.Nodes{markup.Leaf("li", "dim", "nobody has said anything")}
	}
	for _, b := range p.over.Branches {
		words := fmt.Sprintf("from #%d %s", b.Seq, whither(b.To, b.Reason))
		branches = append(branches, markup.El("li", nil, toEntry(b.Seq, joined(words, b.Reason))))
	}
	lists := markup.Nodes{toc("Turns", turns)}
	if len(branches) > 0 {
		lists = append(lists, toc("Branches", branches))
	}
	return markup.El("nav", markup.Set("aria-label", "Contents"), p.tools(), lists)
}

func toc(title string, lines markup.Nodes) markup.Node {
	return markup.El("details", markup.Class("toc").Set("open", ""),
		markup.El("summary", nil, markup.Text(title)), markup.El("ol", nil, lines...))
}

func toEntry(seq int64, words string) markup.Node {
	return markup.El("a", markup.Set("href", fmt.Sprintf("#e%d", seq)), markup.Text(words))
}

// left marks what is on a branch that was left.
func left(dead bool) markup.Attrs {
	if dead {
		return markup.Class("dead")
	}
	return nil
}

// tools are what the page's script needs to be asked with.
func (p *page) tools() markup.Node {
	button := func(id, title, words string) markup.Node {
		attrs := markup.Set("type", "button").Set("id", id)
		if title != "" {
			attrs = attrs.Set("title", title)
		}
		return markup.El("button", attrs, markup.Text(words))
	}
	row := func(inside ...markup.Node) markup.Node { return markup.El("div", markup.Class("row"), inside...) }
	tools := markup.Nodes{
		markup.El("input", markup.Set("type", "search").Set("id", "search").Set("placeholder", "Search ( / )").
			Set("aria-label", "Search the conversation").Set("autocomplete", "off").Set("spellcheck", "false")),
		row(button("prev", "Previous match (Shift+Enter)", "↑"), button("next", "Next match (Enter)", "↓"),
			markup.El("output", markup.Set("id", "found").Set("aria-live", "polite"))),
		row(button("open", "", "Unfold all"), button("close", "", "Fold all")),
	}
	if branches := p.branches(); branches != nil {
		tools = append(tools, branches)
	}
	return markup.El("div", markup.Class("tools").Set("role", "search"), tools...)
}

// branches is the choice of a branch to read, when there is more than one.
func (p *page) branches() markup.Node {
	parts := p.over.Parts
	option := func(value, words string) markup.Node {
		return markup.El("option", markup.Set("value", value), markup.Text(words))
	}
	choices := markup.Nodes{option("", "all, one below the other")}
	var all []string
	for i, b := range parts {
		all = append(all, fmt.Sprint(b.First, ",", b.Last, ",", b.From, ",", b.To))
		last := i == len(parts)-1
		if b.Inner || b.Messages == 0 && !last {
			continue
		}
		words := counted(b.Messages, "message") + " from #" + fmt.Sprint(b.First)
		if b.Title != "" {
			words = b.Title + " (" + words + ")"
		}
		if last {
			words = "goes on: " + words
		}
		choices = append(choices, option(fmt.Sprint(i), words))
	}
	if len(choices) <= 2 {
		return nil
	}
	return markup.El("label", markup.Class("branch"), markup.Text("Branch "),
		markup.El("select", markup.Set("id", "branch").Set("data-parts", strings.Join(all, " ")), choices...))
}

func (p *page) foot() markup.Node {
	words := fmt.Sprintf(", %d entries, written by %s. This page sends nothing and asks for nothing.",
		p.over.Entries, strings.TrimSpace("Tenon "+p.over.Root.Version))
	return markup.El("footer", nil, markup.El("p", nil,
		markup.Text("Session "), markup.El("code", nil, markup.Text(string(p.over.ID))), markup.Text(words)))
}
