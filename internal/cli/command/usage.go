package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/internal/spelling"
)

// Group runs a command that only has subcommands.
func Group(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(c, args)
	}
	return c.Help()
}

// OrList returns names as a list for people: "a, b or c".
func OrList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// UsageError is a mistake in a command line.
type UsageError struct {
	Command string // the command with the help
	Err     error
}

func (e *UsageError) Error() string { return e.Err.Error() }

func (e *UsageError) Unwrap() error { return e.Err }

// Code returns the code of the cause, or "cli.usage".
func (e *UsageError) Code() string {
	if code := CodeOf(e.Err); code != "" {
		return code
	}
	return "cli.usage"
}

// Usagef returns an error about the command line of c.
func Usagef(c *cobra.Command, format string, args ...any) error {
	return &UsageError{c.CommandPath(), fmt.Errorf(format, args...)}
}

// AsUsage makes err an error about the command line of c.
func AsUsage(c *cobra.Command, err error) error { return &UsageError{c.CommandPath(), err} }

// UnknownCommand returns the error if the first of args is no subcommand of c.
func UnknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return Usagef(c, "the command is missing")
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
			names = append(names, sub.Aliases...)
			names = append(names, sub.SuggestFor...)
		}
	}
	if near := Nearest(args[0], names); near != "" {
		return Usagef(c, "unknown command %q of %s; did you mean %q?", args[0], c.CommandPath(), c.CommandPath()+" "+near)
	}
	return Usagef(c, "unknown command %q of %s", args[0], c.CommandPath())
}

// FlagError returns the error about flags that pflag rejects.
func FlagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return Usagef(c, "--%s %q: %w", wrong.GetFlag().Name, wrong.GetValue(), valueError(wrong.Unwrap()))
	}
	if needs, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return Usagef(c, "--%s needs a value", needs.GetFlag().Name)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return &UsageError{c.CommandPath(), err}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	if near := Nearest(name, names); near != "" {
		return Usagef(c, "unknown flag --%s; did you mean --%s?", name, near)
	}
	return Usagef(c, "unknown flag --%s", name)
}

// valueError returns the valid values of a flag instead of the error of the number parser.
func valueError(err error) error {
	wrong, ok := errors.AsType[*strconv.NumError](err)
	switch {
	case !ok:
		return err
	case wrong.Func == "ParseBool":
		return errors.New("must be true or false")
	case errors.Is(wrong, strconv.ErrRange):
		return errors.New("is too large a number")
	}
	return errors.New("must be a whole number")
}

// NoArgs is a check for a command without arguments.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef(c, "%s takes no arguments, got %q", c.CommandPath(), args[0])
	}
	return nil
}

// ExactArgs returns a check for exactly the named arguments.
func ExactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			hint := ""
			if names[len(args)] == "the session's ID" {
				hint = "; 'tenon sessions list' shows the IDs"
			}
			return Usagef(c, "%s is missing%s", names[len(args)], hint)
		case len(args) > len(names):
			return Usagef(c, "one argument too many: %q", args[len(names)])
		}
		return nil
	}
}

// Nearest returns the most similar name; empty if no name is similar.
func Nearest(word string, names []string) string {
	return spelling.Nearest(word, names, max(len(word)/3, 1))
}
