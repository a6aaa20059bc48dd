package export

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	ghtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/markup"
)

// rich renders untrusted Markdown. It shows HTML as text and a picture as a link. Links send no referrer and lead only to harmless
// addresses.
type rich struct{ md goldmark.Markdown }

func newRich() rich {
	return rich{goldmark.New(
		goldmark.WithExtensions(
			extension.Strikethrough, extension.TaskList,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"})),
		),
		goldmark.WithRendererOptions(
			ghtml.WithHardWraps(),
			renderer.WithNodeRenderers(util.Prioritized(harmless{}, 100)),
		),
	)}
}

// html returns the HTML of a Markdown text. A text that would take the parser a long time stays plain.
func (r rich) html(text string) markup.Trusted {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
	var b bytes.Buffer
	if markdown.Laborious(text) || r.md.Convert([]byte(text), &b) != nil {
		return markup.Trusted(`<pre class="plain">` + html.EscapeString(text) + "</pre>\n")
	}
	return markup.Trusted(b.String())
}

type harmless struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (harmless) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindRawHTML, rawHTML)
	reg.Register(ast.KindHTMLBlock, htmlBlock)
	reg.Register(ast.KindImage, picture)
	reg.Register(ast.KindLink, link)
	reg.Register(ast.KindAutoLink, autoLink)
	reg.Register(ast.KindHeading, heading)
}

func rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		segments := n.(*ast.RawHTML).Segments
		for i := range segments.Len() {
			s := segments.At(i)
			_, _ = w.WriteString(html.EscapeString(string(s.Value(source)))) // errors of w stick, and come at the end
		}
	}
	return ast.WalkSkipChildren, nil
}

func htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	b := n.(*ast.HTMLBlock)
	var text strings.Builder
	for i := range b.Lines().Len() {
		s := b.Lines().At(i)
		text.Write(s.Value(source))
	}
	if b.HasClosure() {
		text.Write(b.ClosureLine.Value(source))
	}
	_, _ = w.WriteString(`<pre class="plain">` + html.EscapeString(strings.TrimRight(text.String(), "\n")) + "</pre>\n")
	return ast.WalkContinue, nil
}

// safe reports whether a link may have this address.
func safe(address []byte) bool {
	a := strings.ToLower(strings.TrimSpace(string(address)))
	for _, start := range []string{"https://", "http://", "mailto:", "#"} {
		if strings.HasPrefix(a, start) {
			return true
		}
	}
	return false
}

// anchor opens a link, or shows the address of an unsafe one.
func anchor(w util.BufWriter, address []byte, entering bool) {
	switch ok := safe(address); {
	case ok && entering:
		_, _ = w.WriteString(`<a rel="noopener noreferrer nofollow" href="` + html.EscapeString(string(util.URLEscape(address, false))) + `">`)
	case ok:
		_, _ = w.WriteString("</a>")
	case !entering && len(address) > 0:
		_, _ = w.WriteString(` <code class="where">` + html.EscapeString(string(address)) + "</code>")
	}
}

func link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	anchor(w, n.(*ast.Link).Destination, entering)
	return ast.WalkContinue, nil
}

func picture(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString("picture: ")
	}
	anchor(w, n.(*ast.Image).Destination, entering)
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	l := n.(*ast.AutoLink)
	address := l.URL(source)
	if l.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(address), []byte("mailto:")) {
		address = append([]byte("mailto:"), address...)
	}
	if !safe(address) {
		_, _ = w.WriteString(html.EscapeString(string(l.Label(source))))
		return ast.WalkContinue, nil
	}
	anchor(w, address, true)
	_, _ = w.WriteString(html.EscapeString(string(l.Label(source))))
	anchor(w, address, false)
	return ast.WalkContinue, nil
}

// heading is two levels lower than in the text, because the page uses the first two.
func heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := string(rune('0' + min(n.(*ast.Heading).Level+2, 6)))
	if entering {
		_, _ = w.WriteString("<h" + level + ">")
	} else {
		_, _ = w.WriteString("</h" + level + ">\n")
	}
	return ast.WalkContinue, nil
}
