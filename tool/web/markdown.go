package web

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxMarkdown = 4 << 20 // bytes that one page becomes at most
	maxNesting  = 12      // quotes and lists that indent
	maxLink     = 2000    // bytes of a link's address
	maxCells    = 100     // columns of a table
)

// markdown is a page as text for a model: its main part, its links whole. Characters that mean something in Markdown stay as
// they are, for nobody will make HTML of it again.
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
	return r.out.String(), strings.Join(strings.Fields(strings.Map(noControl, strings.ToValidUTF8(s.title.String(), ""))), " "), nil
}

// renderer writes Markdown as it goes over a page.
type renderer struct {
	base   *url.URL
	region region
	layout []bool // of the tables that are still to come

	out    strings.Builder
	prefix []string // of every line
	marker string   // of a list item that has no text yet
	lead   string   // of a heading that has no text yet
	breaks int      // line ends before the next text
	space  bool     // before the next text
	marks  []mark   // that are open, each at most once
	lists  []int    // that are open: the number of the next item, or -1
	tables []table
	code   *strings.Builder // the code that is under way
	fenced bool             // it stands in lines of its own
	lang   string
	ended  int // how long the code was when a piece of it ended, right before

	inside, inTitle, links, cells int // how deep
}

// mark is what is written around text, once there is text.
type mark struct {
	text    string
	written bool
}

// table is a table that is open.
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
	if e.tag == atom.Table { // counted also where it is not shown
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
			if r.ended > 0 && r.ended == r.code.Len() { // two pieces side by side
				r.code.WriteByte('\n')
			}
		}
		return
	}
	if !r.startInline(e, attrs) {
		r.startBlock(e, attrs)
	}
}

// begins reports whether an element begins the part that is shown.
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

// text writes words with one space where there was white space.
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

// noControl takes characters from a text that only terminals understand.
func noControl(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}

// inLine reports whether nothing may begin a line: in a link and in a cell.
func (r *renderer) inLine() bool { return r.links > 0 || r.cells > 0 }

// line asks for n line ends before the next text.
func (r *renderer) line(n int) {
	switch {
	case r.inLine():
		r.space = true
	case r.marker == "" && r.lead == "": // else nothing was written since the line began
		r.breaks = max(r.breaks, n)
	}
}

// write writes text with all that was to come before it.
func (r *renderer) write(text string) {
	if text == "" {
		return
	}
	r.settle()
	r.out.WriteString(text)
}

func (r *renderer) settle() {
	fresh := r.out.Len() == 0
	if fresh || r.breaks > 0 {
		prefix := strings.Join(r.prefix, "")
		if !fresh {
			for range r.breaks - 1 {
				r.out.WriteString("\n" + strings.TrimRight(prefix, " "))
			}
			r.out.WriteByte('\n')
		}
		if r.marker != "" {
			prefix = prefix[:max(0, len(prefix)-len(r.marker))]
		}
		r.out.WriteString(prefix + r.marker + r.lead)
		r.breaks, r.space = 0, false
		r.marker, r.lead = "", ""
	}
	if r.space {
		r.out.WriteByte(' ')
		r.space = false
	}
	for i := range r.marks {
		if m := &r.marks[i]; !m.written {
			r.out.WriteString(m.text)
			m.written = true
		}
	}
}

// open begins something that is marked, unless it is within such a thing already.
func (r *renderer) open(e *element, text string) {
	if slices.ContainsFunc(r.marks, func(m mark) bool { return m.text == text }) {
		return
	}
	e.mark = text
	r.marks = append(r.marks, mark{text: text})
}

// close ends what e began: the last of the marks, as elements end in order.
func (r *renderer) close(e *element) {
	n := len(r.marks) - 1
	if n < 0 {
		return
	}
	written := r.marks[n].written
	r.marks = r.marks[:n]
	end := e.mark
	if e.mark == "[" {
		r.links--
		end = "](" + e.href + ")"
	}
	if written {
		r.out.WriteString(end)
	}
}

// address makes a link whole, or "" when it leads nowhere else.
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

// linkEscapes keeps an address from ending before its end.
func linkEscapes(address string) string {
	if !strings.ContainsAny(address, "() ") {
		return address
	}
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20").Replace(address)
}

func (r *renderer) image(alt, src string) {
	alt = strings.Join(strings.Fields(strings.Map(noControl, strings.ToValidUTF8(alt, ""))), " ")
	if alt == "" {
		return
	}
	text := "![" + alt + "]"
	if src = r.address(src); src != "" {
		text += "(" + src + ")"
	}
	r.write(r.inCell(text))
}

func (r *renderer) push(e *element, prefix string) {
	if len(r.prefix) < maxNesting && !r.inLine() {
		r.prefix = append(r.prefix, prefix)
		e.pushed = true
	}
}
