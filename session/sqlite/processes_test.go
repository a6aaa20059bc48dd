package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// Twenty processes append to twenty sessions in one file while twenty others watch. None of them gets an error or a gap.
func TestManyProcesses(t *testing.T) {
	t.Parallel()
	processes, each := 20, 120
	if testing.Short() || sample.Race && !sample.All() {
		processes, each = 4, 50
	}
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	var wg sync.WaitGroup
	for range processes {
		id, err := s.Create(t.Context(), session.Created{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cmd := range []*exec.Cmd{
			role(t.Context(), "watch", path, string(id), fmt.Sprint(each+1)),
			role(t.Context(), "append", path, string(id), fmt.Sprint(each)),
		} {
			wg.Go(func() {
				if err := cmd.Run(); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	for sum, err := range s.List(t.Context(), index.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n, tip := int64(0), session.ID("")
		for e, err := range s.Read(t.Context(), sum.ID, 0) {
			if n++; err != nil || e.Seq != n || e.Parent != tip {
				t.Fatalf("entry %d is %+v, %v", n, e, err)
			}
			tip = e.ID
		}
		if n != int64(each+1) || sum.Entries != n {
			t.Errorf("session %s has %d entries and says %d", sum.ID, n, sum.Entries)
		}
	}
}

// process is one that plays "hold".
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	said *bufio.Scanner
}

func hold(t *testing.T, path string, id session.SessionID) *process {
	t.Helper()
	p := &process{cmd: role(t.Context(), "hold", path, string(id))}
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, p.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	p.in, p.said = in, bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = p.in.Close()
		_ = p.cmd.Wait()
	})
	return p
}

// says returns the next line that the process prints.
func (p *process) says(t *testing.T) string {
	t.Helper()
	if !p.said.Scan() {
		t.Fatalf("the process ended: %v", p.said.Err())
	}
	return p.said.Text()
}

func newSession(t *testing.T, s *Store) session.SessionID {
	t.Helper()
	id, err := s.Create(t.Context(), session.Created{Dir: "/work"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestTwoWritersOneWins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	id := newSession(t, open(t, path))
	a, b := hold(t, path, id), hold(t, path, id)
	said := []string{a.says(t), b.says(t)}
	won := 0
	for i, line := range said {
		other := []*process{b, a}[i]
		switch line {
		case "holding":
			won++
		case fmt.Sprint("locked by process ", other.cmd.Process.Pid):
		default:
			t.Errorf("a writer said %q", line)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won: %q", won, said)
	}
}

func TestKilledOwnerFreesItsLeaseAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id := newSession(t, s)
	for range 3 {
		p := hold(t, path, id)
		if got := p.says(t); got != "holding" {
			t.Fatalf("the owner said %q", got)
		}
		if _, err := s.Open(t.Context(), id, session.Lease{}); err == nil {
			t.Fatal("opened during the life of an owner")
		}
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = p.cmd.Wait()
		w, err := s.Open(t.Context(), id, session.Lease{})
		if err != nil {
			t.Fatalf("after the owner was killed: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(path+".owners", "*"+lockSuffix))
	if err != nil {
		t.Fatal(err)
	}
	another := open(t, path) // whose first lease tidies up after the dead
	writerFor(t, another)
	for _, name := range left {
		if filepath.Base(name) == s.owner.name+lockSuffix {
			continue
		}
		if another.owner.lives(strings.TrimSuffix(filepath.Base(name), lockSuffix)) {
			t.Errorf("%s is still held", name)
		}
	}
	if now, _ := filepath.Glob(filepath.Join(path+".owners", "*"+lockSuffix)); len(now) != 2 {
		t.Errorf("lock files of two living stores: %q", now)
	}
}

func TestTakeOverFencesAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id := newSession(t, s)
	p := hold(t, path, id)
	if got := p.says(t); got != "holding" {
		t.Fatalf("the owner said %q", got)
	}
	w, err := s.Open(t.Context(), id, session.Lease{Owner: "the taker", TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), session.Stamp{}, answer("taken")); err != nil {
		t.Fatal(err)
	}
	_ = p.in.Close() // now it tries to append once more
	if got := p.says(t); got != "fenced by the taker" {
		t.Errorf("the old owner said %q", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A process that is killed while it appends loses no entry that Append reported as durable, and leaves no half append.
func TestKilledWhileAppending(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id := newSession(t, s)
	for round := range 5 {
		cmd := role(t.Context(), "append", path, string(id), "1000000")
		seen := int64(0)
		for e, err := range s.Watch(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if seen == 0 {
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
			}
			if seen = e.Seq; seen > int64(50*(round+1)) {
				break
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		n := int64(0)
		for e, err := range s.Read(t.Context(), id, 0) {
			if n++; err != nil || e.Seq != n {
				t.Fatalf("entry %d is %+v, %v", n, e, err)
			}
		}
		if n < seen {
			t.Fatalf("%d entries are left of %d that were seen", n, seen)
		}
	}
}

// killed runs a role until it has said so many lines, and kills it a moment later.
func killed(t *testing.T, lines int, name string, args ...string) {
	t.Helper()
	cmd := role(t.Context(), name, args...)
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for range lines {
		if !said.Scan() {
			t.Fatalf("%s ended: %v", name, cmd.Wait())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// sound fails the test unless a store is whole.
func sound(t *testing.T, s *Store) {
	t.Helper()
	if found := problems(t, s, false); len(found) != 0 {
		t.Fatalf("there is %+v", found)
	}
}

// A process that is killed while it forks leaves whole forks and no others.
func TestKilledWhileForking(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id := newSession(t, s)
	for round := range 4 {
		killed(t, 3+round, "fork", path, string(id))
		sound(t, s)
		for sum, err := range s.List(t.Context(), index.Query{}) {
			if err != nil {
				t.Fatal(err)
			}
			var root session.ID
			for e, err := range s.Backward(t.Context(), sum.ID, "") {
				if err != nil {
					t.Fatal(err)
				}
				root = e.ID
			}
			if root != id {
				t.Fatalf("session %s begins with %s", sum.ID, root)
			}
		}
	}
}

// A process that is killed between or amid deleting, restoring and purging leaves nothing half done.
func TestKilledWhilePurging(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id, _ := lived(t, s)
	for round := range 4 {
		killed(t, 1+2*round, "trash", path, string(id))
		sound(t, s)
		for _, deleted := range []bool{false, true} {
			for sum, err := range s.List(t.Context(), index.Query{Deleted: deleted}) {
				if err == nil && sum.From.Session != "" && sum.Title == "" { // a remnant of the process
					err = s.Purge(t.Context(), sum.ID)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		var rows, blobs int
		err := errors.Join(s.row(`SELECT count(*) FROM sessions`, nil, &rows), s.row(`SELECT count(*) FROM blobs`, nil, &blobs))
		if err != nil || rows != 2 || blobs != 1 {
			t.Fatalf("when all was purged, %d sessions and %d blobs are left, %v", rows, blobs, err)
		}
	}
}

// A process that is killed while it indexes loses what it had not finished, and the next one goes on.
func TestKilledWhileIndexing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	const sessions, each = 12, 60
	text := strings.Repeat("the mill turns in the river and the miller sleeps ", 200)
	for i := range sessions {
		w := writerFor(t, s)
		var bodies []session.Body
		for n := range each {
			bodies = append(bodies, answer(fmt.Sprint("needle", i, " ", n, " ", text)))
		}
		if _, err := w.Append(t.Context(), session.Stamp{}, bodies...); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		killed(t, 1, "index", path, "-")
	}
	sound(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Index(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted Index returned %v", err)
	}
	for i := range sessions {
		n := 0
		for _, err := range s.Search(t.Context(), search.Request{Text: fmt.Sprint("needle", i), Limit: 1000}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != each {
			t.Errorf("of session %d are found %d entries", i, n)
		}
	}
	sound(t, s)
}

// Several processes bring the index up to date at once while sessions are written.
func TestManyIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	var wg sync.WaitGroup
	for i := range 4 {
		id := newSession(t, s)
		for _, cmd := range []*exec.Cmd{role(t.Context(), "append", path, string(id), "100"), role(t.Context(), "index", path, "-")} {
			wg.Go(func() {
				if err := cmd.Run(); err != nil {
					t.Error(i, err)
				}
			})
		}
	}
	wg.Wait()
	n := 0
	for _, err := range s.Search(t.Context(), search.Request{Text: "entry", Limit: 1000}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 4*96 {
		t.Errorf("%d entries are found", n)
	}
	sound(t, s)
}
