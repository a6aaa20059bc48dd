package models

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// address returns the base URL of a provider, if one is set, and its origin. It may run a command of the configuration.
func (p server) address(ctx context.Context) (base, where string, err error) {
	base, where = p.writtenAddress()
	if c := p.settings.BaseURL; c.IsSet() {
		base, err = c.Get(ctx)
	}
	return base, where, err
}

// writtenAddress is address without the evaluation of references in the configuration.
func (p server) writtenAddress() (base, where string) {
	if c := p.settings.BaseURL; c.IsSet() {
		return c.String(), "tenon.json"
	}
	for _, name := range p.addressVars() {
		if v := strings.TrimSpace(p.o.Getenv(name)); v != "" {
			return v, "$" + name
		}
	}
	if host := strings.TrimSpace(p.o.Getenv("OLLAMA_HOST")); p.name == "ollama" && host != "" {
		return ollamaAddress(host, p.port), "$OLLAMA_HOST"
	}
	if p.local {
		return fmt.Sprintf("http://127.0.0.1:%d/v1", p.port), ""
	}
	return "", ""
}

// addressVars are the environment variables that may hold a provider's base URL.
func (p provider) addressVars() []string {
	return append(p.urls[:len(p.urls):len(p.urls)], variable(p.name, "BASE_URL"))
}

// urlVars are all environment variables for the address of a provider, for people.
func (p provider) urlVars() []string {
	var all []string
	for _, name := range p.addressVars() {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	if p.name == "ollama" {
		all = append(all, "OLLAMA_HOST")
	}
	return all
}

// ollamaAddress returns the base URL for OLLAMA_HOST: a host, a port, both, or a URL. A server that listens everywhere is local.
func ollamaAddress(host string, port int) string {
	scheme, rest, found := strings.Cut(host, "://")
	if !found {
		scheme, rest = "http", host
	}
	rest, path, _ := strings.Cut(rest, "/")
	name, given, err := net.SplitHostPort(rest)
	if err != nil {
		name, given = strings.Trim(rest, "[]"), strconv.Itoa(port)
		if found && scheme == "https" {
			given = "443"
		}
	}
	switch name {
	case "", "0.0.0.0", "::":
		name = "127.0.0.1"
	}
	base := scheme + "://" + net.JoinHostPort(name, given) + "/" + path
	base = strings.TrimRight(base, "/")
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	return base
}

// isAddress reports whether text is a base URL.
func isAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// atHome reports whether a base URL is the provider's own server. An empty URL is.
func atHome(base, host string) bool {
	if base == "" {
		return true
	}
	u, err := url.Parse(base)
	return err == nil && strings.EqualFold(u.Hostname(), host)
}

// protocolOf returns the protocol of a provider at a base URL: Responses for OpenAI itself, and Chat Completions for servers in its place.
func protocolOf(p provider, base string) Protocol {
	switch {
	case p.protocol != "":
		return p.protocol
	case atHome(base, "api.openai.com"):
		return OpenAIResponses
	default:
		return OpenAIChat
	}
}
