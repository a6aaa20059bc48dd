package app

import (
	"testing"

	"github.com/tenon-agent/tenon/permission"
)

// A redirect is judged by the same rules as the address of a call: also when the host is an IPv6 address.
func TestRedirectsAreJudged(t *testing.T) {
	ag := newAgent(t, "")
	for _, text := range []string{"fetch([2606:4700::1111]:443)", "fetch(example.org:8080)"} {
		r, err := permission.ParseRule(permission.Deny, permission.Session, text)
		if err != nil {
			t.Fatal(err)
		}
		ag.site.settle(*ag.site.bounds.Load(), ag.site.policy.Load().With(r), permission.Limits{})
	}
	for _, test := range []struct {
		host string
		port int
		ok   bool
	}{
		{"2606:4700::1111", 443, false},
		{"2606:4700::1111", 80, true},
		{"example.org", 8080, false},
		{"example.org", 443, true},
	} {
		if err := ag.redirect(t.Context(), test.host, test.port); (err == nil) != test.ok {
			t.Errorf("%s port %d: %v", test.host, test.port, err)
		}
	}
}
