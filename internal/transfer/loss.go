package transfer

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Loss counts dropped parts of one kind.
type Loss struct {
	Kind  string `json:"kind"` // in words, such as "unreadable line"
	Count int    `json:"count"`
	Place string `json:"place"`            // of the first one, such as "file:12"
	First string `json:"example,omitzero"` // beginning of the first one
}

// losses counts dropped parts by kind.
type losses struct {
	list  []Loss
	index map[string]int
}

// maxKinds bounds the number of kinds: some names come from the file.
const maxKinds = 100

func (l *losses) add(kind, place, example string) {
	if l.index == nil {
		l.index = map[string]int{}
	}
	kind = brief(kind, 60)
	i, ok := l.index[kind]
	if !ok && len(l.list) >= maxKinds {
		kind = "other things"
		i, ok = l.index[kind]
	}
	if !ok {
		i = len(l.list)
		l.index[kind] = i
		l.list = append(l.list, Loss{Kind: kind, Place: place, First: brief(example, 100)})
	}
	l.list[i].Count++
}

// sorted returns all of them, the most frequent first.
func (l *losses) sorted() []Loss {
	out := slices.Clone(l.list)
	slices.SortStableFunc(out, func(a, b Loss) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// brief is the beginning of a text on one line, at most limit runes, without terminal control characters.
func brief(text string, limit int) string {
	if len(text) > 8*limit {
		text = text[:8*limit]
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
	if r := []rune(text); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return text
}
