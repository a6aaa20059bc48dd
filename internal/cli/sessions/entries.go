package sessions

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// entryOf returns the entry of a session that a person names by its ID, a unique prefix of it, or its number in the journal. It is one of
// the session's own entries, or one of its current branch, which in a fork has the inherited entries.
func entryOf(ctx context.Context, store index.Store, id session.SessionID, name string) (session.Event, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	number, isNumber := numberOf(name)
	found := make(map[session.ID]session.Event)
	for i, entries := range []iter.Seq2[session.Event, error]{store.Read(ctx, id, 0), store.Backward(ctx, id, "")} {
		own := i == 0 // inherited entries have the numbers of another journal
		for e, err := range entries {
			switch {
			case err != nil:
				return session.Event{}, err
			case string(e.ID) == name, isNumber && own && e.Seq == number:
				return e, nil
			case name != "" && !isNumber && strings.HasPrefix(string(e.ID), name):
				found[e.ID] = e
			}
		}
	}
	switch len(found) {
	case 0:
		return session.Event{}, fmt.Errorf("entry %q: %w in session %s; see 'tenon sessions show --entries %[3]s'", name, session.ErrNotFound, id)
	case 1:
		for _, e := range found {
			return e, nil
		}
	}
	return session.Event{}, fmt.Errorf("entry %q: the prefix matches %d entries; use a longer one", name, len(found))
}

// numberOf parses the number of an entry. A name with a leading zero is a prefix of an ID, and a number never is.
func numberOf(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && len(name) < 10 && name[0] >= '1'
}

// turnsOf returns the last entries of the turns of the current branch, oldest first. A turn here is a prompt of the person with everything
// that followed from it. A run that continues another one belongs to the same turn; entries between runs belong to none.
func turnsOf(ctx context.Context, store index.Store, id session.SessionID) ([]session.ID, error) {
	var turns []session.ID
	var last session.ID
	ended := false
	for e, err := range store.Backward(ctx, id, "") {
		if err != nil {
			return nil, err
		}
		switch b := e.Body.(type) {
		case session.Created:
			continue // the root of a fork belongs to no turn
		case session.RunEnded:
			if !ended {
				last, ended = e.ID, true
			}
		case session.RunStarted:
			if b.Continues != session.ContinuesDefault {
				turns = append(turns, cmp.Or(last, e.ID))
				last, ended = "", false
				continue
			}
		}
		last = cmp.Or(last, e.ID)
	}
	slices.Reverse(turns)
	return turns, nil
}
