package offline

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

var update = flag.Bool("update", false, "write the overviews into testdata")

// Each archive has a project and its expected overview. The model may run no command there.
func TestDescribe(t *testing.T) {
	archives, err := filepath.Glob("testdata/describe/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no projects: %v", err)
	}
	for _, name := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, unpack(string(archive)))
			b.deny = []string{"shell"}
			got := b.say(t, "describe this project")
			if b.turns > 6 {
				t.Errorf("%d turns", b.turns)
			}
			golden := strings.TrimSuffix(name, ".txtar") + ".md"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("the overview is not %s (%v); run go test -update and look at the difference. It is:\n%s", golden, err, got)
			}
		})
	}
}

// unpack returns the files of an archive: after a comment, each a line "-- name --" and its content.
func unpack(archive string) map[string]string {
	files := map[string]string{}
	name := ""
	for line := range strings.Lines(archive) {
		if head, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(head, " --\n") {
			name = strings.TrimSuffix(head, " --\n")
			files[name] = ""
		} else if name != "" {
			files[name] += line
		}
	}
	return files
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// broken is a tool of which each call fails.
type broken struct{ tool.Tool }

func (broken) Prepare(context.Context, string) (*tool.Call, error) {
	return nil, errors.New("git: command not found")
}

func TestDescribeWithHistory(t *testing.T) {
	b := newBench(t, map[string]string{"main.go": "package main\n"})
	git(t, b.dir, "init", "-q")
	git(t, b.dir, "add", ".")
	git(t, b.dir, "-c", "user.name=Ann", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "-qm", "Begin")
	got := b.say(t, "what is this project?")
	if !strings.Contains(got, "## Recent history") || !strings.Contains(got, "Ann: Begin") || strings.Contains(got, "git history:") {
		t.Errorf("no history in:\n%s", got)
	}
}

// The overview names the facts that it cannot find, and has the others.
func TestDescribeGoesOn(t *testing.T) {
	tests := []struct {
		name          string
		deny, without []string
		want          string
	}{
		{"shell denied", []string{"shell"}, nil, "git history: needs permission to run commands (`--yes`)"},
		{"no shell", nil, []string{"shell"}, "git history: needs permission to run commands (`--yes`)"},
		{"no repository", nil, nil, "git history: this is no git repository"},
		{"no commits", nil, nil, "git history: there are no commits yet"},
		{"no git", nil, nil, "git history: the command for it failed"},
		{"no grep", nil, []string{"grep"}, "open TODOs: the tool grep is not offered here"},
		{"no glob", nil, []string{"glob"}, "| Markdown | 1 |"},
		{"read denied", []string{"read"}, nil, "the content of `README.md`"},
		{"glob denied", []string{"glob"}, nil, "all files: "},
		{"nothing at all", nil, []string{"glob", "list", "read", "grep", "shell"}, "the files: the tools glob and list are not offered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a.go": "package a\n", "README.md": "# Name\n\nThis is what it is for.\n"})
			b.deny, b.without = tt.deny, tt.without
			switch tt.name {
			case "no repository":
				t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(b.dir))
			case "no commits":
				git(t, b.dir, "init", "-q")
			case "no git":
				b.tool["shell"] = broken{b.tool["shell"]}
			}
			if got := b.say(t, "describe this project"); !strings.Contains(got, tt.want) {
				t.Errorf("the answer lacks %q:\n%s", tt.want, got)
			}
		})
	}
}

func TestDescribeALargeProject(t *testing.T) {
	files := map[string]string{"README.md": "# Large\n\nIt has a great many files in it.\n"}
	for i := range 1500 {
		files[fmt.Sprintf("pkg%d/file%d.go", i%40, i)] = "package p\n"
	}
	b := newBench(t, files)
	b.deny = []string{"shell"}
	got := b.say(t, "describe this project")
	if b.turns > 4 || len(b.trace) > 10 {
		t.Errorf("%d turns, %d calls", b.turns, len(b.trace))
	}
	for _, want := range []string{"1501 files", "| Go | at least ", "more directories"} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer lacks %q:\n%s", want, got)
		}
	}
}
