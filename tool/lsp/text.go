package lsp

import (
	"strings"
	"unicode"

	"github.com/tenon-agent/tenon/tool"
)

const (
	maxMessage = 300     // characters of a problem
	maxLine    = 160     // characters of a line of code
	maxText    = 8 << 10 // bytes of an answer
)

// oneLine makes one harmless line of a text.
func oneLine(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text[:min(len(text), 4*most)], "�"))
	return tool.Clip(strings.Join(strings.Fields(text), " "), most)
}

// harmless removes control characters but line breaks and tabs.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
}
