package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// BenchmarkStart starts the program as people have it. Its figures are medians, because other programs run too: the time to
// the arrival of the first request, to the end of the program, and what it took of the processors.
func BenchmarkStart(b *testing.B) {
	program := build(b)
	b.Run("version", func(b *testing.B) {
		p := newProject(b)
		var s starts
		for b.Loop() {
			s.run(b, p, program, nil, "version")
		}
		s.report(b)
	})
	for _, w := range ways() {
		switch w.name {
		case "anthropic", "openai", "openai-responses", "gemini", "bedrock":
			b.Run("run/"+w.name, func(b *testing.B) { benchRun(b, program, w, false) })
		}
	}
	b.Run("run/without_a_journal", func(b *testing.B) { benchRun(b, program, wayOf(b, "anthropic"), true) })
}

// build makes the program as the Makefile does.
func build(b *testing.B) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), programName+".exe")
	cmd := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "../../cmd/tenon")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return program
}

// benchRun asks one question and reads the answer. Fresh is without the journal of runs before.
func benchRun(b *testing.B, program string, w way, fresh bool) {
	p := newProject(b)
	var arrived atomic.Int64
	srv := w.serve(p, modelserver.Func(func(*modelserver.Request) modelserver.Step {
		arrived.CompareAndSwap(0, time.Now().UnixNano())
		return say()
	}))
	var s starts
	for b.Loop() {
		if fresh {
			if err := os.RemoveAll(p.data); err != nil {
				b.Fatal(err)
			}
		}
		s.run(b, p, program, &arrived, "run", "--model", w.ref(), "How many keys?")
	}
	s.report(b)
	if v := srv.Violations(); len(v) > 0 {
		b.Error(v)
	}
}

// starts is what each start took.
type starts struct{ request, wall, cpu []time.Duration }

// run starts the program and waits for its end. Arrived, if it is there, is set when the first request arrives.
func (s *starts) run(b *testing.B, p *project, program string, arrived *atomic.Int64, args ...string) {
	cmd := p.command(b.Context(), args...)
	cmd.Path = program
	if arrived != nil {
		arrived.Store(0)
	}
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	s.wall = append(s.wall, time.Since(begin))
	s.cpu = append(s.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	if arrived != nil {
		s.request = append(s.request, time.Duration(arrived.Load()-begin.UnixNano()))
	}
}

func (s *starts) report(b *testing.B) {
	for _, m := range []struct {
		unit string
		all  []time.Duration
	}{{"ms/request", s.request}, {"ms/run", s.wall}, {"cpu-ms/run", s.cpu}} {
		if len(m.all) > 0 {
			b.ReportMetric(median(m.all), m.unit)
		}
	}
	b.ReportMetric(0, "ns/op") // a mean, which one slow start spoils
}

// median returns the median in milliseconds. It sorts the times.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}
