package openai

import (
	"strings"
	"testing"
)

// splitAll returns what a splitter makes of pieces, with thinking in brackets.
func splitAll(s *splitter, pieces ...string) string {
	var b strings.Builder
	within := false
	put := func(thinking bool) func(string) bool {
		return func(more string) bool {
			if within != thinking {
				b.WriteByte("[]"[map[bool]int{true: 0, false: 1}[thinking]])
				within = thinking
			}
			b.WriteString(more)
			return true
		}
	}
	for _, p := range pieces {
		s.write(p, put(false), put(true))
	}
	s.flush(put(false), put(true))
	if within {
		b.WriteByte(']')
	}
	return b.String()
}

func TestSplitter(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"Hello":                                "Hello",
		" \n Hello":                            " \n Hello",
		"<think>a</think>b":                    "[a]b",
		"\n <think>\n a\n</think>\n\n b ":      "[a\n]b ",
		"<thinking>a</think>b</thinking>c":     "[a</think>b]c",
		"<thought>a</thought>b":                "[a]b",
		"<think></think>b":                     "b",
		"<think>a</think> \n<think>b</think>c": "[ab]c",
		"<think>a</think>b<think>c</think>":    "[a]b<think>c</think>",
		"<think>a < b </ c </thin d</think>e":  "[a < b </ c </thin d]e",
		"<think>a":                             "[a]",
		"<think>a</thi":                        "[a</thi]",
		"<think>a</think> \n":                  "[a]",
		"<thin":                                "<thin",
		"<thinker>a":                           "<thinker>a",
		"a<think>b</think>":                    "a<think>b</think>",
		"</think>a":                            "</think>a",
		strings.Repeat(" ", 300) + "<think>a":  strings.Repeat(" ", 300) + "<think>a",
		"<THINK>a":                             "<THINK>a",
	} {
		if got := splitAll(new(splitter), in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if got := splitAll(new(splitter), strings.Split(in, "")...); got != want {
			t.Errorf("%q in pieces: got %q, want %q", in, got, want)
		}
	}
}

// The template of some models opens the tag itself, and what comes is only the closing one.
func TestSplitterOpened(t *testing.T) {
	for in, want := range map[string]string{
		"a</think>\n\nb":             "[a]b",
		"<think>a</think>b":          "[a]b",
		" a</think><think>c</think>": "[ac]",
		"\n<thi":                     "[\n<thi]",
		"a":                          "[a]",
		"</think>a":                  "a",
	} {
		for _, pieces := range [][]string{{in}, strings.Split(in, "")} {
			if got := splitAll(&splitter{open: true}, pieces...); got != want {
				t.Errorf("%q: got %q, want %q", pieces, got, want)
			}
		}
	}
}

// A consumer that wants no more gets no more.
func TestSplitterStops(t *testing.T) {
	n := 0
	stop := func(string) bool { n++; return false }
	if s := new(splitter); s.write("<think>a</think>b", stop, stop) || n != 1 {
		t.Errorf("it went on %d times", n)
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add("\n<think>\na</think>b<think>", uint(3), false)
	f.Add("a < b</think>c", uint(1), true)
	f.Add("<thinking></thi</thinking> <thought>", uint(7), false)
	f.Fuzz(func(t *testing.T, in string, cut uint, open bool) {
		whole := splitAll(&splitter{open: open}, in)
		n := int(cut % uint(len(in)+1))
		if got := splitAll(&splitter{open: open}, in[:n], in[n:]); got != whole {
			t.Errorf("%q cut at %d: %q, whole %q", in, n, got, whole)
		}
		if got := splitAll(&splitter{open: open}, strings.Split(in, "")...); got != whole {
			t.Errorf("%q in pieces: %q, whole %q", in, got, whole)
		}
	})
}
