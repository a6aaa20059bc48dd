package host

import (
	"net/netip"
	"strings"
	"sync"
)

// Special returns the kind of an address that is not public, such as "private" or "loopback", unless the list has it: as an address, in a range,
// as localhost, or because it has every host. A name in the list is not enough, because its owner decides where it leads. host is the name
// that leads to the address.
func (l List) Special(host string, at netip.AddrPort) string {
	addr := at.Addr().WithZone("").Unmap()
	what := kind(addr)
	for _, p := range l {
		local := p.Name == "localhost" && host == "localhost" && addr.IsLoopback()
		if (p.Name == "*" || local || p.Prefix.IsValid() && p.Prefix.Contains(addr)) && (p.Port == 0 || p.Port == int(at.Port())) {
			return ""
		}
	}
	return what
}

type special struct {
	prefix netip.Prefix
	kind   string
}

// specials are the ranges that IANA reserves for special use, and the metadata addresses of clouds. The first match counts.
var specials = sync.OnceValue(func() (out []special) {
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
			out = append(out, special{netip.MustParsePrefix(prefix), r[0]})
		}
	}
	return out
})

// kind returns the reason why an address is not public, or "".
func kind(ip netip.Addr) string {
	ip = ip.Unmap()
	for _, r := range specials() {
		if r.prefix.Contains(ip) {
			return r.kind
		}
	}
	if ip.Is4() {
		return ""
	}
	if inner, ok := embedded(ip); ok {
		return kind(inner)
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
