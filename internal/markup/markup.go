// Package markup writes HTML whose words come from anybody.
//
// A page is made of a few types, and only this package can make more of them: [Text], [El], [Attrs], [Nodes]. Whatever they are given is
// escaped where it is written, so that it cannot end the text or the attribute that it stands in. The names of elements and attributes
// are of a type of this package: only constants fit, never a text from elsewhere. An address leads to a place in the page, to the web,
// or to somebody's mail, and to nothing that runs. [Trusted] alone is written as it is.
//
// A [Writer] writes one piece after the other and keeps none, so a page may be larger than memory.
//
// It is no template: package text/template looks methods up by their names, for which the linker keeps every exported method of every
// type in a program. That is 4 MB of tenon.
package markup

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Node is a piece of a page. A nil Node is nothing.
type Node interface{ write(w *Writer) }

// Text is a text as people see it, whatever it has of markup.
type Text string

// Trusted is HTML that is written as it is: a constant, or what was made harmless before. It is the only way around the escaping, so look
// at each conversion to it.
type Trusted string

// Nodes are several nodes, one after the other.
type Nodes []Node

// name is the name of an element or an attribute. Only constants outside this package have this type.
type name string

// element is an element with what it holds.
type element struct {
	tag    name
	attrs  Attrs
	inside Nodes
}

// El is an element. Those without an end, such as img, hold nothing. Elements that do more than to show text and pictures, such as
// script, are an error of the [Writer] that meets them; see [Script] and [Style].
func El(tag name, attrs Attrs, inside ...Node) Node { return element{tag, attrs, inside} }

// Leaf is an element of a class that holds a text.
func Leaf(tag name, class, text string) Node { return El(tag, Class(class), Text(text)) }

// code is an element whose content is no text.
type code struct {
	tag  name
	text Trusted
}

// Script is a script in the page. A page's policy has to know its hash.
func Script(text Trusted) Node { return code{"script", text} }

// Style is a style sheet in the page. A page's policy has to know its hash.
func Style(text Trusted) Node { return code{"style", text} }

// Attrs are the attributes of an element. A nil one has none.
type Attrs []attr

type attr struct {
	name  name
	value string
	made  bool // of values that can do no harm, by this package
}

// Class is the attribute class, of those names that are not empty.
func Class(names ...string) Attrs {
	return Set("class", strings.Join(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" }), " "))
}

// Set is an attribute; see [Attrs.Set].
func Set(name name, value string) Attrs { return Attrs{}.Set(name, value) }

// Set returns the attributes and one more. An address that may do harm, or needs the page's own address to be understood, leads nowhere.
// Attributes that hold code or several addresses, such as style, onclick and srcset, are an error of the [Writer] that meets them.
func (a Attrs) Set(name name, value string) Attrs {
	if isAddress(name) && !leadsSafely(value) {
		value = "#"
	}
	return append(slices.Clip(a), attr{name: name, value: value})
}

// Share returns the attributes and one more: style, which says to the page's style sheet how long a bar is. The variable --share has a
// share of 0 to 1 in percent; what is beyond is cut.
func (a Attrs) Share(share float64) Attrs {
	if math.IsNaN(share) {
		share = 0
	}
	return append(slices.Clip(a), attr{name: "style", value: fmt.Sprintf("--share: %.1f%%", 100*min(max(share, 0), 1)), made: true})
}

// Picture is a picture that is in the page; false when it is of a kind in which something may hide.
func Picture(mime string, data []byte, alt string) (Node, bool) {
	if len(data) == 0 || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime) {
		return nil, false
	}
	src := attr{name: "src", value: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data), made: true}
	return El("img", Attrs{src}.Set("alt", alt)), true
}

// isAddress reports whether an attribute holds an address.
func isAddress(n name) bool {
	switch n {
	case "href", "src", "action", "formaction", "cite", "poster", "data", "background", "manifest", "xlink:href":
		return true
	}
	return false
}

// isCode reports whether an attribute holds code, or several addresses: escaping is not enough for it.
func isCode(n name) bool {
	switch n {
	case "style", "srcdoc", "srcset", "imagesrcset", "ping":
		return true
	}
	return strings.HasPrefix(string(n), "on")
}

// isActive reports whether what an element holds or does is more than to show text and pictures: escaping is not enough for it.
func isActive(n name) bool {
	switch n {
	case "script", "style", "iframe", "noembed", "noframes", "noscript", "plaintext", "xmp", "math", "object", "embed", "base", "link",
		"set", "animate", "animateMotion", "animateTransform", "foreignObject":
		return true
	}
	return false
}

// isVoid reports whether an element has no end.
func isVoid(n name) bool {
	switch n {
	case "area", "br", "col", "hr", "img", "input", "meta", "source", "track", "wbr":
		return true
	}
	return false
}

// isBlock reports whether an element takes lines of its own, so that a line of the page may end after it: the space is not seen.
func isBlock(n name) bool {
	switch n {
	case "html", "head", "body", "meta", "title", "script", "style", "header", "footer", "nav", "main", "section", "div", "p", "pre",
		"h1", "h2", "h3", "dl", "dt", "dd", "ol", "ul", "li", "details", "summary", "table", "thead", "tbody", "tr", "th", "td", "caption", "figure", "figcaption", "svg", "g":
		return true
	}
	return false
}

// leadsSafely reports whether an address is a place in the page, or one that a browser only goes to.
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
		w.fail(fmt.Errorf("markup: <%s> can hold nothing", e.tag))
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
