//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace"
)

func start(t testing.TB, w *workspace.Workspace, c workspace.Command) *workspace.Job {
	t.Helper()
	job, err := w.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// written waits until a job has written a text.
func written(t testing.TB, job *workspace.Job, text string) workspace.Output {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		o := job.Output(0, 1<<20)
		if strings.Contains(o.Head+o.Tail, text) {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatalf("the job has written %q, not %q", o.Head+o.Tail, text)
		}
	}
}

func TestJob(t *testing.T) {
	told := make(chan workspace.JobStatus, 1)
	w := openWith(t, t.TempDir(), workspace.Options{JobEnded: func(s workspace.JobStatus) { told <- s }})
	job := start(t, w, workspace.Command{Line: "mkfifo go; echo one; read x <go; echo two; exit 3"})
	first := written(t, job, "one\n")
	if o := job.Output(first.Size, 100); first.Head != "one\n" || first.Size != 4 || o.Head != "" || o.Size != 4 {
		t.Errorf("%+v, then %+v", first, o)
	}
	if s := job.Status(); s.ID != "job1" || s.Started.IsZero() || !s.Ended.IsZero() || !strings.HasPrefix(s.Command.Line, "mkfifo") {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if s, err := job.Wait(ctx); !errors.Is(err, why) || !s.Ended.IsZero() {
		t.Errorf("waiting without time: %+v, %v", s, err)
	}
	if err := os.WriteFile(filepath.Join(w.Dir(), "go"), []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	s, err := job.Wait(t.Context())
	if err != nil || s.Ended.IsZero() || s.ExitCode != 3 || s.Head != "one\ntwo\n" || s.Killed || s.Left {
		t.Errorf("%+v, %v", s, err)
	}
	if o := job.Output(first.Size, 100); o.Head != "two\n" || o.Size != 8 || o.Bytes != 0 {
		t.Errorf("%+v", o)
	}
	if s := <-told; s.ID != "job1" || s.ExitCode != 3 {
		t.Errorf("reported %+v", s)
	}
	if s, err := job.Kill(t.Context()); err != nil || s.Killed {
		t.Errorf("killing what has ended: %+v, %v", s, err)
	}
}

// A job that ends during a call of Wait counts as awaited.
func TestAwaitedJob(t *testing.T) {
	told := make(chan workspace.JobStatus, 1)
	w := openWith(t, t.TempDir(), workspace.Options{JobEnded: func(s workspace.JobStatus) { told <- s }})
	start(t, w, workspace.Command{Line: "true"})
	if s := <-told; s.Awaited {
		t.Error("no caller waited, but the job counts as awaited")
	}
	job := start(t, w, workspace.Command{Line: "mkfifo go; read x <go"})
	ended := make(chan error)
	go func() {
		_, err := job.Wait(t.Context())
		ended <- err
	}()
	// The reader of the pipe is freed by the first writer; that one waits for the other goroutine to be in Wait.
	for runtime.NumGoroutine() > 0 {
		if strings.Contains(stacks(), "workspace.(*Job).Wait") {
			break
		}
		runtime.Gosched()
	}
	fifo := filepath.Join(w.Dir(), "go")
	for err := error(os.ErrNotExist); err != nil; runtime.Gosched() {
		_, err = os.Stat(fifo)
	}
	if err := os.WriteFile(fifo, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if s := <-told; !s.Awaited {
		t.Error("a caller waited, but the job does not count as awaited")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func stacks() string {
	buf := make([]byte, 1<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

func TestKillJob(t *testing.T) {
	for name, line := range map[string]string{
		"a tree": `sleep 1000 & (sleep 1000 & echo ready; wait)`,
		"deaf":   `trap '' TERM; sleep 1000 & echo ready; while :; do sleep 1000; done`,
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, t.TempDir())
			job := start(t, w, workspace.Command{Line: line, Grace: time.Millisecond})
			written(t, job, "ready")
			s, err := job.Kill(t.Context())
			if err != nil || !s.Killed || s.Signal == "" || s.Ended.IsZero() {
				t.Errorf("%+v, %v", s, err)
			}
			if runtime.GOOS == "linux" {
				empty(t, w.Dir())
			}
		})
	}
}

func TestCloseEndsJobs(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(dir, workspace.Options{JobEnded: func(s workspace.JobStatus) { t.Errorf("reported %+v", s) }})
	if err != nil {
		t.Fatal(err)
	}
	var jobs []*workspace.Job
	for range 5 {
		jobs = append(jobs, start(t, w, workspace.Command{Line: "trap '' TERM; setsid sleep 1000 & echo ready; wait", Grace: time.Millisecond}))
	}
	for _, job := range jobs {
		written(t, job, "ready")
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for _, job := range jobs {
		if job.Status().Ended.IsZero() {
			t.Error("a job still runs")
		}
	}
	if runtime.GOOS == "linux" {
		empty(t, dir)
	}
	if _, err := w.Start(t.Context(), workspace.Command{Line: "true"}); err == nil {
		t.Error("a job starts in a closed workspace")
	}
}

func TestThereAreNotTooManyJobs(t *testing.T) {
	w := open(t, t.TempDir())
	if _, err := w.Start(t.Context(), workspace.Command{Line: "true", Dir: "none"}); err == nil {
		t.Error("no error for a directory that does not exist")
	}
	var jobs []*workspace.Job
	for range 32 {
		jobs = append(jobs, start(t, w, workspace.Command{Line: "exec sleep 1000"}))
	}
	if _, err := w.Start(t.Context(), workspace.Command{Line: "true"}); err == nil || !strings.Contains(err.Error(), "32 jobs") {
		t.Errorf("error %v", err)
	}
	for _, job := range jobs {
		if _, err := job.Kill(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		if _, err := start(t, w, workspace.Command{Line: "true"}).Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	known := w.Jobs()
	if last := known[len(known)-1].Status().ID; len(known) > 33 || last != "job73" {
		t.Errorf("%d jobs are known, the last is %s", len(known), last)
	}
}

func TestManyWriters(t *testing.T) {
	w := open(t, t.TempDir())
	var jobs []*workspace.Job
	for i := range 8 {
		jobs = append(jobs, start(t, w, workspace.Command{
			Line: "for i in 1 2 3 4 5; do seq 1 5000 & done; wait; echo end " + strconv.Itoa(i), Capture: 1000,
		}))
	}
	for i, job := range jobs {
		for read := int64(0); ; {
			o := job.Output(read, 1<<10)
			if o.Size < read || int64(len(o.Head)+len(o.Tail))+o.Bytes != o.Size-read {
				t.Fatalf("from %d: %d and %d bytes, %d missing, up to %d", read, len(o.Head), len(o.Tail), o.Bytes, o.Size)
			}
			read = o.Size
			if !job.Status().Ended.IsZero() {
				break
			}
			runtime.Gosched()
		}
		s, err := job.Wait(t.Context())
		if err != nil || s.Size != 5*23893+6 || !strings.HasSuffix(s.Tail, "\nend "+strconv.Itoa(i)+"\n") || s.FileBytes != s.Size {
			t.Errorf("%+v, %v", s, err)
		}
	}
}

// A read from any offset returns the right output and reports the omitted part.
func TestOutputFromAnOffset(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		b.WriteString(strconv.Itoa(i+1) + "\n")
	}
	all := b.String()
	w := open(t, t.TempDir())
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for _, c := range []workspace.Command{
		{Capture: 100_000},
		{Capture: 1000},
		{Capture: 1000, MaxFile: 5000},
		{Capture: 100_000, Spill: 10},
	} {
		c.Line = "seq 1 3000"
		job := start(t, w, c)
		if _, err := job.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 300 {
			from, most := random.IntN(len(all)+1), random.IntN(1200)
			o := job.Output(int64(from), most)
			rest := all[from:]
			missing := rest[min(len(o.Head), len(rest)):max(0, len(rest)-len(o.Tail))]
			lost := c.MaxFile > 0 && from >= 5000 // how many lines are before is not known
			if !strings.HasPrefix(rest, o.Head) || !strings.HasSuffix(rest, o.Tail) || len(o.Head)+len(o.Tail) > most || o.Size != int64(len(all)) ||
				o.Bytes != int64(len(missing)) || !lost && o.Lines != int64(strings.Count(missing, "\n")) || len(rest) <= min(most, 600) && o.Bytes > 0 {
				t.Fatalf("seed %d, %+v, from %d at most %d: %d and %d bytes, %d bytes and %d lines missing of %d and %d", seed, c, from, most,
					len(o.Head), len(o.Tail), o.Bytes, o.Lines, len(missing), strings.Count(missing, "\n"))
			}
		}
	}
}

func TestJobWithHugeOutput(t *testing.T) {
	w, huge := open(t, t.TempDir()), hugeOutput()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	job := start(t, w, workspace.Command{Line: "yes | head -c " + strconv.FormatInt(huge, 10) + "; echo end"})
	s, err := job.Wait(t.Context())
	runtime.ReadMemStats(&after)
	if err != nil || s.Size != huge+4 || s.FileBytes != 64<<20 || !strings.HasSuffix(s.Tail, "y\nend\n") || len(s.Head)+len(s.Tail) != 128<<10 {
		t.Errorf("size %d, file %d, %v", s.Size, s.FileBytes, err)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("%d bytes of output took %d bytes of memory", huge, grown)
	}
}
