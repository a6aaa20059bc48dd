// Package config is tenon config and tenon trust.
package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
)

// NewConfig returns tenon config.
func NewConfig(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show, check and locate the configuration",
		Long: `Show and check the configuration. It is JSON with comments in tenon.json. Your own file
is in your configuration directory. The file of a project takes effect after you trust
the directory of the project; see 'tenon trust'.`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Group,
	}
	c.AddCommand(newShow(env), newCheck(env), newPath(env), newSchema(env))
	return c
}

func newSchema(env *command.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of tenon.json",
		Long: `Print the JSON Schema of tenon.json, for editors that check and complete as you type.
A file names it with "$schema": "/path/to/tenon.schema.json".`,
		Example: `  tenon config schema > ~/.config/tenon/tenon.schema.json`,
		Args:    command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := env.Stdout.Write(config.Schema())
			return err
		},
	}
}

type shownConfig struct {
	UserFile    string          `json:"user_file"`
	ProjectFile string          `json:"project_file,omitzero"` // the file that takes effect
	Inert       string          `json:"inert,omitzero"`        // a file without effect, because its directory is not trusted
	Settings    []config.Origin `json:"settings"`
	Warnings    []string        `json:"warnings"`
}

func newShow(env *command.Env) *cobra.Command {
	var origin bool
	var dir string
	c := &cobra.Command{
		Use:   "show",
		Short: "Show the effective settings",
		Long: `Show the effective settings from your tenon.json, the file of the project, and the
environment. Tenon hides values that may be secret: keys, headers, passwords in
addresses, and arguments of commands. References such as $NAME are shown as written.`,
	}
	c.Flags().BoolVar(&origin, "origin", false, "also show where each value comes from")
	command.DirFlag(c, &dir, "use the project in this `directory`")
	return env.Printing(c, "print a JSON object, always with the origins", func(context.Context, []string) (r command.Result, err error) {
		s, err := env.SetUp(dir)
		if err != nil {
			return r, err
		}
		shown := showConfig(s)
		var notes []string
		for _, w := range shown.Warnings {
			notes = append(notes, "! "+term.OneLine(w))
		}
		return command.Result{JSON: shown, Text: configTable(env, shown, origin), Note: strings.Join(notes, "\n")}, nil
	})
}

func showConfig(s *app.Setup) shownConfig {
	c := s.Config
	shown := shownConfig{
		UserFile: c.UserFile, ProjectFile: c.ProjectFile, Inert: c.Inert, Warnings: append([]string{}, c.Warnings...),
	}
	m, err := s.Choose("") // it also records the origin of the model
	switch {
	case err != nil:
		shown.Warnings = append(shown.Warnings, err.Error())
	case c.Model == "" && m.Client != nil && !slices.ContainsFunc(c.Origins(), func(o config.Origin) bool { return o.Key == "model" }):
		c.Record("model", m.Client.Model().Ref(), "default: "+m.Why)
	}
	if c.Inert != "" {
		shown.Warnings = append(shown.Warnings, app.InertNote(c))
	}
	shown.Settings = c.Origins()
	return shown
}

