package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/permission"
)

// The permissions of a project are added to those of the user. They can only narrow them.
func TestAProjectOnlyNarrowsPermissions(t *testing.T) {
	h := newHome(t).user(`{
		"permissions": {"mode": "edits", "allow": ["shell(go test *)"], "deny": ["read(secret)"], "examples": [{"command": "ls", "want": "allow"}]},
		"sandbox": {"hidden": ["~/private"], "processes": 100},
	}`)
	h.project(`{
		"permissions": {"mode": "ask", "ask": ["fetch"], "deny": ["shell(git push *)"], "examples": [{"command": "git push", "want": "deny"}]},
		"sandbox": {"hidden": [".env"], "protected": ["vendor"], "processes": 50},
	}`)
	h.Trusted = true
	c := h.load()
	p := c.Permissions
	if p.Mode != permission.AskMode || len(p.Allow) != 1 || len(p.Ask) != 1 || len(p.Deny) != 2 || len(p.Examples) != 2 {
		t.Errorf("got %+v", p)
	}
	if c.Own["permissions.examples"] != 1 || c.Own["permissions.ask"] != 0 {
		t.Errorf("own are %v", c.Own)
	}
	if user, project := p.Deny[0], p.Deny[1]; user.Project || user.Where != c.UserFile+":2" || !project.Project || project.Where != c.ProjectFile+":2" {
		t.Errorf("got %+v and %+v", user, project)
	}
	for _, want := range []Origin{
		{"permissions.deny[0]", "read(secret)", c.UserFile + ":2"}, {"permissions.deny[1]", "shell(git push *)", c.ProjectFile + ":2"},
	} {
		if !slices.Contains(c.Origins(), want) {
			t.Errorf("there is no %+v", want)
		}
	}
	if s := c.Sandbox; !slices.Equal(s.Hidden, []string{"~/private", ".env"}) || !slices.Equal(s.Protected, []string{"vendor"}) || s.Processes != 50 {
		t.Errorf("got %+v", s)
	}
}

func TestWhatOnlyTheCallerCanFindHasItsLine(t *testing.T) {
	h := newHome(t)
	h.user("{\n\"permissions\": {\n\"deny\": [\"shell(a)\",\n\"shell(b)\"],\n\"examples\": [\n{\"command\": \"a\", \"want\": \"deny\"}]},\n\"roots\": [\"x\"]}")
	h.project("{\n\n\"permissions\": {\"deny\": [\n\"shell(c)\"]}}")
	h.Trusted = true
	c := h.load()
	for _, tt := range []struct{ file, key, want string }{
		{c.UserFile, "permissions.deny[1]", ":4: permissions.deny[1]: wrong"},
		{c.UserFile, "permissions.examples[0]", ":6: permissions.examples[0]: wrong"},
		{c.UserFile, "roots[0]", ":7: roots[0]: wrong"},
		{c.ProjectFile, "permissions.deny[0]", ":4: permissions.deny[0]: wrong"},
		{c.UserFile, "window", ": window: wrong"},
	} {
		if got := c.Mistake(tt.file, tt.key, "wrong").Error(); got != tt.file+tt.want {
			t.Errorf("got %q, want %q", got, tt.file+tt.want)
		}
	}
}

func TestAProjectCannotWidenPermissions(t *testing.T) {
	h := newHome(t)
	h.project(`{"permissions": {"mode": "yolo"}, "sandbox": {"processes": 100000}}`)
	h.Trusted = true
	c := h.load()
	if c.Permissions.Mode != permission.AskMode || c.Sandbox.Processes != 4096 || len(c.Warnings) != 2 || !strings.Contains(c.Warnings[0], "yolo is ignored") {
		t.Errorf("got %+v, %+v, %q", c.Permissions, c.Sandbox, c.Warnings)
	}
	for _, text := range []string{
		`{"permissions": {"allow": ["shell"]}}`, `{"sandbox": {"enabled": false}}`, `{"sandbox": {"network": ["*"]}}`,
		`{"sandbox": {"writable": ["/"]}}`, `{"roots": ["/"]}`, `{"web": {"search": {"backend": "brave"}}}`,
	} {
		h.project(text)
		if _, err := Load(h.Options); err == nil || !strings.Contains(err.Error(), "a project cannot set this") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMistakesInPermissions(t *testing.T) {
	h := newHome(t)
	for text, want := range map[string]string{
		`{"permissions": {"mode": "audo"}}`:                      `did you mean "auto"?`,
		`{"permissions": {"allow": "shell"}}`:                    "expected a list in brackets",
		`{"permissions": {"allow": [{}]}}`:                       "expected a rule in quotes",
		`{"permissions": {"deny": [" "]}}`:                       "the rule is empty",
		`{"permissions": {"examples": [{"want": "perhaps"}]}}`:   `allow, ask or deny`,
		`{"sandbox": {"network": ["https://example.com/path"]}}`: "or group of hosts: @alpine",
		`{"sandbox": {"network": ["@nmp"]}}`:                     "@npm",
		`{"roots": ["$HOME"]}`:                                   "references with $ are not supported here",
		`{"web": {"search": {"backend": "searx"}}}`:              `did you mean "searxng"?`,
	} {
		h.user(text)
		if _, err := Load(h.Options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
