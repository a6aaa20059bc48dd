package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	maxRedirects = 10
	userAgent    = "tenon"
)

type client struct {
	guard  guard
	allow  func(context.Context, string, int) error
	proxy  func(*http.Request) (*url.URL, error)
	inside func() func(ctx context.Context, network, address string) (net.Conn, error) // may be nil
	direct *http.Transport                                                             // checks every address that it dials
	behind *http.Transport                                                             // dials the proxy, which the person chose
}

func newClient(g guard, o Options) *client {
	c := &client{guard: g, allow: o.Allow, proxy: o.Proxy, inside: o.Commands, direct: newTransport(), behind: newTransport()}
	c.direct.DialContext = c.dial
	c.behind.Proxy = o.Proxy
	return c
}

// commands returns the function that connects to the network of commands, if a host with a port is in it: one of the loopback interface that is
// not listed.
func (c *client) commands(address string) func(ctx context.Context, network, address string) (net.Conn, error) {
	name, _, _ := net.SplitHostPort(address)
	if addr, err := netip.ParseAddr(name); c.inside == nil || name != "localhost" && (err != nil || !addr.IsLoopback()) {
		return nil
	}
	if listed, _ := c.guard.list().Has(address); listed {
		return nil
	}
	return c.inside()
}

// literal checks a target that is an address, without the network.
func (c *client) literal(t target) (is bool, err error) {
	if c.commands(t.String()) != nil {
		return true, nil
	}
	return c.guard.literal(t)
}

// newTransport keeps no connection after a call.
func newTransport() *http.Transport {
	return &http.Transport{
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    15 * time.Second,
		ResponseHeaderTimeout:  fetchTime,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// dial checks an address and connects to it. Nothing resolves the name again between the two.
func (c *client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if dial := c.commands(address); dial != nil {
		return dial(ctx, network, address)
	}
	d := net.Dialer{Timeout: 15 * time.Second}
	d.ControlContext = func(_ context.Context, network, address string, _ syscall.RawConn) error {
		if !strings.HasPrefix(network, "tcp") {
			return fmt.Errorf("the network %s is not supported", network)
		}
		addr, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return c.guard.allows(host, addr)
	}
	return d.DialContext(ctx, network, address)
}

// RoundTrip sends one request, directly or through the proxy.
func (c *client) RoundTrip(r *http.Request) (*http.Response, error) {
	t, err := newTarget(r.URL)
	if err != nil {
		return nil, err
	}
	if c.proxy == nil || c.commands(t.String()) != nil {
		return c.direct.RoundTrip(r)
	}
	proxy, err := c.proxy(r)
	switch {
	case err != nil:
		return nil, err
	case proxy == nil:
		return c.direct.RoundTrip(r)
	}
	if err := c.check(r.Context(), t); err != nil {
		return nil, err
	}
	return c.behind.RoundTrip(r)
}

// check checks the addresses of a host that a proxy will dial. It accepts a name that only the proxy can resolve, unless it is a name of
// a local network.
func (c *client) check(ctx context.Context, t target) error {
	if c.guard.named(t) {
		return nil
	}
	if is, err := c.guard.literal(t); is {
		return err
	}
	last := t.host[strings.LastIndexByte(t.host, '.')+1:]
	switch last {
	case t.host, "localhost", "local", "internal", "lan", "home", "corp", "intranet":
		return &AddressError{Host: t.host, Kind: "a name of a local network"}
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.host)
	if err != nil {
		return ctx.Err() // only the proxy can resolve it
	}
	for _, ip := range found {
		if err := c.guard.allows(t.host, netip.AddrPortFrom(ip, uint16(t.port))); err != nil {
			return err
		}
	}
	return nil
}

// get requests a target and follows redirects. The caller closes the body.
func (c *client) get(ctx context.Context, t target, accept string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.url.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", userAgent)
	r.Header.Set("Accept", accept)
	follow := http.Client{Transport: c, CheckRedirect: c.redirect}
	answer, err := follow.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.url.Redacted(), reason(ctx, err))
	}
	return answer, nil
}

// redirect checks the target of a redirect like the first one.
func (c *client) redirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects, the last to %s", maxRedirects, quote(r.URL.Redacted()))
	}
	t, err := newTarget(r.URL)
	if err != nil {
		return fmt.Errorf("redirected to %s: %w", quote(r.URL.Redacted()), err)
	}
	r.URL = t.url
	r.Host = ""
	r.Header.Del("Referer") // a URL may be a secret
	if _, err := c.literal(t); err != nil {
		return fmt.Errorf("redirected: %w", err)
	}
	if c.allow == nil {
		return nil
	}
	if err := c.allow(r.Context(), t.host, t.port); err != nil {
		return fmt.Errorf("redirected to %s: %w", t, err)
	}
	return nil
}

// reason returns the cause of an error without the request, because the caller names it.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		if e, ok := errors.AsType[*AddressError](op); ok {
			return e
		}
	}
	return err
}

// timeoutError reports that a server took too long.
type timeoutError time.Duration

func (e timeoutError) Error() string { return fmt.Sprintf("timed out after %v", time.Duration(e)) }

// Code returns "tool.timeout".
func (e timeoutError) Code() string { return "tool.timeout" }

// within bounds the time of a call.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, timeoutError(d))
}

// target reads a URL and checks it without the network.
func (c *client) target(text string) (target, error) {
	t, err := parseTarget(text)
	if err == nil {
		_, err = c.literal(t)
	}
	return t, err
}
