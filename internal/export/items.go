package export

import (
	"context"
	"iter"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// item is what a reader sees as one thing: a message, an answer with its calls and their results, or something between messages.
type item struct {
	Seq     int64
	ID      session.ID
	Time    time.Time
	Dead    bool            // on a branch that was left
	Message session.Message // of a user or a model
	Calls   []*callItem
	Todo    []session.TodoItem
	Between session.Body // instead of a message
}

// callItem is a call and what became of it.
type callItem struct {
	llm.ToolCall
	Result  *session.Message // nil: there is none
	Seq     int64            // of the result
	Started time.Time
	Ended   time.Time
	Denied  string // by which rule or whom, and why
	Files   []session.FileChange
	More    int // files that changed and are not in the list
}

// items yields the session in the order of its journal. An answer waits for its results, so nothing is held but one answer.
func (o *overview) items(ctx context.Context, store session.Store) iter.Seq2[*item, error] {
	return func(yield func(*item, error) bool) {
		var open *item // an answer whose results come in
		flush := func() bool {
			it := open
			open = nil
			return it == nil || yield(it, nil)
		}
		for e, err := range o.opts.read(ctx, store, o.ID) {
			if err != nil {
				yield(nil, err)
				return
			}
			if e.Seq > o.end {
				break
			}
			if open != nil && open.takes(e) || skipped(e.Body) {
				continue
			}
			if !flush() {
				return
			}
			it := &item{Seq: e.Seq, ID: e.ID, Time: e.Time, Dead: session.OnBranch(e.Body) && !o.live[e.Seq]}
			if _, end := e.Body.(session.RunEnded); end { // a run ends where its last answer is, also when the branch goes another way later
				it.Dead = !o.live[o.seqs[e.Parent]]
			}
			m, ok := e.Body.(session.Message)
			if !ok || m.Role == llm.RoleTool {
				it.Between = e.Body
			} else {
				it.Message = m
				for _, c := range m.Calls() {
					it.Calls = append(it.Calls, &callItem{ToolCall: c})
				}
			}
			if len(it.Calls) > 0 {
				open = it
				continue
			}
			if !yield(it, nil) {
				return
			}
		}
		flush()
	}
}

// takes adds an entry to an answer, when it belongs to one of its calls.
func (it *item) takes(e session.Event) bool {
	switch b := e.Body.(type) {
	case session.Message:
		c := it.call(b.CallID)
		if b.Role != llm.RoleTool || c == nil {
			return false
		}
		if c.Result == nil {
			c.Result, c.Seq, c.Ended = &b, e.Seq, e.Time
		}
	case session.CallStarted:
		c := it.call(b.Call)
		if c == nil {
			return false
		}
		c.Started = e.Time
	case session.Decision:
		c := it.call(b.Call)
		if c == nil {
			return false
		}
		if b.Verdict == "deny" {
			c.Denied = joined(b.By, b.Reason)
		}
		if b.Arguments != "" {
			c.Arguments = b.Arguments
		}
	case session.FilesChanged:
		c := it.call(b.Call)
		if c == nil || b.Call == "" {
			return false
		}
		c.Files, c.More = append(c.Files, b.Files...), c.More+b.More
	case session.Todo:
		it.Todo = b.Items
	default:
		return false
	}
	return true
}

func joined(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + ": " + b
}

func (it *item) call(id string) *callItem {
	for _, c := range it.Calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// skipped reports whether a body says nothing to a reader.
func skipped(b session.Body) bool {
	switch b := b.(type) {
	case session.Created, session.Requested, session.Queued, session.Title, session.Tags, session.Deleted, session.Import,
		session.CallStarted:
		return true
	case session.Decision:
		return b.Verdict == "allow"
	case session.FilesChanged:
		return len(b.Files) == 0 && b.More == 0
	}
	return false
}
