package run

import (
	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

func NewResume(env *command.Env) *cobra.Command {
	run := New(env)
	c := &cobra.Command{
		Use:   "resume [flags] [ID [PROMPT...]]",
		Short: "Continue a session",
		Long: `Continue a session. With an ID this is 'tenon run --session ID'; without one it is
'tenon run --continue', the most recent session in this directory. Without a prompt,
Tenon resumes an interrupted run. All flags are those of tenon run.`,
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
	for _, name := range []string{"continue", "session", "parallel", "models", "judge", "score", "apply", "merge", "discard"} { // the arguments set the first two; the others are for new sessions
		if err := run.Flags().MarkHidden(name); err != nil {
			panic(err) // there is no such flag: a bug in this package
		}
	}
	c.Flags().SortFlags = false
	c.Flags().AddFlagSet(run.Flags())
	env.CompleteSessions(c, "")
	return c
}
