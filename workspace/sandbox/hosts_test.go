package sandbox_test

import (
	"net/netip"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestWhichHostsAreReached(t *testing.T) {
	for _, test := range []struct {
		list []string
		name string
		port int
		ok   bool
	}{
		{[]string{"example.com"}, "example.com", 443, true},
		{[]string{"example.com"}, "EXAMPLE.com.", 443, true},
		{[]string{"example.com"}, "a.example.com", 443, false},
		{[]string{"example.com"}, "notexample.com", 443, false},
		{[]string{"*.example.com"}, "a.b.example.com", 80, true},
		{[]string{"*.example.com"}, "example.com", 80, false},
		{[]string{"*.example.com"}, "evilexample.com", 80, false},
		{[]string{"example.com:443"}, "example.com", 80, false},
		{[]string{"example.com:443"}, "example.com", 443, true},
		{[]string{"10.0.0.0/8"}, "10.1.2.3", 80, true},
		{[]string{"10.0.0.0/8:8080"}, "10.1.2.3", 80, false},
		{[]string{"10.0.0.0/8"}, "::ffff:10.1.2.3", 80, true},
		{[]string{"10.0.0.0/8"}, "11.1.2.3", 80, false},
		{[]string{"10.0.0.0/8"}, "internal.example", 80, false},
		{[]string{"[::1]:80"}, "::1", 80, true},
		{[]string{"::1"}, "::1", 81, true},
		{[]string{"192.0.2.1:80"}, "192.0.2.1", 80, true},
		{nil, "example.com", 80, false},
	} {
		list, err := sandbox.ParseHosts(test.list)
		if err != nil {
			t.Errorf("%v: %v", test.list, err)
			continue
		}
		if why := list.Judge(test.name, test.port); (why == "") != test.ok {
			t.Errorf("%v: %s port %d: %q", test.list, test.name, test.port, why)
		}
	}
}

func TestNoHosts(t *testing.T) {
	for _, text := range []string{"", "*", "*.", "a*b.example", "http://example.com", "example.com/x", "example.com:0", "example.com:http", "a b", "[::1", "user@example.com", "10.0.0.0/99"} {
		if _, err := sandbox.ParseHosts([]string{text}); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// A name that is allowed may lead anywhere its owner wants; only public addresses are dialled for it.
func TestNamesThatLeadInside(t *testing.T) {
	list, err := sandbox.ParseHosts([]string{"example.com", "10.0.0.7"})
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "10.0.0.7": true,
		"10.0.0.8": false, "127.0.0.1": false, "::1": false, "169.254.169.254": false, "fe80::1": false, "fd00:ec2::254": false, "0.0.0.0": false,
		"100.64.0.1": false, "::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "224.0.0.1": false, "::": false, "255.255.255.255": false,
		"168.63.129.16": false, "192.88.99.1": false, "2001:20::1": false, "3fff::1": false,
	} {
		if why := list.Address(netip.MustParseAddr(text), 80, true); (why == "") != ok {
			t.Errorf("%s: %q", text, why)
		}
	}
}
