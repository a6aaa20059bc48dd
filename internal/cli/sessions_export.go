package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/export"
	"github.com/tenon-agent/tenon/session"
)

// exportFormats are the values of --format. The first is the default.
func exportFormats() []string { return []string{"jsonl", "json", "md", "html"} }

func (p *program) sessionsExport() *cobra.Command {
	var (
		name, format  string
		force, asJSON bool
	)
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write a session as JSON, Markdown or a page of HTML",
		Long: `Write a session. As jsonl (an entry to a line) and json (one object) it is the journal, which 'tenon sessions import' takes back;
as md and html it is to read. The page of HTML needs nothing else and sends nothing. Keys that are known are hidden in all of them.`,
		Args: exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf(exportFormats(), format); err != nil {
				return usagef(c, "--format: %w", err)
			}
			setup, err := p.setUp()
			if err != nil {
				return err
			}
			return p.withAppAndSession(c, args[0], func(a *app.App, s session.Summary) error {
				write := func(w io.Writer) error {
					hidden := setup.Secrets.Writer(w)
					out := bufio.NewWriterSize(hidden, 64<<10)
					return errors.Join(writeExport(c.Context(), out, a, s, format, setup.Secrets.Redact), out.Flush(), hidden.Close())
				}
				if name == "" || name == "-" {
					return write(p.env.Stdout)
				}
				if err := exportFile(s.ID, name, force, write); err != nil {
					return err
				}
				if asJSON {
					return writeJSON(p.env.Stdout, map[string]any{"session": s.ID, "file": name, "format": format, "entries": s.Entries})
				}
				fmt.Fprintf(p.env.Stderr, "%s written to %s\n", count(int(s.Entries), "entry"), harmless(name))
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVar(&format, "format", exportFormats()[0], "`FORMAT`: jsonl, json, md, html")
	f.StringVarP(&name, "output", "o", "", "to this `file`, readable by you only, instead of standard output")
	f.BoolVar(&force, "force", false, "replace the file if it exists")
	f.BoolVar(&asJSON, "json", false, "with -o: say what was written as JSON")
	p.completeSessions(c, "")
	completeWith(c, "format", cobra.FixedCompletions(exportFormats(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

// writeExport writes a session to w.
func writeExport(
	ctx context.Context, w io.Writer, a *app.App, s session.Summary, format string, redact func(string) string,
) error {
	switch format {
	case "jsonl":
		return export.Lines(ctx, w, a.Store, s.ID)
	case "json":
		return export.JSON(ctx, w, a.Store, s)
	}
	contents, err := a.Checkpoints(s.ID)
	if err != nil {
		return err
	}
	defer contents.Close() // it was only read
	o := export.Options{Content: contents.Get, Redact: redact}
	if format == "md" {
		return export.Markdown(ctx, w, a.Store, s, o)
	}
	return export.HTML(ctx, w, a.Store, s, o)
}

// exportFile writes to a new file beside name first, so that a failure leaves no half export and no damaged older one.
func exportFile(id session.SessionID, name string, force bool, write func(io.Writer) error) (err error) {
	if !force {
		switch _, err := os.Lstat(name); {
		case err == nil:
			return fmt.Errorf("%s exists: name another file, or use --force to replace it", name)
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("write the export: %w", err)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part") // no file that is there, and for its owner alone
	if err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	err = write(f)
	if e := f.Close(); err == nil && e != nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("export session %s to %s: %w", id, name, err)
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}
