package models

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/redact"
)

// KnownSecrets returns the secrets that are readable without a command or a keyring, also those of unused providers, so that the caller can
// hide them: keys in the environment, in the configuration and in the file of stored keys, headers, and passwords in addresses.
func (r *Registry) KnownSecrets() []string {
	var all []string
	for _, p := range r.servers {
		for _, name := range append(p.allKeyVars(), secretVars[p.cloud]...) {
			all = append(all, strings.TrimSpace(r.o.Getenv(name)))
		}
		for _, name := range p.urlVars() {
			all = append(all, redact.InURL(r.o.Getenv(name))...)
		}
	}
	for _, name := range proxyVars {
		all = append(all, redact.InURL(r.o.Getenv(name))...)
	}
	for _, c := range r.o.Providers {
		for _, k := range c.Keys() {
			all = append(all, secretsOf(k.Key)...)
		}
		for _, v := range c.Headers {
			all = append(all, secretsOf(v)...)
		}
		all = append(all, secretsOfURL(c.BaseURL)...)
		all = append(all, secretsOfURL(c.Proxy)...)
	}
	return append(all, r.o.Keys.Known()...)
}

// SecretVars returns the names of the environment variables that can hold a key of a provider, whether they are set or not.
func (r *Registry) SecretVars() []string {
	var all []string
	for _, p := range r.servers {
		all = slices.Concat(all, p.allKeyVars(), secretVars[p.cloud], p.urlVars())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// secretVars are the variables with secrets of the clouds.
var secretVars = map[string][]string{"AWS": {"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}}

// proxyVars are the variables that may hold the password of a proxy.
var proxyVars = []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"}

func secretsOf(v redact.Value) []string {
	text, _ := v.Ready()
	return words(text)
}

// words returns the words of a secret, because the key in "Bearer sk-..." also occurs alone.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == ',' || r == ';' })
}

func secretsOfURL(v redact.Value) []string {
	text, _ := v.Ready()
	return redact.InURL(text)
}
