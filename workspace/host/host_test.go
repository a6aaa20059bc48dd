package host_test

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace/host"
)

func parsed(t testing.TB, texts ...string) host.List {
	t.Helper()
	list, err := host.Parse(texts...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestWhichHostsAreInAList(t *testing.T) {
	for _, test := range []struct {
		list []string
		name string
		port int
		ok   bool
	}{
		{[]string{"example.com"}, "example.com", 443, true},
		{[]string{"Example.com"}, "EXAMPLE.com.", 443, true},
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
		{[]string{"127.0.0.1"}, "127.1", 80, true},
		{[]string{"127.0.0.1"}, "2130706433", 80, true},
		{[]string{"[::1]:80"}, "::1", 80, true},
		{[]string{"::1"}, "::1", 81, true},
		{[]string{"192.0.2.1:80"}, "192.0.2.1", 80, true},
		{[]string{"@npm"}, "registry.npmjs.org", 443, true},
		{[]string{"@NPM"}, "npmjs.org", 443, false},
		{[]string{"@github"}, "objects.githubusercontent.com", 443, true},
		{[]string{"@github"}, "githubusercontent.com.evil.example", 443, false},
		{[]string{"@github"}, "2001:db8::1%.githubusercontent.com", 443, false},
		{[]string{"*.example.com"}, "::ffff:192.0.2.1%.example.com", 443, false},
		{[]string{"2001:db8::/32"}, "2001:db8::1%.example.com", 443, true},
		{[]string{"*"}, "any.example", 1, true},
		{[]string{"*"}, "192.0.2.1", 1, true},
		{nil, "example.com", 80, false},
	} {
		list := parsed(t, test.list...)
		if is, _ := list.Has(net.JoinHostPort(test.name, strconv.Itoa(test.port))); is != test.ok {
			t.Errorf("%v: %s port %d: %v", test.list, test.name, test.port, is)
		}
	}
}

// A host without a port, an unknown host, and a group are in a list only if all that they may mean is.
func TestWhatMayBeInAList(t *testing.T) {
	for _, test := range []struct {
		list, name string
		is, may    bool
	}{
		{"example.com:443", "example.com", false, true},
		{"example.com", "example.com", true, true},
		{"@npm", "@npm", true, true},
		{"registry.npmjs.org", "@npm", false, true},
		{"pypi.org", "@npm", false, false},
		{"*", "@npm", true, true},
		{"@github", "@github", true, true},
		{"*", "", true, true},
		{"*:443", "", false, false},
		{"example.com", "", false, false},
	} {
		if is, may := parsed(t, test.list).Has(test.name); is != test.is || may != test.may {
			t.Errorf("%s has %q: %v, %v", test.list, test.name, is, may)
		}
	}
}

func TestNoHosts(t *testing.T) {
	for _, text := range []string{"", "*.", "a*b.example", "http://example.com", "example.com/x", "example.com:0", "example.com:http", "example.com:", "a b", "[::1", "user@example.com", "10.0.0.0/99", "*.*", "a:99999"} {
		if list, err := host.Parse("good.example", text); err == nil || !strings.Contains(err.Error(), "example.com, *.example.com:443") {
			t.Errorf("%q is %v, error %v", text, list, err)
		}
	}
	if _, err := host.Parse("@nmp"); err == nil || !strings.Contains(err.Error(), `unknown group of hosts "@nmp"; the groups are @alpine`) || !strings.Contains(err.Error(), "@npm") {
		t.Errorf("an unknown group: %v", err)
	}
}

func TestCovers(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"*", "example.com", true},
		{"example.com", "example.com:80", true},
		{"example.com:80", "example.com", false},
		{"*.example.com", "a.example.com", true},
		{"*.example.com", "*.a.example.com", true},
		{"a.example.com", "*.example.com", false},
		{"10.0.0.0/8", "10.1.0.0/16", true},
		{"10.1.0.0/16", "10.0.0.0/8", false},
		{"10.0.0.0/8", "example.com", false},
		{"@npm", "registry.npmjs.org", true},
		{"registry.npmjs.org", "@npm", false},
	} {
		if got := parsed(t, test.a).Covers(parsed(t, test.b)); got != test.want {
			t.Errorf("%s covers %s: %v", test.a, test.b, got)
		}
	}
}

// Every group parses, and names hosts of its own.
func TestGroups(t *testing.T) {
	seen := host.List{}
	for _, g := range host.Groups() {
		members := parsed(t, g)
		for _, m := range members {
			if m.Name == "" || m.Port != 0 || slices.Contains(seen, m) {
				t.Errorf("%s has %+v", g, m)
			}
		}
		seen = append(seen, members...)
	}
}

