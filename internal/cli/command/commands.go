package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session/index"
)

// Printing makes c print the result of run, as JSON with its flag --json, which about describes. It returns c.
func (env *Env) Printing(c *cobra.Command, about string, run func(ctx context.Context, args []string) (Result, error)) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, about)
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := run(c.Context(), args)
		if err != nil {
			return err
		}
		return env.Print(*asJSON, r)
	}
	if c.Args == nil {
		c.Args = NoArgs
	}
	return c
}

// OnSession makes c print the result of run on the session that its first argument names. run gets the other arguments.
func (env *Env) OnSession(
	c *cobra.Command, about string, run func(ctx context.Context, a *app.App, s index.Summary, args []string) (Result, error),
) *cobra.Command {
	if c.Args == nil {
		c.Args = ExactArgs("the session's ID")
	}
	env.CompleteSessions(c, "")
	asJSON := c.Flags().Bool("json", false, about)
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.WithAppAndSession(c, args[0], func(a *app.App, s index.Summary) error {
			r, err := run(c.Context(), a, s, args[1:])
			if err != nil {
				return err
			}
			return env.Print(*asJSON, r)
		})
	}
	return c
}

// Checked makes c check its flags and arguments before it runs. It returns c.
func Checked(c *cobra.Command, check func(args []string) error) *cobra.Command {
	c.PreRunE = func(_ *cobra.Command, args []string) error { return check(args) }
	return c
}

// MaxArgs returns a check for at most n arguments.
func MaxArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return Usagef(c, "one argument too many: %q", args[n])
		}
		return nil
	}
}

// SomeArgs returns a check for at least the named arguments.
func SomeArgs(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return ExactArgs(names...)(c, args)
		}
		return nil
	}
}
