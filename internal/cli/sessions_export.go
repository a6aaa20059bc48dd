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

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsExport() *cobra.Command {
	var (
		name          string
		force, asJSON bool
	)
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write all entries of a session, one JSON object to a line",
		Args:  exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				if name == "" || name == "-" {
					return export(c.Context(), store, s.ID, p.env.Stdout)
				}
				if err := exportFile(c.Context(), store, s.ID, name, force); err != nil {
					return err
				}
				if asJSON {
					return writeJSON(p.env.Stdout, map[string]any{"session": s.ID, "file": name, "entries": s.Entries})
				}
				fmt.Fprintf(p.env.Stderr, "%s written to %s\n", count(int(s.Entries), "entry"), harmless(name))
				return nil
			})
		},
	}
	f := c.Flags()
	f.StringVarP(&name, "output", "o", "", "to this `file`, readable by you only, instead of standard output")
	f.BoolVar(&force, "force", false, "replace the file if it exists")
	f.BoolVar(&asJSON, "json", false, "with -o: say what was written as JSON")
	p.completeSessions(c, "")
	return c
}

// export writes the entries of a session to w.
func export(ctx context.Context, store session.Store, id session.SessionID, w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for e, err := range store.Read(ctx, id, 0) {
		if err != nil {
			return err
		}
		if err := writeJSON(out, e); err != nil {
			return err
		}
	}
	return out.Flush()
}

// exportFile writes to a new file beside name first, so that a failure leaves no half export and no damaged older one.
func exportFile(ctx context.Context, store session.Store, id session.SessionID, name string, force bool) (err error) {
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
	err = export(ctx, store, id, f)
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
