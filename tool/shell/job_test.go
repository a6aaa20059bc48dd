//go:build unix

package shell_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
)

// call runs a tool and returns the model's text.
func call(t testing.TB, one tool.Tool, arguments map[string]any) (string, tool.Result) {
	t.Helper()
	result, err := prepare(t, one, arguments).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return result.Content.Text(), result
}

// until asks for all output of a job until it has a text.
func until(t testing.TB, job tool.Tool, id, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		got, _ := call(t, job, map[string]any{"action": "output", "id": id, "cursor": -1})
		if strings.Contains(got, text) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the job has written %q, not %q", got, text)
		}
	}
}

func TestJob(t *testing.T) {
	ws := open(t)
	tools := shell.New(ws, shell.Options{})
	run, job := tools[0], tools[1]
	if got, _ := call(t, job, map[string]any{"action": "list"}); got != "[no jobs]" {
		t.Errorf("%q", got)
	}
	got, result := call(t, run, map[string]any{"command": "mkfifo go again; echo one; read x <go; printf 'tw\\303'; read x <again; printf '\\266\\n'; exit 2", "background": true})
	if got != "[started as job1; job shows its output, and you get a message when it ends]" || result.Details.(shell.Ran).Job != "job1" {
		t.Errorf("%q, %+v", got, result.Details)
	}
	until(t, job, "job1", "one")
	if got, _ := call(t, job, map[string]any{"action": "output", "id": "job1"}); got != "[job1 is still running; no new output; cursor 4]" {
		t.Errorf("%q", got)
	}
	write := func(pipe string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(ws.Dir(), pipe), []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
	}
	write("go")
	until(t, job, "job1", "one\ntw\n[job1 is still running; cursor 6]") // half of a character is for the next time
	write("again")
	got, result = call(t, job, map[string]any{"action": "wait", "id": "job1"})
	if got != "ö\n[job1 has ended: exit code 2; cursor 9]" || result.IsError {
		t.Errorf("%q", got)
	}
	if d := result.Details.(shell.Job); d.ID != "job1" || d.ExitCode != 2 || d.Bytes != 9 || d.Ended.IsZero() {
		t.Errorf("%+v", d)
	}
	if got, _ := call(t, job, map[string]any{"action": "output", "id": "job1", "cursor": 4}); got != "twö\n[job1 has ended: exit code 2; cursor 9]" {
		t.Errorf("%q", got)
	}
	got, result = call(t, job, map[string]any{"action": "list"})
	if !strings.HasPrefix(got, "job1: exit code 2, 9 bytes of output: mkfifo go again") || len(result.Details.(shell.Jobs).Jobs) != 1 {
		t.Errorf("%q, %+v", got, result.Details)
	}
}

// The callback that reports ends of jobs to the model learns which of them the model has already seen.
func TestTheEndOfAJobIsHeard(t *testing.T) {
	var heard []string
	tools := shell.New(open(t), shell.Options{Reported: func(id string) { heard = append(heard, id) }})
	call(t, tools[0], map[string]any{"command": "exec sleep 1000", "background": true})
	call(t, tools[1], map[string]any{"action": "output", "id": "job1"})
	call(t, tools[1], map[string]any{"action": "list"})
	if heard != nil {
		t.Errorf("%v, and it runs", heard)
	}
	call(t, tools[1], map[string]any{"action": "kill", "id": "job1"})
	call(t, tools[1], map[string]any{"action": "output", "id": "job1"})
	if strings.Join(heard, " ") != "job1 job1" {
		t.Errorf("%v", heard)
	}
}

func TestKillJob(t *testing.T) {
	tools := shell.New(open(t), shell.Options{})
	call(t, tools[0], map[string]any{"command": "echo ready; exec sleep 1000", "background": true})
	until(t, tools[1], "job1", "ready")
	got, result := call(t, tools[1], map[string]any{"action": "wait", "id": "job1", "timeout": 1})
	if got != "[job1 is still running after 1 s; no new output; cursor 6]" || result.IsError {
		t.Errorf("%q", got)
	}
	got, result = call(t, tools[1], map[string]any{"action": "kill", "id": "job1"})
	if got != "[job1 has ended: killed by signal: terminated; no new output; cursor 6]" || !result.Details.(shell.Job).Killed {
		t.Errorf("%q, %+v", got, result.Details)
	}
}

func TestLongOutputOfAJob(t *testing.T) {
	ws := open(t)
	tools := shell.New(ws, shell.Options{})
	call(t, tools[0], map[string]any{"command": "seq 1 100000", "background": true})
	got, result := call(t, tools[1], map[string]any{"action": "wait", "id": "job1"})
	file := result.Details.(shell.Job).File
	if len(got) > 51<<10 || !strings.HasPrefix(got, "1\n2\n") || strings.Count(got, file) != 1 || file == "" ||
		!strings.HasSuffix(got, "\n100000\n[job1 has ended: exit code 0; cursor 588895]") {
		t.Errorf("%d bytes: %.40q … %q", len(got), got, got[len(got)-200:])
	}
	got, _ = call(t, tools[1], map[string]any{"action": "output", "id": "job1", "cursor": 300_000})
	wantNext(t, ws, got)
	got, _ = call(t, tools[1], map[string]any{"action": "output", "id": "job1", "cursor": 588_888})
	if got != "100000\n[job1 has ended: exit code 0; cursor 588895]" {
		t.Errorf("%q", got)
	}
}

