package models

import (
	"net/url"
	"strings"

	"github.com/tenon-agent/tenon/internal/config"
)

// KnownSecrets returns the secrets that can be known without running a command and without asking a keyring, also those of providers
// that are not used, so that they can be kept out of what is shown: keys in the environment, in the configuration and in the file of
// kept keys, headers, and passwords in addresses.
func (r *Registry) KnownSecrets() []string {
	var all []string
	for _, p := range r.providers {
		for _, name := range append(p.allKeyVars(), secretVars[p.cloud]...) {
			all = append(all, strings.TrimSpace(r.o.Getenv(name)))
		}
		for _, name := range p.urlVars() {
			all = append(all, passwords(r.o.Getenv(name))...)
		}
	}
	for _, name := range proxyVars {
		all = append(all, passwords(r.o.Getenv(name))...)
	}
	for _, c := range r.o.Config.Providers {
		for _, k := range c.Keys() {
			all = append(all, secretsOf(k.Key)...)
		}
		for _, v := range c.Headers {
			all = append(all, secretsOf(v)...)
		}
		all = append(all, secretsOfURL(c.BaseURL)...)
		all = append(all, secretsOfURL(c.Proxy)...)
	}
	all = append(all, secretsOfURL(r.o.Config.CatalogURL)...)
	return append(all, r.o.Keys.Filed()...)
}

// secretVars is the variables with secrets of the clouds.
var secretVars = map[string][]string{"AWS": {"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}}

// proxyVars is the variables that may hold the password of a proxy.
var proxyVars = []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"}

func secretsOf(v config.Value) []string {
	text, _ := v.Ready()
	return words(text)
}

// words returns the words of a secret: the key in "Bearer sk-..." also comes alone.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == ',' || r == ';' })
}

func secretsOfURL(v config.Value) []string {
	text, _ := v.Ready()
	return passwords(text)
}

// passwords returns the secrets in an address, as they are written there and as they are meant: the password, or the name when it
// stands alone, and the values behind the question mark.
func passwords(address string) []string {
	var all []string
	add := func(written string, meaning func(string) (string, error)) {
		all = append(all, written)
		if meant, err := meaning(written); err == nil && meant != written {
			all = append(all, meant)
		}
	}
	address, query, _ := strings.Cut(address, "?")
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	host, _, _ := strings.Cut(address, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		name, password, ok := strings.Cut(host[:at], ":")
		if !ok {
			password = name
		}
		add(password, url.PathUnescape)
	}
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		if _, value, ok := strings.Cut(pair, "="); ok {
			add(value, url.QueryUnescape)
		}
	}
	return all
}
