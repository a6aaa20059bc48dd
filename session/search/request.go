package search

import (
	"time"

	"github.com/tenon-agent/tenon/session"
)

// Request is a search in all sessions. Fields other than Text restrict it; their zero values do not.
//
// Text is words, in upper or lower case. One entry must contain all of them. A word that ends in * matches all words with this prefix.
// "Words in quotes" match a phrase. A word after - must not occur. A part of a name in camelCase or snake_case is a word too, and so is each
// character of a script without spaces. Words with other characters between them, such as a path, match a phrase. Any text is a valid query.
// A query without a required word finds nothing.
type Request struct {
	Text     string
	Dir      string            // of the session, exact
	Tag      string            // of the session, exact
	Session  session.SessionID // only this session, without inherited entries
	Since    time.Time         // said at this time or later
	Until    time.Time         // said before this time
	Thinking bool              // look into the thinking of models too
	Limit    int               // 0: 20
}

// DefaultHits is how many hits a [Request] without a limit finds.
const DefaultHits = 20

// Hit is an entry that a search found.
type Hit struct {
	Session session.SessionID `json:"session"`
	Entry   session.ID        `json:"entry"`
	Seq     int64             `json:"seq"`
	Time    time.Time         `json:"time"`
	Kind    Said              `json:"kind"` // the part of the entry that the snippet is from
	Snippet Snippet           `json:"snippet"`
	Score   float64           `json:"score"` // larger is better: people count more than tools, and new entries more than old ones
}

// Said is the kind of a text in an entry.
type Said string

// The kinds of texts.
const (
	SaidTitle     Said = "title"
	SaidTags      Said = "tags"
	SaidNote      Said = "note"
	SaidUser      Said = "user"
	SaidAssistant Said = "assistant"
	SaidThinking  Said = "thinking"
	SaidCall      Said = "call"    // the arguments of a call, with its tool's name
	SaidResult    Said = "result"  // of a call
	SaidSummary   Said = "summary" // of a Summarized
)

// Snippet is a piece of a text around a hit, on one line.
type Snippet struct {
	Text  string `json:"text"`
	Marks []Mark `json:"marks,omitzero"` // the hits, in order
}

// Mark is a range of a text, in bytes.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}
