package models

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/internal/config"
)

// address returns where a provider is asked, as far as somebody has said so, and where that was said. A command of the configuration
// may run for it.
func (r *Registry) address(ctx context.Context, p provider) (base, where string, err error) {
	base, where = r.writtenAddress(p)
	if c := r.o.Config.Providers[p.name].BaseURL; c.IsSet() {
		base, err = c.Get(ctx)
	}
	return base, where, err
}

// writtenAddress is address for those who only look at what there is: references of the configuration stay as they are written.
func (r *Registry) writtenAddress(p provider) (base, where string) {
	if c := r.o.Config.Providers[p.name].BaseURL; c.IsSet() {
		return c.String(), "tenon.json"
	}
	for _, name := range p.addressVars() {
		if v := strings.TrimSpace(r.o.Getenv(name)); v != "" {
			return v, "$" + name
		}
	}
	if host := strings.TrimSpace(r.o.Getenv("OLLAMA_HOST")); p.name == "ollama" && host != "" {
		return ollamaAddress(host, p.port), "$OLLAMA_HOST"
	}
	if p.local {
		return fmt.Sprintf("http://127.0.0.1:%d/v1", p.port), ""
	}
	return "", ""
}

// addressVars is the environment variables that may hold a provider's base URL.
func (p provider) addressVars() []string {
	return append(p.urls[:len(p.urls):len(p.urls)], variable(p.name, "BASE_URL"))
}

// urlVars is all environment variables that say where a provider is, for people.
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

// ollamaAddress is the base URL that OLLAMA_HOST stands for: a host, a port, both, or a URL; what listens everywhere is asked here.
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

// isAddress reports whether requests can be sent to a base URL.
func isAddress(base string) bool {
	u, err := url.Parse(base)
	return err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// atHome reports whether a base URL is the provider's own server. Without one it is.
func atHome(base, host string) bool {
	if base == "" {
		return true
	}
	u, err := url.Parse(base)
	return err == nil && strings.EqualFold(u.Hostname(), host)
}

// protocolOf returns what is spoken with a provider at a base URL. OpenAI itself speaks Responses, and servers that take its place
// Chat Completions.
func protocolOf(p provider, base string) config.Protocol {
	switch {
	case p.protocol != "":
		return p.protocol
	case atHome(base, "api.openai.com"):
		return config.OpenAIResponses
	default:
		return config.OpenAIChat
	}
}
