package openapi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// server returns the base URL of an operation, without a slash at its end: that of the options, or the first of the nearest list of the
// document.
func (a *API) server(lists ...any) (*url.URL, error) {
	if a.o.Server != "" {
		return a.base, nil
	}
	for _, l := range lists {
		if servers := list(l); len(servers) > 0 {
			s, err := a.doc.resolve(servers[0])
			if err != nil {
				return nil, err
			}
			return a.address(s)
		}
	}
	return a.address(object{"url": "/"}) // the default of the specification
}

// address returns the URL of a server object.
func (a *API) address(s object) (*url.URL, error) {
	text, ok := s["url"].(string)
	if !ok {
		return nil, errors.New("its server has no URL")
	}
	variables := fields(s["variables"])
	var b strings.Builder
	for rest := text; ; {
		before, after, open := strings.Cut(rest, "{")
		b.WriteString(before)
		if !open {
			break
		}
		name, more, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fmt.Errorf("the URL of its server, %s, has no closing brace", quote(text))
		}
		v, err := a.variable(name, fields(variables[name]))
		if err != nil {
			return nil, err
		}
		b.WriteString(v)
		rest = more
	}
	u, err := url.Parse(b.String())
	if err != nil {
		return nil, fmt.Errorf("the URL of its server, %s, is invalid", quote(text))
	}
	if !u.IsAbs() {
		if a.o.Base == "" {
			return nil, fmt.Errorf("the URL of its server, %s, is relative, and the document comes from a file; set server", quote(text))
		}
		from, err := url.Parse(a.o.Base)
		if err != nil {
			return nil, fmt.Errorf("the address of the document is invalid: %w", err)
		}
		u = from.ResolveReference(u)
	}
	return base(u)
}

func (a *API) variable(name string, v object) (string, error) {
	value, given := a.o.Variables[name]
	if !given {
		text, ok := v["default"]
		if !ok {
			return "", fmt.Errorf("the variable %s of its server has no default; set it in variables", quote(name))
		}
		value = word(text)
	}
	if allowed := list(v["enum"]); allowed != nil && !slices.ContainsFunc(allowed, func(one any) bool { return word(one) == value }) {
		return "", fmt.Errorf("the variable %s of its server cannot be %s", quote(name), quote(value))
	}
	return value, nil
}

// base checks the URL of a server.
func base(u *url.URL) (*url.URL, error) {
	own := *u
	switch {
	case own.Scheme != "https" && own.Scheme != "http":
		return nil, fmt.Errorf("the scheme of its server, %s, is not http or https", quote(own.Scheme))
	case own.Hostname() == "":
		return nil, errors.New("the URL of its server has no host")
	case own.User != nil:
		return nil, errors.New("the URL of its server has a user or a password; use auth")
	case own.RawQuery != "" || own.Fragment != "":
		return nil, errors.New("the URL of its server has a query or a fragment")
	}
	for i := range len(own.Host) {
		if c := own.Host[i]; c <= ' ' || c > '~' || strings.IndexByte("%\\\"<>{}|^`", c) >= 0 {
			return nil, fmt.Errorf("the host of its server, %s, is not plain ASCII", quote(own.Host))
		}
	}
	own.Host = strings.ToLower(own.Host)
	own.Path, own.RawPath = strings.TrimRight(own.EscapedPath(), "/"), ""
	return &own, nil
}

// hostOf returns host:port, the form in effects.
func hostOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	name := strings.TrimSuffix(u.Hostname(), ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		name = ip.Unmap().String()
	}
	return net.JoinHostPort(name, port)
}

// private reports whether what is sent to a URL stays secret: it is encrypted, or does not leave the machine.
func private(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
