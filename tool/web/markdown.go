package web

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxMarkdown = 4 << 20 // bytes of the Markdown of a page
	maxNesting  = 12      // indentation by quotes and lists
	maxLink     = 2000    // bytes of a link's address
	maxCells    = 100     // columns of a table
)

// markdown returns the main part of a page as text for a model, with absolute links. It does not escape the special characters of
// Markdown, because no program converts the text to HTML again.
func markdown(ctx context.Context, page string, at *url.URL) (text, title string, err error) {
	var s survey
	if err := walk(ctx, page, &s); err != nil {
		return "", "", err
	}
	base := at
	if u, err := at.Parse(s.base); err == nil && s.base != "" && (u.Scheme == "http" || u.Scheme == "https") {
		base = u
	}
	r := renderer{base: base, region: s.region(), layout: s.layout}
	if err := walk(ctx, page, &r); err != nil {
		return "", "", err
	}
	return r.out.String(), oneLine(s.title.String()), nil
}

// renderer converts the shown part of a page.
type renderer struct {
	writer
	base   *url.URL
	region region
	layout []bool // of the tables to come

	lists  []int // the open ones: the number of the next item, or -1
	tables []table
	code   *strings.Builder // the open code
	fenced bool             // the code has lines of its own
	lang   string
	ended  int // the length of the code at the end of a piece that has just ended

	inside, inTitle int // nesting
}

type table struct {
	layout      bool
	rows, cells int
}

func (r *renderer) active() bool { return r.inTitle == 0 && (r.region == whole || r.inside > 0) }

func (r *renderer) start(e *element, attrs []html.Attribute) {
	if e.tag == atom.Title {
		r.inTitle++
	}
	if r.begins(e.tag, attrs) {
		r.inside++
		e.begins = true
	}
	if e.tag == atom.Table { // also if it is not shown
		t := table{layout: len(r.layout) > 0 && r.layout[0]}
		r.layout = r.layout[min(1, len(r.layout)):]
		r.tables = append(r.tables, t)
	}
	if !r.active() || r.out.Len() >= maxMarkdown {
		return
	}
	if r.code != nil {
		if e.tag == atom.Br {
			r.code.WriteByte('\n')
		}
		if e.tag == atom.Code {
			r.lang = cmp.Or(r.lang, language(attrs))
			if r.ended > 0 && r.ended == r.code.Len() { // two adjacent pieces
				r.code.WriteByte('\n')
			}
		}
		return
	}
	if !r.startInline(e, attrs) {
		r.startBlock(e, attrs)
	}
}

// begins reports whether an element begins the shown part.
func (r *renderer) begins(tag atom.Atom, attrs []html.Attribute) bool {
	switch r.region {
	case mainOnly:
		return tag == atom.Main || attr(attrs, "role") == "main"
	case article:
		return tag == atom.Article
	}
	return false
}

func (r *renderer) startInline(e *element, attrs []html.Attribute) bool {
	switch e.tag {
	case atom.B, atom.Strong:
		r.open(e, "**")
	case atom.I, atom.Em:
		r.open(e, "*")
	case atom.A:
		if r.links > 0 {
			break
		}
		if e.href = r.address(attr(attrs, "href")); e.href != "" {
			r.links++
			r.open(e, "[")
		}
	case atom.Img:
		r.image(attr(attrs, "alt"), attr(attrs, "src"))
	case atom.Br:
		r.line(min(2, r.breaks+1))
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt:
		r.code, r.fenced = &strings.Builder{}, false
		e.mark = "`"
	default:
		return false
	}
	return true
}

