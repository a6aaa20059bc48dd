package tui

import (
	"fmt"
	"testing"

	"github.com/tenon-agent/tenon/conversation"
)

// contestants runs nothing.
type contestants struct{ conversation.Contests }

func TestArgumentsOfParallel(t *testing.T) {
	for line, want := range map[string]string{
		"3 Fix it":                      "3 [] [] [] Fix it",
		"Fix 3 tests":                   "0 [] [] [] Fix 3 tests",
		"2 3 tests fail\nfix them":      "2 [] [] [] 3 tests fail\nfix them",
		"--models a/b,c/d 3 tests fail": "0 [a/b c/d] [] [] 3 tests fail",
		`--score 'go test ./...' --judge command --judge model 2 Fix`: "2 [] [command model] [go test ./...] Fix",
		`--score "make" 2 it's "odd"`:                                 `2 [] [] [make] it's "odd"`,
		"2 --models":                                                  "2 [] [] [] ",
		"2":                                                           "2 [] [] [] ",
		"--score 'open 2 Fix":                                         "2 [] [] ['open] Fix",
	} {
		p, prompt := contest(line)
		score := []string{}
		if p.Score != "" {
			score = append(score, p.Score)
		}
		if got := fmt.Sprint(p.Count, " ", p.Models, " ", p.Judges, " ", score, " ", prompt); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}
