package undo

import (
	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

// NewRewind returns tenon sessions rewind.
func NewRewind(env *command.Env) *cobra.Command {
	var o taking
	c := &cobra.Command{
		Use:   "rewind ID",
		Short: "Rewind a session to an earlier turn or entry",
		Long: `Rewind a session to an earlier turn or entry: the conversation, and the files that the
session changed since. It works like 'tenon undo', for any session. Tenon changes only
files of the session. If anything else changed one of them, it does nothing.
'tenon redo ID' reverts the rewind. Rewinding past a summary works: the journal keeps
everything. A fork can be rewound past its fork point; files are only restored to their
state at the fork point.

  tenon sessions rewind 4kx --turns 1 --dry-run   print what would happen
  tenon sessions rewind 4kx --turns 2             the last two turns
  tenon sessions rewind 4kx --to ENTRY --files    only the files`,
		Args: command.ExactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			f := c.Flags()
			switch {
			case f.Changed("to") == f.Changed("turns"):
				return command.Usagef(c, "name the target with either --to or --turns")
			case f.Changed("to") && o.to == "":
				return command.Usagef(c, "--to names no entry")
			case f.Changed("turns") && o.turns < 1:
				return command.Usagef(c, "--turns must be a number of turns, from 1")
			case o.files && o.conversation || o.both && (o.files || o.conversation):
				return command.Usagef(c, "--files, --conversation and --both exclude each other")
			}
			return takeBack(env, c, args, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.to, "to", "", "rewind to this `ENTRY`: ID, ID prefix or number")
	f.IntVar(&o.turns, "turns", 0, "rewind this many `TURNS`")
	scopeFlags(env, c, &o)
	applyFlags(env, c, &o)
	command.CompleteWith(c, "to", RunEntries(env))
	return c
}
