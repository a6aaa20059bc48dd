// Package sessions is tenon sessions: listing, showing, searching, forking, exporting, importing and deleting sessions.
package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/cli/run"
	"github.com/tenon-agent/tenon/internal/cli/stats"
	"github.com/tenon-agent/tenon/internal/cli/undo"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// New returns tenon sessions.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "List, search, resume, fork, rewind, export and delete sessions",
		Long: `List, show, search, continue, fork, rewind, export, import and delete sessions. You can
use any unique prefix of an ID; shells complete IDs.`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Group,
	}
	c.AddCommand(newList(env), newShow(env), newExport(env), newImport(env), newDelete(env), newRename(env))
	c.AddCommand(run.NewResume(env), newFork(env), undo.NewRewind(env), newSearch(env), newRestore(env), newPrune(env))
	c.AddCommand(newTag(env), newNote(env), newPin(env), newUnpin(env), newPins(env))
	c.AddCommand(newWindow(env), run.NewCompact(env), stats.NewCache(env), newCheck(env), newBackup(env))
	return c
}

func newRename(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "rename ID TITLE...",
		Short: "Change the title of a session",
		Args:  command.SomeArgs("the session's ID", "the title"),
	}
	title := ""
	command.Checked(c, func(args []string) (err error) {
		title, err = titleOf(c, strings.Join(args[1:], " "))
		return err
	})
	return env.OnSession(c, "print the session as JSON", func(ctx context.Context, a *app.App, s index.Summary, _ []string) (command.Result, error) {
		_, err := a.Store.Annotate(ctx, s.ID, session.Title{Title: title})
		s.Title, s.Named = title, true
		return command.Result{JSON: s, Text: fmt.Sprintf("%s  %s\n", s.ID, env.Shown(title))}, err
	})
}

// titleOf returns a title in its stored form.
func titleOf(c *cobra.Command, text string) (string, error) {
	const most = 200 // runes
	title := strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
	switch {
	case title == "":
		return "", command.Usagef(c, "the title is empty")
	case len([]rune(title)) > most:
		return "", command.Usagef(c, "the title has more than %d characters", most)
	}
	return title, nil
}
