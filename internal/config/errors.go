package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostErrorsTold is how many mistakes of the files are told at once.
const mostErrorsTold = 20

// Error is a mistake in a file.
type Error struct {
	File    string
	Line    int    // from 1; 0: the file as a whole
	Column  int    // from 1, in characters; 0: not known
	Key     string // where in the configuration, such as providers.openai.timeouts.idle; may be ""
	Message string // what is wrong, what was expected, what to do
}

// Error returns "file:line:column: key: message", without what is not known.
func (e *Error) Error() string {
	s := e.where() + ": "
	if e.Key != "" {
		s += e.Key + ": "
	}
	return s + e.Message
}

// where is the place in the file.
func (e *Error) where() string {
	switch {
	case e.Line == 0:
		return e.File
	case e.Column == 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// Errors are the mistakes of the files, in their order. There is at least one, and at most 20 are kept.
type Errors struct {
	List []*Error
	More int // how many others there are
}

// Error returns a line for each.
func (e *Errors) Error() string {
	var b strings.Builder
	for i, one := range e.List {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(one.Error())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.More)
	}
	return b.String()
}

// Unwrap returns the mistakes.
func (e *Errors) Unwrap() []error {
	out := make([]error, len(e.List))
	for i, one := range e.List {
		out[i] = one
	}
	return out
}

// add keeps a mistake, or counts it.
func (e *Errors) add(one *Error) {
	if e.full() {
		e.More++
		return
	}
	e.List = append(e.List, one)
}

func (e *Errors) full() bool { return len(e.List) == mostErrorsTold }

// orNil returns the mistakes in the order of their lines, or nil when there are none.
func (e *Errors) orNil() error {
	if len(e.List) == 0 {
		return nil
	}
	var files []string
	for _, one := range e.List {
		if !slices.Contains(files, one.File) {
			files = append(files, one.File)
		}
	}
	slices.SortStableFunc(e.List, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(slices.Index(files, a.File), slices.Index(files, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return e
}
