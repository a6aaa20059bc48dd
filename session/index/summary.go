package index

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/view"
)

// Query selects sessions. The zero value selects all.
type Query struct {
	Prefix  string    // of the ID
	Dir     string    // of Created.Dir, exact
	Tag     string    // one of its tags, exact
	Text    string    // in its title, in upper or lower case
	After   time.Time // changed at this time or later
	Before  time.Time // last changed before this time; zero: any
	Deleted bool      // those in the trash, instead of those that are not
	Limit   int       // 0: all

	// Parent selects the child sessions of a session. Empty: child sessions are in no list, unless Prefix names one.
	Parent session.SessionID
}

// Selects reports whether the query selects a session, whatever its Limit.
func (q Query) Selects(s Summary) bool {
	return strings.HasPrefix(string(s.ID), q.Prefix) &&
		(q.Parent == s.Parent || q.Parent == "" && q.Prefix != "") &&
		(q.Dir == "" || s.Dir == q.Dir) &&
		(q.Tag == "" || slices.Contains(s.Tags, q.Tag)) &&
		(q.Text == "" || strings.Contains(strings.ToLower(s.Title), strings.ToLower(q.Text))) &&
		!s.Updated.Before(q.After) && (q.Before.IsZero() || s.Updated.Before(q.Before)) &&
		!s.Deleted.IsZero() == q.Deleted
}

// Summary is what a list shows of a session.
type Summary struct {
	ID       session.SessionID `json:"id"`
	Title    string            `json:"title"` // the last Title, or the beginning of the first input
	Named    bool              `json:"named"` // a Title gave it
	Dir      string            `json:"dir"`
	Model    string            `json:"model,omitzero"` // "provider/model" of the last answer
	Created  time.Time         `json:"created"`
	Updated  time.Time         `json:"updated"`
	Entries  int64             `json:"entries"`  // the last sequence number
	Messages int               `json:"messages"` // of people and models, on all branches
	Runs     int               `json:"runs"`     // of the loop, on all branches
	Usage    llm.Usage         `json:"usage"`    // of all answers, summaries, titles and notes, on all branches
	Tags     []string          `json:"tags,omitzero"`
	From     session.Origin    `json:"from,omitzero"`
	Fork     bool              `json:"fork,omitzero"`    // it goes on from there
	Parent   session.SessionID `json:"parent,omitzero"`  // of a child session: the one that spawned it
	Deleted  time.Time         `json:"deleted,omitzero"` // when it was moved to the trash; zero: it is not there
	Owner    string            `json:"owner,omitzero"`   // who holds the lease now
}

// Add brings the summary up to date with a further entry. Stores call it for every entry that they append.
func (s *Summary) Add(e session.Event) {
	s.Entries, s.Updated = e.Seq, e.Time
	if _, u, ok := view.Consumed(e.Body); ok {
		s.Usage = s.Usage.Plus(u)
	}
	switch b := e.Body.(type) {
	case session.Created:
		s.Dir, s.Created, s.From, s.Fork, s.Parent = b.Dir, e.Time, b.From, b.Fork, b.Parent.Session
	case session.Title:
		s.Title, s.Named = b.Title, b.Title != ""
	case session.Tags:
		s.Tags = b.Tags
	case session.Deleted:
		s.Deleted = e.Time
		if b.Restored {
			s.Deleted = time.Time{}
		}
	case session.RunStarted:
		s.Runs++
	case session.Message:
		switch b.Role {
		case llm.RoleUser:
			if !b.ByPerson() {
				break
			}
			s.Messages++
			if s.Title == "" {
				s.Title = firstWords(b.Text(), 60)
			}
		case llm.RoleAssistant:
			s.Messages++
			s.Model = b.Model
		}
	}
}

// firstWords returns the beginning of the first line of text with words in it, at most limit runes, cut between words.
func firstWords(text string, limit int) string {
	const look = 4 << 10 // a title needs no more of a long input
	if len(text) > look {
		text = strings.ToValidUTF8(text[:look], "")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if utf8.RuneCountInString(line) <= limit {
		return line
	}
	cut := string([]rune(line)[:limit])
	if i := strings.LastIndexByte(cut, ' '); i > limit/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
