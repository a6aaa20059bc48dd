package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/config"
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
	{".claude/commands", "commands of Claude Code: Tenon has none yet"},
	{".claude/agents", "agents of Claude Code: Tenon has none yet"},
	{".mcp.json", "MCP servers: Tenon has none yet"},
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

// others reports the files of other agents in the project, and what of them takes effect.
func (r *report) others(dir string, c *config.Config) {
	const subject = "other agents"
	for _, f := range c.Claude {
		name := relative(c.Root, f.File)
		if f.Rules > 0 {
			r.add(subject, "%s: %d rules that deny or ask take effect", name, f.Rules)
		}
		for _, text := range f.Unused {
			r.warn(subject, "%s, without effect: %s", name, text)
		}
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