func TestArgumentsOfJob(t *testing.T) {
	job := shell.New(open(t), shell.Options{})[1]
	for arguments, want := range map[string]string{
		`{}`:                  "action: missing",
		`{"action":"stop"}`:   "action:",
		`{"action":"wait"}`:   "id: missing; name the job",
		`{"action":"output"}`: "id: missing; name the job",
	} {
		if _, err := job.Prepare(t.Context(), arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", arguments, err, want)
		}
	}
	for action, idempotent := range map[string]bool{"output": true, "wait": true, "kill": false} {
		prepared := prepare(t, job, map[string]any{"action": action, "id": "job9"})
		if e := prepared.Effects; !e.ReadOnly() || e.Idempotent != idempotent {
			t.Errorf("%s: %+v", action, e)
		}
		if _, err := prepared.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), `job "job9" not found`) {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func TestWaitingEndsWithTheCall(t *testing.T) {
	tools := shell.New(open(t), shell.Options{})
	call(t, tools[0], map[string]any{"command": "exec sleep 1000", "background": true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := prepare(t, tools[1], map[string]any{"action": "wait", "id": "job1"}).Run(ctx, nil); err == nil {
		t.Error("no error")
	}
}

func TestTheReportOfAJobThatEnded(t *testing.T) {
	told := make(chan workspace.JobStatus, 1)
	ws, err := workspace.Open(t.TempDir(), workspace.Options{JobEnded: func(s workspace.JobStatus) { told <- s }})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for line, want := range map[string]string{
		"echo done; exit 3": "done\n[the job job1 (echo done; exit 3) has ended: exit code 3]",
		"seq 1 10000":       "\n10000\n[the job job1 (seq 1 10000) has ended: exit code 0]",
		"true\n\n":          "[the job job1 (true) has ended: exit code 0]",
	} {
		if _, err := ws.Start(t.Context(), workspace.Command{Line: line}); err != nil {
			t.Fatal(err)
		}
		s := <-told
		want = strings.ReplaceAll(want, "job1", s.ID)
		if got := shell.Ended(s); !strings.HasSuffix(got, want) || len(got) > 4<<10 {
			t.Errorf("%d bytes, %q; want %q", len(got), got, want)
		}
	}
}

func BenchmarkEightSleeps(b *testing.B) {
	const calls = 8
	tools := shell.New(open(b), shell.Options{})
	for b.Loop() {
		done := make(chan error)
		for i := range calls {
			one := prepare(b, tools[0], map[string]any{"command": "sleep 1; echo " + strconv.Itoa(i)})
			go func() {
				_, err := one.Run(b.Context(), nil)
				done <- err
			}()
		}
		for range calls {
			if err := <-done; err != nil {
				b.Fatal(err)
			}
		}
	}
}

// A command that ends within the time of yield has the result of any command. Another one continues as a job, and a cancelled one is killed.
func TestYield(t *testing.T) {
	var heard []string
	ws := open(t)
	tools := shell.New(ws, shell.Options{Reported: func(id string) { heard = append(heard, id) }})
	got, result := call(t, tools[0], map[string]any{"command": "echo one; exit 3", "yield": 600})
	if d := result.Details.(shell.Ran); got != "one\n[exit code 3]" || !result.Failed || d.ExitCode != 3 || d.Job != "" || strings.Join(heard, "") != "job1" {
		t.Errorf("%q, %+v, %v", got, d, heard)
	}
	live := make(chan string, 2)
	result, err := prepare(t, tools[0], map[string]any{"command": "mkfifo go; echo two; read x <go; echo three", "yield": 1}).Run(t.Context(), func(text string) { live <- text })
	if text := <-live; err != nil || text != "two\n" {
		t.Errorf("%q, %v", text, err)
	}
	got = result.Content.Text()
	if d := result.Details.(shell.Ran); got != "two\n[job2 is still running after 1 s, and continues as a background job; cursor 4]" || d.Job != "job2" || result.Failed {
		t.Errorf("%q, %+v", got, d)
	}
	if err := os.WriteFile(filepath.Join(ws.Dir(), "go"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if got, _ := call(t, tools[1], map[string]any{"action": "wait", "id": "job2"}); got != "three\n[job2 has ended: exit code 0; cursor 10]" {
		t.Errorf("%q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result, err = prepare(t, tools[0], map[string]any{"command": "echo four; exec sleep 1000", "yield": 600}).Run(ctx, func(string) { cancel() })
	if d := result.Details.(shell.Ran); err != nil || !result.IsError || !d.Cancelled || !strings.Contains(result.Content.Text(), "four\n[cancelled") {
		t.Errorf("%q, %+v, %v", result.Content.Text(), d, err)
	}
}
