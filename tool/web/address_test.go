package web

import (
	"net/netip"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	tests := []struct{ in, url, host string }{
		{"http://Example.ORG", "http://example.org", "example.org:80"},
		{" https://example.org:8443/a?b#c ", "https://example.org:8443/a?b", "example.org:8443"},
		{"HTTPS://example.org./", "https://example.org/", "example.org:443"},
		{"http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC", "xn--bcher-kva.example:80"},
		{"http://a_b.example.org/", "http://a_b.example.org/", "a_b.example.org:80"},
		{"http://[::ffff:8.8.8.8]/", "http://8.8.8.8/", "8.8.8.8:80"},
		{"http://[2606:4700::0001]:90/", "http://[2606:4700::1]:90/", "[2606:4700::1]:90"},
		{"http://８.８.８.８/", "http://8.8.8.8/", "8.8.8.8:80"},
		{"http://8。8。8。8/", "http://8.8.8.8/", "8.8.8.8:80"},
	}
	for _, test := range tests {
		got, err := parseTarget(test.in)
		if err != nil || got.url.String() != test.url || got.String() != test.host {
			t.Errorf("%s: %v and %s, error %v", test.in, got.url, got, err)
		}
	}
	for in, want := range map[string]string{
		"":                              "no scheme",
		"example.org":                   "no scheme",
		"ftp://example.org/":            "only http and https",
		"file:///etc/passwd":            "only http and https",
		"javascript:alert(1)":           "only http and https",
		"http://":                       "no host",
		"http:///x":                     "no host",
		"http://me:secret@example.org/": "user name or a password",
		"http://example.org:0/":         "port",
		"http://example.org:99999/":     "port",
		"http://a b/":                   "cannot parse the URL",
		"http://a..b/":                  "not a name",
		"http://2130706433/":            "unusual form",
		"http://0x7f000001/":            "unusual form",
		"http://017700000001/":          "unusual form",
		"http://127.1/":                 "unusual form",
		"http://0x7f.0.0.0x1/":          "unusual form",
		"http://127.0.0.01/":            "unusual form",
		"http://1.2.3.4.5/":             "unusual form",
		"http://[fe80::1%25eth0]/":      "zone",
		"http://%00/":                   "cannot parse the URL",
		"http://x/" + string(make([]byte, maxURL)): "more than",
	} {
		if got, err := parseTarget(in); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%.60q: %v, error %v, want %q", in, got.url, err, want)
		}
	}
}

// A target that is accepted is accepted in its own form as the same, never with a host that means something else than it says.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{
		"http://a", "https://[::1]:80/x", "http://127.0.0.1", "http://0x7f.1", "http://a@b", "http://a.:1/?#", "http://ａ。b", "http://xn--a", "http://A%2eb", "http://[::ffff:1.2.3.4]", "http://1.2.3.4.",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTarget(text)
		if err != nil {
			return
		}
		again, err := parseTarget(got.url.String())
		if err != nil || again.String() != got.String() || again.url.String() != got.url.String() {
			t.Fatalf("%q became %s at %s, which became %v at %s, error %v", text, got.url, got, again.url, again, err)
		}
		if _, err := netip.ParseAddr(got.host); err != nil && (!plainName(got.host) || numeric(got.host[strings.LastIndexByte(got.host, '.')+1:])) {
			t.Fatalf("%q has the host %q", text, got.host)
		}
	})
}
