// Package search has the parts of a search that all stores share: the texts of entries, their words, queries, and snippets. Stores on disk
// keep an index of the same words.
//
// # Words
//
// A word is a sequence of letters, digits and their marks, in lower case and, in Latin and Greek, without accents. All other characters
// separate words: foo/bar.go:12 is a phrase of four words, and snake_case a phrase of two. A name in camelCase is one word, and its parts
// are words too. Each character of Chinese, Japanese, Korean, Thai and other scripts without spaces is a word.
//
// The tokenizers of SQLite are not enough: unicode61 makes one word of a Chinese sentence and does not see the parts of a name; trigram finds
// no two Chinese characters, and needs three times the space. So this package makes the words, for the index and for queries.
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
	Kind Said
	Text string
}

// maxText is how much of one entry is searched, in bytes.
const maxText = 1 << 20

// Pieces is what an entry says, in order: at most the first megabyte.
func Pieces(b session.Body) []Piece {
	var out []Piece
	left := maxText
	add := func(kind Said, text string) {
		if text = cut(text, left); strings.TrimSpace(text) != "" {
			out = append(out, Piece{kind, text})
			left -= len(text)
		}
	}
	switch b := b.(type) {
	case session.Title:
		add(SaidTitle, b.Title)
	case session.Tags:
		add(SaidTags, strings.Join(b.Tags, ", "))
	case session.Note:
		add(SaidNote, b.Text)
	case session.Summarized:
		add(SaidSummary, b.Summary)
	case session.Message:
		for _, p := range b.Content {
			switch p := p.(type) {
			case llm.Text:
				add(kindOf(b), p.Text)
			case llm.Thinking:
				add(SaidThinking, p.Text)
			case llm.ToolCall:
				add(SaidCall, p.Name+" "+values(cut(p.Arguments, left)))
			}
		}
	}
	return out
}

func kindOf(m session.Message) Said {
	switch m.Author().Kind {
	case session.SpeakerPerson:
		return SaidUser
	case session.SpeakerModel:
		return SaidAssistant
	case session.SpeakerTool:
		return SaidResult
	default:
		return SaidNote
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
	case session.Note, session.Summarized:
		return 2
	case session.Message:
		switch kindOf(b) {
		case SaidUser:
			return 3
		case SaidAssistant:
			return 2
		}
	}
	return 1
}
