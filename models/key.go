package models

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/redact"
)

// key is a key of a provider with its name. Only get fetches the key.
type key struct {
	name  string
	get   func(context.Context) (string, error)
	ready func() (string, bool) // the key if neither a command nor a keyring has to run for it; nil: one has to
}

// keysOf returns the keys of a provider in the order of their use: those of the configuration, or else those of the environment and the
// stored ones. It fetches no key.
func (p server) keysOf() ([]key, error) {
	if p.only != nil {
		return []key{*p.only}, nil
	}
	var all []key
	for _, k := range p.settings.Keys() {
		all = append(all, key{k.Name, k.Key.Get, k.Key.Ready})
	}
	if len(all) > 0 {
		return all, nil
	}
	names, err := p.o.Keys.Names(p.name, p.keyVars()...)
	if shared := baseOf(p.name); shared != p.name && len(names) == 0 && err == nil {
		p.name = shared
		names, err = p.o.Keys.Names(shared)
	}
	for _, name := range names {
		k := key{name: name, get: func(ctx context.Context) (string, error) { return p.o.Keys.Reveal(ctx, p.name, name) }}
		if variable, ok := strings.CutPrefix(name, "$"); ok {
			k.ready = func() (string, bool) { return strings.TrimSpace(p.o.Getenv(variable)), true }
		}
		all = append(all, k)
	}
	if len(all) > 0 {
		return all, nil // a damaged file of stored keys does not affect a provider with another key
	}
	return nil, err
}

// baseOf returns the provider whose stored keys and models a provider also has: another protocol has a name of its own.
func baseOf(provider string) string {
	for _, suffix := range []string{"-chat", "-responses"} {
		if base, ok := strings.CutSuffix(provider, suffix); ok && (base == "openai" || base == "azure") {
			return base
		}
	}
	return provider
}

// keyVars returns the environment variable with a key of p for its present address: the first one that is set, because people set several to
// the same key.
func (p server) keyVars() []string {
	all := slices.Clone(p.keys)
	if _, where := p.writtenAddress(); where == "" {
		all = append(all, p.homeKeys...)
	}
	if own := variable(p.name, "API_KEY"); !slices.Contains(all, own) {
		all = append(all, own)
	}
	for _, name := range all {
		if strings.TrimSpace(p.o.Getenv(name)) != "" {
			return []string{name}
		}
	}
	return nil
}

// lack is a missing condition for requests to a provider; the zero value is none.
type lack struct {
	why string // in words, with a remedy
	set string // the environment variable to set first
}

// missing returns the first missing condition.
func (p server) missing(found []key) lack {
	c := p.settings
	base, where := p.writtenAddress()
	name, fromEnv := strings.CutPrefix(where, "$")
	switch {
	case fromEnv && !isAddress(base):
		return lack{fmt.Sprintf("%s is not an address that begins with http:// or https://, such as https://example.com/v1", name), name}
	case !p.home && !p.local && base == "":
		set := p.addressVars()[0]
		return lack{fmt.Sprintf("it has no address; set %s, or providers.%s.base_url in tenon.json", set, p.name), set}
	case len(found) > 0, p.local:
		return lack{}
	case p.cloud != "":
		return p.missingCloud()
	case len(c.Headers) > 0, c.BaseURL.IsSet(), p.keys == nil:
		return lack{} // a gateway may need no key
	default:
		set := p.allKeyVars()[0]
		why := fmt.Sprintf("there is no key; set %s, or run `tenon auth login %s`", set, p.name)
		for _, name := range p.homeKeys {
			if fromEnv && strings.TrimSpace(p.o.Getenv(name)) != "" {
				why += fmt.Sprintf("; Tenon sends %s only to the provider's own server", name)
			}
		}
		return lack{why, set}
	}
}

// allKeyVars are the environment variables that may hold a key of p, the usual one first.
func (p provider) allKeyVars() []string {
	all := slices.Concat(p.keys, p.homeKeys)
	if own := variable(p.name, "API_KEY"); !slices.Contains(all, own) {
		all = append(all, own)
	}
	return all
}

// missingCloud looks for credentials of a cloud account in variables and files. They may have expired.
func (p server) missingCloud() lack {
	home, signs, files := p.o.Getenv("HOME"), []string(nil), []string(nil)
	var advice lack
	switch p.cloud {
	case "AWS":
		signs = []string{
			"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
			"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
		}
		files = []string{filepath.Join(home, ".aws", "credentials"), filepath.Join(home, ".aws", "config")}
		advice = lack{"there are no AWS credentials; set AWS_PROFILE or AWS_ACCESS_KEY_ID, run `aws sso login`, or set AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE"}
	default:
		signs = []string{"GOOGLE_APPLICATION_CREDENTIALS", "K_SERVICE", "GCE_METADATA_HOST"}
		files = []string{
			filepath.Join(home, ".config", "gcloud", "application_default_credentials.json"),
			filepath.Join(p.o.Getenv("APPDATA"), "gcloud", "application_default_credentials.json"),
		}
		advice = lack{"there are no Google Cloud credentials; run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"}
	}
	for _, s := range signs {
		if p.o.Getenv(s) != "" {
			return lack{}
		}
	}
	for _, f := range files {
		if _, err := os.Stat(f); err == nil && filepath.IsAbs(f) {
			return lack{}
		}
	}
	if c := p.settings; c.BaseURL.IsSet() || len(c.Headers) > 0 {
		return lack{}
	}
	return advice
}

// text returns a value of the configuration, or the first variable that is set.
func (p server) text(ctx context.Context, v redact.Value, vars ...string) (string, error) {
	if v.IsSet() {
		return v.Get(ctx)
	}
	for _, name := range vars {
		if s := strings.TrimSpace(p.o.Getenv(name)); s != "" {
			return s, nil
		}
	}
	return "", nil
}
