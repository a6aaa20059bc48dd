package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/hooks"
	"github.com/tenon-agent/tenon/internal/slash"
	"github.com/tenon-agent/tenon/team/role"
	"github.com/tenon-agent/tenon/transcript"
)

// context reports the context files and the skills that the model sees here.
func (r *report) context(s *app.Setup, b app.Bounds) {
	o := s.Spec().Guidance
	guide := guidance.New(guidance.Options{Dir: b.Root, Home: b.Home, Personal: o.Personal, Names: o.Names, MaxFile: o.MaxFile})
	blocks := guide.Blocks(nil, 1<<30)
	for _, block := range blocks {
		text := fmt.Sprintf("%s, %d bytes", block.Name, len(block.Text))
		if block.Cut > 0 {
			r.warn("context files", "%s; %d more do not fit (context.max_file_size)", text, block.Cut)
		} else {
			r.add("context files", "%s", text)
		}
	}
	if len(blocks) == 0 {
		r.add("context files", "none: 'tenon init' writes AGENTS.md")
	}
	skills, err := s.Skills(b.Root)
	if err != nil {
		r.warn("skills", "%v", err)
		return
	}
	if n := len(skills.Skills); n > 0 {
		r.add("skills", "%d", n)
	}
	if skills.Inert > 0 {
		r.warn("skills", "%s of this project without effect, because its directory is not trusted; see 'tenon trust'", transcript.Count(skills.Inert, "skill"))
	}
	for _, problem := range skills.Problems {
		r.warn("skills", "%v", problem)
	}
}

// foreign are the files and directories of other agents that have no effect in Tenon, and what to do instead.
var foreign = []struct{ name, advice string }{
	{"GEMINI.md", "context of Gemini CLI: add it to context.names, or move it to AGENTS.md"},
	{".gemini/settings.json", "settings of Gemini CLI"},
	{".github/copilot-instructions.md", "context of Copilot: move it to AGENTS.md"},
	{".cursorrules", "context of Cursor: move it to AGENTS.md"},
	{".cursor/rules", "context of Cursor: move it to AGENTS.md"},
	{".clinerules", "context of Cline: move it to AGENTS.md"},
	{".codex/config.toml", "settings of Codex"},
	{"opencode.json", "settings of OpenCode"},
	{"opencode.jsonc", "settings of OpenCode"},
	{".opencode", "settings of OpenCode"},
	{"crush.json", "settings of Crush"},
	{".crush.json", "settings of Crush"},
	{".aider.conf.yml", "settings of Aider"},
}

// newProject returns tenon doctor project.
func newProject(env *command.Env) *cobra.Command {
	var dir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "project",
		Short: "Show what a project configures, and what of it takes effect",
		Long: `Show what Tenon finds in the project: context files, settings, commands, roles, skills
and MCP servers, also those for Claude Code. A line with ! is something without effect,
and names the cause. Before you trust the directory, the lines show what trust would
change.`,
		Example: `  tenon doctor project
  tenon doctor project -C ../other`,
		Args: command.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			setup, bounds, err := env.Bounds(dir)
			if err != nil {
				return err
			}
			r := &report{}
			r.trust(setup)
			r.context(setup, bounds)
			r.parts(setup, bounds.Root)
			r.others(bounds.Root, setup.Config)
			return env.Print(asJSON, command.Result{JSON: r, Text: page(env, r)})
		},
	}
	command.DirFlag(c, &dir, "working `directory`; default: here")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// parts reports the files of the project: its tenon.json, commands, roles and skills.
func (r *report) parts(s *app.Setup, dir string) {
	const inert = "no effect, because the directory is not trusted; see 'tenon trust'"
	c := s.Config
	switch {
	case c.Inert != "":
		r.warn("settings", "%s: %s", relative(c.Root, c.Inert), inert)
	case c.ProjectFile != "":
		r.add("settings", "%s takes effect", relative(c.Root, c.ProjectFile))
	}
	trusted, err := config.NewTrustStore(s.Dir).Trusted(c.Root)
	if err != nil {
		r.warn("trust", "%v", err)
	}
	item := func(subject, name, file string, hidden bool) {
		text := name + " (" + relative(c.Root, file) + ")"
		switch {
		case !trusted:
			r.warn(subject, "%s: %s", text, inert)
		case hidden:
			r.warn(subject, "%s: no effect, because another one has its name", text)
		default:
			r.add(subject, "%s", text)
		}
	}
	commands, err := app.Commands(s, dir)
	if err != nil {
		r.warn("commands", "%v", err)
	}
	for _, own := range app.ProjectCommands(dir) {
		item("commands", "/"+own.Name, own.File, !slices.ContainsFunc(commands.Commands, func(o slash.Command) bool { return o.File == own.File }))
	}
	roles, err := s.Roles(dir)
	if err != nil {
		r.warn("roles", "%v", err)
	}
	for _, own := range app.ProjectRoles(dir) {
		item("roles", own.Name, own.File, !slices.ContainsFunc(roles.Roles, func(o role.Role) bool { return o.File == own.File }))
		if len(own.Rules.Allow) > 0 {
			r.warn("roles", "%s: its rules that allow have no effect, because a project allows nothing", own.Name)
		}
	}
	for _, problem := range append(commands.Problems, roles.Problems...) {
		r.warn("files", "%v", problem)
	}
	skills := app.ProjectSkills(dir)
	for _, own := range skills.Skills {
		item("skills", own.Name, filepath.Join(own.Dir, "SKILL.md"), c.Skills.Disabled)
	}
}

// others reports the files of other agents in the project, and what of them takes effect.
func (r *report) others(dir string, c *config.Config) {
	const subject = "other agents"
	for _, f := range c.Claude {
		name := relative(c.Root, f.File)
		if f.Rules > 0 {
			r.add(subject, "%s: %d rules that deny or ask take effect", name, f.Rules)
		}
		if f.Hooks {
			r.add(subject, "%s: its hooks take effect; 'tenon hooks' lists them", name)
		}
		for _, text := range f.Unused {
			r.warn(subject, "%s, without effect: %s", name, text)
		}
	}
	for _, l := range c.Hooks {
		if l.Project {
			_, problems := hooks.Parse(hooks.Layer{File: relative(c.Root, l.File), Hooks: l.JSON})
			for _, text := range problems {
				r.warn("hooks", "without effect: %s", text)
			}
		}
	}
	switch {
	case c.MCPInert:
		r.warn(subject, "%s has no effect, because its directory is not trusted; see 'tenon trust'", relative(c.Root, c.MCPFile))
	case c.MCPFile != "":
		r.add(subject, "%s takes effect; see 'tenon mcp list'", relative(c.Root, c.MCPFile))
	}
	dirs := []string{c.Root}
	if dir != c.Root {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		for _, f := range foreign {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.name))); err == nil {
				r.warn(subject, "%s has no effect (%s)", relative(c.Root, filepath.Join(dir, f.name)), f.advice)
			}
		}
	}
}

// relative is a path below the root of the project.
func relative(root, name string) string {
	return filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
}
