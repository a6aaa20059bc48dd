// Package markdown draws Markdown on a terminal: CommonMark with tables, tasks, strikethrough and plain links. A text comes from a model: nothing in it
// reaches the terminal as a control character.
package markdown

import (
	"fmt"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/tenon-agent/tenon/internal/term"
)

// maxWidth is the longest line of prose, in columns: longer ones are hard to read.
const maxWidth = 110

var parse = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
})

// Render draws a text for a width in columns. The lines end with a newline. A text that would take the parser a long time stays plain.
func Render(source string, width int, s Styles) string {
	lines := Lines(source, width, s)
	return strings.Join(lines, "\n") + strings.Repeat("\n", min(len(lines), 1))
}

// Lines draws a text like [Render] and returns its lines.
func Lines(source string, width int, s Styles) []string {
	if Laborious(source) {
		return s.fitted(strings.Split(strings.TrimRight(term.Harmless(source), "\n"), "\n"), width)
	}
	src := []byte(source)
	d := drawing{src: src, styles: s}
	d.blocks(parse().Parse(text.NewReader(src)), max(width, 20), false)
	return s.fitted(d.lines, width)
}

type drawing struct {
	src    []byte
	styles Styles
	lines  []string
}

// blocks draws the blocks in a node, with an empty line between them unless they are tight.
func (d *drawing) blocks(parent ast.Node, width int, tight bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() && !tight {
			d.lines = append(d.lines, "")
		}
		d.block(n, width)
	}
}

func (d *drawing) block(n ast.Node, width int) {
	switch n := n.(type) {
	case *ast.Heading:
		d.prose(n, width, heading)
	case *ast.Blockquote:
		bar := d.styles.paint(d.styles.Rule, d.styles.glyph("│", "|")) + " "
		d.indented(func(in *drawing) { in.blocks(n, width-2, false) }, bar, bar)
	case *ast.List:
		d.list(n, width)
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		d.verbatim(n)
	case *ast.ThematicBreak:
		d.lines = append(d.lines, d.styles.rule(min(width, 40)))
	case *extast.Table:
		d.table(n, width)
	default:
		d.prose(n, width, 0)
	}
}

// indented draws something with a beginning of its first line, and one of the others.
func (d *drawing) indented(draw func(*drawing), first, rest string) {
	in := &drawing{src: d.src, styles: d.styles}
	draw(in)
	for i, line := range in.lines {
		if i == 0 {
			line = first + line
		} else if line = rest + line; strings.TrimSpace(line) == "" {
			line = ""
		}
		d.lines = append(d.lines, line)
	}
}

func (d *drawing) list(list *ast.List, width int) {
	number := list.Start
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		if n != list.FirstChild() && !list.IsTight {
			d.lines = append(d.lines, "")
		}
		mark := d.styles.glyph("•", "-") + " "
		if list.IsOrdered() {
			mark = fmt.Sprintf("%d%c ", number, list.Marker)
			number++
		}
		indent := strings.Repeat(" ", term.Cells(mark))
		d.indented(func(in *drawing) { in.blocks(n, max(width-len(indent), 10), list.IsTight) }, mark, indent)
	}
}

// verbatim draws code.
func (d *drawing) verbatim(n ast.Node) {
	language := ""
	if fenced, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(fenced.Language(d.src))
	}
	state := 0
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		var line string
		line, state = d.styles.codeLine(language, state, string(segment.Value(d.src)))
		d.lines = append(d.lines, line)
	}
}

// prose draws a paragraph.
func (d *drawing) prose(n ast.Node, width int, base look) {
	d.lines = append(d.lines, wrap(d.spans(n, base), min(width, maxWidth), d.styles)...)
}

// look is how a piece of text is shown.
type look int

const (
	bold look = 1 << iota
	italic
	code
	link
	struck
	heading
)

// span is a piece of text with one look; "\n" is a forced line break.
type span struct {
	text string
	look look
	to   string // of a link
}

// spans returns the text in a node.
func (d *drawing) spans(parent ast.Node, look look) (all []span) {
	add := func(text string) { all = append(all, span{text: term.Harmless(text), look: look}) }
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			add(html.UnescapeString(string(n.Segment.Value(d.src))))
			if n.HardLineBreak() {
				all = append(all, span{text: "\n"})
			} else if n.SoftLineBreak() {
				add(" ")
			}
		case *ast.String:
			add(string(n.Value))
		case *ast.CodeSpan:
			all = append(all, d.codeSpan(n, look)...)
		case *ast.Emphasis:
			inner := look | italic
			if n.Level > 1 {
				inner = look | bold
			}
			all = append(all, d.spans(n, inner)...)
		case *extast.Strikethrough:
			all = append(all, d.spans(n, look|struck)...)
		case *ast.Link:
			inner := d.spans(n, look|link)
			for i := range inner {
				inner[i].to = d.styles.target(string(n.Destination))
			}
			all = append(all, inner...)
			if to := string(n.Destination); to != plain(inner) && !strings.HasPrefix(to, "#") {
				add(" (" + to + ")")
			}
		case *ast.AutoLink:
			to := string(n.URL(d.src))
			all = append(all, span{term.Harmless(to), look | link, d.styles.target(to)})
		case *ast.Image:
			add("[image: " + plain(d.spans(n, look)) + "] (" + string(n.Destination) + ")")
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				segment := n.Segments.At(i)
				add(string(segment.Value(d.src)))
			}
		case *extast.TaskCheckBox:
			add(map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked])
		default:
			all = append(all, d.spans(n, look)...)
		}
	}
	return all
}

// codeSpan keeps the backticks if code has no style.
func (d *drawing) codeSpan(n *ast.CodeSpan, base look) []span {
	content := strings.ReplaceAll(plain(d.spans(n, 0)), "\n", " ")
	if d.styles.Code == "" {
		content = "`" + content + "`"
	}
	return []span{{text: content, look: base | code}}
}

func plain(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}
