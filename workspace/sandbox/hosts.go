package sandbox

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// host is one entry of the hosts that may be reached.
type host struct {
	name   string       // in small letters; empty for addresses
	below  bool         // all names below name, not name itself
	prefix netip.Prefix // addresses
	port   int          // 0: all
}

type hosts []host

func parseHosts(texts []string) (hosts, error) {
	var list hosts
	for _, text := range texts {
		h, err := parseHost(text)
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, nil
}

func parseHost(text string) (h host, err error) {
	bad := func() (host, error) {
		return host{}, fmt.Errorf("%q is no host; write example.com, *.example.com, 192.0.2.1 or 10.0.0.0/8, each with :port if need be", text)
	}
	rest := strings.ToLower(strings.TrimSpace(text))
	if addr, err := netip.ParseAddr(rest); err == nil {
		h.prefix = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen())
		return h, nil
	}
	if i := strings.LastIndexByte(rest, ':'); i >= 0 && strings.LastIndexByte(rest, ']') < i && (strings.Count(rest, ":") == 1 || rest[0] == '[') {
		if h.port, err = strconv.Atoi(rest[i+1:]); err != nil || h.port < 1 || h.port > 65535 {
			return bad()
		}
		rest = rest[:i]
	}
	rest = strings.TrimSuffix(strings.TrimPrefix(rest, "["), "]")
	if addr, err := netip.ParseAddr(rest); err == nil {
		h.prefix = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen())
		return h, nil
	}
	if prefix, err := netip.ParsePrefix(rest); err == nil {
		h.prefix = prefix.Masked()
		return h, nil
	}
	h.name, h.below = strings.CutPrefix(rest, "*.")
	h.name = strings.TrimSuffix(h.name, ".")
	if h.name == "" || strings.ContainsAny(h.name, "*/:@ \t\\[]%") {
		return bad()
	}
	return h, nil
}

// judge decides about a name or an address as it was asked for, before anything is looked up: a question to a name server
// would carry data out too. Empty means that it may be tried.
func (list hosts) judge(name string, port int) (why string) {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if addr, err := netip.ParseAddr(name); err == nil {
		return list.address(addr, port, false)
	}
	for _, h := range list {
		fits := h.name != "" && (!h.below && name == h.name || h.below && strings.HasSuffix(name, "."+h.name))
		if fits && (h.port == 0 || h.port == port) {
			return ""
		}
	}
	return "it is not among the hosts that may be reached"
}

// address decides about the address that is dialled. With named, a host of that address was allowed by its name, and only an
// address that is not public needs to be listed itself.
func (list hosts) address(addr netip.Addr, port int, named bool) (why string) {
	addr = addr.Unmap().WithZone("")
	for _, h := range list {
		if h.name == "" && h.prefix.Contains(addr) && (h.port == 0 || h.port == port) {
			return ""
		}
		if h.name == "localhost" && !h.below && addr.IsLoopback() && named && (h.port == 0 || h.port == port) {
			return ""
		}
	}
	if !public(addr) {
		return "its address " + addr.String() + " is not public and not listed"
	}
	if !named {
		return "it is not among the hosts that may be reached"
	}
	return ""
}

// reserved is what is not on the internet, beyond what package netip knows: shared addresses of providers, protocol
// assignments, benchmarks, documentation, the future, addresses of version 4 in disguise, and the services of a cloud that has them
// among public addresses.
var reserved = [...]string{
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"168.63.129.16/32", "192.88.99.0/24",
	"64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/23", "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10", "::/96",
}

func public(addr netip.Addr) bool {
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast() {
		return false
	}
	for _, text := range reserved {
		if netip.MustParsePrefix(text).Contains(addr) {
			return false
		}
	}
	return true
}
