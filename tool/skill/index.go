package skill

import (
	"fmt"
	"strings"
)

// The size of an index: about 1500 tokens.
const (
	maxIndex = 6000 // bytes
	maxLine  = 400  // bytes of one description if the index is too long
)

// Index returns the list of skills for a model, one line each. To stay below about 1500 tokens, it cuts descriptions, and then lists the
// last skills by name only, with a note. Without skills it returns "".
func Index(skills []Skill) string {
	if len(skills) == 0 {
		return ""
	}
	for _, most := range []int{maxDescription * 4, maxLine, maxLine / 2, maxLine / 4} {
		text := ""
		for _, s := range skills {
			text += s.line(most)
		}
		if len(text) <= maxIndex {
			return text
		}
	}
	var b strings.Builder
	for i, s := range skills {
		line := s.line(maxLine / 4)
		rest := names(skills[i:])
		if b.Len()+len(line)+min(len(rest), maxIndex/4) > maxIndex {
			b.WriteString(rest)
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

func (s Skill) line(most int) string {
	text := s.Description
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return "- " + s.Name + ": " + text + "\n"
}

// names is the note about skills without a line.
func names(skills []Skill) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d more, without their descriptions:", len(skills))
	for i, s := range skills {
		if b.Len() > maxIndex/4-80 {
			fmt.Fprintf(&b, " and %d others", len(skills)-i)
			break
		}
		b.WriteString(" " + s.Name)
	}
	return b.String() + "]\n"
}
