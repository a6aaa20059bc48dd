package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/models"
	"github.com/tenon-agent/tenon/permission"
)

func (p *program) config() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show and check the configuration, and where it is",
		Long: `Show and check the configuration, and where it is. It is JSON with comments in tenon.json: yours in your directory for
configurations, and that of a project, which takes effect when you trust the project's folder (see 'tenon trust').`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(p.configShow(), p.configCheck(), p.configPath(), p.configSchema())
	return c
}

func (p *program) configSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of tenon.json",
		Long: `Print the JSON Schema of tenon.json, for editors that check and complete as you type. A file names it with
"$schema": "/path/to/tenon.schema.json".`,
		Example: `  tenon config schema > ~/.config/tenon/tenon.schema.json`,
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := p.env.Stdout.Write(config.Schema())
			return err
		},
	}
}

// shownConfig is the JSON of tenon config show.
type shownConfig struct {
	UserFile    string         `json:"user_file"`
	ProjectFile string         `json:"project_file,omitzero"` // that takes effect
	Inert       string         `json:"inert,omitzero"`        // that does not, since its folder is not trusted
	Settings    []shownSetting `json:"settings"`
	Warnings    []string       `json:"warnings"`
}

type shownSetting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Where string `json:"where"`
}

func (p *program) configShow() *cobra.Command {
	var origin, asJSON bool
	var dir string
	c := &cobra.Command{
		Use:   "show",
		Short: "Show what is set, with --origin also where",
		Long: `Show what is set by your tenon.json, by that of the project, and by the environment, all in one. What may be secret is
hidden: keys, headers, passwords in addresses, and arguments of commands. References such as $NAME stand as they are
written.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := app.NewSetup(p.env.Getenv, projectOf(dir), buildOf(p.env.Version).Version)
			if err != nil {
				return err
			}
			shown := showConfig(s)
			if asJSON {
				return p.showJSON(s, shown)
			}
			if err := p.show(s, p.configTable(shown, origin)); err != nil {
				return err
			}
			for _, w := range shown.Warnings {
				p.tell(s, "! "+oneLine(w)+"\n")
			}
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&origin, "origin", false, "show where each value comes from")
	f.StringVarP(&dir, "dir", "C", "", "with the project of another `directory`")
	f.BoolVar(&asJSON, "json", false, "as a JSON object, always with where the values come from")
	completeWith(c, "dir", directories)
	return c
}

func showConfig(s *app.Setup) shownConfig {
	c := s.Config
	shown := shownConfig{
		UserFile: c.UserFile, ProjectFile: c.ProjectFile, Inert: c.Inert,
		Settings: []shownSetting{}, Warnings: append([]string{}, c.Warnings...),
	}
	m, err := s.Choose("") // which also records where the model was chosen
	switch {
	case err != nil:
		shown.Warnings = append(shown.Warnings, err.Error())
	case c.Model == "" && m.Client != nil:
		why := m.Why
		if !chosen(c) {
			c.Record("model", m.Client.Model().Ref(), "default: "+why)
		}
	}
	if c.Inert != "" {
		shown.Warnings = append(shown.Warnings, inertNote(c))
	}
	for _, o := range c.Origins() {
		shown.Settings = append(shown.Settings, shownSetting{o.Key, o.Value, o.Where})
	}
	return shown
}

// chosen reports whether somebody has chosen the model.
func chosen(c *config.Config) bool {
	for _, o := range c.Origins() {
		if o.Key == "model" {
			return true
		}
	}
	return false
}

// configTable lists settings for people.
func (p *program) configTable(shown shownConfig, origin bool) string {
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	keys := 0
	for _, s := range shown.Settings {
		keys = max(keys, len(s.Key))
	}
	keys = min(keys, 40)
	var b strings.Builder
	for _, s := range shown.Settings {
		line := fmt.Sprintf("%-*s  %s", keys, oneLine(s.Key), oneLine(s.Value))
		fmt.Fprint(&b, line)
		if where := oneLine(s.Where); origin && len(line)+2+len(where) > p.columns() { // a path is never cut
			fmt.Fprint(&b, "\n    ", paint.dim(where))
		} else if origin {
			fmt.Fprint(&b, "  ", paint.dim(where))
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

func (p *program) configCheck() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check the configuration, and list all mistakes",
		Long: `Check your tenon.json and that of the project you are in, also when its folder is not trusted, and list all mistakes.
With FILE, only that file is checked, as your own.

Exit codes: 0 there are no mistakes, 1 there are.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef(c, "one argument too many: %q", args[1])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.checkConfig(args, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	return c
}

// checkedConfig is the JSON of tenon config check.
type checkedConfig struct {
	Files    []string       `json:"files"` // that were checked
	Mistakes []configError  `json:"mistakes"`
	More     int            `json:"more"` // mistakes that are not in the list
	Warnings []string       `json:"warnings"`
	config   *config.Config // nil when there are mistakes
}

type configError struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitzero"`
	Column  int    `json:"column,omitzero"`
	Key     string `json:"key,omitzero"`
	Message string `json:"message"`
}

func (p *program) checkConfig(args []string, asJSON bool) error {
	o := config.Options{Getenv: p.env.Getenv, Providers: models.Names(), Trusted: true}
	o.Dir, _ = config.UserDir(p.env.Getenv) // without a place there is no file of the user
	if len(args) > 0 {
		if _, err := os.Stat(args[0]); err != nil {
			return fmt.Errorf("check the configuration: %w", err)
		}
		o.File = args[0]
	} else {
		o.WorkDir = projectOf("")
	}
	checked, err := check(o)
	if err != nil {
		return err
	}
	if asJSON {
		err = writeJSON(p.env.Stdout, checked)
	} else {
		err = p.showCheck(checked)
	}
	if err == nil && len(checked.Mistakes) > 0 {
		return exitCode(exitError)
	}
	return err
}

// check reads the files. The error is that they cannot be looked for.
func check(o config.Options) (checkedConfig, error) {
	out := checkedConfig{Files: []string{}, Mistakes: []configError{}, Warnings: []string{}}
	c, err := config.Load(o)
	wrong, ok := errors.AsType[*config.Errors](err)
	if err != nil && !ok {
		return out, err
	}
	if c != nil {
		warnings, err := app.Check(o.Getenv, c, projectOf(o.WorkDir))
		if out.Mistakes = mistakes(c, err); len(out.Mistakes) > 0 {
			return out, nil
		}
		out.config = c
		out.Warnings = slices.Concat(out.Warnings, c.Warnings, warnings)
		for _, file := range []string{c.UserFile, c.ProjectFile} {
			if _, err := os.Stat(cmp.Or(file, "\x00")); err == nil {
				out.Files = append(out.Files, file)
			}
		}
		return out, nil
	}
	out.More = wrong.More
	for _, e := range wrong.List {
		out.Mistakes = append(out.Mistakes, configError{e.File, e.Line, e.Column, e.Key, e.Message})
	}
	return out, nil
}

// mistakes are those in a configuration that are found when it is put to use.
func mistakes(c *config.Config, err error) []configError {
	if e, ok := errors.AsType[*config.Error](err); ok {
		return []configError{{e.File, e.Line, e.Column, e.Key, e.Message}}
	}
	out := []configError{}
	wrong, ok := errors.AsType[*permission.Errors](err)
	if !ok && err != nil {
		return append(out, configError{File: c.UserFile, Message: err.Error()})
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
		e := c.Mistake(file, key, message)
		out = append(out, configError{e.File, e.Line, e.Column, e.Key, e.Message})
	}
	return out
}

// showCheck tells people what was found.
func (p *program) showCheck(c checkedConfig) error {
	paint := paletteFor(p.env.Stdout, p.env.Getenv)
	var b strings.Builder
	for _, m := range c.Mistakes {
		e := config.Error{File: m.File, Line: m.Line, Column: m.Column, Key: m.Key, Message: m.Message}
		fmt.Fprintf(&b, "%s %s\n", paint.red("✗"), oneLine(e.Error()))
	}
	if c.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", c.More)
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(&b, "%s %s\n", paint.yellow("!"), oneLine(w))
	}
	for _, file := range c.Files {
		fmt.Fprintf(&b, "%s %s has no mistakes\n", paint.green("✓"), oneLine(file))
	}
	if b.Len() == 0 {
		fmt.Fprintln(&b, "there is no tenon.json; see 'tenon config path'")
	}
	_, err := p.env.Stdout.Write([]byte(b.String()))
	return err
}

