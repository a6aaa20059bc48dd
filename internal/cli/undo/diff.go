package undo

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/undo"
)

// NewDiff returns tenon diff.
func NewDiff(env *command.Env) *cobra.Command {
	var from, dir string
	var stat bool
	c := &cobra.Command{
		Use:   "diff [SESSION]",
		Short: "Show the file changes of a session",
		Long: `Show the changes of a session in files, made by tools or commands, that still exist.
SESSION defaults to the most recent session of this directory.`,
		Args: maxOneSession,
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "changes since this `ENTRY`: ID, ID prefix or number")
	f.BoolVar(&stat, "stat", false, "print only the number of changed lines per file")
	command.DirFlag(c, &dir, "use the most recent session of this `directory`")
	env.CompleteSessions(c, "")
	command.CompleteWith(c, "from", RunEntries(env))
	return env.Printing(c, "print JSON, one object per line", func(ctx context.Context, args []string) (r command.Result, err error) {
		var found []undo.FileDiff
		err = env.WithApp(command.ErrNoSessions, func(a *app.App) error {
			s, err := sessionOf(ctx, a.Store, args, dir)
			if err == nil {
				found, err = diffs(ctx, a, s.ID, from)
			}
			return err
		})
		r = command.Result{JSON: command.Lines(found), Text: diffText(env, found, stat)}
		if len(found) == 0 {
			r.Note = "no change of the session remains"
		}
		return r, err
	})
}

func diffs(ctx context.Context, a *app.App, id session.SessionID, from string) ([]undo.FileDiff, error) {
	kept := a.Checkpoints(id)
	if err := a.Recover(ctx, id, kept); err != nil {
		return nil, err
	}
	h, err := undo.Read(ctx, a.Store, id, a.Bounds)
	if err != nil {
		return nil, err
	}
	return h.Diff(ctx, from, kept)
}

// diffText returns diffs as patches, or the number of changed lines of each file.
func diffText(env *command.Env, diffs []undo.FileDiff, stat bool) string {
	out := new(strings.Builder)
	paint := env.Paint()
	added, removed := 0, 0
	for _, d := range diffs {
		added, removed = added+d.Added, removed+d.Removed
		switch {
		case stat:
			fmt.Fprintf(out, " %s | %s %s%s\n", env.Shown(d.Path), paint.Green(fmt.Sprintf("+%d", d.Added)), paint.Red(fmt.Sprintf("-%d", d.Removed)), env.Shown(remark(d)))
		case d.Diff == "":
			fmt.Fprintf(out, "%s%s\n", paint.Bold(env.Shown(d.Path)), env.Shown(remark(d)))
		default:
			if text := remark(d); text != "" {
				fmt.Fprintf(out, "%s%s\n", paint.Bold(env.Shown(d.Path)), env.Shown(text))
			}
			showPatch(env, out, d.Diff, paint)
		}
	}
	if stat && len(diffs) > 0 {
		fmt.Fprintf(out, " %s changed, %s added, %d removed\n", transcript.Count(len(diffs), "file"), transcript.Count(added, "line"), removed)
	}
	return out.String()
}

func showPatch(env *command.Env, out io.Writer, text string, paint term.Palette) {
	for line := range strings.Lines(text) {
		line = env.Shown(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "@@"):
			line = paint.Dim(line)
		case strings.HasPrefix(line, "+"):
			line = paint.Green(line)
		case strings.HasPrefix(line, "-"):
			line = paint.Red(line)
		}
		fmt.Fprintln(out, line)
	}
}

// remark returns the facts that a patch lacks: new kinds and modes, and the note of the diff.
func remark(d undo.FileDiff) string {
	var parts []string
	switch {
	case d.Before == nil && d.After != nil && d.Diff == "":
		parts = append(parts, "new "+kindOf(d.After))
	case d.After == nil && d.Before != nil && d.Diff == "":
		parts = append(parts, "removed "+kindOf(d.Before))
	case d.Before != nil && d.After != nil && d.Before.Mode != d.After.Mode:
		parts = append(parts, fmt.Sprintf("mode %v → %v", fs.FileMode(d.Before.Mode), fs.FileMode(d.After.Mode)))
	}
	if d.Note != "" {
		parts = append(parts, d.Note)
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, "; ") + ")"
}

func kindOf(s *session.FileState) string {
	switch mode := fs.FileMode(s.Mode); {
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "link"
	}
	return "file"
}
