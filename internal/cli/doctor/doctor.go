// Package doctor is tenon doctor: one page about this machine, the configuration and the project.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/cli/models"
	box "github.com/tenon-agent/tenon/internal/cli/sandbox"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/tool/lsp"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// New returns tenon doctor.
func New(env *command.Env) *cobra.Command {
	var dir string
	var test, asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine, the configuration and the project",
		Long: `Show on one page what Tenon finds: its version, git, the model and keys, the data
directory, the sandbox, the configuration, trust, context files, language servers for the
files here, the terminal, and the files of other coding agents in the project, with their
effect. A line with ! is a
problem or a limit.

Doctor sends nothing to a model, unless --test is set.

Exit codes: 0 no problem prevents work, 1 a problem does, 2 usage.`,
		Example: `  tenon doctor
  tenon doctor --test`,
		Args: command.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r := examine(c.Context(), env, dir)
			if err := env.Print(asJSON, command.Result{JSON: r, Text: page(env, r)}); err != nil {
				return err
			}
			if r.setup != nil && test {
				if err := models.Test(env, c, r.setup, nil, asJSON, false); err != nil {
					return err
				}
			}
			if r.Broken {
				return command.ExitCode(command.ExitError)
			}
			return nil
		},
	}
	command.DirFlag(c, &dir, "working `directory`; default: here")
	c.Flags().BoolVar(&test, "test", false, "also send a short request to the model")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(box.NewReport(env), newProject(env))
	return c
}

// report is what doctor finds, and its JSON.
type report struct {
	Lines  []line `json:"lines"`
	Broken bool   `json:"broken"` // a problem prevents work

	setup *app.Setup
}

// line is one fact.
type line struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Problem bool   `json:"problem,omitzero"` // or a limit
}

func (r *report) add(subject, format string, args ...any) {
	r.Lines = append(r.Lines, line{Subject: subject, Text: fmt.Sprintf(format, args...)})
}

func (r *report) warn(subject, format string, args ...any) {
	r.add(subject, format, args...)
	r.Lines[len(r.Lines)-1].Problem = true
}

// fail notes a problem that prevents work.
func (r *report) fail(subject string, err error) {
	for _, text := range strings.Split(err.Error(), "\n") {
		r.warn(subject, "%s", text)
	}
	r.Broken = true
}

func examine(ctx context.Context, env *command.Env, dir string) *report {
	r := &report{}
	b := command.BuildOf(env.Version)
	r.add("version", "%s, %s, %s", b.Version, b.Go, b.System)
	r.git(ctx)
	r.data(env)
	setup, bounds, err := env.Bounds(dir)
	if err != nil {
		r.fail("configuration", err)
	} else {
		r.setup = setup
		r.model(ctx, setup)
		r.configuration(env, setup, bounds.Root)
		r.box(bounds)
		r.context(setup, bounds)
		r.languageServers(setup, bounds.Root)
		r.others(bounds.Root, setup.Config)
	}
	r.terminal(env)
	return r
}

func (r *report) git(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "--version")
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	if err != nil {
		r.warn("git", "not usable (%v): Tenon works without it, but shows no branch and no changes of the project", err)
		return
	}
	r.add("git", "%s", strings.TrimPrefix(strings.TrimSpace(string(out)), "git version "))
}

// model reports the model of a run, and the providers with keys.
func (r *report) model(ctx context.Context, s *app.Setup) {
	s.Look(ctx, "")
	m, err := s.Choose("")
	if s.Looking() {
		_, small := s.Models.MeasureFound(ctx, s.Models.Discover(ctx))
		m.Warnings = append(m.Warnings, small...)
	}
	if err != nil {
		r.fail("model", err)
	} else if ref := m.Client.Model().Ref(); ref == offline.New().Model().Ref() {
		r.warn("model", "none, only the built-in offline model: set the key of a provider, such as ANTHROPIC_API_KEY, or run 'tenon auth login PROVIDER', or start a local server; see 'tenon models'")
	} else {
		r.add("model", "%s (%s)", ref, m.Why)
	}
	for _, w := range m.Warnings {
		r.warn("model", "%s", w)
	}
	for _, p := range s.Models.Providers() {
		if p.Usable && !p.Local {
			r.add("provider", "%s: %s", p.Name, p.Why)
		}
	}
}

