package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	Usage      llm.Usage         `json:"usage,omitzero"`
	Lost       []Loss            `json:"lost,omitzero"` // what could not be kept
}

func (r *Report) count(e session.Event) {
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
func Import(ctx context.Context, store session.Store, s Source, o Options) (*Report, error) {
	f, err := formatOf(s.Program)
	if err != nil {
		return nil, err
	}
	report := &Report{Source: s}
	if f.read == nil {
		if err := importTenon(ctx, store, s, report); err != nil {
			return nil, err
		}
		return report, nil
	}
	b, err := newBuilder(o.Redact)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", s.File, err)
	}
	defer b.spool.close() // the session is in the store, or the error is told
	if err := f.read(ctx, s, b); err != nil {
		return nil, fmt.Errorf("import from %s: %w", s.Program, err)
	}
	if len(b.nodes) == 0 {
		return nil, fmt.Errorf("import from %s: %s: %w", s.Program, s.File, ErrEmpty)
	}
	if b.title == "" {
		b.title = s.Title
	}
	if b.title != "" {
		if err := b.aside(b.newest, session.Title{Title: brief(b.title, 200)}); err != nil {
			return nil, err
		}
	}
	if report.Source.Size == 0 {
		report.Source.Size = b.size
	}
	root := session.Created{
		Dir: b.dir, Version: o.Version,
		Imported: session.Import{
			Program: s.Program, ID: strings.ToValidUTF8(s.ID, "\uFFFD"), File: strings.ToValidUTF8(s.File, "\uFFFD"), Size: report.Source.Size,
		},
	}
	if report.Session, err = store.Import(ctx, b.entries(root, report)); err != nil {
		return nil, err
	}
	report.Lost = b.losses.sorted()
	return report, nil
}

// Past is what was imported before, by program and ID.
type Past map[Key]Before

// Key names a session of another program.
type Key struct{ Program, ID string }

// Before is a session that was imported.
type Before struct {
	Session session.SessionID
	Size    int64 // of the source at that time
}

// Imported returns what was imported into a store, as far as it is not deleted. Our own sessions are in it too, so that an export is
// not imported where it comes from.
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
		for e, err := range store.Read(ctx, id, 0, session.Created{}.Kind()) {
			if errors.Is(err, session.ErrNotFound) {
				break // deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			if c, ok := e.Body.(session.Created); ok && c.Imported.Program != "" {
				past[Key{c.Imported.Program, c.Imported.ID}] = Before{id, c.Imported.Size}
			}
			break
		}
	}
	return past, nil
}

// Has returns the session that a source was imported as, and whether the source has grown since.
func (p Past) Has(s Source) (b Before, grown, ok bool) {
	b, ok = p[Key{s.Program, s.ID}]
	return b, ok && b.Size > 0 && s.Size > b.Size, ok
}

func joinErrors(errs []error) error { return errors.Join(errs...) }
