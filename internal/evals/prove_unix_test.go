//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
)

// loaded returns the tasks of the program.
func loaded(t *testing.T) []*Task {
	t.Helper()
	all, err := loadTasks(tasks)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every check decides: it fails without work, and passes with the reference solution.
func TestEveryTaskIsProven(t *testing.T) {
	all := loaded(t)
	if len(all) != 40 {
		t.Errorf("there are %d tasks, not 40", len(all))
	}
	prompts := map[string]bool{}
	for i, task := range all {
		if prompts[task.Prompt] {
			t.Errorf("task %s has the prompt of another task", task.Name)
		}
		prompts[task.Prompt] = true
		if !sample.Takes(i, 4, 8) {
			continue
		}
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			if err := prove(t.Context(), task, filepath.Join(t.TempDir(), "trial")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A check that does not decide has no proof.
func TestAnEmptyCheckHasNoProof(t *testing.T) {
	const head = "category: edit\nabout: x\n-- repo/a --\na\n-- prompt --\nx\n-- answer --\nyes\n-- check --\n"
	for check, want := range map[string]string{
		"true\n":           "passes without work",
		"fail 'too late'":  "fails with the reference solution: too late",
		"says yes; exit 3": "fails with the reference solution",
	} {
		task, err := parseTask("x", head+check)
		if err != nil {
			t.Fatal(err)
		}
		if err := prove(t.Context(), task, filepath.Join(t.TempDir(), "trial")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", check, err, want)
		}
	}
}
