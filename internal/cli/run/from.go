package run

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tailscale/hujson"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/hooks"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/permission"
)

// origins are the programs whose settings init translates.
var origins = []string{"claude", "codex", "opencode", "crush"}

// translation is the settings of another program as a tenon.json, and what of them it lacks.
type translation struct {
	home  string
	files []string // that were read
	set   map[string]any
	taken []string // settings that people should know of
	left  []string // settings without a translation, each with the reason
}

func (t *translation) leave(format string, args ...any) {
	t.left = append(t.left, fmt.Sprintf(format, args...))
}

// adopt writes the user's tenon.json from the settings of another program. It writes over no file.
func adopt(env *command.Env, c *cobra.Command, from string, yes bool) error {
	dir, err := config.UserDir(env.Getenv)
	if err != nil {
		return err
	}
	t := &translation{home: env.Getenv("HOME"), set: map[string]any{}}
	base := cmp.Or(env.Getenv("XDG_CONFIG_HOME"), filepath.Join(t.home, ".config"))
	switch from {
	case "claude":
		t.claude(cmp.Or(env.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(t.home, ".claude")))
	case "codex":
		t.codex(filepath.Join(cmp.Or(env.Getenv("CODEX_HOME"), filepath.Join(t.home, ".codex")), "config.toml"))
	case "opencode":
		t.opencode(filepath.Join(base, "opencode"))
	case "crush":
		t.crush(filepath.Join(base, "crush", "crush.json"))
	}
	if len(t.files) == 0 {
		return fmt.Errorf("cannot find settings of %s of yours; Tenon looked in %s", from, t.home)
	}
	text, err := json.MarshalIndent(t.set, "", "\t")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	for _, l := range t.left {
		fmt.Fprintln(env.Stderr, "! not translated: "+term.OneLine(l))
	}
	for _, l := range t.taken {
		fmt.Fprintln(env.Stderr, "translated: "+l)
	}
	fmt.Fprint(env.Stdout, term.Harmless(string(text)))
	file := filepath.Join(dir, config.FileName)
	if err := checked(text); err != nil {
		return fmt.Errorf("cannot use the translation: %w; write %s by hand", err, file)
	}
	if _, err := os.Lstat(file); err == nil {
		fmt.Fprintf(env.Stderr, "%s exists, so nothing was written: copy what you need\n", file)
		return nil
	}
	if !yes {
		if err := env.Confirm(c, fmt.Sprintf("Write this to %s?", term.OneLine(file))); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		fmt.Fprintf(env.Stderr, "wrote %s from %s\n", file, strings.Join(t.files, " and "))
	}
	return err
}

// checked returns the mistakes in a configuration.
func checked(text []byte) error {
	dir, err := os.MkdirTemp("", "tenon-init")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, config.FileName)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	_, err = config.Load(config.Options{File: file, Getenv: func(string) string { return "" }})
	return err
}

// read reads a file of settings, which may have comments. A missing file changes nothing.
func (t *translation) read(file string, into any) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var data []byte
	const most = 16 << 20 // bytes; ~/.claude.json has the history, too
	if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
		err = errors.New("it is no regular file, or too large")
	}
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err == nil {
		data, err = hujson.Standardize(data)
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if t.files = append(t.files, file); err != nil {
		t.leave("%s: %v", file, err)
	}
}

// rule adds a permission rule in the words of Tenon.
func (t *translation) rule(action permission.Action, rule string) error {
	if _, err := permission.ParseRule(action, permission.User, rule); err != nil {
		return err
	}
	all, _ := t.set["permissions"].(map[string]any)
	if all == nil {
		all = map[string]any{}
		t.set["permissions"] = all
	}
	list, _ := all[string(action)].([]string)
	if !slices.Contains(list, rule) {
		all[string(action)] = append(list, rule)
	}
	return nil
}

// exact matches the rules of Claude Code that allow, and whose translation allows nothing more.
var exact = regexp.MustCompile(`^(?:Bash\([^*()]+?(?::\*| \*)?\)|WebFetch\(domain:[^*]+\)|WebSearch|Glob|Grep|TodoWrite|mcp__\w+__\w+)$`)