func TestHowToAllow(t *testing.T) {
	for name, want := range map[string]string{
		"registry.npmjs.org:443": "use --network @npm, or add @npm to sandbox.network in tenon.json",
		"@go":                    "use --network @go, or add @go to sandbox.network in tenon.json",
		"example.com:443":        "use --network example.com, or add example.com to sandbox.network in tenon.json",
		"[::1]:8080":             "use --network [::1]:8080, or add [::1]:8080 to sandbox.network in tenon.json",
	} {
		if got := host.Allow(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestAddressesThatAreNotPublic(t *testing.T) {
	for address, want := range map[string]string{
		"8.8.8.8": "", "2606:4700::1": "", "::ffff:8.8.8.8": "", "64:ff9b::808:808": "", "2002:808:808::1": "", "172.32.0.1": "", "100.128.0.1": "",
		"127.0.0.1": "loopback", "127.8.9.10": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback",
		"0.0.0.0": "this machine", "::": "this machine", "0.1.2.3": "this machine",
		"10.1.2.3": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private", "fc00::1": "private", "fd12::1": "private", "fec0::1": "private",
		"169.254.1.1": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local", "100.64.0.1": "shared by a carrier",
		"169.254.169.254": "metadata of the machine", "::ffff:a9fe:a9fe": "metadata of the machine", "100.100.100.200": "metadata of the machine",
		"fd00:ec2::254": "metadata of the machine", "168.63.129.16": "metadata of the machine", "64:ff9b::a9fe:a9fe": "metadata of the machine",
		"64:ff9b::7f00:1": "loopback", "2002:7f00:1::": "loopback", "2002:a9fe:a9fe::1": "metadata of the machine", "64:ff9b:1::1": "reserved",
		"::127.0.0.1": "reserved", "2001:0:7f00:1::": "reserved", "2001:20::1": "reserved", "224.0.0.1": "multicast", "ff02::1": "multicast",
		"255.255.255.255": "reserved", "192.88.99.1": "reserved", "240.0.0.1": "reserved", "192.0.2.1": "documentation", "2001:db8::1": "documentation",
		"3fff::1": "documentation", "198.18.0.1": "benchmarks", "4000::1": "reserved",
	} {
		// A name that is listed may lead anywhere its owner wants.
		if got := parsed(t, "name", "*.name").Special("name", netip.AddrPortFrom(netip.MustParseAddr(address), 80)); got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
	for _, test := range []struct {
		entry, name, address string
		allowed              bool
	}{
		{"10.0.0.0/8", "x", "10.1.2.3:80", true},
		{"10.0.0.0/8", "x", "192.168.0.1:80", false},
		{"10.9.9.9/8", "x", "10.1.2.3:80", true},
		{"fd00::/8", "x", "[fd12::1]:80", true},
		{"127.0.0.1", "x", "[::ffff:127.0.0.1]:80", true},
		{"127.0.0.1:90", "127.0.0.1", "127.0.0.1:80", false},
		{"[::1]:90", "::1", "[::1]:90", true},
		{"::1", "x", "[::1]:90", true},
		{"localhost", "localhost", "127.0.0.1:80", true},
		{"localhost:80", "localhost", "127.0.0.1:81", false},
		{"localhost", "localhost", "10.0.0.1:80", false},
		{"localhost", "x", "127.0.0.1:80", false},
		{"*", "x", "169.254.169.254:80", true},
	} {
		got := parsed(t, test.entry).Special(test.name, netip.MustParseAddrPort(test.address))
		if (got == "") != test.allowed {
			t.Errorf("with %s, %s at %s: %q", test.entry, test.name, test.address, got)
		}
	}
}

// A parsed list has the hosts that it says, and nothing unrelated.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"example.com", "*.a:1", "[::1]:80", "10.0.0.0/8:1", "@npm", "*", "0x7f.1", "::", "a:b:c", "*."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := host.Parse(text)
		if err != nil || list.All() {
			return
		}
		for _, p := range list {
			if (p.Name == "") != p.Prefix.IsValid() || p.Port < 0 || p.Port > 65535 {
				t.Errorf("%q is %+v", text, p)
			}
		}
		if is, _ := list.Has("unrelated.invalid:80"); is && !strings.Contains(strings.ToLower(text), "invalid") && list[0].Name != "*" {
			t.Errorf("%q has everything", text)
		}
	})
}
