package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/spelling"
)

// usageError says what is wrong with a command line.
type usageError struct {
	command string // the command whose help shows what is right
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(c *cobra.Command, format string, args ...any) error {
	return &usageError{c.CommandPath(), fmt.Errorf(format, args...)}
}

// unknownCommand tells of the first of args, which names no command below c.
func unknownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usagef(c, "the command is missing")
	}
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
			names = append(names, sub.Aliases...)
			names = append(names, sub.SuggestFor...)
		}
	}
	if near := nearest(args[0], names); near != "" {
		return usagef(c, "%q is no command of %s: did you mean %q?", args[0], c.CommandPath(), c.CommandPath()+" "+near)
	}
	return usagef(c, "%q is no command of %s", args[0], c.CommandPath())
}

// flagError is what a command says about flags that pflag does not take.
func flagError(c *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return usagef(c, "--%s %q: %w", wrong.GetFlag().Name, wrong.GetValue(), valueError(wrong.Unwrap()))
	}
	if needs, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return usagef(c, "--%s needs a value", needs.GetFlag().Name)
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return &usageError{c.CommandPath(), err}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	if near := nearest(name, names); near != "" {
		return usagef(c, "there is no flag --%s: did you mean --%s?", name, near)
	}
	return usagef(c, "there is no flag --%s", name)
}

// valueError says what a flag may be, where pflag says how it reads numbers.
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

// noArgs, oneArg and the like check how many arguments a command got.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef(c, "%s takes no arguments, got %q", c.CommandPath(), args[0])
	}
	return nil
}

func exactArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef(c, "%s is missing", names[len(args)])
		case len(args) > len(names):
			return usagef(c, "one argument too many: %q", args[len(names)])
		}
		return nil
	}
}

// nearest is the name that was most likely meant, or nothing when none is near.
func nearest(word string, names []string) string {
	best, at := "", max(len(word)/3, 1)+1
	for _, name := range names {
		if d := spelling.Distance(word, name); d < at {
			best, at = name, d
		}
	}
	return best
}

// none is the value of a limit's flag that switches the limit off.
const none = "none"

// limitFlag is a flag that limits something: a number above zero, or none.
type limitFlag[N int | int64 | float64 | time.Duration] struct {
	value *N
	kind  string // what it takes, for help
	read  func(string) (N, error)
}

func (f limitFlag[N]) Type() string { return f.kind }

func (f limitFlag[N]) String() string { return "" } // the default is in the flag's help

func (f limitFlag[N]) Set(text string) error {
	if text == none {
		*f.value = agent.Unlimited
		return nil
	}
	n, err := f.read(text)
	if err != nil || n <= 0 {
		return fmt.Errorf("must be %s above zero, or %q", f.what(), none)
	}
	*f.value = n
	return nil
}

func (f limitFlag[N]) what() string {
	switch any(*f.value).(type) {
	case time.Duration:
		return "a time such as 90s or 10m"
	case float64:
		return "a number of US dollars"
	default:
		return "a whole number"
	}
}

func intLimit(value *int) pflag.Value {
	return limitFlag[int]{value, "N", strconv.Atoi}
}

func int64Limit(value *int64) pflag.Value {
	return limitFlag[int64]{value, "N", func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }}
}

func costLimit(value *float64) pflag.Value {
	return limitFlag[float64]{value, "USD", func(s string) (float64, error) {
		n, err := strconv.ParseFloat(s, 64)
		if err == nil && (math.IsNaN(n) || math.IsInf(n, 0)) {
			err = errors.New("not a number")
		}
		return n, err
	}}
}

func timeLimit(value *time.Duration) pflag.Value {
	return limitFlag[time.Duration]{value, "DURATION", time.ParseDuration}
}

// choiceFlag is a flag with a few values.
type choiceFlag struct {
	value   *string
	choices []string
	what    string // in the usage
}

func (f choiceFlag) Type() string   { return f.what }
func (f choiceFlag) String() string { return *f.value }

func (f choiceFlag) Set(text string) error {
	for _, c := range f.choices {
		if c == text {
			*f.value = text
			return nil
		}
	}
	hint := ""
	if near := nearest(text, f.choices); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("must be %s%s", orList(f.choices), hint)
}
