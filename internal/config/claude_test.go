package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/permission"
)

// Rules of Claude Code that deny or ask take effect, without trust. What would widen anything does not, and is listed.
func TestSettingsOfClaudeCode(t *testing.T) {
	h := newHome(t)
	h.user(`{"permissions": {"deny": ["read(own)"]}}`)
	write(t, filepath.Join(h.root, FileName), `{"permissions": {"deny": ["shell(b)"]}}`) // has no effect without trust
	root := h.WorkDir
	claude := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, ".claude", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	claude("settings.json", `{
		"permissions": {
			"allow": ["Bash(*)"], "ask": ["Bash(git push:*)", "WebFetch(domain:example.com)"], "defaultMode": "bypassPermissions",
			"deny": ["Read(./.env)", "Read(secrets/**)", "Read(/keys)", "Edit(//etc/x)", "Bash(curl:*)", "Bash(ls*)", "Bash(rm -rf *)", "mcp__hub__get", "mcp__hub", "WebSearch", "Bash", "Strange(x)", "Bash("],
			"additionalDirectories": ["../other"]
		},
		"env": {"PATH": "/tmp"}, "hooks": {"PreToolUse": [1]}
	}`)
	claude("settings.local.json", `{"permissions": [}`)
	c := h.load()
	texts := func(rules []Rule) (all []string) {
		for _, r := range rules {
			all = append(all, r.Text)
			if _, err := permission.ParseRule(permission.Deny, permission.Project, r.Text); err != nil {
				t.Error(err)
			}
			if r.Project != (r.Text != "read(own)") {
				t.Errorf("%+v", r)
			}
		}
		return all
	}
	want := []string{
		"read(own)", "read(./.env)", "write(./.env)", "read(**/secrets/**)", "write(**/secrets/**)", "read(" + filepath.ToSlash(c.Root) + "/keys)",
		"write(" + filepath.ToSlash(c.Root) + "/keys)", "write(/etc/x)", "shell(curl *)", "shell(ls* *)", "shell(rm -rf *)", "mcp(hub/get)", "mcp(hub/*)", "web_search", "shell", "shell",
	}
	if got := texts(c.Permissions.Deny); !slices.Equal(got, want) {
		t.Errorf("deny %q,\nwant %q", got, want)
	}
	if got := texts(c.Permissions.Ask); !slices.Equal(got, []string{"shell(git push *)", "fetch(example.com)"}) {
		t.Errorf("ask %q", got)
	}
	if len(c.Permissions.Allow) > 0 || c.Permissions.Mode != permission.AskMode {
		t.Errorf("%+v", c.Permissions)
	}
	if len(c.Claude) != 2 || c.Claude[0].Rules != 14 || len(c.Claude[0].Unused) != 6 || len(c.Claude[1].Unused) != 1 {
		t.Errorf("%+v", c.Claude)
	}
	all := strings.Join(c.Claude[0].Unused, "\n")
	for _, want := range []string{"Strange", "allow (1)", "bypassPermissions", "../other", "PATH", "hooks (PreToolUse): the directory is not trusted"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in\n%s", want, all)
		}
	}
}
