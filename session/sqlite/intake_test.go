package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// What another process has taken in meanwhile is not taken in twice.
func TestIndexIsOvertaken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s, other := open(t, path), open(t, path)
	lived(t, s)
	first, second := writerFor(t, s), writerFor(t, s)
	for _, w := range []session.Writer{first, second} {
		if _, err := w.Append(t.Context(), session.Stamp{}, user("the mill turns"), answer("it does")); err != nil {
			t.Fatal(err)
		}
	}
	err := s.index.use(t.Context(), func() error {
		todo, _, err := s.behind()
		if err != nil || len(todo) != 2 {
			t.Fatalf("%d sessions lack something (%v)", len(todo), err)
		}
		if err := other.Index(t.Context()); err != nil {
			return err
		}
		return s.takeInAll(t.Context(), todo)
	})
	if !errors.Is(err, errOvertaken) {
		t.Errorf("got %v", err)
	}
	if err := s.Index(t.Context()); err != nil {
		t.Error(err)
	}
	sound(t, s)
}

// An interruption ends what reads ahead, too.
func TestIndexIsInterrupted(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	megabytes(t, s, 1)
	if err := s.index.use(t.Context(), s.index.remove); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := s.index.use(ctx, func() error {
		todo, _, err := s.behind()
		if err != nil {
			return err
		}
		cancel()
		return s.takeInAll(ctx, todo)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := s.Index(t.Context()); err != nil {
		t.Error(err)
	}
	sound(t, s)
}
