package web

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/tenon-agent/tenon/tool"
)

const maxURL = 8 << 10

// target is a valid URL with its canonical host.
type target struct {
	url  *url.URL
	host string
	port int
}

// String returns host:port, the form in effects.
func (t target) String() string { return net.JoinHostPort(t.host, strconv.Itoa(t.port)) }

// parseTarget reads the URL of a model.
func parseTarget(text string) (target, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxURL {
		return target{}, tool.Codef("tool.arguments", "the URL has %d bytes, more than %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return target{}, tool.Codef("tool.arguments", "cannot parse the URL: %w", err)
	}
	if u.User != nil {
		return target{}, tool.Codef("tool.arguments", "the URL contains a user name or a password; leave it out")
	}
	return newTarget(u)
}

// newTarget checks a URL and makes its host canonical. It does not change u.
func newTarget(u *url.URL) (target, error) {
	port := 0
	switch strings.ToLower(u.Scheme) {
	case "http":
		port = 80
	case "https":
		port = 443
	case "":
		return target{}, tool.Codef("tool.arguments", "%s has no scheme; begin with http:// or https://", quote(u.String()))
	default:
		return target{}, tool.Codef("tool.arguments", "unsupported scheme %s; use only http and https", quote(u.Scheme))
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return target{}, tool.Codef("tool.arguments", "the port %s is not from 1 to 65535", quote(p))
		}
		port = int(n)
	}
	host, err := canonicalHost(u.Hostname())
	if err != nil {
		return target{}, err
	}
	own := *u
	own.Scheme = strings.ToLower(u.Scheme)
	own.User, own.Fragment, own.RawFragment = nil, "", ""
	own.Host = host
	if strings.Contains(host, ":") {
		own.Host = "[" + host + "]"
	}
	if u.Port() != "" {
		own.Host += ":" + strconv.Itoa(port)
	}
	return target{url: &own, host: host, port: port}, nil
}

// canonicalHost returns a host in lower-case ASCII, or an address in its usual form. It refuses unusual forms of addresses, such as
// 2130706433 or 0x7f.1, because some resolvers accept them.
func canonicalHost(host string) (string, error) {
	if host == "" {
		return "", tool.Codef("tool.arguments", "the URL has no host")
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil {
		if ip.Zone() != "" {
			return "", tool.Codef("tool.arguments", "the address %s has a zone; leave it out", quote(host))
		}
		return ip.Unmap().String(), nil
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil && !plainName(host) {
		return "", tool.Codef("tool.arguments", "the host %s is not a name: %w", quote(host), err)
	}
	if err != nil { // unlike the DNS, IDNA forbids underscores
		name = strings.ToLower(host)
	}
	name = strings.TrimSuffix(name, ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().String(), nil
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if name == "" || len(name) > 253 || !plainName(name) {
		return "", tool.Codef("tool.arguments", "the host %s is not a name", quote(host))
	}
	if numeric(last) {
		return "", tool.Codef("tool.arguments", "the host %s looks like an address in an unusual form; write it as four decimal numbers", quote(host))
	}
	return name, nil
}

// numeric reports whether resolvers may read a name with this last part as an address.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

// plainName reports whether a name has only letters, digits, hyphens, underscores and dots.
func plainName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return strings.Trim(name, letters) == "" && !strings.Contains(name, "..") && !strings.HasPrefix(name, ".")
}

// quote shows a foreign text in an error.
func quote(text string) string { return strconv.Quote(tool.Clip(text, 100)) }
