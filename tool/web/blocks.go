package web

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxNumber is the greatest number of a list item.
const maxNumber = 999_999_999

func (r *renderer) startList(tag atom.Atom, attrs []html.Attribute) {
	next := -1
	if tag == atom.Ol {
		next = 1
		if n, err := strconv.Atoi(attr(attrs, "start")); err == nil && n >= 0 && n < maxNumber {
			next = n
		}
	}
	r.lists = append(r.lists, next)
}

// bullet returns the marker of the next item of the innermost list.
func (r *renderer) bullet() string {
	n := len(r.lists) - 1
	if n < 0 || r.lists[n] < 0 {
		return "- "
	}
	r.lists[n]++
	return strconv.Itoa(min(r.lists[n]-1, maxNumber)) + ". "
}

// item begins a list item. Its lines are indented by the width of its marker.
func (r *renderer) item(e *element, marker string) {
	r.line(1)
	if r.inLine() {
		return
	}
	if r.marker != "" { // an item that begins with a list
		r.settle()
		r.breaks = 1
	}
	if r.push(e, strings.Repeat(" ", len(marker))); e.pushed {
		r.marker = marker
	}
}

func (r *renderer) data() *table {
	if n := len(r.tables); n > 0 && !r.tables[n-1].layout {
		return &r.tables[n-1]
	}
	return nil
}

// startCell begins a cell of a data table. A layout table becomes plain text.
func (r *renderer) startCell() {
	t := r.data()
	if t == nil {
		r.space = true
		return
	}
	if r.links > 0 {
		return
	}
	if t.cells == 0 && r.cells == 0 {
		r.write("|")
	}
	t.cells++
	r.cells++
	r.space = true
}

func (r *renderer) endCell() {
	if r.data() != nil && r.cells > 0 {
		r.cells--
		r.space = false
		r.write(" |")
	}
}

func (r *renderer) endRow() {
	t := r.data()
	if t != nil && t.cells > 0 && !r.inLine() {
		if t.rows++; t.rows == 1 {
			r.line(1)
			r.write("|" + strings.Repeat(" --- |", min(t.cells, maxCells)))
		}
		t.cells = 0
	}
	r.line(1)
}

func (r *renderer) endCode() {
	text := strings.Trim(r.code.String(), "\n")
	if !r.fenced {
		text = strings.Join(strings.Fields(text), " ")
	}
	lang := r.lang
	r.code, r.lang = nil, ""
	if strings.TrimSpace(text) == "" {
		return
	}
	fence := strings.Repeat("`", longestRun(text)+1)
	if !r.fenced {
		if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
			text = " " + text + " "
		}
		r.write(r.inCell(fence + text + fence))
		return
	}
	if len(fence) < 3 {
		fence = "```"
	}
	r.line(2)
	r.write(fence + lang)
	indent := "\n" + strings.Join(r.prefix, "")
	for line := range strings.SplitSeq(text, "\n") {
		if r.out.Len() >= maxMarkdown {
			return
		}
		r.out.WriteString(indent + line)
	}
	r.out.WriteString(indent + fence)
	r.line(2)
}

func longestRun(text string) (most int) {
	run := 0
	for _, b := range []byte(text) {
		if b != '`' {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

// language returns the language of a piece of code for highlighters, such as go in class="language-go".
func language(attrs []html.Attribute) string {
	for class := range strings.FieldsSeq(attr(attrs, "class")) {
		for _, prefix := range []string{"language-", "lang-", "highlight-source-"} {
			if lang, ok := strings.CutPrefix(class, prefix); ok && len(lang) <= 20 {
				return printable(lang)
			}
		}
	}
	return ""
}