func (p *program) configPath() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "path",
		Short: "Show where the files are, or would be",
		Long: `Show where the files of the configuration and the data are, or would be, whether or not they can be read.
TENON_CONFIG_DIR and TENON_DATA_DIR choose other directories.`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			paths := p.paths()
			if asJSON {
				return writeJSON(p.env.Stdout, paths)
			}
			var b strings.Builder
			for _, f := range paths {
				line := fmt.Sprintf("%-14s  %s", f.What, oneLine(f.Path))
				if !f.Exists {
					line += " (not there)"
				}
				fmt.Fprintln(&b, line)
			}
			_, err := p.env.Stdout.Write([]byte(b.String()))
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as a JSON list")
	return c
}

// placedFile is a file and where it is.
type placedFile struct {
	What   string `json:"what"`
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
}

// paths is where the files are.
func (p *program) paths() []placedFile {
	all := []placedFile{}
	add := func(what, path string) {
		_, err := os.Lstat(path)
		all = append(all, placedFile{what, path, err == nil})
	}
	if dir, err := config.UserDir(p.env.Getenv); err == nil {
		add("configuration", filepath.Join(dir, "tenon.json"))
		add("keys", filepath.Join(dir, "keys.json"))
		add("trust", filepath.Join(dir, "trust.json"))
	}
	if root := config.ProjectRoot(projectOf("")); root != "" {
		file := filepath.Join(root, ".tenon", "tenon.json")
		if _, err := os.Lstat(file); err != nil {
			file = filepath.Join(root, "tenon.json")
		}
		add("project", file)
	}
	if dir, err := app.DataDir(p.env.Getenv); err == nil {
		add("sessions", filepath.Join(dir, "sessions.db"))
		add("catalog", filepath.Join(dir, "models.json"))
	}
	return all
}
