package models

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/offline"
)

// ProviderStatus says whether a provider is usable, and what is missing.
type ProviderStatus struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Local    bool     `json:"local"` // runs on this machine
	Usable   bool     `json:"usable"`
	Why      string   `json:"why"`            // the origin of its keys, or what is missing
	Keys     []string `json:"keys,omitempty"` // names of its keys
	BaseURL  string   `json:"base_url,omitzero"`
	Protocol string   `json:"protocol"`
	KeyVars  []string `json:"key_variables,omitempty"` // environment variables that may hold its key, the usual one first
	URLVars  []string `json:"url_variables,omitempty"` // the same for its base URL
	Set      string   `json:"set,omitzero"`            // the variable to set first, if it is not usable
}

// Listed is a model with its facts.
type Listed struct {
	catalog.Entry

	Usable bool   `json:"usable"`
	Why    string `json:"why,omitzero"` // why not

	// Assumed reports that the context window is unknown: Context is [AssumedContext].
	Assumed bool `json:"context_assumed,omitzero"`
}

// Providers returns all providers, the built-in ones first. It fetches no key and asks no server.
func (r *Registry) Providers() []ProviderStatus {
	var all []ProviderStatus
	for _, p := range r.servers {
		all = append(all, p.describe())
	}
	return all
}

func (p server) describe() ProviderStatus {
	d := ProviderStatus{Name: p.name, Title: p.title, Local: p.local, KeyVars: p.allKeyVars(), URLVars: p.urlVars()}
	found, err := p.keysOf()
	for _, k := range found {
		d.Keys = append(d.Keys, k.name)
	}
	base, where := p.writtenAddress()
	d.BaseURL = plain(base)
	d.Protocol = string(protocolOf(p.provider, base))
	missing := p.missing(found)
	switch {
	case err != nil:
		d.Why = err.Error()
	case missing.why != "":
		d.Why, d.Set = missing.why, missing.set
	default:
		d.Usable = true
		d.Why = strings.Join(d.Keys, ", ")
		switch {
		case d.Why != "":
			d.Why = "key " + d.Why
		case p.local:
			d.Why = cmp.Or(where, "if it runs on this machine")
		case p.cloud != "":
			d.Why = "credentials of " + p.cloud
		default:
			d.Why = "without a key"
		}
	}
	return d
}

// plain returns a base URL without the parts that may be secret.
func plain(base string) string {
	if i := strings.LastIndex(base, "@"); i >= 0 {
		if j := strings.Index(base, "://"); j >= 0 && j < i {
			base = base[:j+3] + base[i+1:]
		}
	}
	base, _, _ = strings.Cut(base, "?")
	return base
}

// All yields the models of the catalog and of the configuration, sorted by provider and ID. It does not yield the models of local servers:
// see [Registry.Discover].
func (r *Registry) All() iter.Seq[Listed] {
	return func(yield func(Listed) bool) {
		state := map[string]ProviderStatus{}
		for _, p := range r.Providers() {
			state[p.Name] = p
		}
		for _, e := range r.entries() {
			l := Listed{Entry: e, Usable: true}
			if e.Context == AssumedContext { // by the catalog or by no one
				known, _ := r.Catalog().Guess(baseOf(e.Provider), e.ID)
				f, _ := r.facts(Ref{Provider: e.Provider, Model: e.ID})
				l.Assumed = known.Context+f.Context == 0 && e.Provider != offlineName
			}
			if e.Provider != offlineName {
				p, ok := state[e.Provider]
				l.Usable = ok && p.Usable
				if !l.Usable {
					l.Why = cmp.Or(p.Why, "unknown provider")
				}
			}
			if !yield(l) {
				return
			}
		}
	}
}

// entries returns the models of the catalog and of the configuration, sorted.
func (r *Registry) entries() []catalog.Entry {
	all := []catalog.Entry{{Model: offline.New().Model(), Name: "Offline rules"}}
	known := map[string]bool{}
	for e := range r.Catalog().All() {
		e.Model = r.model(Ref{Provider: e.Provider, Model: e.ID})
		known[e.Ref()] = true
		all = append(all, e)
	}
	add := func(provider, id string) {
		if ref := (Ref{Provider: provider, Model: id}); !known[ref.String()] {
			known[ref.String()] = true
			all = append(all, catalog.Entry{Model: r.model(ref)})
		}
	}
	for name, p := range r.o.Providers {
		for id := range p.Models {
			add(name, id)
		}
	}
	named := slices.Collect(maps.Keys(r.o.Models))
	named = append(named, r.o.Named...)
	for _, pool := range r.o.Pools {
		named = append(named, pool...)
	}
	for _, name := range named { // the name of a pool is not a reference
		if ref, err := ParseRef(name); err == nil && ref.Provider != offlineName {
			add(ref.Provider, ref.Model)
		}
	}
	slices.SortFunc(all, func(a, b catalog.Entry) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Default returns the model to use if the person chose none: that of the first provider with a key. It asks no server. If a provider has a key
// but lacks something else, and no other one has a key, why says so.
func (r *Registry) Default() (ref, why string, ok bool) {
	for _, p := range r.servers {
		if p.model == "" {
			continue
		}
		found, err := p.keysOf()
		if err != nil || len(found) == 0 {
			continue
		}
		if lack := p.missing(found).why; lack != "" {
			why = cmp.Or(why, fmt.Sprintf("%s has a key, but is not usable: %s", p.name, lack))
			continue
		}
		return p.name + "/" + p.model, "the first key is " + found[0].name, true
	}
	return "", why, false
}

// Available returns names of usable models: the pools, the configured models, the default models of usable providers and
// the offline model. It asks no server.
func (r *Registry) Available() []string {
	all := slices.Sorted(maps.Keys(r.o.Pools))
	usable := map[string]bool{}
	for _, p := range r.Providers() {
		usable[p.Name] = p.Usable
	}
	add := func(provider, ref string) {
		if usable[provider] && !slices.Contains(all, ref) {
			all = append(all, ref)
		}
	}
	for _, name := range r.o.Named {
		if ref, err := ParseRef(name); err == nil {
			add(ref.Provider, name)
		}
	}
	for _, p := range r.servers {
		for _, id := range slices.Sorted(maps.Keys(r.o.Providers[p.name].Models)) {
			add(p.name, p.name+"/"+id)
		}
		if p.model != "" {
			add(p.name, p.name+"/"+p.model)
		}
	}
	return append(all, offlineName)
}

// ModelOf returns a model to try a provider with: its default model, or the newest one of the catalog. It reports false if no model is
// known.
func (r *Registry) ModelOf(name string) (ref string, ok bool) {
	if p, known := r.server(name); known && p.model != "" {
		return p.name + "/" + p.model, true
	}
	released := ""
	for _, e := range r.entries() {
		if e.Provider == name && e.Deprecated == "" && (ref == "" || e.Released > released) {
			ref, released = e.Ref(), e.Released
		}
	}
	return ref, ref != ""
}
