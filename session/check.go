package session

// Problem is something that is wrong with a store, as Store.Check finds it.
type Problem struct {
	Session SessionID `json:"session,omitzero"` // empty: it is about the store as a whole
	Seq     int64     `json:"seq,omitzero"`     // of the entry that it is about
	Part    Part      `json:"part"`
	Text    string    `json:"text"`            // what is wrong, in words
	Lost    bool      `json:"lost,omitzero"`   // it cannot be computed from what is there
	Fixed   bool      `json:"fixed,omitzero"`  // it was wrong, and is right now
	Advice  string    `json:"advice,omitzero"` // what a person can do, when it is not fixed
}

// Part is a part of a store.
type Part string

// The parts.
const (
	PartFile     Part = "file"     // the file itself: its pages and its indexes
	PartEntries  Part = "entries"  // the journal
	PartSummary  Part = "summary"  // what lists show of a session
	PartTip      Part = "tip"      // where its current branch ends
	PartFork     Part = "fork"     // where it goes on from
	PartSpending Part = "spending" // what was consumed
	PartSearch   Part = "search"   // what Search reads
	PartBlobs    Part = "blobs"
	PartFiles    Part = "files" // what is kept beside a store; the store itself knows nothing of it
)
