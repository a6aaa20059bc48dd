package role_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/team/role"
)

func TestParse(t *testing.T) {
	r, err := role.Parse("docs", "---\ndescription: Writes\n  documentation\nmodel: small\nthinking: low\ntools: read, grep\nwithout: [shell]\nmode: edits\n"+
		"deny:\n- write(src/**)\n- shell(git push *)\nturns: 9\ntime: 5m\ncost: $0.5\nbackground: true\nworktree: true\n---\nYou write.\n")
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "docs" || r.Description != "Writes documentation" || r.Prompt != "You write." || r.Model != "small" || r.Thinking != llm.ThinkLow ||
		!slices.Equal(r.Tools, []string{"read", "grep"}) || !slices.Equal(r.Without, []string{"shell"}) || r.Mode != permission.Edits ||
		!slices.Equal(r.Rules.Deny, []string{"write(src/**)", "shell(git push *)"}) || r.Turns != 9 || r.Time != 5*time.Minute || r.Cost != 0.5 ||
		!r.Background || !r.Worktree {
		t.Errorf("%+v", r)
	}
}

func TestAgentsOfClaudeCode(t *testing.T) {
	r, err := role.Parse("x", "---\nname: test-runner\ndescription: \"Runs tests: always\"\ntools: Read, Bash, Task, mcp__github__search\ndisallowedTools: WebFetch\n"+
		"model: inherit\npermissionMode: bypassPermissions\nmaxTurns: 3\neffort: high\nisolation: worktree\ncolor: red\nhooks:\n  Stop: x\n---\nRun.\n")
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "test-runner" || r.Description != "Runs tests: always" || !slices.Equal(r.Tools, []string{"read", "shell", "agent", "mcp__github__search"}) ||
		!slices.Equal(r.Without, []string{"fetch"}) || r.Model != "" || r.Mode != "" || r.Turns != 3 || r.Thinking != llm.ThinkHigh || !r.Worktree {
		t.Errorf("%+v", r)
	}
}

func TestErrorsNameTheKey(t *testing.T) {
	for front, want := range map[string]string{
		"description: d\nmode: wide":            "mode: ",
		"description: d\nthinking: loud":        "thinking: ",
		"description: d\nturns: 0":              "turns: ",
		"description: d\ntime: -1s":             "time: ",
		"description: d\ncost: much":            "cost: ",
		"description: d\nallow: teleport":       "allow: ",
		"description: d\ntools: Bash(git *)":    "tools: ",
		"description: d\nbackground: sometimes": "background: ",
		"description: d\nname: a:b":             "the name",
		"name: a":                               "no description",
	} {
		if _, err := role.Parse("r", "---\n"+front+"\n---\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", front, err)
		}
	}
}

func TestBuiltIn(t *testing.T) {
	var names []string
	for _, r := range role.BuiltIn() {
		names = append(names, r.Name)
		if r.Prompt == "" {
			t.Errorf("%s has no prompt", r.Name)
		}
	}
	if !slices.Equal(names, []string{"builder", "explorer", "planner", "reviewer"}) {
		t.Error(names)
	}
}

func TestFind(t *testing.T) {
	own, project, outside := t.TempDir(), t.TempDir(), t.TempDir()
	put := func(dir, name, text string) {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(own, "docs.md", "---\ndescription: own\n---\n")
	put(own, "notes.txt", "no role")
	put(project, "deep/docs.md", "---\ndescription: of the project\n---\n")
	put(project, "builder.md", "---\ndescription: another builder\n---\n")
	put(project, "broken.md", "no front matter")
	put(project, "large.md", "---\ndescription: d\n---\n"+strings.Repeat("x", 100<<10))
	put(outside, "evil.md", "---\ndescription: d\n---\n")
	if err := os.Symlink(filepath.Join(outside, "evil.md"), filepath.Join(project, "evil.md")); err != nil {
		t.Skip("no links here:", err)
	}
	project, err := filepath.EvalSymlinks(project)
	if err != nil {
		t.Fatal(err)
	}
	found := role.Find([]role.Folder{{Dir: filepath.Join(own, "none")}, {Dir: own}, {Dir: project, Within: project}})
	about := map[string]string{}
	for _, r := range found.Roles {
		about[r.Name] = r.Description
	}
	if len(about) != 5 || about["docs"] != "of the project" || about["builder"] != "another builder" || about["evil"] != "" {
		t.Errorf("%q", about)
	}
	if len(found.Problems) != 3 {
		t.Errorf("%v", found.Problems)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\ndescription: d\ntools: [a, b(c]\nallow: shell(*\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := role.Parse("r", text); err == nil && (r.Name == "" || r.Description == "") {
			t.Errorf("%+v", r)
		}
	})
}
