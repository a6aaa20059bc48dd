package web

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	maxDepth = 256 // nested elements; deeper ones count as part of the last
	maxAttrs = 64  // attributes of an element
)

type handler interface {
	start(e *element, attrs []html.Attribute)
	text(text string)
	end(e *element)
}

type element struct {
	tag  atom.Atom
	skip bool // it is not content
	main bool // it is in the main part

	// Set by the handler at the start, for the end.
	begins bool   // it begins the shown part
	mark   string // the mark that it opened, such as ** or [
	href   string // of a link
	pushed bool   // it indents its content
}

// walker reads HTML in one pass with bounded memory. A tree of 4 MB of tags would take hundreds of megabytes. It closes the elements
// that authors leave open.
type walker struct {
	handler
	stack []element
	deep  int // elements open beyond maxDepth
}

// walk returns the error of ctx or nil.
func walk(ctx context.Context, page string, h handler) error {
	w := walker{handler: h, stack: make([]element, 0, maxDepth)}
	z := html.NewTokenizer(strings.NewReader(page))
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch z.Next() {
		case html.ErrorToken:
			for len(w.stack) > 0 {
				w.pop()
			}
			return nil
		case html.TextToken:
			if !w.skipping() {
				w.text(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := atom.Lookup(name)
			var attrs []html.Attribute
			for more && len(attrs) < maxAttrs {
				var key, value []byte
				key, value, more = z.TagAttr()
				attrs = append(attrs, html.Attribute{Key: string(key), Val: string(value)})
			}
			w.open(tag, attrs)
		case html.EndTagToken:
			name, _ := z.TagName()
			w.close(atom.Lookup(name))
		}
	}
}

func (w *walker) skipping() bool { return len(w.stack) > 0 && w.stack[len(w.stack)-1].skip }

func (w *walker) open(tag atom.Atom, attrs []html.Attribute) {
	w.imply(tag)
	e := element{tag: tag}
	if len(w.stack) > 0 {
		e.skip, e.main = w.stack[len(w.stack)-1].skip, w.stack[len(w.stack)-1].main
	}
	e.main = e.main || mainPart(tag, attrs)
	e.skip = e.skip || unwanted(tag, attrs, e.main)
	if void(tag) {
		if !e.skip {
			w.start(&e, attrs)
		}
		return
	}
	if len(w.stack) == maxDepth {
		w.deep++
		return
	}
	if !e.skip {
		w.start(&e, attrs)
	}
	w.stack = append(w.stack, e)
}

func (w *walker) pop() {
	e := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	if !e.skip {
		w.end(&e)
	}
}

// close ends the innermost element of a tag, with all open elements in it.
func (w *walker) close(tag atom.Atom) {
	if w.deep > 0 {
		w.deep--
		return
	}
	for i := len(w.stack) - 1; i >= 0; i-- {
		open := w.stack[i].tag
		if open == tag {
			for len(w.stack) > i {
				w.pop()
			}
			return
		}
		// A stray end tag does not end a larger element around it.
		if cell(open) && !tableTag(tag) || block(open) && !block(tag) && tag != 0 {
			return
		}
	}
}

// imply ends the elements that a start tag ends implicitly.
func (w *walker) imply(tag atom.Atom) {
	if w.deep > 0 {
		return
	}
	switch tag {
	case atom.Li:
		w.endWithin(atom.Ul, atom.Ol, atom.Li)
	case atom.Dt, atom.Dd:
		w.endWithin(atom.Dl, 0, atom.Dt, atom.Dd)
	case atom.Td, atom.Th:
		w.endWithin(atom.Table, 0, atom.Td, atom.Th)
	case atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot:
		w.endWithin(atom.Table, 0, atom.Tr)
	default:
		if block(tag) && len(w.stack) > 0 {
			w.endWithin(0, 0, atom.P)
		}
	}
}

// endWithin ends the outermost open element of tags within the innermost a or b, or within the cell of a table.
func (w *walker) endWithin(a, b atom.Atom, tags ...atom.Atom) {
	found := -1
	for i := len(w.stack) - 1; i >= 0; i-- {
		open := w.stack[i].tag
		switch {
		case slices.Contains(tags, open):
			found = i
		case a == 0 && block(open), a != 0 && (open == a || open == b), a != atom.Table && cell(open):
			i = 0
		}
	}
	for found >= 0 && len(w.stack) > found {
		w.pop()
	}
}

func mainPart(tag atom.Atom, attrs []html.Attribute) bool {
	return tag == atom.Main || tag == atom.Article || attr(attrs, "role") == "main"
}

// unwanted reports whether an element is not content: code, controls, hidden elements, and navigation.
func unwanted(tag atom.Atom, attrs []html.Attribute, inMain bool) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object,
		atom.Nav, atom.Aside, atom.Footer, atom.Button, atom.Select, atom.Input, atom.Textarea, atom.Dialog, atom.Canvas, atom.Audio, atom.Video:
		return tag != atom.Footer || !inMain
	case atom.Body, atom.Html:
		return false // some pages hide it until their scripts run
	case atom.A:
		if anchor(attrs) {
			return true
		}
	}
	for _, a := range attrs {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			return a.Val == "true"
		case "role":
			switch a.Val {
			case "navigation", "search", "dialog", "contentinfo":
				return true
			}
		case "style":
			if strings.Contains(strings.ReplaceAll(strings.ToLower(a.Val), " ", ""), "display:none") {
				return true
			}
		}
	}
	return false
}

// anchor reports whether a link is the symbol at a heading that links to the heading.
func anchor(attrs []html.Attribute) bool {
	if !strings.HasPrefix(attr(attrs, "href"), "#") {
		return false
	}
	for class := range strings.FieldsSeq(attr(attrs, "class")) {
		switch class {
		case "anchor", "headerlink", "header-anchor", "hash-link", "heading-anchor", "permalink", "mark":
			return true
		}
	}
	return false
}

func attr(attrs []html.Attribute, key string) string {
	for _, a := range attrs {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func void(tag atom.Atom) bool {
	switch tag {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param,
		atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

func cell(tag atom.Atom) bool { return tag == atom.Td || tag == atom.Th || tag == atom.Caption }

func tableTag(tag atom.Atom) bool {
	switch tag {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Body, atom.Html:
		return true
	}
	return false
}

// block reports whether an element has lines of its own.
func block(tag atom.Atom) bool {
	switch tag {
	case atom.Address, atom.Article, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details, atom.Div, atom.Dl, atom.Dt, atom.Fieldset,
		atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header,
		atom.Hgroup, atom.Hr, atom.Html, atom.Li, atom.Main, atom.Menu, atom.Ol, atom.P, atom.Pre, atom.Section, atom.Summary,
		atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr, atom.Ul, atom.Nav, atom.Aside, atom.Caption:
		return true
	}
	return false
}
