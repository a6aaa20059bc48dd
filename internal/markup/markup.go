// Package markup writes HTML with untrusted text.
//
// A page consists of a few types, and only this package can define more of them: [Text], [El], [Attrs], [Nodes]. The writer escapes
// their contents, so that a text cannot end the text or attribute that contains it. The names of elements and attributes have a type of
// this package that accepts only constants. An address may be an anchor in the page, a web address or a mail address, and never runs
// anything. Only [Trusted] is written without escaping.
//
// A [Writer] writes one piece after the other and keeps none, so a page may be larger than memory.
//
// The package avoids text/template, which looks methods up by name: the linker would keep every exported method of every type, 4 MB in
// tenon.
package markup

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Node is a piece of a page. A nil Node is empty.
type Node interface{ write(w *Writer) }

// Text is a text that people see verbatim, with its markup.
type Text string

// Trusted is HTML that is written without escaping: a constant, or text escaped before. It is the only way around the escaping, so
// review each conversion to it.
type Trusted string

// Nodes are several nodes, one after the other.
type Nodes []Node

// name is the name of an element or an attribute. Only constants outside this package have this type.
type name string

// element is an element with its content.
type element struct {
	tag    name
	attrs  Attrs
	inside Nodes
}

// El returns an element. Elements without an end tag, such as img, have no content. Elements that do more than show text and pictures, such
// as script, are an error of the [Writer]; see [Script] and [Style].
func El(tag name, attrs Attrs, inside ...Node) Node { return element{tag, attrs, inside} }

// Leaf returns an element with a class and a text.
func Leaf(tag name, class, text string) Node { return El(tag, Class(class), Text(text)) }

// code is an element with a script or a style sheet.
type code struct {
	tag  name
	text Trusted
}

// Script returns a script. The policy of the page needs its hash.
func Script(text Trusted) Node { return code{"script", text} }

// Style returns a style sheet. The policy of the page needs its hash.
func Style(text Trusted) Node { return code{"style", text} }

// Attrs are the attributes of an element.
type Attrs []attr

type attr struct {
	name  name
	value string
	made  bool // by this package, of harmless values
}

// Class returns the attribute class with the names that are not empty.
func Class(names ...string) Attrs {
	return Set("class", strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" }), " "))
}

// Set returns one attribute; see [Attrs.Set].
func Set(name name, value string) Attrs { return Attrs{}.Set(name, value) }

// Set returns the attributes and one more. It replaces a harmful or relative address by "#". Attributes with code or several addresses, such
// as style, onclick and srcset, are an error of the [Writer].
func (a Attrs) Set(name name, value string) Attrs {
	if isAddress(name) && !leadsSafely(value) {
		value = "#"
	}
	return append(slices.Clip(a), attr{name: name, value: value})
}

// Share returns the attributes plus a style attribute with the length of a bar for the page's style sheet. The variable --share has a
// share of 0 to 1 in percent; larger values are clamped.
func (a Attrs) Share(share float64) Attrs {
	if math.IsNaN(share) {
		share = 0
	}
	return append(slices.Clip(a), attr{name: "style", value: fmt.Sprintf("--share: %.1f%%", 100*min(max(share, 0), 1)), made: true})
}

// Picture returns an embedded picture; false if its type can contain code.
func Picture(mime string, data []byte, alt string) (Node, bool) {
	if len(data) == 0 || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime) {
		return nil, false
	}
	src := attr{name: "src", value: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data), made: true}
	return El("img", Attrs{src}.Set("alt", alt)), true
}

// isAddress reports whether an attribute has an address.
func isAddress(n name) bool {
	switch n {
	case "href", "src", "action", "formaction", "cite", "poster", "data", "background", "manifest", "xlink:href":
		return true
	}
	return false
}

// isCode reports whether an attribute has code or several addresses: escaping is not enough for it.
func isCode(n name) bool {
	switch n {
	case "style", "srcdoc", "srcset", "imagesrcset", "ping":
		return true
	}
	return strings.HasPrefix(string(n), "on")
}

// isActive reports whether an element does more than show text and pictures: escaping is not enough for it.
func isActive(n name) bool {
	switch n {
	case "script", "style", "iframe", "noembed", "noframes", "noscript", "plaintext", "xmp", "math", "object", "embed", "base", "link",
		"set", "animate", "animateMotion", "animateTransform", "foreignObject":
		return true
	}
	return false
}

// isVoid reports whether an element has no end tag.
func isVoid(n name) bool {
	switch n {
	case "area", "br", "col", "hr", "img", "input", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// isBlock reports whether an element has its own lines, so that a line break after it is invisible.
func isBlock(n name) bool {
	switch n {
	case "html", "head", "body", "meta", "title", "script", "style", "header", "footer", "nav", "main", "section", "div", "p", "pre",
		"h1", "h2", "h3", "dl", "dt", "dd", "ol", "ul", "li", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "caption", "figure", "figcaption", "svg", "g":
		return true
	}
	return false
}

// leadsSafely reports whether an address is an anchor in the page, a web address or a mail address.
func leadsSafely(address string) bool {
	a := strings.ToLower(address)
	return slices.ContainsFunc([]string{"#", "https://", "http://", "mailto:"}, func(start string) bool { return strings.HasPrefix(a, start) })
}

func (t Text) write(w *Writer)    { w.escaped(string(t)) }
func (t Trusted) write(w *Writer) { w.put(string(t)) }

func (n Nodes) write(w *Writer) {
	for _, node := range n {
		if node != nil {
			node.write(w)
		}
	}
}

func (e element) write(w *Writer) {
	w.start(e.tag, e.attrs)
	switch {
	case !isVoid(e.tag):
		e.inside.write(w)
		w.end(e.tag)
	case len(e.inside) > 0:
		w.fail(fmt.Errorf("markup: <%s> has no content", e.tag))
	case isBlock(e.tag):
		w.put("\n")
	}
}

func (c code) write(w *Writer) {
	if text := strings.ToLower(string(c.text)); strings.Contains(text, "</"+string(c.tag)) || strings.Contains(text, "<!--") {
		w.fail(fmt.Errorf("markup: the content of <%s> would end it", c.tag))
		return
	}
	w.put("<" + string(c.tag) + ">" + string(c.text))
	w.end(c.tag)
}
