package models

import (
	"slices"
	"testing"
)

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
