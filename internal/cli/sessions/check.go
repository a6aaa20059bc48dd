package sessions

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

func newCheck(env *command.Env) *cobra.Command {
	var repair, asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check all stored data, and repair it",
		Long: `Read all stored data of sessions and compare it with the values that Tenon derived from
the journals. With --repair, derive them again, and remove the remains of interrupted
purges. Tenon never removes anything from a journal. The command takes as long as
reading everything. The exit code is 1 if a problem remains.`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return env.WithApp(command.ErrNoSessions, func(a *app.App) error {
				found, left := 0, 0
				for problem, err := range a.Check(c.Context(), repair) {
					if err != nil {
						return err
					}
					found++
					if !problem.Fixed {
						left++
					}
					if err := showProblem(env, problem, asJSON); err != nil {
						return err
					}
				}
				switch {
				case left > 0:
					return command.Codef("session.corrupt", "the stored data has %s", transcript.Count(left, "problem"))
				case asJSON:
					return nil
				case found > 0:
					_, err := fmt.Fprintf(env.Stdout, "%s repaired\n", transcript.Count(found, "problem"))
					return err
				}
				_, err := fmt.Fprintln(env.Stdout, "no problems found")
				return err
			})
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "repair derived data")
	c.Flags().BoolVar(&asJSON, "json", false, "print problems as JSON, one object per line")
	return c
}

func showProblem(env *command.Env, q index.Problem, asJSON bool) error {
	mark, text := env.Paint().Red("✗"), string(q.Part)
	if q.Session != "" {
		text += " of session " + string(q.Session)
	}
	if q.Seq > 0 {
		text += fmt.Sprintf(", entry %d", q.Seq)
	}
	text += ": " + term.OneLine(q.Text)
	switch {
	case q.Fixed:
		mark, text = env.Paint().Green("✓"), text+"; repaired"
	case q.Advice != "":
		text += "; " + term.OneLine(q.Advice)
	}
	return env.Print(asJSON, command.Result{JSON: q, Text: term.Wrap(mark+" ", 2, text, env.Columns(), "  ") + "\n"})
}
