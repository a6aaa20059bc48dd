package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// mostErrorsTold limits the mistakes that Tenon reports at once.
const mostErrorsTold = 20

// Error is a mistake in a file.
type Error struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitzero"`   // from 1; 0: the file as a whole
	Column  int    `json:"column,omitzero"` // from 1, in characters; 0: not known
	Key     string `json:"key,omitzero"`    // the key in the configuration, such as providers.openai.timeouts.idle; may be ""
	Message string `json:"message"`         // the mistake, the expected value and a hint
}

// Code returns "config.invalid".
func (e *Error) Code() string { return "config.invalid" }

// Error returns "file:line:column: key: message", without the unknown parts.
func (e *Error) Error() string {
	s := e.where() + ": "
	if e.Key != "" {
		s += e.Key + ": "
	}
	return s + e.Message
}

func (e *Error) where() string {
	switch {
	case e.Line == 0:
		return e.File
	case e.Column == 0:
		return fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// Errors are the mistakes of the files, in the order of the text. The list has 1 to 20 mistakes.
type Errors struct {
	List []*Error
	More int // the number of further mistakes
}

// Code returns "config.invalid".
func (e *Errors) Code() string { return "config.invalid" }

// Error returns one line per mistake.
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

// add adds a mistake to the list. If the list is full, it only counts the mistake.
func (e *Errors) add(one *Error) {
	if e.full() {
		e.More++
		return
	}
	e.List = append(e.List, one)
}

func (e *Errors) full() bool { return len(e.List) == mostErrorsTold }

// orNil sorts the mistakes by line and returns them, or returns nil if there are none.
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
