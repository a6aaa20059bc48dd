package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// place is a project with a home directory of its own, and a server that plays a script to it.
type place struct {
	bin     string // the directory of the program
	project string
	env     []string
	server  *modelserver.Server
}

var project = map[string]string{
	"go.mod":   "module example.com/greet\n\ngo 1.26\n",
	"greet.go": "// Package greet greets people.\npackage greet\n\nfunc Greet(name string) string { return \"Helo, \" + name }\n",
	"greet_test.go": "package greet\n\nimport \"testing\"\n\nfunc TestGreet(t *testing.T) {\n" +
		"\tif got := Greet(\"Ann\"); got != \"Hello, Ann\" {\n\t\tt.Error(got)\n\t}\n}\n",
	"names.txt": "Ann\nBjörn\n日本\n",
	"check.sh":  "#!/bin/sh\nif ! grep -q Hello greet.go; then\n  echo 'FAIL: greet.go does not say \"Hello\"'\n  exit 1\nfi\necho ok\n",
}

func newPlace(ctx context.Context, dir, bin string) (*place, error) {
	home := filepath.Join(dir, "home")
	p := &place{bin: bin, project: filepath.Join(home, "greet")}
	if err := os.MkdirAll(p.project, 0o755); err != nil {
		return nil, err
	}
	for name, text := range project {
		if err := os.WriteFile(filepath.Join(p.project, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	var err error
	if p.server, err = modelserver.Start(modelserver.Steps(script()...)); err != nil {
		return nil, err
	}
	p.env = []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", "USER=you",
		"ANTHROPIC_API_KEY=sk-ant-example", "ANTHROPIC_BASE_URL=" + p.server.URL, "TENON_KEYRING=off", "TENON_LSP=off", "TENON_TITLES=off", "GOTOOLCHAIN=local",
		"GOPATH=" + filepath.Join(home, "go"), "GOFLAGS=", "GIT_CONFIG_NOSYSTEM=1",
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=you", "-c", "user.email=you@example.com", "commit", "-q", "-m", "Greet people"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir, cmd.Env = p.project, p.env
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, errors.Join(fmt.Errorf("git %s: %w\n%s", args[0], err, text), p.close())
		}
	}
	return p, nil
}

func (p *place) close() error { return p.server.Close() }

// script is one run with everything that a run shows: a plan, a failed command, an edit with its diff, a denial and an answer in Markdown.
func script() []modelserver.Step {
	answer := strings.Join([]string{
		"## Fixed",
		"The greeting had a **typo** in `greet.go`. It now says what the test expects, for every name in `names.txt`:",
		"",
		"| name | greeting | before |",
		"|---|---|---|",
		"| Ann | Hello, Ann | Helo, Ann |",
		"| Björn | Hello, Björn | Helo, Björn |",
		"| 日本 | Hello, 日本 | Helo, 日本 |",
		"",
		"1. `sh check.sh` passes.",
		"2. I did *not* push: that needs your approval, because it reaches a server outside of this machine.",
		"   - See [the contribution guide](https://example.com/contributing).",
		"",
		"```go",
		"func Greet(name string) string { return \"Hello, \" + name }",
		"```",
		"",
		"> Nothing else changed.",
	}, "\n")
	return []modelserver.Step{
		modelserver.Say("I run the check first.").Call("TodoWrite", `{"todos":[{"content":"Run the check","status":"in_progress"},
			{"content":"Fix the greeting","status":"pending"},{"content":"Push","status":"pending"}]}`).
			Call("Bash", `{"command":"sh check.sh"}`),
		modelserver.Call("Read", `{"file_path":"greet.go"}`).Call("Grep", `{"pattern":"Helo"}`),
		modelserver.Say("The greeting has a typo.").
			Call("Edit", `{"file_path":"greet.go","old_string":"\"Helo, \"","new_string":"\"Hello, \""}`).
			Call("Bash", `{"command":"sh check.sh"}`),
		modelserver.Call("TodoWrite", `{"todos":[{"content":"Run the check","status":"completed"},
			{"content":"Fix the greeting","status":"completed"}]}`),
		modelserver.Call("Bash", `{"command":"git push origin main"}`),
		modelserver.Say(answer),
	}
}

// scene is a command line that gets a screenshot. The argument ID stands for the ID of the session.
type scene struct {
	name string
	args []string
	code int // the exit code
}

var scenes = []scene{
	{name: "run", args: []string{"run", "--mode", "auto", "fix the greeting and push it"}, code: 4},
	{name: "diff", args: []string{"diff"}},
	{name: "doctor", args: []string{"doctor"}},
	{name: "help", args: []string{"--help"}},
	{name: "help-run", args: []string{"run", "--help"}},
	{name: "models", args: []string{"models"}},
	{name: "stats", args: []string{"stats"}},
	{name: "show", args: []string{"sessions", "show", "ID"}},
}

// pages are the commands that write an HTML page.
var pages = []scene{
	{name: "session", args: []string{"sessions", "export", "ID", "--format", "html", "-o"}},
	{name: "usage", args: []string{"stats", "--html"}},
}

// shoot runs every scene, and writes the files. The pages have no columns: they come with the first ones.
func (p *place) shoot(ctx context.Context, columns int, images *photographer) error {
	for _, s := range scenes {
		text, err := p.run(ctx, columns, s)
		if err != nil {
			return err
		}
		shown, err := show(text, columns)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := images.terminal(ctx, fmt.Sprintf("%s-%d", s.name, columns), append(typed(s.args), shown...), columns); err != nil {
			return err
		}
	}
	if columns != 80 {
		return nil
	}
	for _, s := range pages {
		file := filepath.Join(images.out, s.name+".html")
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		absolute, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		s.args = append(s.args[:len(s.args):len(s.args)], absolute)
		if _, err := p.run(ctx, columns, s); err != nil {
			return err
		}
		images.written++
		if err := images.page(ctx, s.name, absolute); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command in a terminal.
func (p *place) run(ctx context.Context, columns int, s scene) (string, error) {
	args := slices.Clone(s.args)
	if i := slices.Index(args, "ID"); i >= 0 {
		list := p.command(ctx, "sessions", "list", "--json")
		out, err := list.Output()
		if err != nil {
			return "", fmt.Errorf("tenon sessions list: %w", err)
		}
		id := sessionID.FindSubmatch(out)
		if id == nil {
			return "", fmt.Errorf("tenon sessions list: no ID in %s", out)
		}
		args[i] = string(id[1])
	}
	text, err := inTerminal(p.command(ctx, args...), columns, 40)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == s.code {
		err = nil
	}
	if err != nil {
		return "", fmt.Errorf("tenon %s: %w\n%s", strings.Join(args, " "), err, text)
	}
	return text, nil
}

var sessionID = regexp.MustCompile(`"id": *"([0-9a-z]+)"`)

func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(p.bin, "tenon"), args...)
	cmd.Dir, cmd.Env = p.project, p.env
	return cmd
}
