package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
)

// A purge keeps only the entries that forks of the session need. It removes notes and later entries.
func TestPurgeOfAForkedSession(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sessions.db")
	s := open(t, path)
	w := writerFor(t, s)
	events, err := w.Append(t.Context(), session.Stamp{}, user("shared"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Annotate(t.Context(), w.Session(), session.Note{Text: "my password is xyzzy"}); err != nil {
		t.Fatal(err)
	}
	from, err := w.Append(t.Context(), session.Stamp{}, user("shared too"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(t.Context(), session.Stamp{}, user("later: plugh")); err != nil {
		t.Fatal(err)
	}
	fork, err := s.Create(t.Context(), session.Created{Fork: true, From: session.Origin{Session: w.Session(), Entry: from[0].ID}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), s.Purge(t.Context(), w.Session()), s.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"xyzzy", "plugh"} {
		if strings.Contains(string(data), word) {
			t.Errorf("%q is still there", word)
		}
	}
	s = open(t, path)
	var seen []session.ID
	for e, err := range s.Backward(t.Context(), fork, "") {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e.ID)
	}
	if len(seen) != 4 || seen[1] != from[0].ID || seen[2] != events[0].ID {
		t.Errorf("the fork goes on from %v", seen)
	}
}
