package sqlite

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// Twenty processes append to twenty sessions in one file while twenty others watch: nobody meets an error or a gap.
func TestManyProcesses(t *testing.T) {
	processes, each := 20, 120
	if testing.Short() {
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
	for sum, err := range s.List(t.Context(), session.Query{}) {
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
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	id := newSession(t, s)
	for range 3 {
		p := hold(t, path, id)
		if got := p.says(t); got != "holding" {
			t.Fatalf("the owner said %q", got)
		}
		if _, err := s.Open(t.Context(), id, session.Lease{}); err == nil {
			t.Fatal("opened beside a living owner")
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

// A process that is killed while it appends loses nothing that it was told is durable, and leaves no half append.
func TestKilledWhileAppending(t *testing.T) {
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
