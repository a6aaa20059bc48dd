//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/tenon-agent/tenon/workspace"
)

// If a job counts as awaited, its waiter knows that it has ended, even if the waiter's context ended at the same time.
func TestAwaitedMeansKnown(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			job := workspace.NewJob()
			ctx, cancel := context.WithCancel(t.Context())
			known := make(chan bool, 1)
			go func() {
				s, err := job.Wait(ctx)
				if known <- err == nil; (err == nil) == s.Ended.IsZero() {
					t.Errorf("%+v, %v", s, err)
				}
			}()
			synctest.Wait() // it waits
			cancel()
			if status := job.End(); status.Awaited && !<-known {
				t.Error("the job counts as awaited, but its waiter does not know the end")
			}
		})
	}
}

// Commands that are made from one another share nothing.
func TestCommandsWithOneEnvironment(t *testing.T) {
	w := open(t, t.TempDir())
	shared := append(make([]string, 0, 8), "A=b")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if done, err := w.Run(context.Background(), workspace.Command{Line: "echo $A", Env: shared}); err != nil || done.Head != "b\n" {
				t.Errorf("%+v, %v", done, err)
			}
		})
	}
	all.Wait()
	if extra := shared[:2][1]; extra != "" {
		t.Errorf("what was handed in has %q now", extra)
	}
}

// The end of the jobs is not the end of the commands: what kills those when this process dies lives on.
func TestEndJobsLeavesTheGuard(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	w := open(t, t.TempDir())
	guards := func() (n int) {
		for _, pid := range children(t) {
			if text, _ := os.ReadFile("/proc/" + pid + "/cmdline"); strings.Contains(string(text), "tenon-guard") {
				n++
			}
		}
		return n
	}
	done, err := w.Run(t.Context(), workspace.Command{Line: "echo ready", Report: func([]byte) { w.EndJobs() }})
	if err != nil || done.ExitCode != 0 || guards() != 1 {
		t.Errorf("%+v, %v, %d guards", done, err, guards())
	}
	if _, err := w.Start(t.Context(), workspace.Command{Line: "true"}); err == nil {
		t.Error("a job began after the end of jobs")
	}
	if err := w.Close(); err != nil || guards() != 0 {
		t.Errorf("%v, %d guards", err, guards())
	}
}

// children are the processes that this one has started, by any of its threads.
func children(t *testing.T) (pids []string) {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Skip(err)
		}
		pids = append(pids, strings.Fields(string(text))...)
	}
	return pids
}

// Whenever the kill comes: all that began ends with it, and nothing begins after it.
func TestKillAtAnyTime(t *testing.T) {
	for n := range 20 {
		w := open(t, t.TempDir())
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				c := workspace.Command{Line: "trap '' TERM; sleep 1000 & sleep 1000"}
				for {
					err := error(nil)
					if i%2 == 0 {
						_, err = w.Run(context.Background(), c)
					} else if job, failed := w.Start(context.Background(), c); failed == nil {
						_, err = job.Wait(context.Background())
					} else {
						err = failed
					}
					if err != nil {
						return
					}
				}
			})
		}
		for begun := 0; begun < n/2 && runtime.GOOS == "linux"; begun = len(inside(t, w.Dir())) {
			runtime.Gosched()
		}
		w.Kill()
		all.Wait()
		if runtime.GOOS == "linux" {
			empty(t, w.Dir())
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
