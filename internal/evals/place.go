package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed prelude.sh
var prelude string

// place is the directory of one trial. The repository has a name that does not give the task away.
type place struct {
	task  *Task
	top   string // everything of the trial
	repo  string // the repository that the model sees
	check string // the files of the check; empty during the run
	start string // the commit at the start
	tree  string // the files at the start, as a tree of the snapshots
}

// Diff is the size of the changes of a run.
type Diff struct {
	Files   int `json:"files"`
	Added   int `json:"added"`   // lines
	Removed int `json:"removed"` // lines
}

// prepare creates the repository of a task below top.
func prepare(ctx context.Context, t *Task, top string) (*place, error) {
	p := &place{task: t, top: top, repo: filepath.Join(top, "project"), check: filepath.Join(top, "check")}
	if err := writeFiles(p.repo, t.Repo); err != nil {
		return nil, err
	}
	const begin = `git init -q -b main && git config user.name Dev && git config user.email dev@example.com && git config commit.gpgsign false &&
		git config core.autocrlf false && git add -A && git commit -q -m "Initial commit"`
	for _, script := range []string{begin, t.Setup} {
		if strings.TrimSpace(script) == "" {
			continue
		}
		if out, err := p.shell(ctx, "set -eu\n"+script); err != nil {
			return nil, fmt.Errorf("cannot set up task %s: %w: %s", t.Name, err, out)
		}
	}
	head, err := p.git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	p.start = strings.TrimSpace(head)
	if _, err := p.git(ctx, "init", "-q", "--bare", p.snapshots()); err != nil {
		return nil, err
	}
	p.tree, err = p.snapshot(ctx)
	return p, err
}

// snapshots is a git directory outside of the repository: a snapshot changes nothing that the model sees.
func (p *place) snapshots() string { return filepath.Join(p.top, "snapshots") }

// snapshot saves all files of the repository, without the ignored ones, and returns their tree.
func (p *place) snapshot(ctx context.Context) (string, error) {
	own := []string{"--git-dir=" + p.snapshots(), "--work-tree=" + p.repo, "-c", "core.autocrlf=false", "-c", "core.safecrlf=false"}
	if _, err := p.git(ctx, append(own, "add", "-A", ".")...); err != nil {
		return "", err
	}
	tree, err := p.git(ctx, append(own, "write-tree")...)
	return strings.TrimSpace(tree), err
}

// judge runs the check of the task, and measures the changes since the start.
func (p *place) judge(ctx context.Context, answer string) (solved bool, output string, size Diff, err error) {
	after, err := p.snapshot(ctx)
	if err != nil {
		return false, "", Diff{}, err
	}
	diff := func(form string) (string, error) {
		return p.git(ctx, "--git-dir="+p.snapshots(), "-c", "core.quotepath=false", "diff", "--no-renames", form, p.tree, after)
	}
	files := map[string]string{"answer": answer}
	for name, form := range map[string]string{"diff": "--patch", "changed": "--name-only", "numbers": "--numstat"} {
		if files[name], err = diff(form); err != nil {
			return false, "", Diff{}, err
		}
	}
	size = sizeOf(files["numbers"])
	if err := writeFiles(filepath.Join(p.top, "facts"), files); err != nil {
		return false, "", Diff{}, err
	}
	if err := writeFiles(p.check, p.task.Hidden); err != nil {
		return false, "", Diff{}, err
	}
	output, err = p.shell(ctx, prelude+"\n"+p.task.Check)
	if _, failed := errors.AsType[*exec.ExitError](err); failed && ctx.Err() == nil {
		return false, output, size, nil
	}
	return err == nil, output, size, err
}

// solve applies the reference solution.
func (p *place) solve(ctx context.Context) error {
	if err := writeFiles(p.repo, p.task.Files); err != nil {
		return err
	}
	if strings.TrimSpace(p.task.Script) == "" {
		return nil
	}
	if out, err := p.shell(ctx, "set -eu\n"+p.task.Script); err != nil {
		return fmt.Errorf("the solution of task %s fails: %w: %s", p.task.Name, err, out)
	}
	return nil
}

// shell runs a script of the task in the repository, and returns its output.
func (p *place) shell(ctx context.Context, script string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Env = p.repo, p.environment()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// git runs git in the repository.
func (p *place) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = p.repo, p.environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.String(), nil
}

// environment is the same on every machine: scripts of tasks depend on no configuration and no network.
func (p *place) environment() []string {
	facts := filepath.Join(p.top, "facts")
	flags := "-vet=off"
	if slices.Contains(strings.Fields(os.Getenv("GOFLAGS")), "-trimpath") {
		flags += " -trimpath" // as the standard library in the cache was compiled
	}
	return append(withoutGit(os.Environ()),
		"LC_ALL=C", "TZ=UTC", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_DATE=2026-01-05T12:00:00Z", "GIT_COMMITTER_DATE=2026-01-05T12:00:00Z", "GIT_EDITOR=true",
		"GOFLAGS="+flags, "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off", "CGO_ENABLED=0",
		"CHECK="+p.check, "START="+p.start, "ANSWER="+filepath.Join(facts, "answer"),
		"DIFF="+filepath.Join(facts, "diff"), "CHANGED="+filepath.Join(facts, "changed"))
}

// withoutGit removes the variables that lead git to another repository, as in a hook of git.
func withoutGit(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, "GIT_") })
}

// sizeOf reads the output of git diff --numstat.
func sizeOf(numbers string) (d Diff) {
	for line := range strings.Lines(numbers) {
		d.Files++
		fields := strings.Fields(line)
		added, _ := strconv.Atoi(fields[0]) // "-" of a binary file is 0
		removed, _ := strconv.Atoi(fields[1])
		d.Added += added
		d.Removed += removed
	}
	return d
}

// writeFiles writes files below a directory. It creates directories.
func writeFiles(dir string, files map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte(files[name]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
