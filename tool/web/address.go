package web

import (
	"cmp"
	"fmt"
	"net/netip"

	hosts "github.com/tenon-agent/tenon/workspace/host"
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
	return fmt.Sprintf("%s is not a public address (%s); only the user can allow it: %s", host, e.Kind, hosts.Allow(cmp.Or(e.Address, e.Host)))
}

// guard decides which addresses the tools may reach: public ones, and those that the person listed.
type guard func() hosts.List

// allows returns an [AddressError] unless the tools may reach an address of a host.
func (g guard) allows(name string, addr netip.AddrPort) error {
	if kind := g.list().Special(name, addr); kind != "" {
		return &AddressError{Host: name, Address: addr.Addr().WithZone("").Unmap().String(), Kind: kind}
	}
	return nil
}

func (g guard) list() hosts.List {
	if g == nil {
		return nil
	}
	return g()
}

func (g guard) literal(t target) (is bool, err error) {
	ip, err := netip.ParseAddr(t.host)
	if err != nil {
		return false, nil
	}
	return true, g.allows(t.host, netip.AddrPortFrom(ip, uint16(t.port)))
}

// named reports whether the list has a host by name.
func (g guard) named(t target) bool {
	is, _ := g.list().Has(t.String())
	return is
}
