package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// Options configures an import.
type Options struct {
	Version string              // of the program that imports
	Redact  func(string) string // removes keys of texts; nil: none is known
}

// Report is the result of an import.
type Report struct {
	Source     Source            `json:"source"`
	Session    session.SessionID `json:"session"`
	Title      string            `json:"title,omitzero"`
	Dir        string            `json:"dir,omitzero"`
	Entries    int               `json:"entries"`
	Messages   int               `json:"messages"` // of people and models
	Calls      int               `json:"calls"`
	Results    int               `json:"results"`
	Unanswered int               `json:"unanswered,omitzero"` // calls without a result; each got one that says so
	Branches   int               `json:"branches,omitzero"`   // besides the current one
	Summaries  int               `json:"summaries,omitzero"`  // of older parts of the conversation
	Usage      llm.Usage         `json:"usage,omitzero"`
	Lost       []Loss            `json:"lost,omitzero"` // parts of the source that were dropped
}

func (r *Report) count(e session.Event) {
	r.Entries++
	switch b := e.Body.(type) {
	case session.Created:
		r.Dir = b.Dir
	case session.Title:
		r.Title = b.Title
	case session.Summarized:
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

// ErrEmpty says that a source has no messages.
var ErrEmpty error = emptyError{}

type emptyError struct{}

func (emptyError) Error() string { return "it has no messages to import" }
func (emptyError) Code() string  { return "transfer.empty" }

// Import reads a source into a new session, completely or not at all. It does not check whether the source was imported before: see
// [Imported]. Errors about a place in a file name it as "file:line".
func Import(ctx context.Context, store index.Store, s Source, o Options) (*Report, error) {
	report := &Report{Source: s}
	read := readForeign
	if s.Program == Tenon {
		read = readTenon
	}
	err := read(ctx, s, o, report, func(entries iter.Seq2[session.Event, error]) (err error) {
		report.Session, err = store.Import(ctx, entries)
		return err
	})
	if err != nil {
		return nil, err
	}
	return report, nil
}

// taker stores entries, all or none.
type taker func(iter.Seq2[session.Event, error]) error

// readForeign reads a source of another program and passes on its entries.
func readForeign(ctx context.Context, s Source, o Options, report *Report, take taker) error {
	f, err := formatOf(s.Program)
	if err != nil {
		return err
	}
	b, err := newBuilder(o.Redact)
	if err != nil {
		return fmt.Errorf("import %s: %w", s.File, err)
	}
	defer b.spool.close() // the session is stored, or an error is returned
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
	if err := take(b.entries(session.Created{Dir: b.dir, Version: o.Version, Imported: report.Source.origin()}, report)); err != nil {
		return err
	}
	report.Lost = b.losses.sorted()
	return nil
}

// Past has earlier imports by program and ID.
type Past map[Key]Before

// Key names a session of another program.
type Key struct{ Program, ID string }

// Before is an imported session.
type Before struct {
	Session session.SessionID
	Size    int64     // of the source at that time
	Updated time.Time // when the source had changed last
}

// Imported returns the imported sessions of a store that are not deleted. If a source was imported more than once, it returns the
// session with the most of it. Tenon's own sessions count too, so that an export is not imported into its own store.
func Imported(ctx context.Context, store index.Store) (Past, error) {
	past := Past{}
	var all []session.SessionID
	for s, err := range store.List(ctx, index.Query{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, s.ID)
	}
	for _, id := range all {
		past[Key{Tenon, string(id)}] = Before{Session: id}
		i, err := originOf(ctx, store, id)
		if err != nil && !errors.Is(err, session.ErrNotFound) { // ErrNotFound: deleted meanwhile
			return nil, err
		}
		key := Key{i.Program, i.ID}
		if before, ok := past[key]; i.Program != "" && (!ok || before.Updated.Before(i.Updated)) {
			past[key] = Before{id, i.Size, i.Updated}
		}
	}
	return past, nil
}

// originOf returns the source of an imported session.
func originOf(ctx context.Context, store index.Store, id session.SessionID) (session.Import, error) {
	for e, err := range store.Read(ctx, id, 0, session.Created{}.Kind()) {
		if err != nil {
			return session.Import{}, err
		}
		if c, ok := e.Body.(session.Created); ok {
			return c.Imported, nil
		}
	}
	return session.Import{}, nil
}

// Has returns the session that a source was imported into, and whether the source has changed since.
func (p Past) Has(s Source) (b Before, changed, ok bool) {
	b, ok = p[Key{s.Program, s.ID}]
	return b, ok && b.Size > 0 && (s.Size != b.Size || s.Updated.After(b.Updated.Add(time.Microsecond))), ok
}
