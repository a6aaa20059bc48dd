package models

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/config"
)

// key is a key of a provider by its name. What it is, only get tells.
type key struct {
	name string
	get  func(context.Context) (string, error)
}

// keysOf returns the keys of a provider in the order in which they are tried: those of the configuration, or else those of the
// environment and those that are kept. It fetches none.
func (r *Registry) keysOf(p provider) ([]key, error) {
	if r.only != nil && r.only.provider == p.name {
		return []key{r.only.key}, nil
	}
	var all []key
	for _, k := range r.o.Config.Providers[p.name].Keys() {
		all = append(all, key{k.Name, k.Key.Get})
	}
	if len(all) > 0 {
		return all, nil
	}
	names, err := r.o.Keys.Names(p.name, r.keyVars(p)...)
	if shared := p.sharesKeysOf(); shared != "" && len(names) == 0 && err == nil {
		p.name = shared
		names, err = r.o.Keys.Names(shared)
	}
	for _, name := range names {
		all = append(all, key{name, func(ctx context.Context) (string, error) {
			k, err := r.o.Keys.Get(ctx, p.name, name)
			if err != nil {
				return "", err
			}
			return k.Reveal(), nil
		}})
	}
	if len(all) > 0 {
		return all, nil // a damaged file of kept keys does no harm to one that needs none of them
	}
	return nil, err
}

// sharesKeysOf is the provider whose kept keys p uses too.
func (p provider) sharesKeysOf() string {
	for _, suffix := range []string{"-chat", "-responses"} {
		if base, ok := strings.CutSuffix(p.name, suffix); ok && (base == "openai" || base == "azure") {
			return base
		}
	}
	return ""
}

// keyVars is the environment variables that may hold a key of p for the server that it is asked at. Only the first one that is
// set counts: people set several to the same key.
func (r *Registry) keyVars(p provider) []string {
	all := slices.Clone(p.keys)
	if _, where := r.writtenAddress(p); where == "" {
		all = append(all, p.homeKeys...)
	}
	if own := variable(p.name, "API_KEY"); !slices.Contains(all, own) {
		all = append(all, own)
	}
	for _, name := range all {
		if strings.TrimSpace(r.o.Getenv(name)) != "" {
			return []string{name}
		}
	}
	return nil
}

// lack is what a provider still needs before it can be asked; the zero value is nothing.
type lack struct {
	why string // in words, with what to do
	set string // the environment variable that would help first
}

// missing says what a provider still needs before it can be asked, and what to do.
func (r *Registry) missing(p provider, found []key) lack {
	c := r.o.Config.Providers[p.name]
	base, where := r.writtenAddress(p)
	name, fromEnv := strings.CutPrefix(where, "$")
	switch {
	case fromEnv && !isAddress(base):
		return lack{fmt.Sprintf("%s is no address that begins with http:// or https://, such as https://example.com/v1", name), name}
	case !p.home && !p.local && base == "":
		set := p.addressVars()[0]
		return lack{fmt.Sprintf("it has no address: set %s, or providers.%s.base_url in tenon.json", set, p.name), set}
	case len(found) > 0, p.local:
		return lack{}
	case p.cloud != "":
		return r.missingCloud(p)
	case len(c.Headers) > 0, c.BaseURL.IsSet(), p.keys == nil:
		return lack{} // a gateway may need no key
	default:
		set := p.allKeyVars()[0]
		why := fmt.Sprintf("there is no key: set %s, or run `tenon auth login %s`", set, p.name)
		for _, name := range p.homeKeys {
			if fromEnv && strings.TrimSpace(r.o.Getenv(name)) != "" {
				why += fmt.Sprintf("; %s is not sent to another server than the provider's own", name)
			}
		}
		return lack{why, set}
	}
}

// allKeyVars is the environment variables that may hold a key of p, the usual one first.
func (p provider) allKeyVars() []string {
	all := slices.Concat(p.keys, p.homeKeys)
	if own := variable(p.name, "API_KEY"); !slices.Contains(all, own) {
		all = append(all, own)
	}
	return all
}

// missingCloud looks for signs of an account of a cloud, without a look at the network: what is there may still be expired.
func (r *Registry) missingCloud(p provider) lack {
	home, signs, files := r.o.Getenv("HOME"), []string(nil), []string(nil)
	var advice lack
	switch p.cloud {
	case "AWS":
		signs = []string{
			"AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
			"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
		}
		files = []string{filepath.Join(home, ".aws", "credentials"), filepath.Join(home, ".aws", "config")}
		advice = lack{"there are no credentials of AWS: set AWS_PROFILE or AWS_ACCESS_KEY_ID, run `aws sso login`, or set AWS_BEARER_TOKEN_BEDROCK", "AWS_PROFILE"}
	default:
		signs = []string{"GOOGLE_APPLICATION_CREDENTIALS", "K_SERVICE", "GCE_METADATA_HOST"}
		files = []string{
			filepath.Join(home, ".config", "gcloud", "application_default_credentials.json"),
			filepath.Join(r.o.Getenv("APPDATA"), "gcloud", "application_default_credentials.json"),
		}
		advice = lack{"there are no credentials of Google Cloud: run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS"}
	}
	for _, s := range signs {
		if r.o.Getenv(s) != "" {
			return lack{}
		}
	}
	for _, f := range files {
		if _, err := os.Stat(f); err == nil && filepath.IsAbs(f) {
			return lack{}
		}
	}
	if c := r.o.Config.Providers[p.name]; c.BaseURL.IsSet() || len(c.Headers) > 0 {
		return lack{}
	}
	return advice
}

// text returns a value of the configuration, or else the first variable that is set.
func (r *Registry) text(ctx context.Context, v config.Value, vars ...string) (string, error) {
	if v.IsSet() {
		return v.Get(ctx)
	}
	for _, name := range vars {
		if s := strings.TrimSpace(r.o.Getenv(name)); s != "" {
			return s, nil
		}
	}
	return "", nil
}
