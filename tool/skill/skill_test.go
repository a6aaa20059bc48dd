package skill_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/skill"
)

// write writes a file below a directory.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func temp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFind(t *testing.T) {
	home, repo := temp(t), temp(t)
	write(t, home, "a/SKILL.md", "---\nname: a\ndescription: of the home\n---\n")
	write(t, home, "b/SKILL.md", "\ufeff---\r\ndescription: 'It''s b'\r\n---\r\nb\r\n")
	write(t, home, "file", "")
	write(t, home, "empty/README.md", "")
	write(t, home, ".git/SKILL.md", "---\nname: git\ndescription: no\n---\n")
	write(t, repo, "skills/a/SKILL.md", "---\nname: a\ndescription: of the repository\n---\n")
	found := skill.Find([]skill.Folder{{Dir: home}, {Dir: filepath.Join(repo, "none")}, {Dir: filepath.Join(repo, "skills"), Within: repo}})
	want := []skill.Skill{
		{Name: "a", Description: "of the repository", Dir: filepath.Join(repo, "skills", "a")},
		{Name: "b", Description: "It's b", Dir: filepath.Join(home, "b")},
	}
	if fmt.Sprint(found.Skills) != fmt.Sprint(want) || len(found.Problems) != 0 {
		t.Errorf("got %+v", found)
	}
}

func TestSkillsThatCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no-front":    {"# Hello\n", "does not begin with front matter"},
		"no-end":      {"---\nname: x\ndescription: y\n", "does not end"},
		"no-words":    {"---\nname: x\n---\n", "no description"},
		"bad-name":    {"---\nname: ../x\ndescription: y\n---\n", "lower-case letters"},
		"Upper":       {"---\ndescription: y\n---\n", "lower-case letters"},
		"endless":     {"---\ndescription: " + strings.Repeat("y", 20<<10) + "\n---\n", "does not end"},
		"hyphen-last": {"---\nname: x-\ndescription: y\n---\n", "at both ends"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := temp(t)
			write(t, dir, name+"/SKILL.md", c.text)
			found := skill.Find([]skill.Folder{{Dir: dir}})
			if len(found.Skills) != 0 || len(found.Problems) != 1 || !strings.Contains(found.Problems[0].Error(), c.want) ||
				!strings.Contains(found.Problems[0].Error(), filepath.Join(name, "SKILL.md")) {
				t.Errorf("got %+v", found)
			}
		})
	}
}

// No skill of a repository leads out of it.
func TestSkillsOutsideAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege there")
	}
	repo, other := temp(t), temp(t)
	write(t, other, "x/SKILL.md", "---\nname: x\ndescription: elsewhere\n---\nsecret\n")
	write(t, repo, "skills/file/keep", "")
	for target, name := range map[string]string{filepath.Join(other, "x"): "skills/dir", filepath.Join(other, "x", "SKILL.md"): "skills/file/SKILL.md"} {
		if err := os.Symlink(target, filepath.Join(repo, name)); err != nil {
			t.Fatal(err)
		}
	}
	found := skill.Find([]skill.Folder{{Dir: filepath.Join(repo, "skills"), Within: repo}})
	if len(found.Skills) != 0 || len(found.Problems) != 2 {
		t.Errorf("got %+v", found)
	}
	// A person may keep theirs wherever they like.
	if found := skill.Find([]skill.Folder{{Dir: filepath.Join(repo, "skills")}}); len(found.Skills) != 1 || found.Skills[0].Dir != filepath.Join(other, "x") {
		t.Errorf("got %+v", found)
	}
}

func TestDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"description: plain: with a colon":                  "plain: with a colon",
		"description: \"in \\\"quotes\\\"\"":                `in "quotes"`,
		"description: 'it''s # so'":                         "it's # so",
		"description: plain # a comment":                    "plain",
		"description: >-\n  folded\n  lines\nlicense: MIT":  "folded lines",
		"description: |\n  block\n\n  lines":                "block lines",
		"description: plain\n  goes on":                     "plain goes on",
		"allowed-tools: [a, b]\ndescription: after a list":  "after a list",
		"metadata:\n  description: inner\ndescription: own": "own",
		"list:\n- description: x\ndescription: own":         "own",
		"description: first\ndescription: second":           "first",
	} {
		dir := temp(t)
		write(t, dir, "x/SKILL.md", "---\n"+text+"\n---\n")
		found := skill.Find([]skill.Folder{{Dir: dir}})
		if len(found.Skills) != 1 || found.Skills[0].Description != want {
			t.Errorf("%q: got %+v, want %q", text, found, want)
		}
	}
}

