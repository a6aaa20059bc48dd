//go:build linux

package e2e_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// meeting runs a script of the project in the sandbox. At each "meet" in it, it waits until the next of some things has happened outside.
func (p *project) meeting(script string, run func(), during ...func()) {
	p.t.Helper()
	up, on := filepath.Join(p.dir, "up"), filepath.Join(p.dir, "go")
	if err := errors.Join(syscall.Mkfifo(up, 0o600), syscall.Mkfifo(on, 0o600)); err != nil {
		p.t.Fatal(err)
	}
	p.write(filepath.Join(p.dir, "script.sh"), "meet() { echo met >up; read -r _ <go; }\n"+script)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, happen := range during {
			in, err := os.ReadFile(up)
			if err != nil || string(in) != "met\n" {
				p.t.Errorf("the script did not come to the meeting: %q, %v", in, err)
				return
			}
			happen()
			if err := os.WriteFile(on, []byte("\n"), 0); err != nil {
				p.t.Error(err)
			}
		}
	}()
	run()
	if f, err := os.OpenFile(up, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // it still waits for the script
		f.Close()
	}
	<-done
}

// job lets a model run the script as a background job, in mode auto, and returns the result of waiting for its end.
func (p *project) job() string {
	p.t.Helper()
	w := wayOf(p.t, "anthropic")
	srv := w.serve(p, modelserver.Steps(
		modelserver.Call("shell", `{"command":"sh script.sh","background":true}`),
		modelserver.Call("job", `{"action":"wait","id":"job1"}`),
		modelserver.Say("Done."),
	))
	if r := p.tenon("run", "--model", w.ref(), "--mode", "auto", "Go."); r.code != 0 && r.code != 4 {
		p.t.Fatalf("%+v", r)
	}
	results := srv.Requests()[len(srv.Requests())-1].Results()
	return results[len(results)-1].Text()
}

// replace saves a file as most programs do.
func (p *project) replace(name, text string) {
	p.t.Helper()
	p.write(name+".new", text)
	if err := os.Rename(name+".new", name); err != nil {
		p.t.Error(err)
	}
}

// While a job runs, the person logs in to something, and a program saves a file with a secret. The job reads neither.
func TestSecretsThatAPersonSavesDuringAJob(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	p.secrets = []string{"a planted secret"}
	p.write(filepath.Join(p.home, ".claude.json"), "a planted secret")
	last := ""
	p.meeting("cat ~/.claude.json; meet; cat ~/.claude.json ~/.netrc; echo read", func() { last = p.job() }, func() {
		p.replace(filepath.Join(p.home, ".claude.json"), "a planted secret")
		p.replace(filepath.Join(p.home, ".netrc"), "a planted secret")
	})
	if !strings.Contains(last, "read") || !strings.Contains(last, "No such file") {
		t.Errorf("got %q", last)
	}
	p.keepsSecretOnDisk()
}

// Keys that the configuration names, and others in the environment of Tenon, reach no command, under any spelling.
func TestKeysDoNotReachCommands(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"), "PGPASSWORD=plantedpassword", "WORK_ANTHROPIC_KEY=plantedworkkey", "MY_DATABASE=plain", "SEARCH=plantedsearchkey")
	p.secrets = []string{"plantedpassword", "plantedworkkey", "yekkrowdetnalp", "plantedsearchkey"}
	p.config(`{
		"sandbox": {"env": ["MY_DATABASE", "WORK_ANTHROPIC_KEY"]},
		"providers": {"work": {"protocol": "anthropic", "base_url": "https://models.example.com", "api_key": "$WORK_ANTHROPIC_KEY"}},
		"web": {"search": {"backend": "brave", "api_key": "$SEARCH"}}}`)
	r := p.tenon("sandbox", "--", "sh", "-c", `env; echo $WORK_ANTHROPIC_KEY $SEARCH | rev`)
	if r.code != 0 || !strings.Contains(r.stdout, "MY_DATABASE=plain\n") {
		t.Errorf("%+v", r)
	}
}

// While a job runs, the person changes a setting of git, which uncovers what was mounted on the file, and an editor asks for the status. The job
// writes settings and hooks that name a program. Git never runs it, and keeps the person's setting; the commit of the job is there.
func TestGitOutsideDuringAJob(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	marker := filepath.Join(p.home, "marker")
	git := func(line string) string {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "HOME="+p.home)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		return string(out)
	}
	git(`git config --global user.name me && git config --global user.email me@example.com && git init -q -b main && git add fact.txt && git commit -qm first`)
	const poison = `printf '[core]\n\tbare = false\n\trepositoryformatversion = 0\n\tfsmonitor = touch %s\n' "$1"`
	last := ""
	p.meeting(`set -- `+marker+`
meet
echo job >fact.txt; git commit -qam job; `+poison+` >>.git/config; mkdir -p ev; cp -r .git/refs .git/objects ev; `+poison+` >ev/config
echo ../ev >.git/commondir; `+poison+` >.git/config.worktree; mkdir -p .git/info; echo '* filter=x' >.git/info/attributes
printf '#!/bin/sh\ntouch %s\n' "$1" >.git/hooks/post-index-change; chmod +x .git/hooks/*
meet
echo ended
`, func() { last = p.job() }, func() { git("git config branch.main.z y") }, func() { git("git status && git log -1 && git branch") })
	git("git status; git checkout -q -b other; git commit -q --allow-empty -m x")
	if _, err := os.Lstat(marker); err == nil {
		t.Error("the program ran")
	}
	if got := git("git config branch.main.z; git log --format=%s main -1; git status --porcelain -uno"); got != "y\njob\n" {
		t.Errorf("got %q", got)
	}
	for _, want := range []string{"ended", ".git/config:", ".git/commondir:"} {
		if !strings.Contains(last, want) {
			t.Errorf("the result has no %q: %s", want, last)
		}
	}
}