// claude translates ~/.claude/settings.json, and the servers of ~/.claude.json.
func (t *translation) claude(dir string) {
	var s struct {
		Model       string
		Env         map[string]any
		Hooks       json.RawMessage
		Disabled    bool `json:"disableAllHooks"`
		Permissions struct {
			Allow, Ask, Deny []string
			DefaultMode      string
		}
	}
	t.read(filepath.Join(dir, "settings.json"), &s)
	for action, list := range map[permission.Action][]string{permission.Allow: s.Permissions.Allow, permission.Ask: s.Permissions.Ask, permission.Deny: s.Permissions.Deny} {
		for _, text := range list {
			rules, err := config.FromClaude(dir, action, text)
			if action == permission.Allow && !exact.MatchString(text) {
				err = errors.New("a rule of Tenon could allow more; write your own")
			}
			for _, rule := range rules {
				err = cmp.Or(err, t.rule(action, rule))
			}
			if err != nil {
				t.leave("the rule %s %s: %v", action, text, err)
			}
		}
	}
	if m := map[string]permission.Mode{"plan": permission.Plan, "acceptEdits": permission.Edits, "default": permission.AskMode}[s.Permissions.DefaultMode]; m != "" {
		t.mode(m)
	} else if s.Permissions.DefaultMode != "" {
		t.leave("the mode %s: choose one with permissions.mode", s.Permissions.DefaultMode)
	}
	t.model("anthropic", s.Model)
	t.variables(s.Env)
	if s.Disabled {
		t.leave("hooks: disableAllHooks is true")
	} else {
		t.hooks(s.Hooks)
	}
	var servers struct{ MCPServers map[string]server }
	t.read(filepath.Join(t.home, ".claude.json"), &servers)
	t.servers(servers.MCPServers)
}

// hooks takes the hooks that Tenon runs and that have no secret.
func (t *translation) hooks(text json.RawMessage) {
	if len(text) == 0 {
		return
	}
	all, problems := hooks.Parse(hooks.Layer{File: "settings.json", Hooks: text})
	for _, p := range problems {
		t.leave("%s", p)
	}
	out, n := map[string][]any{}, 0
	for _, h := range all {
		text := strings.Join(append([]string{h.Command, h.URL}, h.Args...), " ")
		for _, value := range h.Headers {
			if reference.FindStringSubmatch(value) == nil {
				text = "secret"
			}
		}
		if secret.MatchString(text) {
			t.leave("a hook of %s: it may have a secret; write it to hooks yourself", h.Event)
			continue
		}
		one := map[string]any{"type": h.Type}
		for key, value := range map[string]string{"command": h.Command, "url": h.URL, "if": h.If} {
			if value != "" {
				one[key] = value
			}
		}
		for key, value := range map[string]bool{"async": h.Async && !h.Wakes, "asyncRewake": h.Wakes} {
			if value {
				one[key] = true
			}
		}
		if h.Args != nil {
			one["args"] = h.Args
		}
		if len(h.Headers) > 0 {
			one["headers"], one["allowedEnvVars"] = h.Headers, h.Vars
		}
		if h.Blocks {
			one["onFailure"] = "block"
		}
		one["timeout"] = h.Timeout.Seconds()
		group := map[string]any{"hooks": []any{one}}
		if h.Matcher != "" {
			group["matcher"] = h.Matcher
		}
		out[string(h.Event)] = append(out[string(h.Event)], group)
		n++
	}
	if n > 0 {
		t.set["hooks"] = out
		t.taken = append(t.taken, fmt.Sprintf("hooks (%d); 'tenon hooks' lists them", n))
	}
}

func (t *translation) mode(m permission.Mode) {
	all, _ := t.set["permissions"].(map[string]any)
	if all == nil {
		all = map[string]any{}
		t.set["permissions"] = all
	}
	all["mode"] = string(m)
}

// model sets a model by its ID. The names of families, such as opus, have no translation.
func (t *translation) model(provider, id string) {
	switch {
	case id == "":
	case strings.Contains(id, "-"):
		t.set["model"] = provider + "/" + id
	default:
		t.leave("the model %s: choose one of 'tenon models'", id)
	}
}

func (t *translation) variables(env map[string]any) {
	if len(env) > 0 {
		t.leave("variables (%s): set them in your shell, and list those for commands in sandbox.env", strings.Join(slices.Sorted(maps.Keys(env)), ", "))
	}
}

// server is an MCP server in the words of the four programs.
type server struct {
	Command     any // a text, or all words
	Args        []string
	Env         map[string]string
	Environment map[string]string
	URL         string
	Headers     map[string]string
	Disabled    bool
	Enabled     *bool
}

// reference is a value that names a variable.
var reference = regexp.MustCompile(`^(Bearer )?(?:\$\{(\w+)\}|\$(\w+)|\{env:(\w+)\})$`)

// secret is an argument that may contain a secret.
var secret = regexp.MustCompile(`(?i)(key|token|secret|passw)|://[^/]*@`)

// references replaces values by references to variables, because they may be secrets.
func (t *translation) references(name string, values map[string]string, variable func(key string) string) map[string]string {
	out := map[string]string{}
	for key, value := range values {
		if m := reference.FindStringSubmatch(value); m != nil {
			out[key] = m[1] + "$" + cmp.Or(m[2], m[3], m[4])
			continue
		}
		v := variable(key)
		out[key] = "$" + v
		t.leave("the value of %s of the server %s, which may be a secret: set the variable %s", key, name, v)
	}
	return out
}

