//go:build unix

package workspace_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// colleague is one of several sessions that work in a directory, with what its journal has of files.
type colleague struct {
	*workspace.Workspace
	mu      sync.Mutex
	changes map[string]string // by path: "sure" or why not
}

func newColleague(t *testing.T, dir, name string, shared *workspace.Shared) *colleague {
	t.Helper()
	kept := contents.NewDir(filepath.Join(t.TempDir(), "kept"), contents.Options{})
	c := &colleague{changes: map[string]string{}}
	c.Workspace = openWith(t, dir, workspace.Options{
		Session: name, Shared: shared, Checkpoints: kept,
		Changed: func(_ context.Context, changes []workspace.Change) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, change := range changes {
				name := filepath.Base(change.Path)
				if c.changes[name] = "sure"; change.Unsure != "" {
					c.changes[name] = change.Unsure
				}
			}
			return nil
		},
	})
	t.Cleanup(func() { // before the store
		c.EndJobs()
	})
	return c
}

func (c *colleague) told() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.changes)) {
		out = append(out, name+": "+c.changes[name])
	}
	return strings.Join(out, "; ")
}

func (c *colleague) run(t *testing.T, line string) {
	t.Helper()
	done, err := c.Run(t.Context(), workspace.Command{Line: line})
	if err != nil || done.ExitCode != 0 || done.Trouble != nil {
		t.Fatalf("%s: %+v, %v", line, done, err)
	}
}

// Sessions that share a directory have their own changes: those of tools always, also while a command of another runs, and those of
// commands unless commands of two sessions overlap.
func TestSharedDirectory(t *testing.T) {
	dir, shared := realDir(t), new(workspace.Shared)
	a, b := newColleague(t, dir, "a", shared), newColleague(t, dir, "b", shared)

	a.run(t, "echo 1 > by-a")
	b.run(t, "echo 1 > by-b")
	if a.told() != "by-a: sure" || b.told() != "by-b: sure" {
		t.Fatalf("one after the other: %s; %s", a.told(), b.told())
	}

	// A tool of b, while a command of a runs.
	job, err := a.Start(t.Context(), workspace.Command{Line: "echo 2 > by-job; echo started; read line < pipe || sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, job)
	if err := b.WriteFile(t.Context(), "tool-of-b", []byte("x"), nil); err != nil {
		t.Fatal(err)
	}
	if got := b.told(); got != "by-b: sure; tool-of-b: sure" {
		t.Errorf("the tool of b: %s", got)
	}
	if _, err := job.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := a.told(); got != "by-a: sure; by-job: sure" {
		t.Errorf("after the job of a: %s", got)
	}

	// Commands that overlap.
	job, err = a.Start(t.Context(), workspace.Command{Line: "echo 3 > later-by-job; echo started; sleep 1000"})
	if err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, job)
	b.run(t, "echo 3 > overlapping")
	if _, err := job.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	unsure := func(session string) string { return "a command of session " + session + " ran at the same time" }
	if got := b.told(); got != fmt.Sprintf("by-b: sure; overlapping: %s; tool-of-b: sure", unsure("a")) {
		t.Errorf("b: %s", got)
	}
	if got := a.told(); got != fmt.Sprintf("by-a: sure; by-job: sure; later-by-job: sure; overlapping: %s", unsure("b")) {
		t.Errorf("a: %s", got)
	}

	// Later commands are sure again.
	b.run(t, "echo 4 > by-b-again")
	if !strings.Contains(b.told(), "by-b-again: sure") {
		t.Errorf("b: %s", b.told())
	}
}

func awaitOutput(t *testing.T, job *workspace.Job) {
	t.Helper()
	for job.Output(0, 100).Size == 0 && job.Status().Ended.IsZero() {
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		runtime.Gosched()
	}
}

// A session that ends takes its jobs with it, and no others.
func TestJobsOfASession(t *testing.T) {
	dir, shared := realDir(t), new(workspace.Shared)
	a, b := newColleague(t, dir, "a", shared), newColleague(t, dir, "b", shared)
	of := map[*colleague]*workspace.Job{}
	for _, c := range []*colleague{a, b} {
		job, err := c.Start(t.Context(), workspace.Command{Line: "echo started; sleep 1000"})
		if err != nil {
			t.Fatal(err)
		}
		awaitOutput(t, job)
		of[c] = job
	}
	a.EndJobs()
	if of[a].Status().Ended.IsZero() || of[a].Status().Session != "a" {
		t.Errorf("the job of a: %+v", of[a].Status())
	}
	if s := of[b].Status(); !s.Ended.IsZero() || s.Session != "b" {
		t.Errorf("the job of b: %+v", s)
	}
	if len(b.Jobs()) != 1 {
		t.Errorf("b has %d jobs", len(b.Jobs()))
	}
}

// Sessions of a directory have one baseline, and each keeps the contents of its own changes only. The last one removes the baseline.
func TestSessionsShareOneBaseline(t *testing.T) {
	dir, baselines := realDir(t), filepath.Join(t.TempDir(), "baselines")
	write(t, dir, map[string]string{"of-a": "a before", "of-b": "b before", "untouched": "u"})
	shared := &workspace.Shared{Baselines: baselines}
	kept := map[string]contents.Store{}
	var all []*workspace.Workspace
	for _, name := range []string{"a", "b"} {
		kept[name] = contents.NewDir(filepath.Join(t.TempDir(), name), contents.Options{})
		w, err := workspace.Open(dir, workspace.Options{
			Session: name, Shared: shared, Checkpoints: kept[name], Changed: func(context.Context, []workspace.Change) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
		if done, err := w.Run(t.Context(), workspace.Command{Line: "echo after > of-" + name}); err != nil || done.Trouble != nil {
			t.Fatal(err, done.Trouble)
		}
	}
	if n := len(glob(t, filepath.Join(baselines, "*"))); n != 1 {
		t.Errorf("%d baselines for one directory", n)
	}
	for name, store := range kept {
		for _, text := range []string{"a before", "b before", "u"} {
			_, err := contents.Get(t.Context(), store, hashOf(text))
			if own := text == name+" before"; own != (err == nil) {
				t.Errorf("session %s, content %q: %v", name, text, err)
			}
		}
	}
	for _, w := range all {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := glob(t, filepath.Join(baselines, "*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
