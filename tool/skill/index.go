package skill

import (
	"fmt"
	"strings"
)

// The size of an index: about 1500 tokens.
const (
	maxIndex = 6000 // bytes
	maxLine  = 400  // bytes of one description, where all would be too long
)

// Index is what a model is told of skills: a line each. Where it would be longer than about 1500 tokens, descriptions are cut, and then the
// last skills are told by their names alone; what was cut is said. Without skills it is empty.
func Index(skills []Skill) string {
	if len(skills) == 0 {
		return ""
	}
	for _, line := range []int{maxDescription * 4, maxLine, maxLine / 2, maxLine / 4} {
		if text := lines(skills, line); len(text) <= maxIndex {
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

func lines(skills []Skill, most int) string {
	var b strings.Builder
	for _, s := range skills {
		b.WriteString(s.line(most))
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

// names is skills for which there is no line.
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
