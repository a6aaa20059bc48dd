package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

func answer(text string) session.Body { return session.Message{Message: llm.AssistantText(text)} }

func user(text string) session.Body {
	return session.Message{Message: llm.UserText(text), Speaker: session.Speaker{Kind: session.SpeakerPerson}}
}

// BenchmarkOpen opens a database that is there already, which is a part of every command's start.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sessions.db")
	open(b, path)
	for b.Loop() {
		s, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_ = s.Close()
		b.StartTimer()
	}
}

// BenchmarkAppend appends one small message: an answer, which the operating system keeps, or the start of a call with effects, which is synced.
func BenchmarkAppend(b *testing.B) {
	for _, c := range []struct {
		name string
		body session.Body
	}{{"kept", answer("It does.")}, {"synced", session.CallStarted{Call: "1", Tool: "shell"}}} {
		b.Run(c.name, func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "sessions.db"))
			w := writerFor(b, s)
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				if _, err := w.Append(b.Context(), session.Stamp{}, c.body); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "median-ns")
		})
	}
}

func writerFor(t testing.TB, s *Store) session.Writer {
	t.Helper()
	id, err := s.Create(t.Context(), session.Created{Dir: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.Open(t.Context(), id, session.Lease{Owner: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// long makes a database with one session of n entries and returns the session.
func long(b *testing.B, path string, n int) session.SessionID {
	s := open(b, path)
	w := writerFor(b, s)
	bodies := make([]session.Body, 0, 1000)
	text := strings.Repeat("All work and no play. ", 10)
	for i := 1; i < n; i++ {
		bodies = append(bodies, answer(fmt.Sprint(i, text)))
		if len(bodies) == cap(bodies) || i == n-1 {
			if _, err := w.Append(b.Context(), session.Stamp{}, bodies...); err != nil {
				b.Fatal(err)
			}
			bodies = bodies[:0]
		}
	}
	return w.Session()
}

// last50 opens the store and reads the last fifty messages of a session.
func last50(ctx context.Context, path string, id session.SessionID) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	left := 50
	for _, err := range s.Backward(ctx, id, "") {
		if err != nil {
			return err
		}
		if left--; left == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d messages are missing", left)
}

// BenchmarkOpenLast50 opens a session of 100 000 entries to its last fifty messages, also in a process of its own, whose
// memory it reports.
func BenchmarkOpenLast50(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sessions.db")
	id := long(b, path, 100_000)
	for b.Loop() {
		if err := last50(b.Context(), path, id); err != nil {
			b.Fatal(err)
		}
	}
	out, err := role(b.Context(), "last50", path, string(id)).Output()
	if err != nil {
		b.Fatal(err)
	}
	var took, rss float64
	if _, err := fmt.Sscan(string(out), &took, &rss); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(took, "process-ms")
	b.ReportMetric(rss, "process-MB")
}

// BenchmarkForks reads the branch of a fork of a fork, fifty deep.
func BenchmarkForks(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "sessions.db"))
	id := writerFor(b, s).Session()
	for range 50 {
		next, err := s.Create(b.Context(), session.Created{From: session.Origin{Session: id}, Fork: true})
		if err != nil {
			b.Fatal(err)
		}
		w, err := s.Open(b.Context(), next, session.Lease{})
		if err != nil {
			b.Fatal(err)
		}
		_, err = w.Append(b.Context(), session.Stamp{}, user("a"), answer("b"), user("c"), answer("d"))
		if err := errors.Join(err, w.Close()); err != nil {
			b.Fatal(err)
		}
		id = next
	}
	for b.Loop() {
		n := 0
		for _, err := range s.Backward(b.Context(), id, "") {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		if n != 251 {
			b.Fatalf("%d entries", n)
		}
	}
}

// BenchmarkList lists 10 000 sessions, and the last twenty of them.
func BenchmarkList(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "sessions.db"))
	for range 10_000 {
		if _, err := s.Create(b.Context(), session.Created{Dir: "/work"}); err != nil {
			b.Fatal(err)
		}
	}
	for _, limit := range []int{0, 20} {
		b.Run("limit="+strconv.Itoa(limit), func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.List(b.Context(), index.Query{Limit: limit}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkWatch is how long it takes until another store sees what was appended.
func BenchmarkWatch(b *testing.B) {
	path := filepath.Join(b.TempDir(), "sessions.db")
	w := writerFor(b, open(b, path))
	there := open(b, path)
	next := func() {
		if _, err := w.Append(b.Context(), session.Stamp{}, answer("on")); err != nil {
			b.Error(err)
		}
	}
	n := 0
	for _, err := range there.Watch(b.Context(), w.Session(), 0) {
		if err != nil {
			b.Fatal(err)
		}
		if n++; n > b.N {
			break
		}
		next()
	}
}

// ---- Other processes: the test binary runs itself with a role to play.

const roleEnv = "TENON_SQLITE_TEST_ROLE"

// role returns a command that runs this test binary in a role.
func role(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), roleEnv+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// peakMemory is the most memory that this process had, in MB; 0 where the system does not tell.
func peakMemory() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil || runtime.GOOS != "linux" {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb / 1024
		}
	}
	return 0
}
