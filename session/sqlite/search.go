package sqlite

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/search"
)

// Search implements [index.Store]. It first updates the index, which takes minutes for gigabytes of new entries.
func (s *searcher) Search(ctx context.Context, q search.Request) iter.Seq2[search.Hit, error] {
	return func(yield func(search.Hit, error) bool) {
		hits, err := s.search(ctx, q)
		yieldAll(ctx, s.file, hits, s.indexFail(err), yield)
	}
}

func (s *searcher) search(ctx context.Context, q search.Request) ([]search.Hit, error) {
	if err := cmp.Or(s.ended(ctx), s.complete()); err != nil {
		return nil, err
	}
	query := search.Parse(q.Text)
	if query.Empty() {
		return nil, nil
	}
	var hits []search.Hit
	err := s.index.use(ctx, func() error {
		if err := s.catchUp(ctx); err != nil {
			return err
		}
		among, err := s.among(q)
		if err != nil {
			return s.ofJournal(err)
		}
		hits, err = s.index.find(ctx, query, q, among)
		return err
	})
	if unindexed(err) {
		return s.scan(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	return s.show(ctx, query, search.Rank(hits, q.Limit), q.Thinking)
}

// among is the sessions of a search.
type among struct {
	only  map[int64]bool // these; nil: all
	trash map[int64]bool // but not these
}

func (a among) selects(key int64) bool { return !a.trash[key] && (a.only == nil || a.only[key]) }

// among finds the sessions of a search.
func (s *searcher) among(q search.Request) (a among, err error) {
	if a.trash, err = s.inTrash(); err != nil || q.Dir == "" && q.Tag == "" && q.Session == "" {
		return a, err
	}
	rows, err := s.query(`SELECT key, tags FROM sessions WHERE kept = 0 AND (?1 = '' OR dir = ?1) AND (?2 = '' OR id = ?2)`,
		q.Dir, string(q.Session))
	if err != nil {
		return a, err
	}
	defer rows.Close()
	a.only = map[int64]bool{}
	for rows.Next() {
		var key int64
		var packed tags
		if err := rows.Scan(&key, (*string)(&packed)); err != nil {
			return a, err
		}
		list, err := packed.list()
		if err != nil {
			return a, err
		}
		if (index.Query{Tag: q.Tag}).Selects(index.Summary{Tags: list}) {
			a.only[key] = true
		}
	}
	return a, rows.Err()
}

// inTrash are the sessions in the trash.
func (s *searcher) inTrash() (map[int64]bool, error) {
	rows, err := s.query(`SELECT key FROM sessions WHERE deleted <> 0`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	trash := map[int64]bool{}
	for rows.Next() {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		trash[key] = true
	}
	return trash, rows.Err()
}

// maxNamed is the number of sessions that a query for FTS5 names. For more sessions, find filters the hits.
const maxNamed = 200

// match is a query in the language of FTS5. Words of people occur only between quotes.
func match(query search.Query, thinking bool, only map[int64]bool) string {
	var must, not []string
	for _, t := range query.Terms {
		one := `"` + strings.Join(t.Words, " ") + `"`
		if t.Prefix {
			one += " *"
		}
		if t.Not {
			not = append(not, one)
		} else {
			must = append(must, one)
		}
	}
	text := "(" + strings.Join(must, " AND ") + ")"
	if len(not) > 0 {
		text += " NOT (" + strings.Join(not, " OR ") + ")"
	}
	where := "words parts"
	if thinking {
		where += " thinking"
	}
	text = "{" + where + "} : (" + text + ")"
	if only != nil && len(only) <= maxNamed {
		var names []string
		for key := range only {
			names = append(names, about(key))
		}
		text = "about : (" + strings.Join(names, " OR ") + ") AND " + text
	}
	return text
}

// find returns the newest hits, with their weights as scores.
func (x *wordIndex) find(ctx context.Context, query search.Query, q search.Request, a among) ([]search.Hit, error) {
	if a.only != nil && len(a.only) == 0 {
		return nil, nil
	}
	stmt, err := x.lane.stmt(`SELECT place, time, weight, id FROM said JOIN docs ON docs.doc = said.rowid JOIN done ON done.key = place >> 36
		WHERE said MATCH ? AND time >= ? AND time < ? ORDER BY said.rowid DESC`)
	if err != nil {
		return nil, err
	}
	until := int64(1<<63 - 1)
	if !q.Until.IsZero() {
		until = firstMicro(q.Until)
	}
	rows, err := stmt.QueryContext(ctx, match(query, q.Thinking, a.only), firstMicro(q.Since), until)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []search.Hit
	for len(hits) < search.MaxRanked && rows.Next() {
		var at, us int64
		var h search.Hit
		if err := rows.Scan(&at, &us, &h.Score, (*string)(&h.Session)); err != nil {
			return nil, err
		}
		if a.selects(keyOf(at)) {
			h.Seq, h.Time = seqOf(at), fromMicro(us)
			hits = append(hits, h)
		}
	}
	return hits, rows.Err()
}

// show reads the entries of hits. It omits purged ones.
func (s *searcher) show(ctx context.Context, query search.Query, hits []search.Hit, thinking bool) ([]search.Hit, error) {
	shown := hits[:0]
	for _, h := range hits {
		found, err := s.find(ctx, h.Session)
		if errors.Is(err, session.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		records, err := s.records(found.key, h.Seq-1, h.Seq)
		if err != nil {
			return nil, s.fail("read", err)
		}
		if len(records) == 1 && records[0].broken == nil {
			h.Entry = records[0].ID
			h.Kind, h.Snippet = query.Snippet(search.Pieces(records[0].Body), thinking)
			shown = append(shown, h)
		}
	}
	return shown, nil
}
