package tool

import "fmt"

// Codef returns an error with a stable code, such as "tool.not_found". The model reads the text; a program gets the code from the
// method Code() string of the error. docs/errors.md lists all codes.
func Codef(code, format string, args ...any) error {
	return &codedError{fmt.Errorf(format, args...), code}
}

type codedError struct {
	error
	code string
}

func (e *codedError) Code() string  { return e.code }
func (e *codedError) Unwrap() error { return e.error }

// NotFound returns the error for a name that does not exist, with similar names that do. Its code is "tool.not_found". Quote makes a
// name safe to print.
func NotFound(name string, similar []string, quote func(string) string) error {
	hint := ""
	for i, s := range similar {
		hint += []string{"; did you mean ", ", "}[min(i, 1)] + quote(s)
	}
	if hint != "" {
		hint += "?"
	}
	return Codef("tool.not_found", "%s not found%s", quote(name), hint)
}
