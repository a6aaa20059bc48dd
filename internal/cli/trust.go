package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/models"
)

// trustOptions is the flags of tenon trust.
type trustOptions struct{ yes, list, revoke, json bool }

func (p *program) trust() *cobra.Command {
	var o trustOptions
	c := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let the configuration of a project take effect",
		Long: `Let the configuration of a project take effect: the tenon.json of the project that you are in, or that DIR is in. What
it sets is shown first. Until its folder is trusted, the file of a project is not read.

Even then it chooses only among what you have set up: it can name models, pools and roles and make limits narrower, but
not add providers, keys, headers, hosts or commands. The skills of the project can be loaded by a model then. The folder stays trusted
when the file changes.`,
		Example: `  tenon trust
  tenon trust --list
  tenon trust --revoke ../other`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case o.list && o.revoke:
				return usagef(c, "--list and --revoke exclude each other")
			case o.list && len(args) > 0:
				return usagef(c, "--list takes no arguments, got %q", args[0])
			case len(args) > 1:
				return usagef(c, "one argument too many: %q", args[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := config.UserDir(p.env.Getenv)
			if err != nil {
				return err
			}
			store := config.NewTrustStore(dir)
			folder := projectOf(strings.Join(args, ""))
			switch {
			case o.list:
				return p.listTrusted(store, o.json)
			case o.revoke:
				return p.revoke(c.Context(), store, folder, o.json)
			default:
				return p.trustFolder(c, store, dir, folder, o)
			}
		},
		ValidArgsFunction: directories,
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&o.list, "list", false, "list the folders that are trusted")
	f.BoolVar(&o.revoke, "revoke", false, "trust the folder no more")
	f.BoolVar(&o.json, "json", false, "as JSON, one object to a line")
	return c
}

// trustedFolder is the JSON of a folder.
type trustedFolder struct {
	Path    string     `json:"path"`
	Trusted bool       `json:"trusted"`
	Time    *time.Time `json:"time,omitempty"` // since when
	Changed bool       `json:"changed"`        // by this command
}

func (p *program) listTrusted(store *config.TrustStore, asJSON bool) error {
	folders, err := store.List()
	if err != nil {
		return err
	}
	if len(folders) == 0 && !asJSON {
		_, err := fmt.Fprintln(p.env.Stderr, "no folder is trusted")
		return err
	}
	for _, f := range folders {
		if asJSON {
			err = writeJSON(p.env.Stdout, trustedFolder{Path: f.Path, Trusted: true, Time: &f.Time})
		} else {
			_, err = fmt.Fprintf(p.env.Stdout, "%s  %s\n", f.Time.Local().Format(time.DateOnly), oneLine(f.Path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// revoke takes a folder out of the list: itself, or else the project that it is in.
func (p *program) revoke(ctx context.Context, store *config.TrustStore, dir string, asJSON bool) error {
	before, err := store.List()
	if err != nil {
		return err
	}
	for _, folder := range []string{dir, config.ProjectRoot(dir)} {
		if err := store.Revoke(ctx, folder); err != nil {
			return elsewhere(err)
		}
		after, err := store.List()
		if err != nil {
			return err
		}
		if len(after) < len(before) {
			return p.showTrust(trustedFolder{Path: folder, Changed: true}, "is no longer trusted", asJSON)
		}
	}
	return p.showTrust(trustedFolder{Path: dir}, "was not trusted", asJSON)
}

func (p *program) showTrust(f trustedFolder, what string, asJSON bool) error {
	if asJSON {
		return writeJSON(p.env.Stdout, f)
	}
	_, err := fmt.Fprintf(p.env.Stdout, "%s %s\n", oneLine(f.Path), what)
	return err
}

// trustFolder shows what a project's configuration would set, asks, and trusts its folder.
func (p *program) trustFolder(c *cobra.Command, store *config.TrustStore, userDir, dir string, o trustOptions) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder", cmp.Or(dir, "the working directory"))
	}
	root := config.ProjectRoot(dir)
	trusted, err := store.Trusted(root)
	if err != nil {
		return err
	}
	if trusted {
		return p.showTrust(trustedFolder{Path: root, Trusted: true}, "is trusted already", o.json)
	}
	preview, err := p.preview(userDir, root)
	if err != nil {
		return err
	}
	if !o.yes && width(p.env.Stdin) == nil {
		fmt.Fprint(p.env.Stderr, preview)
		return usagef(c, "trusting %s needs --yes: there is no terminal to ask on", root)
	}
	fmt.Fprint(p.env.Stderr, preview)
	if !o.yes {
		yes, err := p.agree(fmt.Sprintf("Trust %s?", oneLine(root)))
		if err != nil {
			return err
		}
		if !yes {
			return fmt.Errorf("%s is not trusted", root)
		}
	}
	if err := store.Trust(c.Context(), root); err != nil {
		return elsewhere(err)
	}
	return p.showTrust(trustedFolder{Path: root, Trusted: true, Changed: true}, "is trusted", o.json)
}

// preview says what the configuration of a project would set. With a mistake in it the error tells of all: every command would
// fail there.
func (p *program) preview(userDir, root string) (string, error) {
	c, err := config.Load(config.Options{
		Dir: userDir, WorkDir: root, Trusted: true, Getenv: p.env.Getenv, Providers: models.Names(),
	})
	if wrong, ok := errors.AsType[*config.Errors](err); ok {
		return "", fmt.Errorf("mend this first, then trust the folder:\n%w", wrong)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range app.ProjectSkills(root).Skills {
		fmt.Fprintf(&b, "It has the skill %s: %s\n", oneLine(s.Name), fit(oneLine(s.Description), 120))
	}
	if c.ProjectFile == "" {
		fmt.Fprintf(&b, "%s is not there yet. What it says later takes effect without a question.\n", oneLine(filepath.Join(root, "tenon.json")))
		return b.String(), nil
	}
	fmt.Fprintf(&b, "%s sets\n", oneLine(c.ProjectFile))
	n := 0
	for _, o := range c.Origins() {
		if strings.HasPrefix(o.Where, c.ProjectFile+":") {
			n++
			fmt.Fprintf(&b, "  %s  %s\n", oneLine(o.Key), oneLine(o.Value))
		}
	}
	if n == 0 {
		fmt.Fprintln(&b, "  nothing")
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "! %s\n", oneLine(w))
	}
	fmt.Fprintln(&b, "What it says later takes effect without another question. It cannot add providers, keys, hosts or commands.")
	return b.String(), nil
}
