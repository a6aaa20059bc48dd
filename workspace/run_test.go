//go:build unix

package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/redact"
	"github.com/tenon-agent/tenon/workspace"
)

func run(t testing.TB, w *workspace.Workspace, line string) workspace.Finished {
	t.Helper()
	done, err := w.Run(t.Context(), workspace.Command{Line: line})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return done
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"sub/file": "content"})
	w := open(t, dir)
	tests := []struct {
		name   string
		c      workspace.Command
		output string
		code   int
	}{
		{"output and success", workspace.Command{Line: "echo hello"}, "hello\n", 0},
		{"both streams in order", workspace.Command{Line: "echo 1; echo 2 >&2; echo 3; echo 4 >&2"}, "1\n2\n3\n4\n", 0},
		{"exit code", workspace.Command{Line: "echo no; exit 3"}, "no\n", 3},
		{"unknown command", workspace.Command{Line: "exec 2>/dev/null; no-such-command"}, "", 127},
		{"nothing to read", workspace.Command{Line: "cat; read x; echo $?"}, "1\n", 0},
		{"no terminal", workspace.Command{Line: "(: </dev/tty) 2>/dev/null || echo none; test -t 0 || test -t 1 || echo none"}, "none\nnone\n", 0},
		{"no pager, no editor", workspace.Command{Line: `echo "$PAGER $GIT_PAGER $GIT_EDITOR $GIT_TERMINAL_PROMPT $TERM"`}, "cat cat true 0 dumb\n", 0},
		{"at the root", workspace.Command{Line: "pwd -P; echo $PWD"}, w.Dir() + "\n" + w.Dir() + "\n", 0},
		{"in a directory", workspace.Command{Line: "cat file", Dir: "sub"}, "content", 0},
		{"with a variable", workspace.Command{Line: "echo $A", Env: []string{"A=b"}}, "b\n", 0},
		{"a session of its own", workspace.Command{Line: `ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo own`}, "own\n", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			done, err := w.Run(t.Context(), test.c)
			if err != nil || done.Head != test.output || done.ExitCode != test.code || done.Bytes != 0 || done.File != "" || done.Left {
				t.Errorf("%+v, %v; want %q and %d", done, err, test.output, test.code)
			}
		})
	}
	t.Run("a signal", func(t *testing.T) {
		if done := run(t, w, "kill -USR1 $$"); done.ExitCode != -1 || done.Signal != syscall.SIGUSR1.String() {
			t.Errorf("%+v", done)
		}
	})
	t.Run("in a file", func(t *testing.T) {
		if _, err := w.Run(t.Context(), workspace.Command{Line: "true", Dir: "sub/file"}); err == nil {
			t.Error("a file is taken for a directory")
		}
	})
	t.Run("already cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		cancel(why)
		if _, err := w.Run(ctx, workspace.Command{Line: "touch " + filepath.Join(dir, "ran")}); !errors.Is(err, why) {
			t.Errorf("error %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Error("it ran")
		}
	})
	t.Run("no shell", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		if _, err := w.Run(t.Context(), workspace.Command{Line: "true"}); err == nil || !strings.Contains(err.Error(), "shell") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("reported at once", func(t *testing.T) {
		var told bytes.Buffer
		done, err := w.Run(t.Context(), workspace.Command{Line: "echo a; echo b", Report: func(text []byte) { told.Write(text) }})
		if err != nil || told.String() != done.Head {
			t.Errorf("reported %q of %q, %v", &told, done.Head, err)
		}
	})
}

