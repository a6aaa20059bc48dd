package session

import "time"

// SearchQuery says what to look for in everything that was said. Fields other than Text narrow; the zero value of each
// narrows nothing.
//
// Text is words, in upper or lower case, all of which one entry must say. A word ending in * stands for all that begin with it,
// "words in quotes" must stand together, and what has a - before it must not be there. A part of a name in camelCase or
// snake_case is a word too, and so is each character of a script without spaces; what is written with other characters
// between, such as a path, must stand together. Any text is a query; one without a word that must be there finds nothing.
type SearchQuery struct {
	Text     string
	Dir      string    // of the session, exact
	Tag      string    // of the session, exact
	Session  SessionID // this one alone, without what it inherited
	Since    time.Time // said at this time or later
	Until    time.Time // said before this time
	Thinking bool      // look into the thinking of models too
	Limit    int       // 0: 20
}

// DefaultHits is how many hits a [SearchQuery] without a limit finds.
const DefaultHits = 20

// Hit is an entry that a search found.
type Hit struct {
	Session SessionID `json:"session"`
	Entry   ID        `json:"entry"`
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Kind    Said      `json:"kind"` // what of the entry the snippet is
	Snippet Snippet   `json:"snippet"`
	Score   float64   `json:"score"` // larger is better: what people said counts more than what tools wrote, and new more than old
}

// Said is what kind of thing an entry says.
type Said string

// The kinds of things that are said.
const (
	SaidTitle     Said = "title"
	SaidTags      Said = "tags"
	SaidNote      Said = "note"
	SaidUser      Said = "user"
	SaidAssistant Said = "assistant"
	SaidThinking  Said = "thinking"
	SaidCall      Said = "call"    // the arguments of a call, with its tool's name
	SaidResult    Said = "result"  // of a call
	SaidSummary   Said = "summary" // of a Digest
)

// Snippet is a piece of a text around what was found, on one line.
type Snippet struct {
	Text  string `json:"text"`
	Marks []Mark `json:"marks,omitzero"` // what was found, in order
}

// Mark is a stretch of a text, in bytes.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}
