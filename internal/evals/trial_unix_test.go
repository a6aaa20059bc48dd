//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/program"
)

// fake is a program that answers as Tenon does, and then runs a script.
func fake(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fake")
	text := "#!/bin/sh\nif [ \"$1\" = version ]; then echo tenon v9; exit; fi\n" + script
	if err := program.Write(name, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return name
}

const header1 = `echo '{"type":"tenon.stream","version":1,"tenon":"v9","session":"s"}'` + "\n"

// A program that dies is a trial, with the facts until then.
func TestAProgramThatDies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.json")
	var out, log bytes.Buffer
	args := []string{"run", "--model", "a/b", "--tasks", "explain-error", "--out", file, "--program", fake(t, header1+"kill -9 $$\n")}
	if code := run(t.Context(), args, &out, &log); code != 0 {
		t.Fatal(code, log.String())
	}
	r, err := loadResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Trials[0]; got.End() != "crashed" || got.Exit != -1 || got.Session != "s" || got.Solved || r.Setup.Tenon != "tenon v9" {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(out.String(), "crashed") {
		t.Error(out.String())
	}
}

// A run that leaves something behind that cannot be judged did not solve its task, and the measurement continues.
func TestWorkThatCannotBeJudged(t *testing.T) {
	for _, script := range []string{"git init -q sub\n", "cd .. && rm -rf project\n"} {
		file := filepath.Join(t.TempDir(), "r.json")
		var out, log bytes.Buffer
		args := []string{"run", "--model", "a/b", "--tasks", "ambiguous", "--repeat", "2", "--parallel", "1", "--out", file, "--program", fake(t, header1+script)}
		if code := run(t.Context(), args, &out, &log); code != 0 {
			t.Fatal(code, log.String())
		}
		r, err := loadResults(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, trial := range r.Trials {
			if trial.Repeat != i+1 || trial.Solved || !strings.Contains(trial.Check, "the work cannot be judged") {
				t.Errorf("%+v", trial)
			}
		}
		if len(r.Trials) != 2 || !strings.Contains(log.String(), "[2/2] FAILED  ambiguous (2)") {
			t.Errorf("%d trials: %s", len(r.Trials), log.String())
		}
	}
}

// The program gets the flags that the documents name, the environment of the person, and a data directory of its own. The directory of a
// trial stays if it is asked for.
func TestTheProgramGets(t *testing.T) {
	t.Setenv("SOME_API_KEY", "k")
	t.Setenv("GIT_DIR", "elsewhere")
	keep := t.TempDir()
	var out, log bytes.Buffer
	args := []string{
		"run", "--model", "a/b@high", "--tasks", "denied-secret", "--keep", keep, "--limit-cost", "0.25", "--timeout", "90s",
		"--program", fake(t, header1+`printf '%s\n' "$@" >args; env >env`), "--", "--thinking", "low",
	}
	if code := run(t.Context(), args, &out, &log); code != 0 {
		t.Fatal(code, log.String())
	}
	text := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(keep, "denied-secret-1", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := "run --model a/b@high --mode auto --output stream-json --timeout 1m30s --max-cost 0.25 --deny read(secrets/**) --deny shell(cat secrets/*) --thinking low -- Which"
	if got := strings.Join(strings.Split(text("project/args"), "\n"), " "); !strings.HasPrefix(got, want) {
		t.Errorf("arguments %s, want %s", got, want)
	}
	env := text("project/env")
	if !strings.Contains(env, "SOME_API_KEY=k\n") || strings.Contains(env, "GIT_DIR=") ||
		!strings.Contains(env, "TENON_DATA_DIR="+filepath.Join(keep, "denied-secret-1", "data")+"\n") {
		t.Error(env)
	}
	if !strings.Contains(text("stream.jsonl"), "tenon.stream") {
		t.Error("there is no stream")
	}
}

// The first fault of the harness itself ends a measurement, and says what is wrong. The trials before it stay in the file.
func TestAProgramThatIsNotTenon(t *testing.T) {
	for script, want := range map[string]string{
		header1 + "echo 'unknown flag: --mode' >&2; exit 2\n": "the program refuses its arguments: unknown flag: --mode",
		"echo hello\n": "cannot run task ambiguous: cannot read line 1 of the event stream",
	} {
		var out, log bytes.Buffer
		args := []string{"run", "--model", "a/b", "--tasks", "ambiguous,where-is", "--parallel", "1", "--program", fake(t, script)}
		if code := run(t.Context(), args, &out, &log); code != 1 || !strings.Contains(log.String(), want) {
			t.Errorf("exit code %d: %s, want %q", code, log.String(), want)
		}
	}
}

// Ctrl+C ends the programs, and keeps the finished trials.
func TestAnInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	file := filepath.Join(t.TempDir(), "r.json")
	var out bytes.Buffer
	log := &watcher{want: "[1/2]", then: cancel}
	// The first task ends at once. The second one waits for its signal.
	script := header1 + "case \"$*\" in *push\\ it*) exec tail -f /dev/null ;; esac\n"
	args := []string{"run", "--model", "a/b", "--tasks", "ambiguous,denied-push", "--parallel", "1", "--out", file, "--program", fake(t, script)}
	if code := run(ctx, args, &out, log); code != 130 || !strings.Contains(log.String(), "interrupted") {
		t.Errorf("exit code %d: %s", code, log.String())
	}
	r, err := loadResults(file)
	if err != nil || len(r.Trials) != 1 || r.Trials[0].Task != "ambiguous" {
		t.Errorf("%+v, %v", r, err)
	}
}

// watcher calls then when it has seen want.
type watcher struct {
	bytes.Buffer
	want string
	then func()
}

func (w *watcher) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.want) {
		w.then()
	}
	return n, err
}
