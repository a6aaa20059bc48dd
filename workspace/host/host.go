package host

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Pattern is one entry of a list.
type Pattern struct {
	Name   string       // in lower case; "*.example.com" is every name below, "*" every host; "" for addresses
	Prefix netip.Prefix // addresses
	Port   int          // 0: all
}

// List is the hosts of its patterns.
type List []Pattern

// Parse reads hosts, each as example.com, *.example.com:443, 192.0.2.1, 10.0.0.0/8, [::1]:80, a group such as @npm, or * for every host.
// The error names the first wrong one, and says what to write.
func Parse(texts ...string) (List, error) {
	var list List
	for _, text := range texts {
		text = strings.ToLower(strings.TrimSpace(text))
		if strings.HasPrefix(text, "@") {
			if groups[text] == "" {
				return nil, fmt.Errorf("unknown group of hosts %q; the groups are %s", text, strings.Join(Groups(), ", "))
			}
			members, err := Parse(strings.Fields(groups[text])...)
			if err != nil {
				return nil, err
			}
			list = append(list, members...)
			continue
		}
		p, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%q is %w", text, err)
		}
		list = append(list, p)
	}
	return list, nil
}

func parse(text string) (p Pattern, err error) {
	wrong := errors.New("not a host; use example.com, *.example.com:443, 192.0.2.1, 10.0.0.0/8, [::1]:80 or a group such as @npm")
	if text == "" || strings.ContainsAny(text, " \t@?#%\\") || strings.Contains(text, "://") || strings.HasPrefix(text, "*.:") || text == "*." ||
		strings.Contains(text, "[") != strings.Contains(text, "]") {
		return p, wrong
	}
	if p.Prefix, err = netip.ParsePrefix(text); err == nil {
		p.Prefix = p.Prefix.Masked()
		return p, nil
	}
	var port string
	p.Name, port = split(text)
	if port != "" || strings.HasSuffix(text, ":") && !strings.HasSuffix(text, "::") {
		if p.Port, err = strconv.Atoi(port); err != nil || p.Port < 1 || p.Port > 65535 {
			return p, wrong
		}
	}
	if net, err := netip.ParsePrefix(p.Name); err == nil {
		p.Prefix, p.Name = net.Masked(), ""
		return p, nil
	}
	if a, ok := address(p.Name); ok {
		p.Prefix, p.Name = netip.PrefixFrom(a, a.BitLen()), ""
		return p, nil
	}
	inner := strings.TrimPrefix(p.Name, "*.")
	if p.Name != "*" && (inner == "" || strings.ContainsAny(inner, "*/:[]")) {
		return p, wrong
	}
	return p, nil
}

// split splits a host and its port, and normalizes the name.
func split(s string) (name, port string) {
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

// Has reports whether the list has a host, with a port or without, or all hosts of a group. may is true if it has the host with some port, or
// some hosts of the group. Only * has the host "", which is unknown.
func (l List) Has(host string) (is, may bool) {
	if members, ok := groups[host]; ok {
		is = true
		for member := range strings.FieldsSeq(members) {
			a, b := l.Has(member)
			is, may = is && a, may || b
		}
		return is, may
	}
	name, port := split(host)
	for _, p := range l {
		switch {
		case !p.named(name):
		case p.Port == 0 || strconv.Itoa(p.Port) == port:
			return true, true
		case port == "" && name != "":
			may = true
		}
	}
	return false, may
}

func (p Pattern) named(name string) bool {
	a, ok := address(name) // with a zone, which may look like the end of a name
	if p.Prefix.IsValid() || ok && p.Name != "*" {
		return ok && p.Prefix.Contains(a)
	}
	if end, ok := strings.CutPrefix(p.Name, "*"); ok {
		return end == "" || strings.HasSuffix(name, end) && len(name) > len(end)
	}
	return p.Name == name
}

// Covers reports whether the list certainly has every host of another one.
func (l List) Covers(other List) bool {
	return !slices.ContainsFunc(other, func(o Pattern) bool {
		return !slices.ContainsFunc(l, func(p Pattern) bool {
			switch {
			case p.Port != 0 && p.Port != o.Port:
				return false
			case p.Prefix.IsValid():
				return o.Prefix.IsValid() && p.Prefix.Bits() <= o.Prefix.Bits() && p.Prefix.Contains(o.Prefix.Addr())
			}
			return !o.Prefix.IsValid() && p.named(o.Name)
		})
	})
}

// All reports whether the list has every host.
func (l List) All() bool { return slices.Contains(l, Pattern{Name: "*"}) }
