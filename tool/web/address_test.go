package web

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

func TestAddressesThatAreNotPublic(t *testing.T) {
	g, err := newGuard(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"8.8.8.8": "", "2606:4700::1": "", "::ffff:8.8.8.8": "", "64:ff9b::808:808": "", "2002:808:808::1": "", "172.32.0.1": "", "100.128.0.1": "",
		"127.0.0.1": "loopback", "127.8.9.10": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"0.0.0.0": "this machine", "::": "this machine", "0.1.2.3": "this machine",
		"10.1.2.3": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private", "fc00::1": "private", "fd12::1": "private", "fec0::1": "private",
		"169.254.1.1": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local", "100.64.0.1": "shared by a carrier",
		"169.254.169.254": "metadata of the machine", "::ffff:a9fe:a9fe": "metadata of the machine", "100.100.100.200": "metadata of the machine",
		"fd00:ec2::254": "metadata of the machine", "168.63.129.16": "metadata of the machine", "64:ff9b::a9fe:a9fe": "metadata of the machine",
		"64:ff9b::7f00:1": "loopback", "2002:7f00:1::": "loopback", "2002:a9fe:a9fe::1": "metadata of the machine", "64:ff9b:1::1": "reserved",
		"::127.0.0.1": "reserved", "2001:0:7f00:1::": "reserved", "224.0.0.1": "multicast", "ff02::1": "multicast", "255.255.255.255": "reserved",
		"240.0.0.1": "reserved", "192.0.2.1": "documentation", "2001:db8::1": "documentation", "3fff::1": "documentation", "198.18.0.1": "benchmarks", "4000::1": "reserved",
	} {
		addr := netip.AddrPortFrom(netip.MustParseAddr(address), 80)
		err := g.allows("name", addr)
		refused, ok := errors.AsType[*AddressError](err)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s is refused: %v", address, err)
		case want != "" && (!ok || refused.Kind != want):
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
}

func TestHostsThatAreAllowed(t *testing.T) {
	tests := []struct {
		entry, host, address string
		allowed              bool
	}{
		{"10.0.0.0/8", "x", "10.1.2.3:80", true},
		{"10.0.0.0/8", "x", "192.168.0.1:80", false},
		{"10.9.9.9/8", "x", "10.1.2.3:80", true},
		{"fd00::/8", "x", "[fd12::1]:80", true},
		{"Wiki.Example.org", "wiki.example.org", "10.1.2.3:80", true},
		{"wiki.example.org", "example.org", "10.1.2.3:80", false},
		{"wiki:8080", "wiki", "10.1.2.3:8080", true},
		{"wiki:8080", "wiki", "10.1.2.3:80", false},
		{"127.0.0.1", "x", "[::ffff:127.0.0.1]:80", true},
		{"127.0.0.1:90", "127.0.0.1", "127.0.0.1:80", false},
		{"[::1]:90", "::1", "[::1]:90", true},
		{"::1", "x", "[::1]:90", true},
	}
	for _, test := range tests {
		g, err := newGuard(false, []string{test.entry})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.allows(test.host, netip.MustParseAddrPort(test.address)); (err == nil) != test.allowed {
			t.Errorf("with %s, %s at %s: %v", test.entry, test.host, test.address, err)
		}
	}
	for _, entry := range []string{"", "a b", "wiki:0", "wiki:99999", "wiki:http", "http://wiki/", "0x7f.1"} {
		if _, err := newGuard(false, []string{entry}); err == nil {
			t.Errorf("%q is understood", entry)
		}
	}
}

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
