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
	Host    string // in the URL
	Address string // of the host
	Kind    string // of the address, such as "loopback"
}

// Code returns "tool.denied".
func (e *AddressError) Code() string { return "tool.denied" }

func (e *AddressError) Error() string {
	host := e.Host
	if e.Address != "" && e.Address != e.Host {
		host += " (" + e.Address + ")"
	}
	return fmt.Sprintf("%s is not a public address (%s); only the user can allow it, with the setting web.allow", host, e.Kind)
}

// network is a range of addresses that is not public.
type network struct {
	prefix netip.Prefix
	kind   string
}

// reserved returns the ranges that IANA reserves for special use, and the metadata addresses of clouds. The first match counts.
func reserved() []network {
	var out []network
	for _, r := range [][2]string{
		{"metadata of the machine", "169.254.169.254/32 100.100.100.200/32 168.63.129.16/32 192.0.0.192/32 fd00:ec2::254/128 fd20:ce::254/128"},
		{"this machine", "0.0.0.0/8 ::/128"},
		{"loopback", "127.0.0.0/8 ::1/128"},
		{"private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10"},
		{"shared by a carrier", "100.64.0.0/10"},
		{"link-local", "169.254.0.0/16 fe80::/10"},
		{"documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"},
		{"benchmarks", "198.18.0.0/15"},
		{"multicast", "224.0.0.0/4 ff00::/8"},
		{"reserved", "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4 2001::/23"}, // the last has Teredo, whose addresses contain IPv4 addresses
	} {
		for prefix := range strings.FieldsSeq(r[1]) {
			out = append(out, network{netip.MustParsePrefix(prefix), r[0]})
		}
	}
	return out
}

// guard decides which addresses the tools may reach.
type guard struct {
	all      bool
	reserved []network
	names    []string // "host" or "host:port", in lower case
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
				return nil, fmt.Errorf("the host %q has the port %q; use a number from 1 to 65535", entry, port)
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

// allows returns an [AddressError] unless the tools may reach an address of a host.
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

func (g *guard) literal(t target) (is bool, err error) {
	ip, err := netip.ParseAddr(t.host)
	if err != nil {
		return false, nil
	}
	return true, g.allows(t.host, netip.AddrPortFrom(ip, uint16(t.port)))
}

// named reports whether the configuration allows a host by name, with any address.
func (g *guard) named(host string, port int) bool {
	return g.all || slices.Contains(g.names, host) || slices.Contains(g.names, host+":"+strconv.Itoa(port))
}

// kind returns the reason why an address is not public, or "".
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
	if !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(ip) { // all assigned addresses are in 2000::/3
		return "reserved"
	}
	return ""
}

// embedded returns the IPv4 address that NAT64 and 6to4 derive from an IPv6 address.
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
