package sessions

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/export"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// exportFormats are the values of --format. The first is the default.
func exportFormats() []string { return []string{"jsonl", "json", "md", "html"} }

// exporting is the flags of sessions export.
type exporting struct {
	file, format  string
	force, asJSON bool
}

func newExport(env *command.Env) *cobra.Command {
	var o exporting
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Export a session as JSON, Markdown or HTML",
		Long: `Export a session. jsonl (one entry per line) and json (one object) contain the journal;
'tenon sessions import' reads them. md and html are for reading. The HTML page loads
nothing and sends nothing. Tenon removes known keys from every format.`,
		Args: command.ExactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if o.file == "-" {
				o.file = ""
			}
			if o.file == "" && (o.asJSON || o.force) {
				return command.Usagef(c, "--json and --force are for -o; the session itself as JSON is --format json")
			}
			return env.WithAppAndSession(c, args[0], func(a *app.App, s index.Summary) error { return writeSession(env, c.Context(), a, s, o) })
		},
	}
	f := c.Flags()
	o.format = exportFormats()[0]
	command.ChoiceFlag(c, &o.format, "format", exportFormats(), "FORMAT", "jsonl, json, md, html")
	f.StringVarP(&o.file, "output", "o", "", "write to this `file`, readable only by you")
	f.BoolVar(&o.force, "force", false, "replace an existing file")
	f.BoolVar(&o.asJSON, "json", false, "with -o: print a summary as JSON")
	env.CompleteSessions(c, "")
	return c
}

func writeSession(env *command.Env, ctx context.Context, a *app.App, s index.Summary, o exporting) error {
	setup, err := env.SetUp("")
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		hidden := setup.Secrets.Writer(w)
		out := bufio.NewWriterSize(hidden, 64<<10)
		return cmp.Or(writeExport(ctx, out, a, s, o.format, setup.Secrets.Redact), out.Flush(), hidden.Close())
	}
	if o.file == "" {
		return write(env.Stdout)
	}
	if err := command.NewFile(o.file, o.force, write); err != nil {
		return err
	}
	return env.Print(o.asJSON, command.Result{
		JSON: map[string]any{"session": s.ID, "file": o.file, "format": o.format, "entries": s.Entries},
		Note: fmt.Sprintf("wrote %s to %s", transcript.Count(int(s.Entries), "entry"), term.Harmless(o.file)),
	})
}

// writeExport writes a session to w.
func writeExport(
	ctx context.Context, w io.Writer, a *app.App, s index.Summary, format string, redact func(string) string,
) error {
	switch format {
	case "jsonl":
		return export.Lines(ctx, w, a.Store, s.ID)
	case "json":
		return export.JSON(ctx, w, a.Store, s)
	}
	kept := a.Checkpoints(s.ID)
	content := func(hash string) ([]byte, error) { return contents.Get(ctx, kept, hash) }
	o := export.Options{Content: content, Redact: redact}
	if format == "md" {
		return export.Markdown(ctx, w, a.Store, s, o)
	}
	return export.HTML(ctx, w, a.Store, s, o)
}
