package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsCompact() *cobra.Command {
	o := runOptions{output: outputText, system: app.System}
	var asJSON bool
	c := &cobra.Command{
		Use:   "compact ID [FOCUS...]",
		Short: "Let a summary take the place of the beginning of a conversation",
		Long: `Let a summary take the place of the beginning of a conversation, so that there is room in the model's context window again.
FOCUS says what is to be kept above all. The journal keeps everything: 'tenon sessions show' has all messages, 'tenon sessions rewind' goes back.
A model writes the summary, the one that is configured for it; the offline model makes an outline by rules.`,
		Args: someSessions,
		RunE: func(c *cobra.Command, args []string) error {
			o.session = args[0]
			s := p.screen(o)
			defer s.close()
			j := &job{program: p, command: c, options: o, screen: s, view: p.viewOf(o, s), report: newReport()}
			ctx, stop := p.interruptible(c.Context(), func() { s.note("interrupted\n") }, func() {})
			defer stop()
			t, _, done, err := j.ready(ctx, nil)
			if err != nil {
				return err
			}
			defer done()
			events, problem, err := t.agent.Compact(ctx, j.setup.Secrets.Redact(strings.Join(args[1:], " ")))
			if err != nil {
				return err
			}
			for _, e := range events {
				if d, ok := e.Body.(session.Digest); ok {
					if problem != "" {
						j.tell("! " + oneLine(problem))
					}
					return p.showDigest(t.agent.Session(), e, d, asJSON)
				}
			}
			return fmt.Errorf("the conversation stays as it is: %s; a new session begins with an empty window", oneLine(problem))
		},
	}
	f := c.Flags()
	f.StringVarP(&o.model, "model", "m", "", "the model of the session, as for tenon run")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	p.completeSessions(c, "")
	return c
}

func (p *program) showDigest(id session.SessionID, e session.Event, d session.Digest, asJSON bool) error {
	if asJSON {
		return writeJSON(p.env.Stdout, map[string]any{
			"session": id, "entry": e.ID, "reason": d.Reason, "by": d.By, "before": d.Before, "after": d.After,
			"kept": len(d.Kept), "summary": d.Summary, "usage": usageOf(d.Usage),
		})
	}
	fmt.Fprintf(p.env.Stderr, "%s; %s kept word for word\n", harmless(windowWords(d)), count(len(d.Kept), "message"))
	_, err := fmt.Fprintln(p.env.Stdout, p.shown(strings.TrimSpace(d.Summary)))
	return err
}