func configTable(env *command.Env, shown shownConfig, origin bool) string {
	paint := env.Paint()
	keys := 0
	for _, s := range shown.Settings {
		keys = max(keys, len(s.Key))
	}
	keys = min(keys, 40)
	var b strings.Builder
	for _, s := range shown.Settings {
		line := fmt.Sprintf("%-*s  %s", keys, term.OneLine(s.Key), term.OneLine(s.Value))
		fmt.Fprint(&b, line)
		if where := term.OneLine(s.Where); origin && len(line)+2+len(where) > env.Columns() { // a path is never cut
			fmt.Fprint(&b, "\n    ", paint.Dim(where))
		} else if origin {
			fmt.Fprint(&b, "  ", paint.Dim(where))
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func newCheck(env *command.Env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check the configuration and list all mistakes",
		Long: `Check your tenon.json and the file of the current project, also if you do not trust its
directory, and list all mistakes. With FILE, check only that file, as your own.

Exit codes: 0 no mistakes, 1 mistakes.`,
		Args: command.MaxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return checkConfig(env, args, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return c
}

type checkedConfig struct {
	Files    []string        `json:"files"` // that were checked
	Mistakes []*config.Error `json:"mistakes"`
	More     int             `json:"more"` // mistakes that are not in the list
	Warnings []string        `json:"warnings"`
}

func checkConfig(env *command.Env, args []string, asJSON bool) error {
	o := config.Options{Getenv: env.Getenv, Providers: models.Names(), Trusted: true}
	o.Dir, _ = config.UserDir(env.Getenv) // without a directory the user has no file
	if len(args) > 0 {
		if _, err := os.Stat(args[0]); err != nil {
			return fmt.Errorf("check the configuration: %w", err)
		}
		o.File = args[0]
	} else {
		o.WorkDir = app.ProjectOf("")
	}
	checked, err := check(o)
	if err != nil {
		return err
	}
	err = env.Print(asJSON, command.Result{JSON: checked, Text: checkText(env, checked)})
	if err == nil && len(checked.Mistakes) > 0 {
		return command.ExitCode(command.ExitError)
	}
	return err
}

func check(o config.Options) (checkedConfig, error) {
	out := checkedConfig{Files: []string{}, Mistakes: []*config.Error{}, Warnings: []string{}}
	c, err := config.Load(o)
	wrong, ok := errors.AsType[*config.Errors](err)
	if err != nil && !ok {
		return out, err
	}
	if c != nil {
		warnings, err := app.Check(o.Getenv, c, app.ProjectOf(o.WorkDir))
		if out.Mistakes = mistakes(c, err); len(out.Mistakes) > 0 {
			return out, nil
		}
		out.Warnings = slices.Concat(out.Warnings, c.Warnings, warnings)
		for _, file := range []string{c.UserFile, c.ProjectFile} {
			if _, err := os.Stat(cmp.Or(file, "\x00")); err == nil {
				out.Files = append(out.Files, file)
			}
		}
		return out, nil
	}
	out.More, out.Mistakes = wrong.More, wrong.List
	return out, nil
}

// mistakes returns the mistakes that Tenon finds when it uses a configuration.
func mistakes(c *config.Config, err error) []*config.Error {
	if e, ok := errors.AsType[*config.Error](err); ok {
		return []*config.Error{e}
	}
	out := []*config.Error{}
	wrong, ok := errors.AsType[*permission.Errors](err)
	if !ok && err != nil {
		return append(out, &config.Error{File: c.UserFile, Message: err.Error()})
	}
	if !ok {
		return out
	}
	for _, err := range *wrong {
		file, text := c.UserFile, err.Error()
		if rest, project := strings.CutPrefix(text, c.ProjectFile+": "); project && c.ProjectFile != "" {
			file, text = c.ProjectFile, rest
		}
		key, message, _ := strings.Cut(strings.TrimPrefix(text, file+": "), ": ")
		out = append(out, c.Mistake(file, key, message))
	}
	return out
}

func checkText(env *command.Env, c checkedConfig) string {
	paint := env.Paint()
	var b strings.Builder
	for _, m := range c.Mistakes {
		fmt.Fprintf(&b, "%s %s\n", paint.Red("✗"), term.OneLine(m.Error()))
	}
	if c.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", c.More)
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "%s %s\n", paint.Yellow("!"), term.OneLine(w))
	}
	for _, file := range c.Files {
		fmt.Fprintf(&b, "%s %s has no mistakes\n", paint.Green("✓"), term.OneLine(file))
	}
	if b.Len() == 0 {
		fmt.Fprintln(&b, "no tenon.json exists; see 'tenon config path'")
	}
	return b.String()
}

func newPath(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "path",
		Short: "Show the paths of configuration and data files",
		Long: `Show the paths of configuration and data files, whether they exist or not.
TENON_CONFIG_DIR and TENON_DATA_DIR choose other directories.`,
	}
	return env.Printing(c, "print a JSON list", func(context.Context, []string) (command.Result, error) {
		paths := pathsOf(env)
		var b strings.Builder
		for _, f := range paths { // a path is never cut
			line := fmt.Sprintf("%-14s  %s", f.What, term.OneLine(f.Path))
			if !f.Exists {
				line += " (does not exist)"
			}
			fmt.Fprintln(&b, line)
		}
		return command.Result{JSON: paths, Text: b.String()}, nil
	})
}

// placedFile is a file with its purpose.
type placedFile struct {
	What   string `json:"what"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

func pathsOf(env *command.Env) []placedFile {
	all := []placedFile{}
	add := func(what, path string) {
		_, err := os.Lstat(path)
		all = append(all, placedFile{what, path, err == nil})
	}
	if dir, err := config.UserDir(env.Getenv); err == nil {
		add("configuration", filepath.Join(dir, "tenon.json"))
		add("keys", filepath.Join(dir, "keys.json"))
		add("trust", filepath.Join(dir, "trust.json"))
	}
	if root := config.ProjectRoot(app.ProjectOf("")); root != "" {
		file := filepath.Join(root, ".tenon", "tenon.json")
		if _, err := os.Lstat(file); err != nil {
			file = filepath.Join(root, "tenon.json")
		}
		add("project", file)
	}
	if dir, err := app.DataDir(env.Getenv); err == nil {
		add("sessions", filepath.Join(dir, "sessions.db"))
		add("catalog", filepath.Join(dir, "models.json"))
	}
	return all
}
