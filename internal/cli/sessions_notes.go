package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsNote() *cobra.Command {
	const most = 10_000 // runes
	var asJSON bool
	c := &cobra.Command{
		Use:   "note ID [TEXT...]",
		Short: "Write a note about a session, or show its notes",
		Long:  "Write a note about a session, or without a text show its notes. The model is not told; 'tenon sessions search' finds them.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(c, "the session's ID is missing")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			text := strings.ToValidUTF8(strings.TrimSpace(strings.Join(args[1:], " ")), "\uFFFD")
			switch {
			case len(args) > 1 && text == "":
				return usagef(c, "the note is empty")
			case len([]rune(text)) > most:
				return usagef(c, "the note has more than %d letters", most)
			}
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				if text == "" {
					return p.showNotes(c.Context(), store, s.ID, asJSON)
				}
				events, err := store.Annotate(c.Context(), s.ID, session.Note{Text: text})
				if err != nil {
					return err
				}
				return p.showNote(events[0], text, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	p.completeSessions(c, "")
	return c
}

func (p *program) showNotes(ctx context.Context, store session.Store, id session.SessionID, asJSON bool) error {
	n := 0
	for e, err := range store.Annotations(ctx, id, session.Note{}.Kind()) {
		if err != nil {
			return err
		}
		if note, ok := e.Body.(session.Note); ok {
			n++
			if err := p.showNote(e, note.Text, asJSON); err != nil {
				return err
			}
		}
	}
	if n == 0 && !asJSON {
		_, err := fmt.Fprintf(p.env.Stderr, "session %s has no notes\n", id)
		return err
	}
	return nil
}

func (p *program) showNote(e session.Event, text string, asJSON bool) error {
	if asJSON {
		return writeJSON(p.env.Stdout, map[string]any{"entry": e.ID, "time": e.Time, "text": text})
	}
	_, err := fmt.Fprintf(p.env.Stdout, "%s  %s\n", e.Time.Local().Format(time.DateTime), p.shown(text))
	return err
}
