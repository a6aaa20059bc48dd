package command

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/tenon-agent/tenon/internal/term"
)

// ExitCode ends a command with this exit code and without a message.
type ExitCode int

func (e ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// coded is an error with a stable code for programs, such as "session.locked". docs/errors.md lists all codes.
type coded interface {
	error
	Code() string
}

// CodeOf returns the first code in the chain of an error, or "".
func CodeOf(err error) string {
	if c, ok := errors.AsType[coded](err); ok {
		return c.Code()
	}
	return ""
}

type codedError struct {
	error
	code string
}

func (e *codedError) Code() string  { return e.code }
func (e *codedError) Unwrap() error { return e.error }

// Codef returns an error with a code.
func Codef(code, format string, args ...any) error {
	return &codedError{fmt.Errorf(format, args...), code}
}

// Report prints an error with its code in brackets, and returns the exit code.
func (env *Env) Report(err error) int {
	if err == nil {
		return ExitDone
	}
	if code, ok := errors.AsType[ExitCode](err); ok {
		return int(code)
	}
	if errors.Is(err, syscall.EPIPE) {
		return ExitError // the reader of the output left
	}
	colour := term.PaletteFor(env.Stderr, env.Getenv)
	text := term.Harmless(env.hidden(err.Error()))
	if code := CodeOf(err); code != "" {
		text += " [" + code + "]"
	}
	fmt.Fprintf(env.Stderr, "%s %s\n", colour.Red("tenon:"), text)
	if usage, ok := errors.AsType[*UsageError](err); ok {
		fmt.Fprintf(env.Stderr, "Run '%s --help' for usage.\n", usage.Command)
		return ExitUsage
	}
	return ExitError
}

// The exit codes of every command.
const (
	ExitDone        = 0
	ExitError       = 1
	ExitUsage       = 2   // the command line is wrong
	ExitLimit       = 3   // the run came to one of its limits
	ExitDenied      = 4   // denials ended the run, or all calls of the last turn that had any were denied
	ExitBlocked     = 5   // the agent cannot reach the goal of the run without a person
	ExitInterrupted = 130 // by a signal
)
