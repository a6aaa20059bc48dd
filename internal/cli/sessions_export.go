package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/export"
	"github.com/tenon-agent/tenon/session"
)

// exportFormats are the values of --format. The first is the default.
func exportFormats() []string { return []string{"jsonl", "json", "md", "html"} }

// exporting is the flags of sessions export.
type exporting struct {
	file, format  string
	force, asJSON bool
}

func (p *program) sessionsExport() *cobra.Command {
	var o exporting
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write a session as JSON, Markdown or a page of HTML",
		Long: `Write a session. As jsonl (an entry to a line) and json (one object) it is the journal, which 'tenon sessions import' takes back;
as md and html it is to read. The page of HTML needs nothing else and sends nothing. Keys that are known are hidden in all of them.`,
		Args: exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf(exportFormats(), o.format); err != nil {
				return usagef(c, "--format: %w", err)
			}
			if o.file == "-" {
				o.file = ""
			}
			if o.file == "" && (o.asJSON || o.force) {
				return usagef(c, "--json and --force are for -o; the session itself as JSON is --format json")
			}
			return p.withAppAndSession(c, args[0], func(a *app.App, s session.Summary) error { return p.export(c.Context(), a, s, o) })
		},
	}
	f := c.Flags()
	f.StringVar(&o.format, "format", exportFormats()[0], "`FORMAT`: jsonl, json, md, html")
	f.StringVarP(&o.file, "output", "o", "", "to this `file`, readable by you only, instead of standard output")
	f.BoolVar(&o.force, "force", false, "replace the file if it exists")
	f.BoolVar(&o.asJSON, "json", false, "with -o: say what was written as JSON")
	p.completeSessions(c, "")
	completeWith(c, "format", cobra.FixedCompletions(exportFormats(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (p *program) export(ctx context.Context, a *app.App, s session.Summary, o exporting) error {
	setup, err := p.setUp()
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		hidden := setup.Secrets.Writer(w)
		out := bufio.NewWriterSize(hidden, 64<<10)
		return cmp.Or(writeExport(ctx, out, a, s, o.format, setup.Secrets.Redact), out.Flush(), hidden.Close())
	}
	if o.file == "" {
		return write(p.env.Stdout)
	}
	if err := newFile(o.file, o.force, write); err != nil {
		return err
	}
	if o.asJSON {
		return writeJSON(p.env.Stdout, map[string]any{"session": s.ID, "file": o.file, "format": o.format, "entries": s.Entries})
	}
	fmt.Fprintf(p.env.Stderr, "%s written to %s\n", count(int(s.Entries), "entry"), harmless(o.file))
	return nil
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