func run(t *testing.T, o skill.Options, name string) (tool.Result, error) {
	t.Helper()
	call, err := skill.New(o)[0].Prepare(t.Context(), fmt.Sprintf(`{"name": %q}`, name))
	if err != nil {
		return tool.Result{}, err
	}
	if !call.Effects.ReadOnly() || !call.Effects.Idempotent {
		t.Errorf("effects %+v", call.Effects)
	}
	return call.Run(t.Context(), nil)
}

func TestLoading(t *testing.T) {
	dir := temp(t)
	write(t, dir, "x/SKILL.md", "---\nname: x\ndescription: d\n---\n\nDo it so.\n")
	write(t, dir, "x/scripts/go.sh", "")
	write(t, dir, "x/.hidden", "")
	write(t, dir, "x/reference.md", "")
	o := skill.Options{Skills: skill.Find([]skill.Folder{{Dir: dir}}).Skills}
	at := filepath.Join(dir, "x")
	got, err := run(t, o, "x")
	want := fmt.Sprintf("<skill name=\"x\" dir=%q>\nDo it so.\n</skill>\n[Other files: reference.md, scripts/go.sh]", at)
	if err != nil || got.Content.Text() != want || !strings.HasPrefix(want, skill.Begins("x")) {
		t.Errorf("got %q, %v", got.Content.Text(), err)
	}
	if _, err := run(t, o, "y"); err == nil || !strings.Contains(err.Error(), "the skills are x") {
		t.Errorf("error %v", err)
	}
	o.Loaded = func(_ context.Context, name string) bool { return name == "x" }
	if got, err := run(t, o, "x"); err != nil || !strings.Contains(got.Content.Text(), "already loaded") || !got.Details.(skill.Details).Again {
		t.Errorf("again: %q, %v", got.Content.Text(), err)
	}
	o.Loaded = nil
	for text, want := range map[string]string{"no front": "front matter", "": "no such file"} {
		if text == "" {
			if err := os.Remove(filepath.Join(at, skill.FileName)); err != nil {
				t.Fatal(err)
			}
		} else {
			write(t, at, skill.FileName, text)
		}
		if _, err := run(t, o, "x"); err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// The result names the omitted part and the line from which the model can read it.
func TestLongSkillsAreCut(t *testing.T) {
	dir := temp(t)
	var b strings.Builder
	b.WriteString("---\nname: x\ndescription: d\n---\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "line %d\n", i+5)
	}
	write(t, dir, "x/SKILL.md", b.String())
	got, err := run(t, skill.Options{Skills: skill.Find([]skill.Folder{{Dir: dir}}).Skills}, "x")
	if err != nil {
		t.Fatal(err)
	}
	text, details := got.Content.Text(), got.Details.(skill.Details)
	if len(text) > 4<<10+400 || details.Cut == 0 {
		t.Errorf("%d bytes, %+v", len(text), details)
	}
	last := strings.LastIndex(text, "\nline ")
	var shown, from int
	if _, err := fmt.Sscanf(text[last:], "\nline %d", &shown); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(text[strings.LastIndex(text, "from line "):], "from line %d", &from); err != nil || from != shown+1 {
		t.Errorf("the last line is %d, and it goes on at %d, %v", shown, from, err)
	}
}

func TestWithoutSkillsThereIsNoTool(t *testing.T) {
	if got := skill.New(skill.Options{}); got != nil {
		t.Errorf("got %v", got)
	}
	if got := skill.Index(nil); got != "" {
		t.Errorf("index %q", got)
	}
}

func TestTheIndexIsBounded(t *testing.T) {
	for _, c := range []struct{ skills, words int }{{3, 10}, {20, 150}, {100, 100}, {500, 100}} {
		var skills []skill.Skill
		for i := range c.skills {
			skills = append(skills, skill.Skill{Name: fmt.Sprintf("skill-%03d", i), Description: strings.Repeat("word ", c.words)})
		}
		text := skill.Index(skills)
		if len(text) > 6200 {
			t.Errorf("%d skills: %d bytes", c.skills, len(text))
		}
		if whole := strings.Count(text, strings.Repeat("word ", c.words)); c.skills == 3 && whole != 3 {
			t.Errorf("descriptions are cut without need: %s", text)
		}
		if n := strings.Count(text, "\n- ") + 1; n < c.skills && !strings.Contains(text, fmt.Sprintf("[%d more", c.skills-n)) {
			t.Errorf("%d skills, %d listed, and nothing about the rest: %q", c.skills, n, text[len(text)-200:])
		}
	}
}
