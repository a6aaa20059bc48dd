package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission"
)

// ClaudeFile is a file with settings of Claude Code in a project. Its rules that deny or ask take effect, also if the folder is not trusted: they
// only narrow. Its hooks take effect if the folder is trusted. Nothing else does, because a project cannot widen what a person allows.
type ClaudeFile struct {
	File   string   `json:"file"`
	Rules  int      `json:"rules"`  // that take effect
	Hooks  bool     `json:"hooks"`  // its hooks take effect
	Unused []string `json:"unused"` // settings without effect, each with the reason
}

// claudeSettings are the settings of Claude Code that say something here.
type claudeSettings struct {
	Permissions struct {
		Allow, Ask, Deny []string
		DefaultMode      string
		Additional       []string `json:"additionalDirectories"`
	}
	Env      map[string]any
	Hooks    json.RawMessage
	Disabled bool `json:"disableAllHooks"`
}

// claude reads the settings of Claude Code in the folder where a person works and in the root of its project.
func (c *Config) claude(workDir string, trusted func() (bool, error)) error {
	folders := []string{c.Root}
	if workDir != c.Root {
		folders = append(folders, workDir)
	}
	for _, folder := range folders {
		for _, name := range []string{"settings.json", "settings.local.json"} {
			if err := c.claudeFile(folder, filepath.Join(folder, ".claude", name), trusted); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Config) claudeFile(folder, file string, trusted func() (bool, error)) error {
	data, err := readRegular(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	found := ClaudeFile{File: file, Unused: []string{}}
	defer func() { c.Claude = append(c.Claude, found) }()
	unused := func(format string, args ...any) { found.Unused = append(found.Unused, fmt.Sprintf(format, args...)) }
	var s claudeSettings
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		unused("the file: %v", err)
		return nil
	}
	for _, list := range []struct {
		action permission.Action
		rules  []string
		to     *[]Rule
	}{{permission.Deny, s.Permissions.Deny, &c.Permissions.Deny}, {permission.Ask, s.Permissions.Ask, &c.Permissions.Ask}} {
		for _, text := range list.rules {
			rules, err := FromClaude(folder, list.action, text)
			if err != nil {
				unused("%s %s: %v", list.action, text, err)
				continue
			}
			for _, rule := range rules {
				*list.to = append(*list.to, Rule{Text: rule, Project: true, Where: file})
			}
			found.Rules++
		}
	}
	if n := len(s.Permissions.Allow); n > 0 {
		unused("rules that allow (%d): a project allows nothing; add your own to permissions.allow in %s", n, cmp.Or(c.UserFile, FileName))
	}
	if mode := s.Permissions.DefaultMode; mode != "" && mode != "default" {
		unused("the mode %q: use --mode, or permissions.mode", mode)
	}
	if len(s.Permissions.Additional) > 0 {
		unused("additional directories (%s): use sandbox.readable and sandbox.writable", strings.Join(s.Permissions.Additional, ", "))
	}
	if len(s.Env) > 0 {
		unused("variables (%s): set them in your shell and list them in sandbox.env", strings.Join(slices.Sorted(maps.Keys(s.Env)), ", "))
	}
	var events map[string]json.RawMessage
	if err := json.Unmarshal(s.Hooks, &events); len(s.Hooks) == 0 || err == nil && len(events) == 0 {
		return nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(events)), ", ")
	ok, err := trusted()
	switch {
	case err != nil:
		return err
	case !ok:
		unused("hooks (%s): the directory is not trusted; see 'tenon trust'", names)
	case s.Disabled:
		unused("hooks (%s): disableAllHooks is true", names)
	default:
		found.Hooks = true
		c.Hooks = append(c.Hooks, HookLayer{File: file, Dir: folder, Project: true, JSON: s.Hooks})
	}
	return nil
}

var errNoRule = errors.New("no rule of Tenon is like it")

// FromClaude translates a rule of Claude Code for a folder, as its documentation describes them. The rules cover at least the same calls.
func FromClaude(folder string, action permission.Action, text string) (rules []string, err error) {
	tool, pattern, _ := strings.Cut(text, "(")
	pattern = strings.TrimSuffix(pattern, ")")
	if pattern == "*" {
		pattern = ""
	}
	in := func(tools ...string) {
		for _, tool := range tools {
			if pattern != "" {
				tool += "(" + pattern + ")"
			}
			rules = append(rules, tool)
		}
	}
	server, mcp := strings.CutPrefix(tool, "mcp__")
	switch {
	case mcp:
		name, of, _ := strings.Cut(server, "__")
		rules = []string{"mcp(" + name + "/" + cmp.Or(of, "*") + ")"}
	case tool == "Bash":
		pattern = claudeWords(pattern)
		in("shell")
	case tool == "Read":
		pattern = claudePath(folder, pattern)
		in("read", "write") // Claude Code refuses to change what may not be read
	case slices.Contains([]string{"Edit", "Write", "MultiEdit", "NotebookEdit"}, tool):
		pattern = claudePath(folder, pattern)
		in("write")
	case tool == "WebFetch":
		if pattern = strings.TrimPrefix(pattern, "domain:"); pattern == "*" {
			pattern = ""
		}
		in("fetch")
	case tool == "Task" || tool == "Agent":
		in("agent")
	case pattern != "":
		return nil, errNoRule
	default:
		name, ok := map[string]string{"WebSearch": "web_search", "Glob": "glob", "Grep": "grep", "TodoWrite": "todo", "AskUserQuestion": "question"}[tool]
		if !ok {
			return nil, errNoRule
		}
		in(name)
	}
	for _, rule := range rules {
		if _, err := permission.ParseRule(action, permission.Project, rule); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

// claudeWords translates the words of a command: "npm:*" is "npm *", and a star at the end of a word stands for more words, too.
func claudeWords(pattern string) string {
	if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
		return prefix + " *"
	}
	if strings.HasSuffix(pattern, "*") && !strings.HasSuffix(pattern, " *") {
		return pattern + " *"
	}
	return pattern
}

// claudePath translates a path: "//x" is absolute, "/x" starts at the folder of the project, and other names apply at any depth.
func claudePath(folder, pattern string) string {
	if abs, ok := strings.CutPrefix(pattern, "//"); ok {
		return "/" + abs
	}
	if rel, ok := strings.CutPrefix(pattern, "/"); ok {
		return filepath.ToSlash(filepath.Join(folder, rel))
	}
	if pattern == "" || strings.HasPrefix(pattern, "~/") || strings.HasPrefix(pattern, "./") || !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return pattern
	}
	return "**/" + strings.TrimPrefix(pattern, "**/")
}
