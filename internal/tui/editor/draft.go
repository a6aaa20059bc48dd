package editor

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/internal/term"
)

// Draft is a prompt that is being written. It is a value that can be stored as JSON.
type Draft struct {
	// Text has one character of the private area U+100000 to U+10FFFF for every chip: U+100000 plus the index of its part.
	Text  string `json:"text"`
	Parts []Part `json:"parts,omitempty"`
}

// Kind is the kind of a part.
type Kind string

// The kinds of parts.
const (
	Paste Kind = "paste" // Text has the pasted text
	Image Kind = "image" // Data, or the file at Path
	File  Kind = "file"  // the file at Path
)

// Part is content that a chip represents.
type Part struct {
	Kind      Kind   `json:"kind"`
	Number    int    `json:"number,omitempty"` // counts the parts of one kind in a draft; zero: the editor chooses it
	Text      string `json:"text,omitempty"`
	Path      string `json:"path,omitempty"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
}

// Label returns the words of the chip, such as [paste 1: 240 lines].
func (p Part) Label() string {
	words := ""
	switch {
	case p.Kind == Paste:
		words = lineCount(p.Text)
	case p.Path != "":
		words = term.Fit(filepath.Base(p.Path), 40)
	default:
		words = fmt.Sprintf("%s, %d kB", cmp.Or(strings.TrimPrefix(p.MediaType, "image/"), "data"), (len(p.Data)+1023)>>10)
	}
	return term.OneLine(fmt.Sprintf("[%s %d: %s]", p.Kind, p.Number, words))
}

func lineCount(text string) string {
	n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if n == 1 {
		return fmt.Sprintf("%d characters", utf8.RuneCountInString(text))
	}
	return fmt.Sprintf("%d lines", n)
}

// The characters of chips.
const (
	firstChip = '\U00100000'
	lastChip  = '\U0010FFFF'
	chipLen   = 4    // bytes in UTF-8
	chipLead  = 0xF4 // the first byte
)

func isChip(r rune) bool { return r >= firstChip && r <= lastChip }

// chipAt returns the index of the chip that text begins with.
func chipAt(text string) (index int, ok bool) {
	if text == "" || text[0] != chipLead {
		return 0, false
	}
	r, _ := utf8.DecodeRuneInString(text)
	return int(r - firstChip), isChip(r)
}

// hasChip reports whether text contains characters of chips.
func hasChip(text string) bool {
	return strings.IndexByte(text, chipLead) >= 0 && strings.IndexFunc(text, isChip) >= 0
}

// eachChip replaces every chip, by the index of its part.
func eachChip(text string, with func(index int) string) string {
	if !hasChip(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isChip(r) {
			b.WriteString(with(int(r - firstChip)))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Sent returns the draft of a prompt that was sent: chips of images take the places of their labels in the text.
func Sent(text string, images []Part) Draft {
	d := Draft{Text: chipless(text)}
	rest := 0
	for len(d.Parts) < len(images) {
		from, to, ok := imageLabel(d.Text[rest:])
		if !ok {
			break
		}
		chip := string(firstChip + rune(len(d.Parts)))
		d.Text = d.Text[:rest+from] + chip + d.Text[rest+to:]
		rest += from + len(chip)
		d.Parts = append(d.Parts, images[len(d.Parts)])
	}
	return d
}

// maxLabel is more than the length of a label in bytes.
const maxLabel = 400

// imageLabel finds the first label of an image, such as [image 1: png, 12 kB].
func imageLabel(text string) (from, to int, ok bool) {
	for {
		at := strings.Index(text[from:], "["+string(Image)+" ")
		if at < 0 {
			return 0, 0, false
		}
		from += at
		label := text[from:min(from+maxLabel, len(text))]
		label = label[:strings.IndexByte(label, ']')+1]
		var n int
		if _, err := fmt.Sscanf(label, "["+string(Image)+" %d: ", &n); err == nil && n > 0 {
			return from, from + len(label), true
		}
		from++
	}
}

// chipless returns foreign text as the editor keeps it, without characters that represent chips.
func chipless(text string) string { return eachChip(clean(text), func(int) string { return "" }) }

// replaced returns the text with words in the place of its chips. A chip without a part has none.
func (d Draft) replaced(words func(Part) string) string {
	return eachChip(d.Text, func(i int) string {
		if i >= len(d.Parts) {
			return ""
		}
		return words(d.Parts[i])
	})
}

// Expanded returns the text with the content of pastes in the place of their chips, and the labels of other parts.
func (d Draft) Expanded() string {
	return d.replaced(func(p Part) string {
		if p.Kind == Paste {
			return p.Text
		}
		return p.Label()
	})
}

// Shown returns the text with the labels of all parts.
func (d Draft) Shown() string { return d.replaced(Part.Label) }

// Empty reports whether the draft has no text but blanks, and no parts.
func (d Draft) Empty() bool { return strings.TrimSpace(d.Text) == "" }

// Attachments returns the parts that are not text, in the order of their chips.
func (d Draft) Attachments() (all []Part) {
	d.replaced(func(p Part) string {
		if p.Kind != Paste {
			all = append(all, p)
		}
		return ""
	})
	return all
}

// Text returns a draft of plain text. Characters that represent chips are dropped.
func Text(text string) Draft { return Draft{Text: chipless(text)} }

// clean returns foreign text as the editor keeps it: valid UTF-8, lines that end with \n, and no C0 control but \n and \t.
func clean(text string) string {
	bad := func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }
	if utf8.ValidString(text) && strings.IndexFunc(text, bad) < 0 {
		return text
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return -1
		}
		return r
	}, text) // Map replaces invalid bytes by U+FFFD
}
