package cli

import "strings"

const (
	intentOpen  = "<intent>"
	intentClose = "</intent>"

	// maxIntent is the longest intent that is hidden, in bytes. What has no end by then was no intent, and is shown.
	maxIntent = 4 << 10
)

// intentFilter takes the tag with which a model states its intent out of a text that comes in pieces, and the white space
// behind it. It holds back what may be the beginning of a tag, at most maxIntent bytes.
type intentFilter struct {
	held  string // not decided yet: the beginning of a tag, or of what is in it
	blank bool   // a tag has just ended: leading white space belongs to it
}

// next returns what of the held text and of piece can be shown.
func (f *intentFilter) next(piece string) string {
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

// flush ends the text and returns what was held back: a tag without an end is shown.
func (f *intentFilter) flush() string {
	held := f.held
	*f = intentFilter{}
	return held
}

// overlap is the length of the longest end of text that is a beginning of tag, but not all of it.
func overlap(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}

// withoutIntent is a whole text without its intents.
func withoutIntent(text string) string {
	var f intentFilter
	shown := f.next(text)
	return shown + f.flush()
}
