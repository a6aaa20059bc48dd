package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsCheck() *cobra.Command {
	var repair, asJSON bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Check everything that is stored, and repair what can be",
		Long: `Read everything that is stored of sessions, and compare what was computed from the journals with them. With --repair what can be
computed again is, and what is left of purges that were cut off is removed; nothing is ever removed from a journal. It takes as long
as reading everything does. The exit code is 1 when something remains wrong.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.withApp(errNoSessions, func(a *app.App) error {
				found, left := 0, 0
				for problem, err := range a.Check(c.Context(), repair) {
					if err != nil {
						return err
					}
					found++
					if !problem.Fixed {
						left++
					}
					if err := p.showProblem(problem, asJSON); err != nil {
						return err
					}
				}
				switch {
				case left > 0:
					return fmt.Errorf("%s wrong with what is stored", count(left, "thing")+are(left))
				case asJSON:
					return nil
				case found > 0:
					_, err := fmt.Fprintf(p.env.Stdout, "%s repaired\n", count(found, "problem"))
					return err
				}
				_, err := fmt.Fprintln(p.env.Stdout, "all is well")
				return err
			})
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "put right what can be")
	c.Flags().BoolVar(&asJSON, "json", false, "what is wrong as JSON, one object to a line")
	return c
}

func are(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

func (p *program) showProblem(q session.Problem, asJSON bool) error {
	if asJSON {
		return writeJSON(p.env.Stdout, q)
	}
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	mark := paint.red("✗")
	if q.Fixed {
		mark = paint.green("✓")
	}
	where := string(q.Part)
	if q.Session != "" {
		where += " of session " + string(q.Session)
	}
	if q.Seq > 0 {
		where += fmt.Sprintf(", entry %d", q.Seq)
	}
	text := where + ": " + oneLine(q.Text)
	switch {
	case q.Fixed:
		text += "; repaired"
	case q.Advice != "":
		text += "; " + oneLine(q.Advice)
	}
	_, err := fmt.Fprintln(p.env.Stdout, wrapped(mark+" ", 2, text, p.columns(), "  "))
	return err
}
