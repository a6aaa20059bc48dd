package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/hooks"
	"github.com/tenon-agent/tenon/internal/slash"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/models"
)

// trustOptions is the flags of tenon trust.
type trustOptions struct{ yes, list, revoke, json bool }

// NewTrust returns tenon trust.
func NewTrust(env *command.Env) *cobra.Command {
	var o trustOptions
	c := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let the configuration of a project take effect",
		Long: `Let the configuration of a project take effect: the tenon.json of the current project,
or of the project that contains DIR. Tenon first shows the settings. It ignores the file
until you trust the directory.

The file of a trusted project can choose only among the things that you have set up. It
can name models, pools and roles, and narrow limits. It cannot add providers, keys,
headers or hosts, and allows no calls. Its hooks, and those in .claude/settings.json, run
programs with your rights. The model can load the skills of a trusted project, and you
can call its commands; your rules judge what they run. The directory stays trusted when
the files change.`,
		Example: `  tenon trust
  tenon trust --list
  tenon trust --revoke ../other`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case o.list && o.revoke:
				return command.Usagef(c, "--list and --revoke exclude each other")
			case o.list && len(args) > 0:
				return command.Usagef(c, "--list takes no arguments, got %q", args[0])
			}
			return command.MaxArgs(1)(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := config.UserDir(env.Getenv)
			if err != nil {
				return err
			}
			store := config.NewTrustStore(dir)
			folder := app.ProjectOf(strings.Join(args, ""))
			switch {
			case o.list:
				return listTrusted(env, store, o.json)
			case o.revoke:
				return revokeTrust(env, c.Context(), store, folder, o.json)
			default:
				return trustFolder(env, c, store, dir, folder, o)
			}
		},
		ValidArgsFunction: command.Directories,
	}
	f := c.Flags()
	f.SortFlags = false
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&o.list, "list", false, "list trusted directories")
	f.BoolVar(&o.revoke, "revoke", false, "stop trusting the directory")
	f.BoolVar(&o.json, "json", false, "print JSON, one object per line")
	return c
}

// trustedFolder is the JSON of a directory.
type trustedFolder struct {
	Path    string     `json:"path"`
	Trusted bool       `json:"trusted"`
	Time    *time.Time `json:"time,omitempty"` // of the decision
	Changed bool       `json:"changed"`        // by this command
}

func listTrusted(env *command.Env, store *config.TrustStore, asJSON bool) error {
	folders, err := store.List()
	if err != nil {
		return err
	}
	var values []trustedFolder
	r := command.Result{Note: "no directory is trusted"}
	for _, f := range folders { // a path is never cut
		values = append(values, trustedFolder{Path: f.Path, Trusted: true, Time: &f.Time})
		r.Text += fmt.Sprintf("%s  %s\n", f.Time.Local().Format(time.DateOnly), term.OneLine(f.Path))
		r.Note = ""
	}
	r.JSON = command.Lines(values)
	return env.Print(asJSON, r)
}

func revokeTrust(env *command.Env, ctx context.Context, store *config.TrustStore, dir string, asJSON bool) error {
	before, err := store.List()
	if err != nil {
		return err
	}
	for _, folder := range []string{dir, config.ProjectRoot(dir)} {
		if err := store.Revoke(ctx, folder); err != nil {
			return command.Elsewhere(err)
		}
		after, err := store.List()
		if err != nil {
			return err
		}
		if len(after) < len(before) {
			return showTrust(env, trustedFolder{Path: folder, Changed: true}, "is no longer trusted", asJSON)
		}
	}
	return showTrust(env, trustedFolder{Path: dir}, "was not trusted", asJSON)
}

func showTrust(env *command.Env, f trustedFolder, what string, asJSON bool) error {
	return env.Print(asJSON, command.Result{JSON: f, Text: term.OneLine(f.Path) + " " + what + "\n"})
}

