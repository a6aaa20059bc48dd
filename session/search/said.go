// Package search is what stores search with: what entries say, the words of it, queries, and the piece of a text around what
// was found. [Scan] is a whole search, slow and simple, over any store; stores on disk keep an index of the same words.
//
// # Words
//
// A word is a run of letters, digits and the marks on them, in lower case and, in Latin and Greek, without accents. Everything else
// stands between words, so that foo/bar.go:12 is four words in a row and snake_case two; what a query writes in one piece
// must stand in a row. A name in camelCase is one word, and its parts are words besides. Each character of Chinese,
// Japanese, Korean, Thai and other scripts that put no spaces between words is a word by itself: two characters in a query are two
// words in a row, which finds them anywhere.
//
// The tokenizers of SQLite do not do: its unicode61 makes one word of a whole Chinese sentence and cannot see the parts of a
// name; its trigrams find no two characters of Chinese, and need three times the space. So the words are made here, once, for the index
// and for queries alike.
package search

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Piece is one thing that an entry says.
type Piece struct {
	Kind session.Said
	Text string
}

// maxText is how much of one entry is searched, in bytes.
const maxText = 1 << 20

// Pieces is what an entry says, in order: at most the first megabyte.
func Pieces(b session.Body) []Piece {
	var out []Piece
	left := maxText
	add := func(kind session.Said, text string) {
		if text = cut(text, left); strings.TrimSpace(text) != "" {
			out = append(out, Piece{kind, text})
			left -= len(text)
		}
	}
	switch b := b.(type) {
	case session.Title:
		add(session.SaidTitle, b.Title)
	case session.Tags:
		add(session.SaidTags, strings.Join(b.Tags, ", "))
	case session.Note:
		add(session.SaidNote, b.Text)
	case session.Digest:
		add(session.SaidSummary, b.Summary)
	case session.Message:
		for _, p := range b.Content {
			switch p := p.(type) {
			case llm.Text:
				add(kindOf(b.Role), p.Text)
			case llm.Thinking:
				add(session.SaidThinking, p.Text)
			case llm.ToolCall:
				add(session.SaidCall, p.Name+" "+values(cut(p.Arguments, left)))
			}
		}
	}
	return out
}

func kindOf(r llm.Role) session.Said {
	switch r {
	case llm.RoleAssistant:
		return session.SaidAssistant
	case llm.RoleTool:
		return session.SaidResult
	default:
		return session.SaidUser
	}
}

// cut returns at most limit bytes of text, and no half characters.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(limit, 0)], "")
}

// values is the names and values in a JSON text, without its signs; the text itself when it is none.
func values(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var b strings.Builder
	for {
		t, err := d.Token()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			return text
		}
		switch t := t.(type) {
		case string:
			b.WriteString(t)
			b.WriteByte(' ')
		case json.Number:
			b.WriteString(t.String())
			b.WriteByte(' ')
		}
	}
}

// Weight is how much a hit in an entry of a kind counts.
func Weight(b session.Body) float64 {
	switch b := b.(type) {
	case session.Title, session.Tags:
		return 4
	case session.Note, session.Digest:
		return 2
	case session.Message:
		switch b.Role {
		case llm.RoleUser:
			return 3
		case llm.RoleAssistant:
			return 2
		}
	}
	return 1
}
