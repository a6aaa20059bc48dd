package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// grace is how long a program may take to end after its own --timeout, and after an interrupt.
const (
	grace     = time.Minute
	interrupt = 10 * time.Second
)

// checkTime limits the check of a task.
const checkTime = 2 * time.Minute

// subject is what a measurement measures.
type subject struct {
	program string // path
	setup   Setup
	timeout time.Duration // of one run
	cost    float64       // US dollars of one run; 0: the limit of the program
	keep    string        // directory in which the directories of the trials stay; empty: they are removed
}

// trial lets the program work on a task, and judges the work.
func (s *subject) trial(ctx context.Context, t *Task, repeat int) (_ Trial, err error) {
	trial := Trial{Task: t.Name, Category: t.Category, Repeat: repeat}
	top, remove, err := s.directory(fmt.Sprintf("%s-%d", t.Name, repeat))
	if err != nil {
		return trial, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	p, err := prepare(ctx, t, top)
	if err != nil {
		return trial, err
	}
	trial.Run, err = s.run(ctx, p)
	if err != nil {
		return trial, fmt.Errorf("cannot run task %s: %w", t.Name, err)
	}
	checking, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	trial.Solved, trial.Check, trial.Diff, err = p.judge(checking, trial.Answer)
	trial.Check = firstBytes(trial.Check, answerBytes)
	switch {
	case ctx.Err() != nil:
		return trial, ctx.Err()
	case checking.Err() != nil:
		trial.Check += "\nthe check took longer than " + checkTime.String()
	case err != nil: // the run left a repository that git cannot read, or none
		trial.Check += "\nthe work cannot be judged: " + err.Error()
	}
	return trial, nil
}

// directory creates the directory of a trial. Its second result removes it.
func (s *subject) directory(name string) (string, func() error, error) {
	if s.keep == "" {
		dir, err := os.MkdirTemp("", "evals-")
		return dir, func() error { return removeAll(dir) }, err
	}
	dir, err := filepath.Abs(filepath.Join(s.keep, name))
	if err != nil {
		return "", nil, err
	}
	if err := removeAll(dir); err != nil {
		return "", nil, err
	}
	return dir, func() error { return nil }, os.MkdirAll(dir, 0o755)
}

// removeAll removes a directory, also one with read-only directories, such as a cache of modules.
func removeAll(dir string) error {
	if err := os.RemoveAll(dir); err == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(name, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}

// run runs the program in a prepared place, and reads its event stream.
func (s *subject) run(ctx context.Context, p *place) (Run, error) {
	args := []string{"run", "--model", s.setup.Model, "--mode", s.setup.Mode, "--output", "stream-json", "--timeout", s.timeout.String()}
	if s.cost > 0 {
		args = append(args, "--max-cost", strconv.FormatFloat(s.cost, 'f', -1, 64))
	}
	for _, rule := range p.task.Deny {
		args = append(args, "--deny", rule)
	}
	args = append(append(args, s.setup.Args...), "--", strings.TrimSpace(p.task.Prompt))
	env := append(withoutGit(os.Environ()), "TENON_DATA_DIR="+filepath.Join(p.top, "data"), "TENON_TITLES=off")
	if p.task.Window > 0 {
		dir, err := s.smallWindow(ctx, p)
		if err != nil {
			return Run{}, err
		}
		defer removeAll(dir) // it may contain keys, and the directory above it may stay
		env = append(env, "TENON_CONFIG_DIR="+dir)
	}

	stdout, err := os.Create(filepath.Join(p.top, "stream.jsonl"))
	if err != nil {
		return Run{}, err
	}
	defer stdout.Close() // after reading; a write error shows as a cut stream
	stderr, err := os.Create(filepath.Join(p.top, "stderr.txt"))
	if err != nil {
		return Run{}, err
	}
	defer stderr.Close()

	limited, cancel := context.WithTimeout(ctx, s.timeout+grace)
	defer cancel()
	cmd := exec.CommandContext(limited, s.program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.repo, env, stdout, stderr
	cmd.WaitDelay = interrupt
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil { // Windows has no interrupt
			return cmd.Process.Kill()
		}
		return nil
	}
	start := time.Now()
	err = cmd.Run()
	if ctx.Err() != nil {
		return Run{}, ctx.Err()
	}
	if cmd.ProcessState == nil {
		return Run{}, err // it did not start
	}
	return s.facts(p, stdout, cmd.ProcessState.ExitCode(), time.Since(start), limited.Err() != nil)
}

// facts reads what a run left behind.
func (s *subject) facts(p *place, stdout io.ReadSeeker, exit int, took time.Duration, killed bool) (Run, error) {
	if _, err := stdout.Seek(0, io.SeekStart); err != nil {
		return Run{}, err
	}
	f, err := readStream(stdout)
	if err != nil {
		return Run{}, err
	}
	f.run.Exit, f.run.Seconds = exit, took.Seconds()
	if killed {
		f.run.Reason = "killed"
	}
	if f.run.Turns == 0 && exit == 2 { // no trial is better: every task would fail in the same way
		text, _ := os.ReadFile(filepath.Join(p.top, "stderr.txt"))
		return Run{}, fmt.Errorf("the program refuses its arguments: %s", firstBytes(strings.TrimSpace(string(text)), answerBytes))
	}
	return f.run, nil
}

// smallWindow copies the person's configuration and gives the model the context window of the task. It returns the new directory.
func (s *subject) smallWindow(ctx context.Context, p *place) (string, error) {
	name, err := s.configuration(ctx)
	if err != nil {
		return "", err
	}
	to := filepath.Join(p.top, "config")
	settings := map[string]any{}
	files, err := os.ReadDir(filepath.Dir(name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return "", err
	}
	for _, f := range files {
		if !f.Type().IsRegular() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(name), f.Name()))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(to, f.Name()), text, 0o600); err != nil {
			return "", err
		}
		if f.Name() != filepath.Base(name) {
			continue
		}
		plain, err := hujson.Standardize(text)
		if err == nil {
			err = json.Unmarshal(plain, &settings)
		}
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w; see tenon config check", name, err)
		}
	}
	known, _ := settings["models"].(map[string]any)
	if known == nil {
		known = map[string]any{}
	}
	reference, _, _ := strings.Cut(s.setup.Model, "@")
	model, _ := known[reference].(map[string]any)
	if model == nil {
		model = map[string]any{}
	}
	model["context"], model["max_output"] = p.task.Window, p.task.Window/8
	known[reference], settings["models"] = model, known
	text, err := json.Marshal(settings)
	if err != nil {
		return "", err
	}
	return to, os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o600)
}

// configuration returns the path of the person's tenon.json.
func (s *subject) configuration(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, s.program, "config", "path", "--json").Output()
	if err != nil {
		return "", fmt.Errorf("cannot ask %s for the path of its configuration: %w", s.program, err)
	}
	var paths []struct{ What, Path string }
	if err := json.Unmarshal(out, &paths); err != nil {
		return "", fmt.Errorf("cannot read the output of config path --json: %w", err)
	}
	for _, p := range paths {
		if p.What == "configuration" {
			return p.Path, nil
		}
	}
	return "", errors.New("config path --json does not list the configuration; use a newer --program")
}