// trustFolder shows the settings of a project, asks, and trusts its directory.
func trustFolder(env *command.Env, c *cobra.Command, store *config.TrustStore, userDir, dir string, o trustOptions) error {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("cannot trust %s: not a directory", cmp.Or(dir, "the working directory"))
	}
	root := config.ProjectRoot(dir)
	trusted, err := store.Trusted(root)
	if err != nil {
		return err
	}
	if trusted {
		return showTrust(env, trustedFolder{Path: root, Trusted: true}, "is trusted already", o.json)
	}
	preview, err := previewOf(env, userDir, root)
	if err != nil {
		return err
	}
	fmt.Fprint(env.Stderr, preview)
	if !o.yes {
		if err := env.Confirm(c, fmt.Sprintf("Trust %s?", term.OneLine(root))); err != nil {
			return fmt.Errorf("%s is not trusted: %w", root, err)
		}
	}
	if err := store.Trust(c.Context(), root); err != nil {
		return command.Elsewhere(err)
	}
	return showTrust(env, trustedFolder{Path: root, Trusted: true, Changed: true}, "is trusted", o.json)
}

// whole is a command line that a person judges: no part of it may hide. For a very long one it names the file.
func whole(line string) string {
	line = term.OneLine(line)
	if cut := term.Fit(line, 4000); cut != line {
		return cut + " (too long to show: read the file)"
	}
	return line
}

// previewOf returns the settings of a project for people. If the file has mistakes, the error lists all of them, because every command
// would fail there.
func previewOf(env *command.Env, userDir, root string) (string, error) {
	c, err := config.Load(config.Options{
		Dir: userDir, WorkDir: root, Trusted: true, Getenv: env.Getenv, Providers: models.Names(),
	})
	if wrong, ok := errors.AsType[*config.Errors](err); ok {
		return "", fmt.Errorf("fix these mistakes, then trust the directory:\n%w", wrong)
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, s := range app.ProjectSkills(root).Skills {
		fmt.Fprintf(&b, "It has the skill %s: %s\n", term.OneLine(s.Name), term.Fit(term.OneLine(s.Description), 120))
	}
	for _, name := range slices.Sorted(maps.Keys(c.MCP)) {
		if server := c.MCP[name]; server.Project {
			target := strings.Join(append([]string{server.Command}, server.Args...), " ")
			if server.URL.IsSet() {
				target = server.URL.String()
			}
			if len(server.Env) > 0 {
				target += " (with the variables " + strings.Join(slices.Sorted(maps.Keys(server.Env)), ", ") + ")"
			}
			fmt.Fprintf(&b, "It has the MCP server %s: %s\n", name, whole(target))
		}
	}
	for _, l := range c.Hooks {
		if !l.Project {
			continue
		}
		all, _ := hooks.Parse(hooks.Layer{File: l.File, Hooks: l.JSON})
		for _, h := range all {
			fmt.Fprintf(&b, "It runs a program with your rights at the event %s: %s (%s)\n", h.Event, whole(h.Title()), term.OneLine(l.File))
		}
	}
	for _, own := range app.ProjectRoles(root) {
		fmt.Fprintf(&b, "It has the role %s: %s\n", term.OneLine(own.Name), term.Fit(term.OneLine(own.Description), 120))
	}
	for _, own := range app.ProjectCommands(root) {
		fmt.Fprintf(&b, "It has the command /%s: %s\n", term.OneLine(own.Name), term.Fit(term.OneLine(own.Description), 120))
		for _, p := range own.Expand("") {
			if p.Kind == slash.Shell {
				fmt.Fprintf(&b, "  it runs, under your rules: %s\n", whole(p.Text))
			}
		}
	}
	if c.ProjectFile == "" {
		fmt.Fprintf(&b, "%s does not exist yet. When it does, it takes effect without a question.\n", term.OneLine(filepath.Join(root, "tenon.json")))
		return b.String(), nil
	}
	fmt.Fprintf(&b, "%s sets\n", term.OneLine(c.ProjectFile))
	n := 0
	for _, o := range c.Origins() {
		if strings.HasPrefix(o.Where, c.ProjectFile+":") {
			n++
			fmt.Fprintf(&b, "  %s  %s\n", term.OneLine(o.Key), term.OneLine(o.Value))
		}
	}
	if n == 0 {
		fmt.Fprintln(&b, "  nothing")
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "! %s\n", term.OneLine(w))
	}
	fmt.Fprintln(&b, "Later changes of the file take effect without another question. It cannot add providers, keys or hosts, and allows no calls.")
	return b.String(), nil
}
