package markup

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Writer writes a page. It keeps its first error, and writes nothing after it. It is for one goroutine.
type Writer struct {
	b       *bufio.Writer
	replace *strings.Replacer
	open    []name // outermost first
	err     error
}

// NewWriter returns a writer of a page to w, through a buffer of 64 KiB.
func NewWriter(w io.Writer) *Writer {
	return &Writer{
		b: bufio.NewWriterSize(w, 64<<10),
		// NUL is not an HTML character. Escaped quotes are safe in attributes and in text.
		replace: strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\x00", "\uFFFD"),
	}
}

// Write writes nodes.
func (w *Writer) Write(nodes ...Node) { Nodes(nodes).write(w) }

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

// Open begins an element that [Writer.Close] ends. Nodes in between are its content.
func (w *Writer) Open(tag name, attrs Attrs) {
	if isVoid(tag) {
		w.fail(fmt.Errorf("markup: <%s> has no content", tag))
	}
	w.start(tag, attrs)
	if isBlock(tag) {
		w.put("\n")
	}
	w.open = append(w.open, tag)
}

// Close ends the innermost open element.
func (w *Writer) Close() {
	if len(w.open) == 0 {
		w.fail(errors.New("markup: no element is open"))
		return
	}
	last := len(w.open) - 1
	w.end(w.open[last])
	w.open = w.open[:last]
}

// Flush writes the buffer and returns the first error. It ends the page: an open element is an error.
func (w *Writer) Flush() error {
	if len(w.open) > 0 {
		w.fail(fmt.Errorf("markup: <%s> is still open", w.open[len(w.open)-1]))
	}
	if w.err == nil {
		w.err = w.b.Flush()
	}
	return w.err
}

func (w *Writer) start(tag name, attrs Attrs) {
	if isActive(tag) {
		w.fail(fmt.Errorf("markup: escaping is not enough for <%s>", tag))
	}
	w.put("<" + string(tag))
	for _, a := range attrs {
		if isCode(a.name) && !a.made {
			w.fail(fmt.Errorf("markup: escaping is not enough for the attribute %s", a.name))
		}
		w.put(" " + string(a.name))
		if a.value != "" {
			w.put(`="`)
			w.escaped(a.value)
			w.put(`"`)
		}
	}
	w.put(">")
}

func (w *Writer) end(tag name) {
	w.put("</" + string(tag) + ">")
	if isBlock(tag) {
		w.put("\n")
	}
}

func (w *Writer) escaped(text string) {
	if w.err == nil {
		_, w.err = w.replace.WriteString(w.b, text)
	}
}

func (w *Writer) put(text string) {
	if w.err == nil {
		_, w.err = w.b.WriteString(text)
	}
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
