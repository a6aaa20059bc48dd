package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/search"
)

// Search implements [session.Store]. It reads everything.
func (s *Store) Search(ctx context.Context, q session.SearchQuery) iter.Seq2[session.Hit, error] {
	return search.Scan(ctx, s, q)
}

// Index implements [session.Store]. There is none.
func (s *Store) Index(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usable(ctx)
}

// Spent implements [session.Store].
func (s *Store) Spent(ctx context.Context, since time.Time) (llm.Usage, error) {
	var sum llm.Usage
	for row, err := range s.Usage(ctx, session.UsageQuery{Since: since.Truncate(time.Microsecond)}) {
		if err != nil {
			return llm.Usage{}, err
		}
		sum = row.Usage
	}
	return sum, nil
}

// Usage implements [session.Store].
func (s *Store) Usage(ctx context.Context, q session.UsageQuery) iter.Seq2[session.UsageRow, error] {
	return func(yield func(session.UsageRow, error) bool) {
		rows, err := s.usage(ctx, q)
		if err != nil {
			yield(session.UsageRow{}, err)
			return
		}
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (s *Store) usage(ctx context.Context, q session.UsageQuery) ([]session.UsageRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	sum := session.NewTally(q)
	for id, j := range s.sessions {
		if q.Session != "" && id != q.Session || q.Dir != "" && j.summary.Dir != q.Dir {
			continue
		}
		agents := map[session.RunID]string{}
		for _, e := range j.entries {
			if b, ok := e.Body.(session.RunStarted); ok && e.Run != "" {
				agents[e.Run] = session.AgentOf(b)
			}
			if r, ok := session.RowOf(e.Event, q.Counts()); ok {
				r.Session, r.Agent = id, agents[e.Run]
				sum.Add(r)
			}
		}
	}
	return sum.Rows(), nil
}

// Check implements [session.Store]. There is not much that can be wrong.
func (s *Store) Check(ctx context.Context, _ bool) iter.Seq2[session.Problem, error] {
	return func(yield func(session.Problem, error) bool) {
		s.mu.Lock()
		err := s.usable(ctx)
		blobs := maps.Clone(s.blobs)
		s.mu.Unlock()
		if err != nil {
			yield(session.Problem{}, err)
			return
		}
		for _, hash := range slices.Sorted(maps.Keys(blobs)) {
			if sum := sha256.Sum256(blobs[hash].data); hex.EncodeToString(sum[:]) == hash {
				continue
			}
			if !yield(session.Problem{Part: session.PartBlobs, Text: fmt.Sprintf("blob %s has another content", hash), Lost: true}, nil) {
				return
			}
		}
	}
}
