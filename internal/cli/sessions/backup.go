package sessions

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
)

func newBackup(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy all sessions to a file",
		Long: `Copy the journals of all sessions to a new file, as they are at one moment. Other processes can write meanwhile.
Saved file contents (for undo) and artifacts are not in the file. 'tenon sessions restore --from FILE' brings the sessions back.`,
		Args: command.ExactArgs("the file"),
	}
	return env.Printing(c, "show the result as JSON", func(ctx context.Context, args []string) (r command.Result, err error) {
		err = env.WithApp(command.ErrNoSessions, func(a *app.App) error { return a.Backup(ctx, args[0]) })
		if err != nil {
			return r, err
		}
		info, err := os.Stat(args[0])
		if err != nil {
			return r, err
		}
		return command.Result{
			JSON: map[string]any{"file": args[0], "bytes": info.Size()}, Text: fmt.Sprintf("wrote %s (%d bytes)\n", env.Shown(args[0]), info.Size()),
		}, nil
	})
}

func restoreBackup(env *command.Env, c *cobra.Command, from string, yes, asJSON bool) error {
	if !yes {
		if err := env.Confirm(c, fmt.Sprintf("Replace all sessions by those in %s?", from)); err != nil {
			return err
		}
	}
	aside, err := app.RestoreBackup(c.Context(), env.Getenv, from)
	if err != nil {
		return err
	}
	r := command.Result{
		JSON: map[string]any{"restored": from, "damaged": aside}, Text: fmt.Sprintf("restored all sessions from %s\n", env.Shown(from)),
	}
	if aside != "" {
		r.Note = "the damaged database is now " + env.Shown(aside)
	}
	return env.Print(asJSON, r)
}
