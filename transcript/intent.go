package transcript

import (
	"strings"
)

const (
	intentOpen  = "<intent>"
	intentClose = "</intent>"

	// maxIntent is the length of the longest hidden intent, in bytes. A longer text after the tag is shown.
	maxIntent = 4 << 10
)

// IntentFilter removes the intent that a model states, and the white space after it, from a text that arrives in pieces. It holds back
// text that may be the beginning of an intent, at most maxIntent bytes.
type IntentFilter struct {
	held  string // undecided: the beginning of a tag, or of an intent
	blank bool   // a tag has just ended: leading white space belongs to it
}

// Next returns the visible part of the held text and of piece.
func (f *IntentFilter) Next(piece string) string {
	text := f.held + piece
	f.held = ""
	var shown strings.Builder
	for text != "" {
		if f.blank {
			text = strings.TrimLeft(text, " \t\r\n")
			if text == "" {
				break
			}
			f.blank = false
		}
		at := strings.Index(text, intentOpen)
		if at < 0 {
			keep := overlap(text, intentOpen)
			shown.WriteString(text[:len(text)-keep])
			f.held = text[len(text)-keep:]
			break
		}
		shown.WriteString(text[:at])
		text = text[at:]
		end := strings.Index(text, intentClose)
		switch {
		case end >= 0 && end <= maxIntent:
			text = text[end+len(intentClose):]
			f.blank = true
		case end < 0 && len(text) <= maxIntent:
			f.held = text
			return shown.String()
		default:
			shown.WriteString(text[:len(intentOpen)])
			text = text[len(intentOpen):]
		}
	}
	return shown.String()
}

// Flush ends the text and returns the held text: an intent without an end is visible.
func (f *IntentFilter) Flush() string {
	held := f.held
	*f = IntentFilter{}
	return held
}

// overlap returns the length of the longest end of text that is a proper prefix of tag.
func overlap(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}

// WithoutIntent returns a complete text without its intents.
func WithoutIntent(text string) string {
	var f IntentFilter
	shown := f.Next(text)
	return shown + f.Flush()
}