func (r *renderer) startBlock(e *element, attrs []html.Attribute) {
	switch e.tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.line(2)
		if !r.inLine() {
			r.lead = strings.Repeat("#", int(e.tag.String()[1]-'0')) + " "
		}
	case atom.P, atom.Dl, atom.Table, atom.Figure:
		r.line(2)
	case atom.Pre:
		r.line(2)
		r.code, r.fenced, r.lang = &strings.Builder{}, !r.inLine(), language(attrs)
		e.mark = "`"
	case atom.Blockquote:
		r.line(2)
		r.push(e, "> ")
	case atom.Ul, atom.Ol, atom.Menu:
		r.line(2 - min(1, len(r.prefix)))
		r.startList(e.tag, attrs)
	case atom.Li:
		r.item(e, r.bullet())
	case atom.Dd:
		r.item(e, ": ")
	case atom.Hr:
		r.line(2)
		if !r.inLine() {
			r.write("---")
		}
		r.line(2)
	case atom.Tr:
		r.line(1)
	case atom.Td, atom.Th:
		r.startCell()
	default:
		if block(e.tag) {
			r.line(1)
		}
	}
}

func (r *renderer) end(e *element) {
	shown := r.active()
	if e.tag == atom.Title {
		r.inTitle--
	}
	switch {
	case !shown || r.out.Len() >= maxMarkdown:
	case r.code != nil:
		r.ended = 0
		switch {
		case e.mark == "`":
			r.endCode()
		case e.tag == atom.Code:
			r.ended = r.code.Len()
		}
	default:
		r.endElement(e)
	}
	if e.tag == atom.Table {
		r.tables = r.tables[:len(r.tables)-1]
	}
	if e.begins {
		r.inside--
	}
}

func (r *renderer) endElement(e *element) {
	if e.mark != "" {
		r.close(e)
		return
	}
	if e.pushed && len(r.prefix) > 0 {
		r.prefix = r.prefix[:len(r.prefix)-1]
	}
	switch e.tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.lead = ""
		r.line(2)
	case atom.P, atom.Blockquote, atom.Dl, atom.Table, atom.Figure:
		r.line(2)
	case atom.Ul, atom.Ol, atom.Menu:
		r.lists = r.lists[:max(0, len(r.lists)-1)]
		r.line(2 - min(1, len(r.prefix)))
	case atom.Li, atom.Dd:
		r.marker = ""
		r.line(1)
	case atom.Td, atom.Th:
		r.endCell()
	case atom.Tr:
		r.endRow()
	default:
		if block(e.tag) {
			r.line(1)
		}
	}
}

// text writes words with single spaces.
func (r *renderer) text(text string) {
	if !r.active() || r.out.Len() >= maxMarkdown {
		return
	}
	text = strings.ToValidUTF8(text, "\ufffd")
	if r.code != nil {
		r.code.WriteString(strings.Map(noControl, text))
		return
	}
	for len(text) > 0 {
		word := strings.TrimLeftFunc(text, unicode.IsSpace)
		if len(word) < len(text) {
			r.space = true
		}
		n := strings.IndexFunc(word, unicode.IsSpace)
		if n < 0 {
			n = len(word)
		}
		if n > 0 {
			r.write(r.inCell(strings.Map(noControl, word[:n])))
		}
		text = word[n:]
	}
}

// noControl removes control characters from a text, for strings.Map.
func noControl(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}

// address returns an absolute link, or "" if it does not lead to another page.
func (r *renderer) address(ref string) string {
	ref = strings.TrimSpace(strings.ToValidUTF8(ref, "\ufffd"))
	if ref == "" || ref[0] == '#' || len(ref) > maxLink {
		return ""
	}
	u, err := r.base.Parse(ref)
	if err != nil {
		return ""
	}
	switch u.Scheme {
	case "http", "https", "mailto":
	default:
		return ""
	}
	u.User = nil
	if text := u.String(); len(text) <= maxLink {
		return linkEscapes(text)
	}
	return ""
}

// linkEscapes escapes the characters that would end an address in Markdown.
func linkEscapes(address string) string {
	if !strings.ContainsAny(address, "() ") {
		return address
	}
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(address)
}

func (r *renderer) image(alt, src string) {
	if alt = oneLine(alt); alt == "" {
		return
	}
	text := "![" + alt + "]"
	if src = r.address(src); src != "" {
		text += "(" + src + ")"
	}
	r.write(r.inCell(text))
}