// A long output is in the directory of outputs, under one name from its beginning. A later workspace reads it.
func TestLongOutputsStay(t *testing.T) {
	dir := filepath.Join(realDir(t), "outputs")
	w := openWith(t, t.TempDir(), workspace.Options{Outputs: dir})
	done, err := w.Run(t.Context(), workspace.Command{Line: "seq 1 1000", Capture: 100})
	if err != nil || done.Trouble != nil || filepath.Dir(done.File) != dir {
		t.Fatalf("the output is in %q, %v, %v", done.File, err, done.Trouble)
	}
	kept, err := w.KeepOutput("a long text")
	if err != nil {
		t.Fatal(err)
	}
	release := filepath.Join(t.TempDir(), "release")
	job := start(t, w, workspace.Command{Line: "seq 1 2000; until test -e " + release + "; do :; done; echo end", Capture: 100})
	var first string
	for first == "" {
		first = job.Output(0, 10).File // while the job runs
		runtime.Gosched()
	}
	if err := os.WriteFile(release, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	status, err := job.Wait(t.Context())
	if err != nil || status.File != first || job.Output(0, 0).File != first {
		t.Errorf("the output of a job is in %q, then in %q, %v", first, status.File, err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	w = openWith(t, t.TempDir(), workspace.Options{Outputs: dir}) // a later process
	for file, want := range map[string]string{done.File: "\n1000\n", kept: "a long text", status.File: "\n2000\nend\n"} {
		if data, err := w.ReadFile(file, 1<<20); err != nil || !strings.HasSuffix(string(data), want) {
			t.Errorf("%q has %d bytes, %v", file, len(data), err)
		}
		if err := w.WriteFile(t.Context(), file, []byte("x"), nil); err == nil {
			t.Errorf("%q can be written", file)
		}
	}
	if again, err := w.KeepOutput("another text"); err != nil || again == done.File || again == kept || again == status.File {
		t.Errorf("a name is used again: %q, %v", again, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 4 {
		t.Errorf("%v, %v: not one file for each output", files, err)
	}
	if _, err := openWith(t, t.TempDir(), workspace.Options{}).KeepOutput("x"); err == nil {
		t.Error("a workspace without a directory keeps a text")
	}
}

// The oldest outputs go when there are too many.
func TestOldOutputsGo(t *testing.T) {
	dir := filepath.Join(realDir(t), "outputs")
	w := openWith(t, t.TempDir(), workspace.Options{Outputs: dir})
	var names []string
	for range 3 {
		name, err := w.KeepOutput("x")
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	for _, name := range names[:2] { // large, and no blocks on the disk
		if err := os.Truncate(name, 400<<20); err != nil {
			t.Fatal(err)
		}
	}
	last, err := w.KeepOutput("y")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range append(names, last) {
		if _, err := os.Stat(name); (err == nil) != (i > 0) {
			t.Errorf("file %d: %v", i, err)
		}
	}
}

// No secret reaches the disk, memory or the report, even if the output brings it in two parts.
func TestOutputIsCleaned(t *testing.T) {
	const secret = "sk-planted-0123456789-ABCDwxyz"
	dir := filepath.Join(realDir(t), "outputs")
	var reported bytes.Buffer
	w := openWith(t, t.TempDir(), workspace.Options{Outputs: dir, Clean: redact.New(secret).Writer})
	// The pause lets the first half arrive alone; a later line crosses the buffer of the reader.
	line := "printf sk-planted-; read -t 0.2 < <(sleep 1); printf '0123456789-ABCDwxyz\n'; for i in $(seq 3000); do echo 'padding sk-planted-0123456789-ABCDwxyz padding'; done; printf sk-planted"
	done, err := w.Run(t.Context(), workspace.Command{Line: line, Capture: 1000, Report: func(data []byte) { reported.Write(data) }})
	if err != nil || done.File == "" {
		t.Fatalf("%+v, %v", done, err)
	}
	data, err := os.ReadFile(done.File)
	if err != nil || int64(len(data)) != done.Size {
		t.Errorf("the file has %d of %d bytes, %v", len(data), done.Size, err)
	}
	for name, text := range map[string]string{"file": string(data), "head": done.Head, "tail": done.Tail, "report": reported.String()} {
		if strings.Contains(text, "0123456789-ABCD") {
			t.Errorf("%s has the secret: %.200q", name, text)
		}
	}
	if n := strings.Count(string(data), redact.Hidden); n != 3001 || !strings.HasSuffix(done.Tail, "padding\nsk-planted") {
		t.Errorf("%d are hidden; the tail is %q", n, done.Tail)
	}
}

// hugeOutput is how many bytes a command prints that must not fill the memory: 1 GB, or a quarter of that in a sample.
func hugeOutput() int64 {
	if sample.All() {
		return 1 << 30
	}
	return 256 << 20
}

func TestOutputIsBounded(t *testing.T) {
	w := open(t, t.TempDir())
	t.Run("in a file from a size on", func(t *testing.T) {
		done, err := w.Run(t.Context(), workspace.Command{Line: "seq 1 1000", Capture: 1000, Spill: 100})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for i := range 1000 {
			want += strconv.Itoa(i+1) + "\n"
		}
		if data, err := w.ReadFile(done.File, 1<<20); err != nil || string(data) != want {
			t.Errorf("the file has %d of %d bytes, %v", len(data), len(want), err)
		}
		if done.Size != int64(len(want)) || done.FileBytes != done.Size || len(done.Head)+len(done.Tail) != 1000 {
			t.Errorf("size %d, file %d, in memory %d", done.Size, done.FileBytes, len(done.Head)+len(done.Tail))
		}
		if !strings.HasPrefix(want, done.Head) || !strings.HasSuffix(want, done.Tail) || len(done.Head) != 400 {
			t.Errorf("head %q, tail %q", done.Head, done.Tail)
		}
		middle := want[len(done.Head) : len(want)-len(done.Tail)]
		if done.Bytes != int64(len(middle)) || done.Lines != int64(strings.Count(middle, "\n")) {
			t.Errorf("%d lines and %d bytes are omitted, reported %d and %d", strings.Count(middle, "\n"), len(middle), done.Lines, done.Bytes)
		}
	})
	t.Run("spilled but whole in memory", func(t *testing.T) {
		done, err := w.Run(t.Context(), workspace.Command{Line: "seq 1 100", Capture: 1000, Spill: 10})
		if err != nil || done.Bytes != 0 || done.Size != 292 || len(done.Head) != 292 || done.FileBytes != 292 {
			t.Errorf("%+v, %v", done, err)
		}
	})
	t.Run("the file ends", func(t *testing.T) {
		done, err := w.Run(t.Context(), workspace.Command{Line: "seq 1 100000", Capture: 100, MaxFile: 5000})
		if err != nil || done.FileBytes != 5000 || done.Size != 588_895 {
			t.Errorf("%+v, %v", done, err)
		}
	})
	t.Run("only output can be read outside the root", func(t *testing.T) {
		done, err := w.Run(t.Context(), workspace.Command{Line: "seq 1 100", Spill: 10})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteFile(t.Context(), done.File, nil, nil); !isOutside(err) {
			t.Errorf("writing the output: %v", err)
		}
		if _, err := w.ReadFile(filepath.Join(done.File, "..", "..", "x"), 1); !isOutside(err) {
			t.Errorf("reading next to the output: %v", err)
		}
	})
	t.Run("huge, binary", func(t *testing.T) {
		huge := hugeOutput()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		done := run(t, w, `yes $'\xff\x00' | head -c `+strconv.FormatInt(huge, 10))
		runtime.ReadMemStats(&after)
		if done.Size != huge || done.FileBytes != 64<<20 || len(done.Head)+len(done.Tail) != 256<<10 {
			t.Errorf("size %d, file %d, in memory %d", done.Size, done.FileBytes, len(done.Head)+len(done.Tail))
		}
		// All that was ever allocated, collected or not.
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
			t.Errorf("%d bytes of output took %d bytes of memory", huge, grown)
		}
	})
}

func TestCloseRemovesOutput(t *testing.T) {
	w, err := workspace.Open(t.TempDir(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done, err := w.Run(t.Context(), workspace.Command{Line: "seq 1 100", Spill: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(done.File)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the output is still there: %v", err)
	}
}

func TestOutputThatCannotBeKept(t *testing.T) {
	w := open(t, t.TempDir())
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	done := run(t, w, "seq 1 100000")
	if done.Lost == "" || done.Trouble != nil || done.File != "" || done.Size != 588_895 || done.Bytes == 0 {
		t.Errorf("%+v", done)
	}
}

// alive reports whether a process runs; one that ended and was not waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !bytes.HasPrefix(bytes.TrimSpace(out), []byte("Z"))
}

// gone waits for a process that was killed.
func gone(t testing.TB, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); alive(pid); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", pid)
		}
	}
}

// cancelled runs a line and cancels it when it has written "ready". It returns the numbers that were written before.
func cancelled(t *testing.T, w *workspace.Workspace, line string, grace time.Duration) (workspace.Finished, []int) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	var text strings.Builder
	done, err := w.Run(ctx, workspace.Command{Line: line, Grace: grace, Report: func(b []byte) {
		if text.Write(b); strings.Contains(text.String(), "ready") {
			cancel(why)
		}
	}})
	if !errors.Is(err, why) {
		t.Fatalf("error %v, want the cause of the end", err)
	}
	var pids []int
	for field := range strings.FieldsSeq(text.String()) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return done, pids
}

func TestCancelEndsTheProcessTree(t *testing.T) {
	w := open(t, t.TempDir())
	tests := []struct {
		name, line string
		grace      time.Duration
		processes  int
		want       string
	}{
		{"a tree", `sleep 1000 & echo $!; (sleep 1000 & echo $!; echo ready; wait)`, time.Hour, 2, ""},
		{"that tidies up", `trap 'echo tidy; exit 9' TERM; echo $$ ready; while :; do sleep 1000 & wait $!; done`, time.Hour, 1, "tidy"},
		{"that starts another when it is asked to end", `trap 'sleep 1000 & echo $!; exit' TERM; echo $$ ready; while :; do sleep 1000 & wait $!; done`, time.Hour, 2, ""},
		{"deaf to the request", `trap '' TERM; echo $$; echo ready; while :; do sleep 1; done`, time.Millisecond, 1, ""},
		{"deaf child of a shell that is not", `(trap '' TERM; sh -c 'echo $$; echo ready; while :; do sleep 1; done') & wait`, time.Millisecond, 1, ""},
		{"a deaf child that holds no pipe", `(trap '' TERM; sh -c 'echo $$; echo ready; exec >/dev/null 2>&1; while :; do sleep 1; done') & wait`, time.Hour, 1, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			done, pids := cancelled(t, w, test.line, test.grace)
			if len(pids) != test.processes || !strings.Contains(done.Head, test.want) || !strings.Contains(done.Head, "ready") {
				t.Fatalf("%+v, processes %v", done, pids)
			}
			for _, pid := range pids {
				gone(t, pid)
			}
		})
	}
}

func TestDeadlineTellsWhatWasCaptured(t *testing.T) {
	w := open(t, t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	done, err := w.Run(ctx, workspace.Command{Line: "echo before; sleep 1000"})
	if !errors.Is(err, context.DeadlineExceeded) || done.Head != "before\n" {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestManyCommandsAtOnce(t *testing.T) {
	w := open(t, t.TempDir())
	results := make(chan error)
	for i := range 20 {
		go func() {
			done, err := w.Run(t.Context(), workspace.Command{Line: fmt.Sprintf("seq 1 10000; echo %d", i)})
			if err == nil && !strings.HasSuffix(done.Head, fmt.Sprintf("\n10000\n%d\n", i)) {
				err = fmt.Errorf("command %d ended with %q", i, done.Head[len(done.Head)-20:])
			}
			results <- err
		}()
	}
	for range 20 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

// A command gets its input, and its standard error goes where the caller wants it. What it leaves behind does not keep the caller.
func TestInputAndErrors(t *testing.T) {
	p := open(t, t.TempDir())
	var errs bytes.Buffer
	input := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	done, err := p.Run(t.Context(), workspace.Command{Line: "wc -c; echo problem >&2; sleep 1000 & exit 3", Input: input, Errors: &errs, ReadOnly: true})
	if err != nil || done.ExitCode != 3 || strings.TrimSpace(done.Head) != fmt.Sprint(len(input)) || errs.String() != "problem\n" || !done.Left {
		t.Errorf("%+v, %v, errors %q", done, err, errs.String())
	}
	done, err = p.Run(t.Context(), workspace.Command{Line: "exec 0<&-; echo no input wanted", Input: input, ReadOnly: true})
	if err != nil || done.ExitCode != 0 || done.Head != "no input wanted\n" {
		t.Errorf("%+v, %v", done, err)
	}
}
