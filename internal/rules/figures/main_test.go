package main

import (
	"io"
	"strings"
	"testing"
)

// A small house that breaks every limit is found out.
func TestLimits(t *testing.T) {
	h := &house{
		lines:   linesToday,
		methods: map[string]int{"a.Fat": mostMethods + 1, "a.Thin": mostMethods, "a.Known": mostMethods + 9},
		docs:    map[string]int{"llm": mostNames + 1, "session": mostOfAll, "tool": mostNames},
		sizes:   map[string]int{"a/a.go": 1},
		upward:  []string{"llm/a.go imports agent"},

		unlisted: map[string]bool{"internal/new": true},
	}
	err := h.print(io.Discard, []string{"a.Gone", "a.Known"}, nil)
	if err == nil {
		t.Fatal("no limit is exceeded")
	}
	for _, want := range []string{"product code has ", "a.Fat has 26", "./llm prints 61", "llm/a.go imports agent", "a.Gone is gone", "internal/new is in no level"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	for _, no := range []string{"a.Thin", "a.Known", "./tool", "./session"} {
		if strings.Contains(err.Error(), no) {
			t.Errorf("%q is in %v", no, err)
		}
	}
}

func TestLevels(t *testing.T) {
	for dir, want := range map[string]int{
		"internal/term": 0, "llm": 1, "llm/openai": 1, "session/sqlite": 2, "internal/cli/run": 8, "internal/cli/config": 10, "cmd/tenon": 12, "internal/new": -1,
	} {
		if got := level(dir); got != want {
			t.Errorf("%s is at level %d, want %d", dir, got, want)
		}
	}
}
