//go:build unix

package undo_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
)

// A process that is killed while it takes things back, wherever it is then, leaves what the next one finishes.
func TestKilledUndo(t *testing.T) {
	const wanted, tries = 5, 20
	killed, lived := 0, 0
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
		}
		switch {
		case done:
		case n%2 == 0:
			changeOnesMind(t, b, after)
		default:
			finish(t, b)
		}
		if t.Failed() {
			t.Fatalf("killed at %d", n)
		}
		trees.Same(t, b.tree(), before)
		if got := b.said(); got != "" {
			t.Errorf("killed at %d: said %q", n, got)
		}
		if _, err := b.redo(); err != nil {
			t.Fatalf("killed at %d: redo: %v", n, err)
		}
		trees.Same(t, b.tree(), after)
		if t.Failed() {
			break
		}
		if !done {
			continue
		}
		if lived++; killed >= wanted || lived == tries {
			break
		}
		n = 0 // on a busy machine it may end before the kill comes: it begins again with the first event
	}
	if killed < wanted {
		t.Errorf("only %d were killed", killed)
	}
}

// finish undoes again what was killed on its way.
func finish(t *testing.T, b *bench) {
	p, err := b.history().Undo("", undo.Both)
	switch {
	case isNothing(err): // it was killed after its last word
	case err != nil:
		t.Fatal(err)
	case p.Finishes == "" && p.Title != "change":
		t.Errorf("it would do %+v", p)
	default:
		b.must(p.Apply(t.Context(), b.writer, b.kept, false))
	}
}

// changeOnesMind takes back an undo that was killed on its way, and then undoes again.
func changeOnesMind(t *testing.T, b *bench, after map[string]string) {
	switch _, err := b.redo(); {
	case isNothing(err): // it was killed before its first word, and has perhaps left temporary files
	case err != nil:
		t.Fatalf("redo at once: %v", err)
	default:
		trees.Same(t, b.tree(), after)
	}
	if got := b.said(); got != "change" {
		t.Errorf("said %q", got)
	}
	if _, err := b.undo("", undo.Both, false); err != nil {
		t.Fatalf("undo after the redo: %v", err)
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
	cmd := b.child(id, "undo", "")
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

// An undo that was killed before its last word is done for all that anybody sees: one redo takes it back.
func TestKilledBeforeItsLastWord(t *testing.T) {
	b := newBench(t)
	before, after := smallWork(b)
	p, err := b.history().Undo("", undo.Both)
	b.must(err)
	if err := p.Apply(t.Context(), &mute{b.writer, 1}, b.kept, false); !errors.Is(err, errMute) {
		t.Fatal(err)
	}
	for range 2 {
		trees.Same(t, b.tree(), before)
		if p, err := b.redo(); err != nil || p.Finishes != "" || len(p.Files) == 0 {
			t.Fatalf("%+v, %v", p, err)
		}
		trees.Same(t, b.tree(), after)
		if got := b.said(); got != "change" {
			t.Errorf("said %q", got)
		}
		if _, err := b.redo(); !isNothing(err) {
			t.Errorf("a second redo: %v", err)
		}
		if _, err := b.undo("", undo.Both, false); err != nil {
			t.Fatal(err)
		}
	}
}

// mute writes a few times and no more, as a process that is killed.
type mute struct {
	session.Writer
	left int
}

var errMute = errors.New("no more words")

func (m *mute) Append(ctx context.Context, stamp session.Stamp, bodies ...session.Body) ([]session.Event, error) {
	if m.left--; m.left < 0 {
		return nil, errMute
	}
	return m.Writer.Append(ctx, stamp, bodies...)
}
