package export

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tenon-agent/tenon/internal/markup"
	"github.com/tenon-agent/tenon/transcript"
)

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
		markup.El("title", nil, markup.Text(p.over.name())),
		markup.Style(pageCSS))
}

// facts is what people see above the conversation.
func (p *page) facts() markup.Node {
	var facts markup.Nodes
	for _, f := range p.over.facts() {
		var value markup.Nodes
		for i, text := range f.value {
			if text == "" {
				continue
			}
			if i%2 == 1 {
				value = append(value, markup.Text(" "), markup.El("code", nil, markup.Text(text)))
			} else {
				value = append(value, markup.Text(" "+text))
			}
		}
		facts = append(facts, markup.El("div", nil, markup.El("dt", nil, markup.Text(f.name)), markup.El("dd", nil, value...)))
	}
	return markup.El("header", nil, markup.El("h1", nil, markup.Text(p.over.name())), markup.El("dl", markup.Class("facts"), facts...))
}

// contents is the search, and the lists of turns and of branches.
func (p *page) contents() markup.Node {
	var turns, branches markup.Nodes
	for _, t := range p.over.Turns {
		dead := ""
		if t.Dead {
			dead = "dead"
		}
		turns = append(turns, markup.El("li", markup.Class(dead), toEntry(t.Seq, cmp.Or(t.Title, "(no text)"))))
	}
	if len(turns) == 0 {
		turns = markup.Nodes{markup.Leaf("li", "dim", "no prompt yet")}
	}
	for _, b := range p.over.Branches {
		branches = append(branches, markup.El("li", nil, toEntry(b.Seq, fmt.Sprintf("from #%d %s", b.Seq, whither(b.To, b.Reason)))))
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

// tools are the controls of the page's script.
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

// branches is the choice of a branch; nil if there is only one.
func (p *page) branches() markup.Node {
	parts := p.over.Parts
	option := func(value, words string) markup.Node {
		return markup.El("option", markup.Set("value", value), markup.Text(words))
	}
	choices := markup.Nodes{option("", "all branches")}
	var all []string
	for i, b := range parts {
		all = append(all, fmt.Sprint(b.First, ",", b.Last, ",", b.From, ",", b.To))
		last := i == len(parts)-1
		if b.Inner || b.Messages == 0 && !last {
			continue
		}
		words := transcript.Count(b.Messages, "message") + " from #" + fmt.Sprint(b.First)
		if b.Title != "" {
			words = b.Title + " (" + words + ")"
		}
		if last {
			words = "continued: " + words
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
	words := fmt.Sprintf(", %d entries, written by %s. This page loads nothing and sends nothing.",
		p.over.Entries, strings.TrimSpace("Tenon "+p.over.Root.Version))
	return markup.El("footer", nil, markup.El("p", nil,
		markup.Text("Session "), markup.El("code", nil, markup.Text(string(p.over.ID))), markup.Text(words)))
}
