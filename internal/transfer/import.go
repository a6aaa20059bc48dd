package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Options is how a session is imported.
type Options struct {
	Version string              // of the program that imports
	Redact  func(string) string // takes keys out of texts; nil: none is known
}

// Report is what became of a source.
type Report struct {
	Source     Source            `json:"source"`
	Session    session.SessionID `json:"session"`
	Title      string            `json:"title,omitzero"`
	Dir        string            `json:"dir,omitzero"`
	Entries    int               `json:"entries"`
	Messages   int               `json:"messages"` // of people and models
	Calls      int               `json:"calls"`
	Results    int               `json:"results"`
	Unanswered int               `json:"unanswered,omitzero"` // calls whose result was not there; each has one that says so
	Branches   int               `json:"branches,omitzero"`   // beside the one that goes on
	Summaries  int               `json:"summaries,omitzero"`  // that stand for what was before them
	GoesOn     bool              `json:"goes_on,omitzero"`    // the session was there; what is counted is new in it
	Usage      llm.Usage         `json:"usage,omitzero"`
	Lost       []Loss            `json:"lost,omitzero"` // what could not be kept
}

func (r *Report) count(e session.Event) {
	if _, ok := e.Body.(session.Import); ok {
		return // it says nothing that was said there
	}
	r.Entries++
	switch b := e.Body.(type) {
	case session.Created:
		r.Dir = b.Dir
	case session.Title:
		r.Title = b.Title
	case session.Digest:
		r.Summaries++
	case session.Message:
		if b.Role == llm.RoleTool {
			r.Results++
			return
		}
		r.Messages++
		r.Calls += len(b.Calls())
		if b.Role == llm.RoleAssistant {
			r.Usage = r.Usage.Plus(b.Usage)
		}
	}
}

// ErrEmpty says that a source has no message.
var ErrEmpty = errors.New("it has no message that could be imported")

// Import reads a source and makes a session of it, whole or not at all. It does not look whether the source was imported before: see
// [Imported]. Errors that are about a place in a file name it, as "file:line".
func Import(ctx context.Context, store session.Store, s Source, o Options) (report *Report, err error) {
	report = &Report{Source: s}
	take := func(entries iter.Seq2[session.Event, error]) error {
		report.Session, err = store.Import(ctx, entries)
		return err
	}
	if s.Program == Tenon {
		err = readTenon(ctx, s, session.NewSessionID(), earlier{}, report, take)
	} else {
		err = read(ctx, s, o, nil, report, take)
	}
	if err != nil {
		return nil, err
	}
	return report, nil
}

// GoOn reads a source that was imported before, and appends to the session what is new in it, all or nothing; the report counts that
// alone. A session in which somebody has gone on is left as it is, and so is one that has something else than the source has now: the
// error is a [*DivergedError]. One that is being written is a [*session.LockedError].
func GoOn(ctx context.Context, store session.Store, id session.SessionID, s Source, o Options) (report *Report, err error) {
	w, err := store.Open(ctx, id, session.Lease{Owner: "tenon sessions import"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	report = &Report{Source: s, Session: id, GoesOn: true}
	take := func(entries iter.Seq2[session.Event, error]) error { return w.Import(ctx, entries) }
	if s.Program == Tenon {
		err = goOnTenon(ctx, store, s, report, take)
	} else {
		var have *journal
		if have, err = readJournal(ctx, store, id); err == nil {
			err = read(ctx, s, o, have, report, take)
		}
	}
	if err != nil {
		return nil, err
	}
	return report, nil
}

// taker takes entries, all or none.
type taker func(iter.Seq2[session.Event, error]) error

// read reads a source of another program and hands on what it has beyond a journal, which is nil for a new session.
func read(ctx context.Context, s Source, o Options, have *journal, report *Report, take taker) error {
	f, err := formatOf(s.Program)
	if err != nil {
		return err
	}
	b, err := newBuilder(o.Redact)
	if err != nil {
		return fmt.Errorf("import %s: %w", s.File, err)
	}
	defer b.spool.close() // the session is in the store, or the error is told
	if err := f.read(ctx, s, b); err != nil {
		return fmt.Errorf("import from %s: %w", s.Program, err)
	}
	if len(b.nodes) == 0 {
		return fmt.Errorf("import from %s: %s: %w", s.Program, s.File, ErrEmpty)
	}
	if b.title == "" {
		b.title = s.Title
	}
	if report.Source.Size == 0 {
		report.Source.Size = b.size
	}
	if err := take(b.entries(session.Created{Dir: b.dir, Version: o.Version, Imported: report.Source.taken()}, have, report)); err != nil {
		return err
	}
	report.Lost = b.losses.sorted()
	return nil
}

// Past is what was imported before, by program and ID.
type Past map[Key]Before

// Key names a session of another program.
type Key struct{ Program, ID string }

// Before is a session that was imported.
type Before struct {
	Session session.SessionID
	Size    int64     // of the source at that time
	Updated time.Time // when the source had changed last
}

// Imported returns what was imported into a store, as far as it is not deleted. Of a source that was imported more than once it is the
// session that knows most of it. Our own sessions are in it too, so that an export is not imported where it comes from.
func Imported(ctx context.Context, store session.Store) (Past, error) {
	past := Past{}
	var all []session.SessionID
	for s, err := range store.List(ctx, session.Query{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, s.ID)
	}
	for _, id := range all {
		past[Key{Tenon, string(id)}] = Before{Session: id}
		i, err := originOf(ctx, store, id)
		if err != nil && !errors.Is(err, session.ErrNotFound) { // else it was deleted meanwhile
			return nil, err
		}
		key := Key{i.Program, i.ID}
		if before, ok := past[key]; i.Program != "" && (!ok || before.Updated.Before(i.Updated)) {
			past[key] = Before{id, i.Size, i.Updated}
		}
	}
	return past, nil
}

// originOf returns where a session was imported from, and how far.
func originOf(ctx context.Context, store session.Store, id session.SessionID) (i session.Import, err error) {
	for e, err := range store.Read(ctx, id, 0, session.Created{}.Kind()) {
		if err != nil {
			return i, err
		}
		if c, ok := e.Body.(session.Created); ok {
			i = c.Imported
		}
		break
	}
	if i.Program == "" {
		return i, nil
	}
	for e, err := range store.Annotations(ctx, id, session.Import{}.Kind()) {
		if err != nil {
			return i, err
		}
		if b, ok := e.Body.(session.Import); ok && b.Program == i.Program && b.ID == i.ID {
			i = b
		}
	}
	return i, nil
}

// Has returns the session that a source was imported as, and whether the source has changed since.
func (p Past) Has(s Source) (b Before, changed, ok bool) {
	b, ok = p[Key{s.Program, s.ID}]
	return b, ok && b.Size > 0 && (s.Size != b.Size || s.Updated.After(b.Updated.Add(time.Microsecond))), ok
}

func joinErrors(errs []error) error { return errors.Join(errs...) }
