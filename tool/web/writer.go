package web

import (
	"slices"
	"strings"
)

// writer writes Markdown. It delays line breaks, spaces and marks until there is text.
type writer struct {
	out    strings.Builder
	prefix []string // of every line
	marker string   // of a list item without text so far
	lead   string   // of a heading without text so far
	breaks int      // line ends before the next text
	space  bool     // before the next text
	marks  []mark   // the open ones, each at most once

	links, cells int // nesting
}

// mark is written around text, once there is text.
type mark struct {
	text    string
	written bool
}

// inLine reports whether the text must stay on one line: in a link or a cell.
func (w *writer) inLine() bool { return w.links > 0 || w.cells > 0 }

// line requests n line ends before the next text.
func (w *writer) line(n int) {
	switch {
	case w.inLine():
		w.space = true
	case w.marker == "" && w.lead == "": // else the line is still empty
		w.breaks = max(w.breaks, n)
	}
}

// write writes text after the delayed breaks, spaces and marks.
func (w *writer) write(text string) {
	if text == "" {
		return
	}
	w.settle()
	w.out.WriteString(text)
}

func (w *writer) settle() {
	fresh := w.out.Len() == 0
	if fresh || w.breaks > 0 {
		prefix := strings.Join(w.prefix, "")
		if !fresh {
			for range w.breaks - 1 {
				w.out.WriteString("\n" + strings.TrimRight(prefix, " "))
			}
			w.out.WriteByte('\n')
		}
		if w.marker != "" {
			prefix = prefix[:max(0, len(prefix)-len(w.marker))]
		}
		w.out.WriteString(prefix + w.marker + w.lead)
		w.breaks, w.space = 0, false
		w.marker, w.lead = "", ""
	}
	if w.space {
		w.out.WriteByte(' ')
		w.space = false
	}
	for i := range w.marks {
		if m := &w.marks[i]; !m.written {
			w.out.WriteString(m.text)
			m.written = true
		}
	}
}

// open begins a mark, unless the same mark is open.
func (w *writer) open(e *element, text string) {
	if slices.ContainsFunc(w.marks, func(m mark) bool { return m.text == text }) {
		return
	}
	e.mark = text
	w.marks = append(w.marks, mark{text: text})
}

// close ends the mark of e: the last one, because elements end in order.
func (w *writer) close(e *element) {
	n := len(w.marks) - 1
	if n < 0 {
		return
	}
	written := w.marks[n].written
	w.marks = w.marks[:n]
	end := e.mark
	if e.mark == "[" {
		w.links--
		end = "](" + e.href + ")"
	}
	if written {
		w.out.WriteString(end)
	}
}

func (w *writer) push(e *element, prefix string) {
	if len(w.prefix) < maxNesting && !w.inLine() {
		w.prefix = append(w.prefix, prefix)
		e.pushed = true
	}
}

// inCell escapes text that would end the current cell.
func (w *writer) inCell(text string) string {
	if w.cells > 0 {
		return strings.ReplaceAll(text, "|", `\|`)
	}
	return text
}
