package models

import (
	"slices"
	"testing"
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
		if got := passwords(address); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", address, got, want)
		}
	}
}

func TestPasswordsInVariablesAreKnown(t *testing.T) {
	r := registry(t, map[string]string{
		"OLLAMA_HOST": "http://me:password-of-ollama@127.0.0.1", "https_proxy": "http://me:password-of-proxy@127.0.0.1:3128",
		"OPENAI_BASE_URL": "http://me:password-of-%67ateway@127.0.0.1",
	})
	got := r.KnownSecrets()
	for _, want := range []string{"password-of-ollama", "password-of-proxy", "password-of-%67ateway", "password-of-gateway"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not known: %q", want, got)
		}
	}
}
