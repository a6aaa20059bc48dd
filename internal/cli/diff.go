package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/undo"
	"github.com/tenon-agent/tenon/session"
)

func (p *program) diff() *cobra.Command {
	var (
		from, dir    string
		stat, asJSON bool
	)
	c := &cobra.Command{
		Use:   "diff [SESSION]",
		Short: "Show what a session has changed in files",
		Long: `Show what a session has changed in files, by tools and by commands, and is still so. Without SESSION it is the one of this
directory that was changed last.`,
		Args: maxOneSession,
		RunE: func(c *cobra.Command, args []string) error {
			return p.withApp(errNoSessions, func(a *app.App) error {
				s, err := sessionOf(c.Context(), a.Store, args, dir)
				if err != nil {
					return err
				}
				found, err := diffs(c.Context(), a, s.ID, from)
				if err != nil {
					return err
				}
				if asJSON {
					for _, d := range found {
						if err := writeJSON(p.env.Stdout, d); err != nil {
							return err
						}
					}
					return nil
				}
				return p.showDiffs(found, stat)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "", "since this `ENTRY`, by its ID, the beginning of it, or its number")
	f.BoolVar(&stat, "stat", false, "only how many lines of which files")
	f.BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	f.StringVarP(&dir, "dir", "C", "", "the last session of another `directory`")
	p.completeSessions(c, "")
	completeWith(c, "from", p.runEntries)
	completeWith(c, "dir", directories)
	return c
}

func diffs(ctx context.Context, a *app.App, id session.SessionID, from string) ([]undo.FileDiff, error) {
	contents, err := a.Checkpoints(id)
	if err != nil {
		return nil, err
	}
	defer contents.Close() // it was only read
	if err := a.Recover(ctx, id, contents); err != nil {
		return nil, err
	}
	h, err := undo.Read(ctx, a.Store, id)
	if err != nil {
		return nil, err
	}
	return h.Diff(from, contents)
}

// showDiffs writes differences as patches, or the number of lines of each.
func (p *program) showDiffs(diffs []undo.FileDiff, stat bool) error {
	out := bufio.NewWriter(p.env.Stdout)
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	added, removed := 0, 0
	for _, d := range diffs {
		added, removed = added+d.Added, removed+d.Removed
		switch {
		case stat:
			fmt.Fprintf(out, " %s | %s %s%s\n", p.shown(d.Path), paint.green(fmt.Sprintf("+%d", d.Added)), paint.red(fmt.Sprintf("-%d", d.Removed)), p.shown(remark(d)))
		case d.Diff == "":
			fmt.Fprintf(out, "%s%s\n", paint.bold(p.shown(d.Path)), p.shown(remark(d)))
		default:
			if text := remark(d); text != "" {
				fmt.Fprintf(out, "%s%s\n", paint.bold(p.shown(d.Path)), p.shown(text))
			}
			p.patch(out, d.Diff, paint)
		}
	}
	if stat && len(diffs) > 0 {
		fmt.Fprintf(out, " %s changed, %s added, %d removed\n", count(len(diffs), "file"), count(added, "line"), removed)
	}
	if len(diffs) == 0 {
		fmt.Fprintln(p.env.Stderr, "nothing that the session changed is different now")
	}
	return out.Flush()
}

func (p *program) patch(out io.Writer, text string, paint palette) {
	for line := range strings.Lines(text) {
		line = p.shown(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "@@"):
			line = paint.dim(line)
		case strings.HasPrefix(line, "+"):
			line = paint.green(line)
		case strings.HasPrefix(line, "-"):
			line = paint.red(line)
		}
		fmt.Fprintln(out, line)
	}
}

// remark says what a patch does not: new kinds and modes, and what is not known.
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
