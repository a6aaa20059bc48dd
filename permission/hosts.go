package permission

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// hostPattern is a pattern of hosts: a name, *.name, an address, a CIDR range, each with a port or without.
type hostPattern struct {
	name string // "*" is every host
	net  netip.Prefix
	port string // "" is every port
}

func parseHost(s string) (hostPattern, error) {
	var p hostPattern
	wrong := errors.New("not a host; use example.com, *.example.com:443, 10.0.0.0/8 or [::1]:80")
	if s == "" || strings.ContainsAny(s, " \t@?#") || strings.Contains(s, "://") {
		return p, wrong
	}
	if net, err := netip.ParsePrefix(s); err == nil {
		p.net = net.Masked()
		return p, nil
	}
	p.name, p.port = splitHost(s)
	if p.port != "" {
		if n, err := strconv.Atoi(p.port); err != nil || n < 1 || n > 65535 {
			return p, wrong
		}
	}
	if net, err := netip.ParsePrefix(p.name); err == nil {
		p.net, p.name = net.Masked(), ""
		return p, nil
	}
	if a, ok := address(p.name); ok {
		p.net, p.name = netip.PrefixFrom(a, a.BitLen()), ""
		return p, nil
	}
	inner := strings.TrimPrefix(p.name, "*.")
	if p.name != "*" && (inner == "" || strings.ContainsAny(inner, "*/:")) {
		return p, wrong
	}
	return p, nil
}

// splitHost splits a host and its port, and normalizes the name.
func splitHost(s string) (name, port string) {
	name = s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && (strings.Count(s, ":") == 1 || strings.HasPrefix(s, "[") && s[i-1] == ']') {
		name, port = s[:i], s[i+1:]
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	return strings.ToLower(strings.TrimSuffix(name, ".")), port
}

// address parses an address as programs do: 127.1, 0x7f000001 and 2130706433 are 127.0.0.1.
func address(name string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(name); err == nil {
		return a.WithZone("").Unmap(), true
	}
	parts := strings.Split(name, ".")
	if len(parts) > 4 || name == "" {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 0, 32)
		if err != nil || strings.Contains(part, "_") || strings.HasPrefix(part, "0b") || strings.HasPrefix(part, "0o") {
			return netip.Addr{}, false
		}
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if n >= 1<<bits {
			return netip.Addr{}, false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}

// hits reports whether the pattern matches a host. A host without a port may match a pattern with one.
func (p hostPattern) hits(host string) certainty {
	if host == "" {
		if p.name == "*" && p.port == "" {
			return yes
		}
		return no
	}
	name, port := splitHost(host)
	if !p.named(name) {
		return no
	}
	switch {
	case p.port == "" || p.port == port:
		return yes
	case port == "":
		return maybe
	}
	return no
}

func (p hostPattern) named(name string) bool {
	if p.net.IsValid() {
		a, ok := address(name)
		return ok && p.net.Contains(a)
	}
	if end, ok := strings.CutPrefix(p.name, "*"); ok {
		return end == "" || strings.HasSuffix(name, end) && len(name) > len(end)
	}
	return p.name == name
}
