package openai

import "strings"

// splitter takes thinking out of a text that has it between tags, as it comes in pieces cut anywhere: <think>, <thinking> or
// <thought> at the beginning, after white space or nothing, and again after a closing tag. Elsewhere a tag is text. White space
// after a tag is left out. The zero value is ready for use.
type splitter struct {
	state splitState
	held  string // what may be the beginning of a tag
	close string // the tag that ends the thinking
	began bool   // something was written between the tags
	open  bool   // the opening tag counts as written, whether it comes or not
}

type splitState int

const (
	atStart  splitState = iota // nothing but white space has come
	inThink                    // between the tags
	afterTag                   // after a closing tag
	inText                     // the rest is text
)

// maxSpace is the white space before a tag that is waited for.
const maxSpace = 256

// closing returns the tag that closes the given opening one.
func closing(open string) string { return "</" + open[1:] }

var openTags = [...]string{"<think>", "<thinking>", "<thought>"}

// write handles more text, and calls text and thinking with the certain parts. It reports whether the last of them wants more.
func (s *splitter) write(more string, text, thinking func(string) bool) bool {
	if s.state == inText {
		return text(more)
	}
	all := s.held + more
	s.held = ""
	for ok := true; ; {
		switch {
		case !ok || all == "":
			return ok
		case s.state == inText:
			return text(all)
		case s.state == inThink:
			all, ok = s.think(all, thinking)
		default:
			all, ok = s.begin(all, text)
		}
	}
}

// begin looks for an opening tag, and returns the text after it.
func (s *splitter) begin(all string, text func(string) bool) (rest string, ok bool) {
	trimmed := strings.TrimLeft(all, " \t\r\n")
	if s.state == afterTag {
		all = trimmed
	}
	if len(all)-len(trimmed) <= maxSpace {
		for _, open := range openTags {
			if behind, found := strings.CutPrefix(trimmed, open); found {
				s.state, s.close, s.began, s.open = inThink, closing(open), false, false
				return behind, true
			}
		}
		if couldOpen(trimmed) {
			s.held = all
			return "", true
		}
	}
	if s.open {
		s.imply()
		return all, true
	}
	s.state = inText
	return "", all == "" || text(all)
}

// imply continues as if after an opening tag that the model did not write.
func (s *splitter) imply() { s.state, s.close = inThink, closing(openTags[0]) }

func couldOpen(s string) bool {
	for _, open := range openTags {
		if strings.HasPrefix(open, s) {
			return true
		}
	}
	return false
}

// think looks for the closing tag, and returns the text after it.
func (s *splitter) think(all string, thinking func(string) bool) (rest string, ok bool) {
	if !s.began {
		all = strings.TrimLeft(all, " \t\r\n")
	}
	before, rest, found := strings.Cut(all, s.close)
	if found {
		s.state, s.open = afterTag, false
	} else {
		before = all[:len(all)-overlap(all, s.close)]
		s.held = all[len(before):]
	}
	s.began = s.began || before != ""
	return rest, before == "" || thinking(before)
}

// overlap returns the length of the longest end of s with which tag begins.
func overlap(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// flush passes on the text held back, at the end of the text or before another part.
func (s *splitter) flush(text, thinking func(string) bool) bool {
	held := s.held
	s.held = ""
	if s.open && s.state == atStart {
		s.imply()
	}
	switch {
	case held == "":
		return true
	case s.state == inThink:
		return thinking(held)
	default:
		s.state = inText
		return text(held)
	}
}
