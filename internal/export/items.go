package export

import (
	"context"
	"iter"
	"slices"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// item is an item of the transcript. Dead reports whether it is on an abandoned branch.
type item struct {
	*transcript.Item
	Dead bool
}

// items yields the transcript in the order of the journal. Items wait for an earlier answer whose calls have no results yet.
func (o *overview) items(ctx context.Context, store index.Store) iter.Seq2[item, error] {
	return func(yield func(item, error) bool) {
		var model transcript.Transcript
		var held []*transcript.Item
		dead := false
		flush := func(all bool) bool {
			for len(held) > 0 && (all || !held[0].Open) {
				it := held[0]
				held = held[1:]
				if it.Void() {
					continue
				}
				if _, end := it.Body.(session.RunEnded); !end { // the end of a run is on the branch of its last answer
					dead = (session.Event{Body: it.Body}).OnBranch() && !o.live[it.Seq]
				}
				if !yield(item{it, dead}, nil) {
					return false
				}
			}
			return true
		}
		for e, err := range o.opts.read(ctx, store, o.ID) {
			if err != nil {
				yield(item{}, err)
				return
			}
			if e.Seq > o.end {
				break
			}
			if it, begun := model.Add(e); begun && shown(it) {
				held = append(held, it)
			}
			if !flush(false) {
				return
			}
		}
		flush(true)
	}
}

// shown reports whether an export has the item: a question shows in its call, and the beginning of a summary in the summary.
func shown(it *transcript.Item) bool {
	_, compacting := it.Body.(live.Compacting)
	return it.Kind != transcript.KindQuestion && !compacting
}

// note returns the note of an item, with the numbers of entries, and with paths from the directory of the session.
func (o *overview) note(it *transcript.Item) transcript.Note {
	n := it.Note
	switch b := it.Body.(type) {
	case session.Head:
		n.Title = whither(o.seqs[b.To], b.Reason)
	case session.FilesChanged:
		b.Files = slices.Clone(b.Files)
		for i := range b.Files {
			b.Files[i].Path = paths.Show(o.Dir, b.Files[i].Path)
		}
		n, _ = transcript.Describe(b)
	}
	n.Title = transcript.Capital(n.Title)
	return n
}
