package redact_test

import (
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/redact"
)

// A program prints its environment as it is written, and others what that means.
func TestPasswordsOfAddresses(t *testing.T) {
	for address, want := range map[string][]string{
		"":                                      nil,
		"https://example.com/v1":                nil,
		"https://example.com/v1/a@b":            nil,
		"http://me:secret@example.com":          {"secret"},
		"http://me:p%40ss:w!rd@example.com/v1":  {"p%40ss:w!rd", "p@ss:w!rd"},
		"http://me:p@ss@example.com":            {"p@ss"},
		"http://token@example.com":              {"token"},
		"me:secret@proxy.example.com:3128":      {"secret"},
		"http://me:100%@example.com":            {"100%"},
		"https://example.com?key=a%2Bb&alt=sse": {"a%2Bb", "a+b", "sse"},
	} {
		if got := redact.InURL(address); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}
