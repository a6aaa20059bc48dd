package run

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

func NewCompact(env *command.Env) *cobra.Command {
	o := runOptions{output: outputText}
	var asJSON bool
	c := &cobra.Command{
		Use:   "compact ID [FOCUS...]",
		Short: "Summarize the older part of a conversation",
		Long: `Summarize the older part of a conversation, to free space in the context window of the
model. FOCUS names the most important facts to keep. The journal keeps everything:
'tenon sessions show' prints all messages, and 'tenon sessions rewind' goes back. The
model that you configured for summaries writes it; the offline model writes an outline.`,
		Args: command.SomeArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			o.session = args[0]
			s := newScreen(env, o)
			defer s.Close()
			j := &job{env: env, command: c, options: o, screen: s, view: viewOf(env, o, s), report: newReport()}
			ctx, stop := env.Interruptible(c.Context(), func() { s.Note("interrupted\n") }, func() {})
			defer stop()
			done, err := j.begin(ctx, nil, true)
			if err != nil {
				return err
			}
			defer done()
			e, warnings, err := j.conversation.Compact(ctx, strings.Join(args[1:], " "))
			if err != nil {
				return err
			}
			problem := ""
			for _, w := range warnings {
				problem = term.OneLine(w.Text)
			}
			if e == nil {
				return command.Codef("conversation.summary", "cannot summarize the conversation: %s; a new session starts with an empty context window", problem)
			}
			if problem != "" {
				j.note("! " + problem)
			}
			return showSummary(env, j.header.Session, *e, asJSON)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.model, "model", "m", "", "model of the session, as for tenon run")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	env.CompleteSessions(c, "")
	return c
}

func showSummary(env *command.Env, id session.SessionID, e session.Event, asJSON bool) error {
	d := e.Body.(session.Summarized)
	if asJSON {
		return command.WriteJSON(env.Stdout, map[string]any{
			"session": id, "entry": e.ID, "reason": d.Reason, "by": d.By, "before": d.Before, "after": d.After,
			"verbatim": len(d.Verbatim), "summary": d.Summary, "usage": command.UsageJSON(d.Usage.Plus(d.Parts)),
		})
	}
	note, _ := transcript.Describe(d)
	fmt.Fprintf(env.Stderr, "%s; %s kept word for word\n", term.Harmless(note.Title), transcript.Count(len(d.Verbatim), "message"))
	_, err := fmt.Fprintln(env.Stdout, env.Shown(strings.TrimSpace(d.Summary)))
	return err
}
