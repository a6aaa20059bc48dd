package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
)

// side is one of two stores that are treated alike: the same session in both, and what was written there.
type side struct {
	store   index.Store
	id      session.SessionID
	writers []session.Writer
	entries []session.Event
}

// Whatever is done in whatever order, this store and the one in memory answer the same.
func TestAgreesWithMemory(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "sessions.db"))
	rapid.Check(t, func(rt *rapid.T) {
		sides := []*side{{store: s}, {store: memory.New()}}
		both(rt, sides, func(s *side) (err error) {
			s.id, err = s.store.Create(t.Context(), session.Created{Dir: "/x"})
			s.entries = []session.Event{{ID: s.id, Body: session.Created{}}}
			return err
		})
		look := func(rt *rapid.T) {
			from := rapid.IntRange(0, 99).Draw(rt, "leaf")
			if a, b := sides[0].shows(t, from), sides[1].shows(t, from); a != b {
				rt.Fatalf("they differ:\n%s\n%s", a, b)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"open": func(rt *rapid.T) {
				lease := session.Lease{Owner: fmt.Sprint("owner ", rapid.Byte().Draw(rt, "owner")), TakeOver: rapid.Bool().Draw(rt, "take over")}
				both(rt, sides, func(s *side) error {
					w, err := s.store.Open(t.Context(), s.id, lease)
					if err == nil {
						s.writers = append(s.writers, w)
					}
					return err
				})
			},
			"append": func(rt *rapid.T) {
				at, n := rapid.IntRange(-3, 99).Draw(rt, "head to"), rapid.IntRange(0, 3).Draw(rt, "messages")
				which := rapid.IntRange(0, 9).Draw(rt, "writer")
				both(rt, sides, func(s *side) error {
					if len(s.writers) == 0 {
						return nil
					}
					bodies := slices.Repeat([]session.Body{answer("a")}, n)
					if n == 3 { // seldom: it is synced to the disk
						bodies = append(bodies, user("u"))
					}
					if at >= 0 && at < len(s.entries) {
						bodies = append(bodies, session.Head{To: s.entries[at].ID})
					}
					events, err := s.writers[max(0, len(s.writers)-1-which)].Append(t.Context(), session.Stamp{Turn: n}, bodies...)
					s.entries = append(s.entries, events...)
					return err
				})
			},
			"annotate": func(rt *rapid.T) {
				title := rapid.SampledFrom([]string{"", "one", "two"}).Draw(rt, "title")
				both(rt, sides, func(s *side) error {
					events, err := s.store.Annotate(t.Context(), s.id, session.Title{Title: title}, session.Note{})
					s.entries = append(s.entries, events...)
					return err
				})
			},
			"close": func(rt *rapid.T) {
				which := rapid.IntRange(0, 9).Draw(rt, "writer")
				both(rt, sides, func(s *side) error {
					if len(s.writers) == 0 {
						return nil
					}
					return s.writers[max(0, len(s.writers)-1-which)].Close()
				})
			},
			"delete": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "really") > 0 {
					return
				}
				both(rt, sides, func(s *side) error { return s.store.Purge(t.Context(), s.id) })
			},
			"trash": func(rt *rapid.T) {
				back := rapid.Bool().Draw(rt, "back")
				both(rt, sides, func(s *side) error {
					if back {
						return s.store.Restore(t.Context(), s.id)
					}
					return s.store.Delete(t.Context(), s.id)
				})
			},
			"look": look,
		})
		look(rt)
		for _, s := range sides {
			for _, w := range s.writers {
				_ = w.Close()
			}
		}
	})
}

// both does the same on both sides and fails the test unless the same comes of it.
func both(t *rapid.T, sides []*side, do func(*side) error) {
	a, b := sides[0].kind(do(sides[0])), sides[1].kind(do(sides[1]))
	if a != b {
		t.Fatalf("SQLite says %q, memory says %q", a, b)
	}
}

// kind is what an error is about, without names that differ.
func (s *side) kind(err error) string {
	locked, isLocked := errors.AsType[*session.LockedError](err)
	fenced, isFenced := errors.AsType[*session.FencedError](err)
	switch {
	case err == nil:
		return "done"
	case isLocked:
		return "locked by " + locked.Owner
	case isFenced:
		return "fenced by " + fenced.Owner
	case errors.Is(err, session.ErrNotFound):
		return "not found"
	}
	return fmt.Sprintf("%T", errors.Unwrap(err))
}

// shows is all that can be read, with numbers in place of IDs and without times.
func (s *side) shows(t *testing.T, leaf int) string {
	number := map[session.ID]int64{}
	var out []any
	event := func(e session.Event, err error) {
		number[e.ID] = e.Seq
		body := e.Body
		if h, ok := body.(session.Head); ok {
			body = session.Note{Text: fmt.Sprint("head to ", number[h.To])}
		}
		out = append(out, e.Seq, number[e.Parent], e.Turn, body, s.kind(err))
	}
	for e, err := range s.store.Read(t.Context(), s.id, 0) {
		event(e, err)
	}
	for _, from := range []session.ID{"", s.entries[leaf%len(s.entries)].ID} {
		out = append(out, "backward")
		for e, err := range s.store.Backward(t.Context(), s.id, from) {
			out = append(out, e.Seq, s.kind(err))
		}
	}
	for e, err := range s.store.Read(t.Context(), s.id, 0, session.Title{}.Kind(), session.Note{}.Kind(), session.Queued{}.Kind()) {
		out = append(out, e.Seq, s.kind(err))
	}
	for sum, err := range s.store.List(t.Context(), index.Query{Prefix: string(s.id)}) {
		out = append(out, sum.Title, sum.Named, sum.Entries, sum.Messages, sum.Usage, sum.Owner, sum.Dir, s.kind(err))
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
