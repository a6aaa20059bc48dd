package web

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// AddressError refuses an address that is not public.
type AddressError struct {
	Host    string // as it was asked for
	Address string // that it has
	Kind    string // why it is not public, such as "loopback"
}

func (e *AddressError) Error() string {
	what := e.Host
	if e.Address != "" && e.Address != e.Host {
		what += " (" + e.Address + ")"
	}
	return fmt.Sprintf("%s is not a public address (%s); only the person can allow it, with the setting web.allow", what, e.Kind)
}

// network is a range of addresses that is not public.
type network struct {
	prefix netip.Prefix
	kind   string
}

// reserved returns the ranges that IANA's registries of special addresses keep from the public, with the addresses of
// metadata that clouds put elsewhere.
func reserved() []network {
	var out []network
	for _, r := range [][2]string{
		{"169.254.169.254/32", "metadata of the machine"},
		{"100.100.100.200/32", "metadata of the machine"},
		{"168.63.129.16/32", "metadata of the machine"},
		{"192.0.0.192/32", "metadata of the machine"},
		{"fd00:ec2::254/128", "metadata of the machine"},
		{"fd20:ce::254/128", "metadata of the machine"},
		{"0.0.0.0/8", "this machine"},
		{"10.0.0.0/8", "private"},
		{"100.64.0.0/10", "shared by a carrier"},
		{"127.0.0.0/8", "loopback"},
		{"169.254.0.0/16", "link-local"},
		{"172.16.0.0/12", "private"},
		{"192.0.0.0/24", "reserved"},
		{"192.0.2.0/24", "documentation"},
		{"192.88.99.0/24", "reserved"},
		{"192.168.0.0/16", "private"},
		{"198.18.0.0/15", "benchmarks"},
		{"198.51.100.0/24", "documentation"},
		{"203.0.113.0/24", "documentation"},
		{"224.0.0.0/4", "multicast"},
		{"240.0.0.0/4", "reserved"},
		{"::/128", "this machine"},
		{"::1/128", "loopback"},
		{"fc00::/7", "private"},
		{"fe80::/10", "link-local"},
		{"fec0::/10", "private"},
		{"ff00::/8", "multicast"},
		{"2001::/23", "reserved"}, // with Teredo, whose addresses hide IPv4 ones
		{"2001:db8::/32", "documentation"},
		{"3fff::/20", "documentation"},
	} {
		out = append(out, network{netip.MustParsePrefix(r[0]), r[1]})
	}
	return out
}

// guard decides which addresses may be reached.
type guard struct {
	all      bool
	reserved []network
	names    []string // "host" or "host:port", in small letters
	prefixes []netip.Prefix
}

func newGuard(all bool, hosts []string) (*guard, error) {
	g := &guard{all: all, reserved: reserved()}
	for _, entry := range hosts {
		if prefix, err := netip.ParsePrefix(entry); err == nil {
			g.prefixes = append(g.prefixes, prefix.Masked())
			continue
		}
		name, port := entry, ""
		if i := strings.LastIndexByte(entry, ':'); i >= 0 && (strings.Count(entry, ":") == 1 || strings.HasPrefix(entry, "[") && entry[i-1] == ']') {
			name, port = entry[:i], entry[i+1:]
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return nil, fmt.Errorf("the host %q has the port %q; give a number from 1 to 65535", entry, port)
			}
			port = ":" + port
		}
		host, err := canonicalHost(name)
		if err != nil {
			return nil, fmt.Errorf("the host %q: %w", entry, err)
		}
		g.names = append(g.names, host+port)
	}
	return g, nil
}

// allows returns an [AddressError] unless an address, as which host was found, may be reached.
func (g *guard) allows(host string, addr netip.AddrPort) error {
	port := ":" + strconv.Itoa(int(addr.Port()))
	ip := addr.Addr().WithZone("").Unmap()
	kind := g.kind(ip)
	if g.all || kind == "" {
		return nil
	}
	for _, name := range []string{host, ip.String()} {
		if slices.Contains(g.names, name) || slices.Contains(g.names, name+port) {
			return nil
		}
	}
	if slices.ContainsFunc(g.prefixes, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return nil
	}
	return &AddressError{Host: host, Address: ip.String(), Kind: kind}
}

// named reports whether a host is allowed by its name, whatever its address.
func (g *guard) named(host string, port int) bool {
	return g.all || slices.Contains(g.names, host) || slices.Contains(g.names, host+":"+strconv.Itoa(port))
}

// kind says why an address is not public, or "".
func (g *guard) kind(ip netip.Addr) string {
	ip = ip.Unmap()
	for _, r := range g.reserved {
		if r.prefix.Contains(ip) {
			return r.kind
		}
	}
	if ip.Is4() {
		return ""
	}
	if inner, ok := embedded(ip); ok {
		return g.kind(inner)
	}
	if !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(ip) { // 2000::/3 is all that was ever given out
		return "reserved"
	}
	return ""
}

// embedded is the IPv4 address that a translator makes of an IPv6 address: NAT64 and 6to4.
func embedded(ip netip.Addr) (netip.Addr, bool) {
	b := ip.As16()
	switch {
	case netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b}), 96).Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}
