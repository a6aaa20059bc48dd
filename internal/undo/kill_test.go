//go:build unix

package undo_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fsnotify/fsnotify"

	"github.com/tenon-agent/tenon/internal/treetest"
	"github.com/tenon-agent/tenon/internal/undo"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// A process that is killed while it takes things back, wherever it is then, leaves what the next one finishes.
func TestKilledUndo(t *testing.T) {
	killed := 0
	for n := 1; ; n += 1 + n/3 {
		b := newBench(t)
		before, after := smallWork(b)
		if _, err := b.history().Undo("", undo.Both); err != nil {
			t.Fatal(err)
		}
		id := b.writer.Session()
		b.close()
		done := killAt(t, b, id, n)
		b.open(id)
		if !done {
			killed++
			p, err := b.history().Undo("", undo.Both)
			switch {
			case isNothing(err): // it was killed after its last word
			case err != nil:
				t.Fatalf("killed at %d: %v", n, err)
			case p.Finishes == "" && p.Title != "change":
				t.Fatalf("killed at %d: it would do %+v", n, p)
			default:
				if err := p.Apply(t.Context(), b.writer, b.kept, false); err != nil {
					t.Fatalf("killed at %d: %v", n, err)
				}
			}
		}
		treetest.Same(t, b.tree(), before)
		if got := b.said(); got != "" {
			t.Errorf("killed at %d: said %q", n, got)
		}
		if _, err := b.redo(); err != nil {
			t.Fatalf("killed at %d: redo: %v", n, err)
		}
		treetest.Same(t, b.tree(), after)
		if t.Failed() || done {
			break
		}
	}
	if killed < 5 {
		t.Errorf("only %d were killed", killed)
	}
}

// smallWork is one run that changes a few files in every way.
func smallWork(b *bench) (before, after map[string]string) {
	b.byHand("mkdir -p a/b; for i in 1 2 3 4 5 6; do echo $i > a/f$i; echo $i > a/b/g$i; done; ln -s a link")
	before = b.tree()
	b.begin("change")
	b.shell("echo x >> a/f1; rm a/f2; mv a/b c; mkdir -p new/deep; echo n > new/deep/n; echo m > new/m; chmod 755 a/f3; rm link; rm a/f4; mkdir a/f4; echo 5 >> a/f5")
	b.end()
	return before, b.tree()
}

// killAt lets a child process undo, kills it as soon as the nth change of the tree is seen, and reports whether it was done before.
func killAt(t *testing.T, b *bench, id session.SessionID, n int) (done bool) {
	t.Helper()
	watcher, err := fsnotify.NewBufferedWatcher(1000)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	for _, dir := range []string{".", "a", "c", "new", "new/deep", "../contents"} {
		b.must(watcher.Add(filepath.Join(b.dir, dir)))
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "UNDO_TEST_CHILD="+b.base, "UNDO_TEST_SESSION="+string(id))
	cmd.Stderr = os.Stderr
	b.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for seen := 0; ; {
		select {
		case <-watcher.Events:
			if seen++; seen == n {
				_ = cmd.Process.Kill()
			}
		case err := <-watcher.Errors:
			t.Fatal(err)
		case err := <-ended:
			return err == nil
		}
	}
}

// childMain is a process that undoes the last run.
func childMain() int {
	err := func() error {
		if line := os.Getenv("UNDO_TEST_LINE"); line != "" {
			return workOn(line)
		}
		if n, err := strconv.Atoi(os.Getenv("UNDO_TEST_RECOVER")); err == nil {
			return recoverUntil(n)
		}
		ctx := context.Background()
		base, id := os.Getenv("UNDO_TEST_CHILD"), session.SessionID(os.Getenv("UNDO_TEST_SESSION"))
		store, err := sqlite.Open(filepath.Join(base, "sessions.db"))
		if err != nil {
			return err
		}
		w, err := store.Open(ctx, id, session.Lease{Owner: "a child"})
		if err != nil {
			return err
		}
		kept, err := checkpoint.Open(filepath.Join(base, "contents"), checkpoint.Options{MaxFile: 1 << 20})
		if err != nil {
			return err
		}
		h, err := undo.Read(ctx, store, id)
		if err != nil {
			return err
		}
		p, err := h.Undo("", undo.Both)
		if err != nil {
			return err
		}
		return errors.Join(p.Apply(ctx, w, kept, false), kept.Close(), w.Close(), store.Close())
	}()
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		return 1
	}
	return 0
}
