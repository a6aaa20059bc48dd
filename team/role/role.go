package role

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/frontmatter"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
)

// Role is a named configuration of an agent. Empty fields change nothing.
type Role struct {
	Name        string
	Description string // when to use it, in one line
	File        string // it comes from; empty: built in

	Prompt   string
	Model    string // a model reference or a pool
	Thinking llm.Thinks

	Tools   []string        // the only tools that it may use; nil: all. Tools that touch nothing are always allowed
	Without []string        // tools that it may not use
	Mode    permission.Mode // the widest mode
	Rules   permission.Config

	Turns      int           // limits of a run
	Time       time.Duration // limits of a run
	Cost       float64       // limits of a run, in US dollars
	Background bool          // its tasks run in the background, unless the call says otherwise
	Worktree   bool          // its tasks run in a copy of the project, unless the call says otherwise
}

// The limits of a role.
const (
	maxName        = 64   // characters
	maxDescription = 1024 // characters
)

// Parse reads a role from the text of a Markdown file. The name is that of the file without its extension, for a role whose front matter has
// none. The error names the key that is wrong.
func Parse(name, text string) (Role, error) {
	front, body, err := frontmatter.Split(text)
	if err != nil {
		return Role{}, err
	}
	r := Role{
		Name: cmp.Or(front["name"], name), Description: strings.Join(strings.Fields(front["description"]), " "), Prompt: strings.TrimSpace(body),
	}
	if err := CheckName(r.Name); err != nil {
		return Role{}, err
	}
	if r.Description == "" {
		return Role{}, errors.New("its front matter has no description")
	}
	if runes := []rune(r.Description); len(runes) > maxDescription {
		r.Description = string(runes[:maxDescription-1]) + "…"
	}
	for _, key := range keys {
		if value := front[key.name]; value != "" {
			if err := key.set(&r, value); err != nil {
				return Role{}, fmt.Errorf("%s: %w", key.name, err)
			}
		}
	}
	return r, nil
}

// CheckName returns an error if a text cannot be the name of a role.
func CheckName(name string) error {
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
	if name == "" || len(name) > maxName || !plain || strings.HasPrefix(name, "-") {
		return fmt.Errorf("the name %q is not 1 to %d letters, digits, hyphens and underscores", name, maxName)
	}
	return nil
}

// keys are the keys of the front matter besides name and description, with those of Claude Code.
var keys = []struct {
	name string
	set  func(r *Role, value string) error
}{
	{"model", func(r *Role, v string) error {
		if v != "inherit" {
			r.Model = v
		}
		return nil
	}},
	{"thinking", setThinking},
	{"effort", setThinking},
	{"tools", func(r *Role, v string) (err error) { r.Tools, err = tools(v); return err }},
	{"without", func(r *Role, v string) (err error) { r.Without, err = tools(v); return err }},
	{"disallowedTools", func(r *Role, v string) (err error) { r.Without, err = tools(v); return err }},
	{"mode", func(r *Role, v string) (err error) { r.Mode, err = permission.ParseMode(v); return err }},
	{"permissionMode", func(r *Role, v string) error {
		r.Mode = foreignModes[v] // a mode without a row would widen the permissions, and a role cannot
		return nil
	}},
	{"allow", func(r *Role, v string) error {
		r.Rules.Allow = frontmatter.Items(v)
		return check(permission.Allow, r.Rules.Allow)
	}},
	{"ask", func(r *Role, v string) error {
		r.Rules.Ask = frontmatter.Items(v)
		return check(permission.Ask, r.Rules.Ask)
	}},
	{"deny", func(r *Role, v string) error {
		r.Rules.Deny = frontmatter.Items(v)
		return check(permission.Deny, r.Rules.Deny)
	}},
	{"turns", setTurns},
	{"maxTurns", setTurns},
	{"time", func(r *Role, v string) (err error) {
		r.Time, err = time.ParseDuration(v)
		return positive(err, r.Time > 0)
	}},
	{"cost", func(r *Role, v string) (err error) {
		r.Cost, err = strconv.ParseFloat(strings.TrimPrefix(v, "$"), 64)
		return positive(err, r.Cost > 0)
	}},
	{"background", func(r *Role, v string) (err error) { r.Background, err = strconv.ParseBool(v); return err }},
	{"worktree", func(r *Role, v string) (err error) { r.Worktree, err = strconv.ParseBool(v); return err }},
	{"isolation", func(r *Role, v string) error { r.Worktree = v == "worktree"; return nil }},
}

// foreignModes maps the modes of Claude Code that narrow permissions to ours.
var foreignModes = map[string]permission.Mode{"plan": permission.Plan, "acceptEdits": permission.Edits}

func setThinking(r *Role, v string) error {
	r.Thinking = llm.Thinks(v)
	if !slices.Contains(llm.Levels(), r.Thinking) {
		return fmt.Errorf("unknown level %q; the levels are %v", v, llm.Levels())
	}
	return nil
}

func setTurns(r *Role, v string) (err error) {
	r.Turns, err = strconv.Atoi(v)
	return positive(err, r.Turns > 0)
}

func positive(err error, is bool) error {
	if err == nil && !is {
		return errors.New("it must be larger than 0")
	}
	return err
}

// tools reads the names of tools. A pattern such as Bash(git *) is an error, because a list of tools that ignored it would allow more.
func tools(value string) ([]string, error) {
	var out []string
	for _, name := range frontmatter.Items(value) {
		if strings.Contains(name, "(") {
			return nil, fmt.Errorf("%q has a pattern; list the tool alone, and limit it with ask and deny", name)
		}
		if name == "*" {
			return nil, nil
		}
		if name = permission.ToolName(name); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out, nil
}

func check(a permission.Action, rules []string) error {
	for _, text := range rules {
		if _, err := permission.ParseRule(a, permission.Session, text); err != nil {
			return err
		}
	}
	return nil
}