func (t *translation) servers(all map[string]server) {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, one := all[name], map[string]any{}
		words := append([]string{}, s.Args...)
		switch c := s.Command.(type) {
		case string:
			one["command"] = c
		case []any:
			var line []string
			for _, word := range c {
				line = append(line, fmt.Sprint(word))
			}
			if len(line) > 0 {
				one["command"], words = line[0], append(line[1:], words...)
			}
		}
		if s.URL != "" {
			one["url"] = s.URL
		}
		if slices.ContainsFunc(append(words, s.URL), secret.MatchString) {
			t.leave("the server %s: its arguments or its address may have a secret; use tenon mcp add", name)
			continue
		}
		if len(words) > 0 {
			one["args"] = words
		}
		if len(s.Env)+len(s.Environment) > 0 {
			env := maps.Clone(s.Environment)
			if env == nil {
				env = map[string]string{}
			}
			maps.Copy(env, s.Env)
			one["env"] = t.references(name, env, func(key string) string { return key })
		}
		if len(s.Headers) > 0 {
			one["headers"] = t.references(name, s.Headers, func(key string) string {
				return strings.ToUpper(regexp.MustCompile(`\W`).ReplaceAllString(name+"_"+key, "_"))
			})
		}
		if s.Disabled || s.Enabled != nil && !*s.Enabled {
			one["enabled"] = false
		}
		out[name] = one
	}
	if len(out) > 0 {
		t.set["mcp"] = out
	}
}

// opencode translates opencode.json.
func (t *translation) opencode(dir string) {
	var s struct {
		Model      string
		Permission map[string]any
		MCP        map[string]server
		Provider   map[string]any
	}
	t.read(filepath.Join(dir, "opencode.json"), &s)
	t.read(filepath.Join(dir, "opencode.jsonc"), &s)
	if s.Model != "" {
		t.set["model"] = s.Model
	}
	names := map[string][]string{"edit": {"write"}, "bash": {"shell"}, "webfetch": {"fetch"}, "websearch": {"web_search"}, "read": {"read"}, "task": {"agent"}}
	for _, name := range slices.Sorted(maps.Keys(s.Permission)) {
		action, plain := s.Permission[name].(string)
		if !plain || len(names[name]) == 0 {
			t.leave("permission.%s: the last pattern that matches counts there, the strictest rule here; write your own", name)
			continue
		}
		for _, rule := range names[name] {
			if err := t.rule(permission.Action(action), rule); err != nil {
				t.leave("permission.%s: %v", name, err)
			}
		}
	}
	t.servers(s.MCP)
	if len(s.Provider) > 0 {
		t.leave("providers (%s): add them to providers, or run tenon auth login", strings.Join(slices.Sorted(maps.Keys(s.Provider)), ", "))
	}
}

// crush translates crush.json.
func (t *translation) crush(file string) {
	var s struct {
		Models      map[string]struct{ Model, Provider string }
		MCP         map[string]server
		Permissions struct {
			Allowed []string `json:"allowed_tools"`
		}
		Providers map[string]any
	}
	t.read(file, &s)
	for _, m := range []struct{ key, as string }{{"large", "model"}, {"small", "small_model"}} {
		if of := s.Models[m.key]; of.Model != "" && of.Provider != "" {
			t.set[m.as] = of.Provider + "/" + of.Model
		}
	}
	for _, name := range s.Permissions.Allowed {
		t.leave("the allowed tool %s: Tenon allows reading; write a rule in permissions.allow for more", name)
	}
	t.servers(s.MCP)
	if len(s.Providers) > 0 {
		t.leave("providers (%s): add them to providers, or run tenon auth login", strings.Join(slices.Sorted(maps.Keys(s.Providers)), ", "))
	}
}

// codex translates the plain values of config.toml that Tenon has, too.
func (t *translation) codex(file string) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return
	}
	data, err := os.ReadFile(file)
	if t.files = append(t.files, file); err != nil {
		t.leave("%s: %v", file, err)
	}
	servers, section := map[string]server{}, ""
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			section = strings.ReplaceAll(strings.Trim(line, "[] "), `"`, "")
			continue
		}
		key, text, _ := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		name, of, _ := strings.Cut(strings.TrimPrefix(section, "mcp_servers."), ".")
		s, known := servers[name], strings.HasPrefix(section, "mcp_servers.")
		var target any
		var word string
		switch {
		case section == "" && (key == "model" || key == "model_reasoning_effort"), known && of == "env":
			target = &word
		case known && key == "command":
			target = &s.Command
		case known && key == "args":
			target = &s.Args
		case known && key == "url":
			target = &s.URL
		case known && key == "enabled":
			target = &s.Enabled
		}
		if target == nil || json.Unmarshal([]byte(strings.TrimSpace(text)), target) != nil {
			t.leave("%s of codex: set what you need yourself", strings.TrimPrefix(section+"."+key, "."))
			continue
		}
		switch {
		case key == "model":
			t.model("openai", word)
		case key == "model_reasoning_effort":
			t.set["thinking"] = word
		case of == "env":
			if s.Env == nil {
				s.Env = map[string]string{}
			}
			s.Env[key] = word
		}
		if known {
			servers[name] = s
		}
	}
	t.servers(servers)
}
