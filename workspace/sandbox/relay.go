package sandbox

import (
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/tenon-agent/tenon/workspace/host"
)

// maxRelays is how many servers of this machine are there inside at most; the rest is reached through the proxy.
const maxRelays = 64

// relays returns where something listens inside that takes connections to a server of this machine: the loopback addresses that are
// listed with a port. A program that looks for its database at 127.0.0.1:5432 asks no proxy, and finds it.
func relays(texts []string) (list []netip.AddrPort) {
	parsed, err := host.Parse(texts...)
	if err != nil {
		return nil
	}
	for _, h := range parsed {
		addr := h.Prefix.Addr()
		switch {
		case h.Port == 0 || len(list) == maxRelays:
			continue
		case h.Name == "localhost":
			addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		case h.Name != "" || !h.Prefix.IsSingleIP() || !addr.IsLoopback():
			continue
		}
		if at := netip.AddrPortFrom(addr, uint16(h.Port)); !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// unasked is what programs reach without asking the proxy: the sandbox itself. Where a whole address of this machine is listed, or
// there are no relays, that one is meant.
func unasked(texts []string, relayed bool) []string {
	own := []string{"localhost", "127.0.0.1", "::1"}
	list, err := host.Parse(texts...)
	if err != nil {
		return own
	}
	return slices.DeleteFunc(own, func(name string) bool {
		return slices.ContainsFunc(list, func(h host.Pattern) bool {
			if relayed && h.Port != 0 && (h.Name != "" || h.Prefix.IsSingleIP()) {
				return false
			}
			if addr, err := netip.ParseAddr(name); err == nil {
				return h.Prefix.Contains(addr)
			}
			return h.Name == name
		})
	})
}

// relay takes connections to where it listens inside to the same place outside, until the listener is closed.
func (p *proxy) relay(l net.Listener) {
	if !p.keep(l) {
		l.Close()
		return
	}
	at := l.Addr().(*net.TCPAddr)
	name := at.IP.String()
	if listed, _ := p.hosts.Has(net.JoinHostPort(name, strconv.Itoa(at.Port))); !listed {
		name = "localhost" // it was listed by that
	}
	p.accept(l, func(c net.Conn) {
		defer func() { <-p.slots }()
		p.pass(c, name, at.Port)
	})
}

// pass joins one connection with a server outside.
func (p *proxy) pass(c net.Conn, name string, port int) {
	defer c.Close()
	if !p.track(c) {
		return
	}
	defer p.forget(c)
	if out, err := p.dial(name, port); err == nil {
		p.join(c, c, out)
	}
}
