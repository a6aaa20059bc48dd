package cli

import (
	"github.com/spf13/cobra"
)

func (p *program) sessionsRewind() *cobra.Command {
	var o taking
	c := &cobra.Command{
		Use:   "rewind ID",
		Short: "Take a session back to an earlier turn or entry, files and conversation",
		Long: `Take a session back: the conversation goes on from an earlier turn or entry, and the files that the session changed since are what
they were then. It is 'tenon undo' for a session that is named: only files of the session are touched, nothing is done when somebody
else has changed one of them, and 'tenon redo ID' takes it back. A summary that took the place of older messages is no obstacle: the
journal has all of it. In a fork the conversation can go back behind the place where it began; files come back to what they were there.

  tenon sessions rewind 4kx --turns 1 --dry-run   what would happen
  tenon sessions rewind 4kx --turns 2             what was asked last, twice
  tenon sessions rewind 4kx --to ENTRY --files    only the files`,
		Args: exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			f := c.Flags()
			switch {
			case f.Changed("to") == f.Changed("turns"):
				return usagef(c, "say how far with --to or --turns, one of them")
			case f.Changed("to") && o.to == "":
				return usagef(c, "--to names no entry")
			case f.Changed("turns") && o.turns < 1:
				return usagef(c, "--turns must be a number of turns, from 1")
			case o.files && o.conversation || o.both && (o.files || o.conversation):
				return usagef(c, "--files, --conversation and --both exclude each other")
			}
			return p.takeBack(c, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "to what was at this `ENTRY`, by its ID, the beginning of it, or its number")
	f.IntVar(&o.turns, "turns", 0, "by so many `TURNS` of the conversation")
	p.scopeFlags(c, &o)
	p.applyFlags(c, &o)
	completeWith(c, "to", p.runEntries)
	return c
}

func (p *program) sessionsResume() *cobra.Command {
	run := p.run()
	c := &cobra.Command{
		Use:   "resume [flags] [ID [PROMPT...]]",
		Short: "Go on with a session, as tenon run does",
		Long: `Go on with a session. With an ID it is tenon run --session ID, without one tenon run --continue: the last session of the
directory. Without a prompt a run that was interrupted goes on where it stood. All flags are those of tenon run.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			name, value := "continue", "true"
			if len(args) > 0 {
				name, value = "session", args[0]
				args = args[1:]
			}
			if err := run.Flags().Set(name, value); err != nil {
				return err
			}
			return run.RunE(c, args)
		},
	}
	for _, name := range []string{"continue", "session"} { // which the arguments say
		if err := run.Flags().MarkHidden(name); err != nil {
			panic(err) // there is no such flag: a mistake in this package
		}
	}
	c.Flags().SortFlags = false
	c.Flags().AddFlagSet(run.Flags())
	p.completeSessions(c, "")
	return c
}
