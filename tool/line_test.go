package tool_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/tool"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"go test ./...":           "go test ./...",
		" a\n\tb\r\nc ":           "a b c",
		"a\x1b[31mb\x00c":         "a [31mb c",
		"a\xffb":                  "a\ufffdb",
		strings.Repeat("é", 99):   strings.Repeat("é", 99),
		strings.Repeat("é", 101):  strings.Repeat("é", 98) + "…",
		strings.Repeat("é", 5000): strings.Repeat("é", 98) + "…",
	} {
		if got := tool.Line(text); got != want {
			t.Errorf("Line(%.20q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\nb")
	f.Fuzz(func(t *testing.T, text string) {
		line := tool.Line(text)
		if !utf8.ValidString(line) || len(line) > 200 || strings.ContainsAny(line, "\n\r\t\x1b\x00") || tool.Line(line) != line {
			t.Errorf("Line(%q) = %q", text, line)
		}
	})
}
