package conversation

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
)

func TestResolve(t *testing.T) {
	store := memory.New()
	byLetter := make(map[string][]session.SessionID)
	for range 40 { // more than there are letters: two begin with the same
		id, err := store.Create(t.Context(), session.Created{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		byLetter[string(id[:1])] = append(byLetter[string(id[:1])], id)
	}
	for letter, ids := range byLetter {
		for _, id := range ids {
			for _, name := range []string{string(id), strings.ToUpper(string(id)), " " + string(id[:8])} {
				if s, err := Resolve(t.Context(), store, name); err != nil || s.ID != id {
					t.Errorf("resolve(%q) = %q, %v, want %q", name, s.ID, err, id)
				}
			}
		}
		_, err := Resolve(t.Context(), store, letter)
		if len(ids) == 1 {
			if err != nil {
				t.Errorf("resolve(%q), of one session: %v", letter, err)
			}
			continue
		}
		named := regexp.MustCompile(`(?m)^  [0-9a-z]{12,26}  `).FindAllString(err.Error(), -1)
		if code(err) != "conversation.ambiguous" || len(named) != min(len(ids), maxCandidates) {
			t.Errorf("resolve(%q), of %d sessions: %v", letter, len(ids), err)
		}
	}
	if _, err := Resolve(t.Context(), store, "uuuu"); !errors.Is(err, session.ErrNotFound) || code(err) != "conversation.not_found" {
		t.Errorf("of no session: %v", err) // there is no u in an ID
	}
	if _, err := Resolve(t.Context(), store, " "); err == nil {
		t.Error("an empty ID means a session")
	}
}

// code is the code of an error.
func code(err error) string {
	if c, ok := errors.AsType[interface {
		error
		Code() string
	}](err); ok {
		return c.Code()
	}
	return ""
}
