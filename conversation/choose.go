package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
)

// Which names the session to open. The zero value is a new session without a directory.
type Which struct {
	// Dir is the working directory, absolute with links resolved: of a new session, and of the sessions that Last looks at. With ID
	// it may be empty: then it is the directory of that session.
	Dir string

	ID   string // the session with this ID or unique ID prefix
	Last bool   // the most recent session of Dir that no other process writes
	Fork bool   // a new session that continues from the end of the one that ID or Last names

	New    bool          // with Last: a new session if Dir has none
	Rotate time.Duration // with Last: a new session if that one was idle for longer. 0: never
}

// Chosen is the session that [Choose] has chosen: an existing one, or one to be created.
type Chosen struct {
	ID    session.SessionID // empty: create a session
	Dir   string            // working directory
	From  session.Origin    // of a session to be created: its origin
	Fork  bool              // it continues from there
	Model string            // reference of the model that the conversation had; empty: none yet
	Role  string            // that it had; empty: none
}

// maxCandidates is the most sessions that an [*AmbiguousError] lists.
const maxCandidates = 6

// Choose finds the session that w names and calls open for it. If open returns a [*session.LockedError] and w says Last, it tries the
// session before that one. Its errors are those of open, and an [*AmbiguousError] or a [*NotFoundError].
func Choose(ctx context.Context, store index.Store, w Which, open func(context.Context, Chosen) error) ([]Warning, error) {
	switch {
	case w.ID != "":
		s, err := Resolve(ctx, store, w.ID)
		if err != nil {
			return nil, err
		}
		c, err := w.existing(ctx, store, s)
		if err != nil {
			return nil, err
		}
		return nil, open(ctx, c)
	case w.Last:
		return w.last(ctx, store, open)
	default:
		return nil, open(ctx, Chosen{Dir: w.Dir})
	}
}

// last opens the most recent session of the directory.
func (w Which) last(ctx context.Context, store index.Store, open func(context.Context, Chosen) error) (warnings []Warning, _ error) {
	for s, err := range store.List(ctx, index.Query{Dir: w.Dir}) {
		if err != nil {
			return warnings, err
		}
		if idle := time.Since(s.Updated); w.Rotate > 0 && idle > w.Rotate {
			tip, err := view.Tip(ctx, view.Stored(store, s.ID, ""))
			if err != nil {
				return warnings, err
			}
			warnings = append(warnings, Warning{
				Code: "conversation.rotated", Session: s.ID,
				Text: fmt.Sprintf("the last session was idle for %s, so a new one begins; continue the old one with --session %s", since(idle), s.ID),
			})
			return warnings, open(ctx, Chosen{Dir: w.Dir, From: session.Origin{Session: s.ID, Entry: tip.ID}})
		}
		c, err := w.existing(ctx, store, s)
		if err != nil {
			return warnings, err
		}
		err = open(ctx, c)
		if locked, ok := errors.AsType[*session.LockedError](err); ok {
			warnings = append(warnings, Warning{
				Code: "conversation.skipped", Session: s.ID, Text: fmt.Sprintf("skipped session %s: %s writes it", s.ID, locked.Owner),
			})
			continue
		}
		return warnings, err
	}
	if w.New {
		return warnings, open(ctx, Chosen{Dir: w.Dir})
	}
	return warnings, &NotFoundError{Dir: w.Dir}
}

// existing is the choice of an existing session, or of a fork of it.
func (w Which) existing(ctx context.Context, store index.Store, s index.Summary) (Chosen, error) {
	c := Chosen{ID: s.ID, Dir: w.Dir}
	if c.Dir == "" {
		c.Dir = s.Dir
	}
	path := view.Stored(store, s.ID, "")
	var err error
	if c.Model, err = ModelOf(ctx, path); err != nil {
		return c, err
	}
	if c.Role, err = RoleOf(ctx, path); err != nil || !w.Fork {
		return c, err
	}
	tip, err := view.Tip(ctx, path)
	c.ID, c.Fork, c.From = "", true, session.Origin{Session: s.ID, Entry: tip.ID}
	return c, err
}

// maxClaims is the number of imported entries in which ModelOf looks for the choice of a model.
const maxClaims = 500

// ModelOf returns the reference of the model that was chosen last on a branch, with its variant, or the name of the pool. It also returns a
// model that gave no answer, and "" if there was none.
func ModelOf(ctx context.Context, p view.Path) (string, error) {
	claims := 0
	for e, err := range p.Backward(ctx) {
		if err != nil {
			return "", err
		}
		if e.Imported {
			if claims++; claims > maxClaims { // other programs record no choice, and their sessions can be long
				break
			}
		}
		switch b := e.Body.(type) {
		case session.ModelChanged:
			return cmp.Or(b.Model.Reference, b.Model.Ref()), nil
		case session.RunStarted:
			return cmp.Or(b.Config.Model.Reference, b.Config.Model.Ref()), nil
		}
	}
	return "", nil
}

// RoleOf returns the role of the last run on a branch, "" if it had none. The runs of an imported session choose no role.
func RoleOf(ctx context.Context, p view.Path) (string, error) {
	for e, err := range p.Backward(ctx) {
		if err != nil || e.Imported {
			return "", err
		}
		if r, ok := e.Body.(session.RunStarted); ok {
			return r.Config.Role, nil
		}
	}
	return "", nil
}

// Latest returns the most recent session of a directory, or a [*NotFoundError].
func Latest(ctx context.Context, store index.Store, dir string) (index.Summary, error) {
	for s, err := range store.List(ctx, index.Query{Dir: dir, Limit: 1}) {
		return s, err
	}
	return index.Summary{}, &NotFoundError{Dir: dir}
}

// Resolve returns the session with an ID or a unique prefix of one. It ignores the trash, but the error says if the session is there.
func Resolve(ctx context.Context, store index.Store, prefix string) (index.Summary, error) {
	s, err := ResolveIn(ctx, store, prefix, index.Query{})
	if missing, ok := errors.AsType[*NotFoundError](err); ok {
		if trashed, e := ResolveIn(ctx, store, prefix, index.Query{Deleted: true}); e == nil {
			missing.Trashed = trashed.ID
		}
	}
	return s, err
}

// ResolveIn is [Resolve] among the sessions that a query selects.
func ResolveIn(ctx context.Context, store index.Store, prefix string, q index.Query) (index.Summary, error) {
	q.Prefix, q.Limit = strings.ToLower(strings.TrimSpace(prefix)), maxCandidates+1
	if q.Prefix == "" {
		return index.Summary{}, errors.New("the session ID is empty")
	}
	var found []index.Summary
	for s, err := range store.List(ctx, q) {
		if err != nil {
			return index.Summary{}, err
		}
		if string(s.ID) == q.Prefix {
			return s, nil
		}
		found = append(found, s)
	}
	switch len(found) {
	case 0:
		return index.Summary{}, &NotFoundError{ID: q.Prefix, Deleted: q.Deleted}
	case 1:
		return found[0], nil
	}
	return index.Summary{}, &AmbiguousError{Prefix: q.Prefix, Sessions: found}
}
