package index

import "github.com/tenon-agent/tenon/session"

// Problem is damage of a store that Index.Check finds.
type Problem struct {
	Session session.SessionID `json:"session,omitzero"` // empty: the problem concerns the whole store
	Seq     int64             `json:"seq,omitzero"`     // of the entry
	Part    Part              `json:"part"`
	Text    string            `json:"text"`            // a description
	Lost    bool              `json:"lost,omitzero"`   // repair cannot compute it
	Fixed   bool              `json:"fixed,omitzero"`  // repair fixed it
	Advice  string            `json:"advice,omitzero"` // an action for a person, if it is not fixed
}

// Part is a part of a store.
type Part string

// The parts.
const (
	PartFile     Part = "file"     // the file itself: its pages and its indexes
	PartEntries  Part = "entries"  // the journal
	PartSummary  Part = "summary"  // the data of lists
	PartTip      Part = "tip"      // the end of the current branch
	PartFork     Part = "fork"     // the origin of a fork
	PartSpending Part = "spending" // usage and cost
	PartSearch   Part = "search"   // the search index
	PartBlobs    Part = "blobs"
	PartFiles    Part = "files" // files outside the store, which the store itself does not know
)
