package tool

import (
	"context"
	"fmt"
)

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

// NotFound returns the error for a path that does not exist in ws, with similar paths that do, or the reason why a file of the machine is not
// there. Its code is "tool.not_found". Quote makes a path safe to print.
func NotFound(ctx context.Context, ws interface {
	Similar(ctx context.Context, name string, n int) []string
	Covered(name string) string
}, name string, quote func(string) string,
) error {
	if at := ws.Covered(name); at != "" {
		return Codef("tool.not_found", "%s not found: commands and file tools see the %s of this session, not that of the machine, which has such a file; "+
			"the user can list the path in sandbox.readable", quote(name), at)
	}
	hint := ""
	for i, s := range ws.Similar(ctx, name, 5) {
		hint += []string{"; did you mean ", ", "}[min(i, 1)] + quote(s)
	}
	if hint != "" {
		hint += "?"
	}
	return Codef("tool.not_found", "%s not found%s", quote(name), hint)
}