// data reports the data directory: whether this user can write it, and its size.
func (r *report) data(env *command.Env) {
	dir, err := app.DataDir(env.Getenv)
	if err != nil {
		r.fail("data", err)
		return
	}
	info, err := os.Stat(dir)
	if err != nil {
		r.add("data", "%s, which does not exist yet", dir)
		return
	}
	var size int64
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				size += info.Size()
			}
		}
		return nil
	})
	r.add("data", "%s, %.1f MB", dir, float64(size)/1e6)
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil || !info.IsDir() {
		r.fail("data", fmt.Errorf("%s is not writable: %w; set TENON_DATA_DIR to a directory that you can write", dir, err))
		return
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
}

func (r *report) configuration(env *command.Env, s *app.Setup, dir string) {
	c := s.Config
	if _, err := os.Stat(c.UserFile); err == nil {
		r.add("configuration", "%s", c.UserFile)
	} else {
		r.add("configuration", "none; yours would be %s", c.UserFile)
	}
	if c.ProjectFile != "" {
		r.add("configuration", "%s", c.ProjectFile)
	}
	if c.Inert != "" {
		r.warn("configuration", "%s", app.InertNote(c))
	}
	warnings, err := app.Check(env.Getenv, c, dir)
	if err != nil {
		r.fail("configuration", err)
	}
	for _, w := range slices.Concat(c.Warnings, warnings) {
		r.warn("configuration", "%s", w)
	}
	r.add("mode", "%s", c.Permissions.Mode)
	r.trust(s)
}

// trust reports whether the project is trusted.
func (r *report) trust(s *app.Setup) {
	c := s.Config
	if trusted, err := config.NewTrustStore(filepath.Dir(c.UserFile)).Trusted(c.Root); err != nil {
		r.fail("trust", err)
	} else if trusted {
		r.add("trust", "%s is trusted", c.Root)
	} else {
		r.add("trust", "%s is not trusted: its tenon.json, commands, roles, skills and servers have no effect", c.Root)
	}
}

// languageServers reports the servers for files of the project. It starts none.
func (r *report) languageServers(s *app.Setup, dir string) {
	const subject = "lsp"
	servers := s.Spec().LSP.Servers
	if len(servers) == 0 {
		r.add(subject, "off: language servers are switched off")
		return
	}
	for _, f := range lsp.Find(dir, servers) {
		switch files := strings.Join(f.Files, " "); {
		case f.Installed:
			r.add(subject, "%s is installed; it starts when the model first reads or changes a file (%s)", f.Name, files)
		case f.Install != "":
			r.warn(subject, "%s for %s is not installed, so that edits report no problems: %s", f.Name, files, f.Install)
		default:
			r.warn(subject, "%s for %s is not installed: there is no program %s", f.Name, files, f.Command)
		}
	}
}

// box reports the sandbox.
func (r *report) box(b app.Bounds) {
	look := sandbox.Look()
	text := box.Level(look, b)
	if b.Sandbox == nil || look.Level() == "" || look.Level() == sandbox.Partly {
		r.warn("sandbox", "%s; see 'tenon doctor sandbox'", text)
		return
	}
	r.add("sandbox", "%s", text)
}

func (r *report) terminal(env *command.Env) {
	out := env.Stdout
	if env.Screen != nil {
		out = env.Screen
	}
	width := term.Width(out)
	if width == nil {
		r.add("terminal", "the output is not a terminal")
		return
	}
	colors := term.PaletteFor(out, env.Getenv).Bold("x") != "x"
	r.add("terminal", "%s, %d columns, %s", cmp.Or(env.Getenv("TERM"), "TERM is not set"), width(), either(colors, "with color", "without color"))
}

func either(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// page is the report for people: one subject after the other.
func page(env *command.Env, r *report) string {
	var b strings.Builder
	paint := env.Paint()
	last := ""
	for _, l := range r.Lines {
		subject := l.Subject
		if subject == last {
			subject = ""
		}
		last = l.Subject
		mark := "  "
		if l.Problem {
			mark = paint.Yellow("!") + " "
		}
		b.WriteString(env.Wrap(fmt.Sprintf("%-14s ", subject)+mark, 17, term.OneLine(l.Text)))
	}
	return b.String()
}
