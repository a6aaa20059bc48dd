package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

func newNote(env *command.Env) *cobra.Command {
	const most = 10_000 // runes
	c := &cobra.Command{
		Use:   "note ID [TEXT...]",
		Short: "Add a note to a session, or show its notes",
		Long:  "Add a note to a session, or show its notes if there is no TEXT. The model does not see\nnotes; 'tenon sessions search' finds them.",
		Args:  command.SomeArgs("the session's ID"),
	}
	text := ""
	command.Checked(c, func(args []string) error {
		text = strings.ToValidUTF8(strings.TrimSpace(strings.Join(args[1:], " ")), "\uFFFD")
		switch {
		case len(args) > 1 && text == "":
			return command.Usagef(c, "the note is empty")
		case len([]rune(text)) > most:
			return command.Usagef(c, "the note has more than %d characters", most)
		}
		return nil
	})
	return env.OnSession(c, "print JSON, one object per line", func(ctx context.Context, a *app.App, s index.Summary, _ []string) (r command.Result, err error) {
		var events []session.Event
		if text == "" {
			events, err = collect(a.Store.Read(ctx, s.ID, 0, session.Note{}.Kind()))
		} else {
			events, err = a.Store.Annotate(ctx, s.ID, session.Note{Text: text})
		}
		var found []map[string]any
		for _, e := range events {
			if n, ok := e.Body.(session.Note); ok {
				found = append(found, map[string]any{"entry": e.ID, "time": e.Time, "text": n.Text})
				r.Text += fmt.Sprintf("%s  %s\n", e.Time.Local().Format(time.DateTime), env.Shown(n.Text))
			}
		}
		if r.JSON = command.Lines(found); len(found) == 0 {
			r.Note = fmt.Sprintf("session %s has no notes", s.ID)
		}
		return r, err
	})
}
