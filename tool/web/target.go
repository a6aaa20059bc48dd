package web

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxURL is how long a URL may be.
const maxURL = 8 << 10

// target is a URL that may be asked for, with its host as it will be looked up.
type target struct {
	url  *url.URL
	host string
	port int
}

// String is host:port, as it stands in effects.
func (t target) String() string { return net.JoinHostPort(t.host, strconv.Itoa(t.port)) }

// parseTarget reads a URL that a model gave.
func parseTarget(text string) (target, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxURL {
		return target{}, fmt.Errorf("the URL has %d bytes, more than %d", len(text), maxURL)
	}
	u, err := url.Parse(text)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return target{}, fmt.Errorf("the URL cannot be understood: %w", err)
	}
	if u.User != nil {
		return target{}, errors.New("the URL has a user name or a password in it, which is not sent; leave it out")
	}
	return newTarget(u)
}

// newTarget checks a URL and brings its host into the form that it is looked up in. It keeps the URL's own value unchanged.
func newTarget(u *url.URL) (target, error) {
	port := 0
	switch strings.ToLower(u.Scheme) {
	case "http":
		port = 80
	case "https":
		port = 443
	case "":
		return target{}, fmt.Errorf("%s has no scheme; write http:// or https:// before it", quote(u.String()))
	default:
		return target{}, fmt.Errorf("the scheme %s cannot be reached; only http and https can", quote(u.Scheme))
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return target{}, fmt.Errorf("the port %s is not from 1 to 65535", quote(p))
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

// canonicalHost is a host in small ASCII letters, or an address as it is usually written. What looks like an address in another
// spelling, such as 2130706433 or 0x7f.1, is refused: some resolvers take it for one.
func canonicalHost(host string) (string, error) {
	if host == "" {
		return "", errors.New("the URL has no host")
	}
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(bare); err == nil {
		if ip.Zone() != "" {
			return "", fmt.Errorf("the address %s has a zone; leave it out", quote(host))
		}
		return ip.Unmap().String(), nil
	}
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil && !plainName(host) {
		return "", fmt.Errorf("the host %s is not a name: %w", quote(host), err)
	}
	if err != nil { // IDNA does without underscores, the DNS does not
		name = strings.ToLower(host)
	}
	name = strings.TrimSuffix(name, ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.Unmap().String(), nil
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if name == "" || len(name) > 253 || !plainName(name) {
		return "", fmt.Errorf("the host %s is not a name", quote(host))
	}
	if numeric(last) {
		return "", fmt.Errorf("the host %s looks like an address in an unusual spelling; write it as four decimal numbers", quote(host))
	}
	return name, nil
}

// numeric reports whether the last part of a name makes resolvers take it for an address.
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
func quote(text string) string {
	if runes := []rune(text[:min(len(text), 800)]); len(runes) > 100 {
		text = string(runes[:100]) + "…"
	}
	return strconv.Quote(text)
}
