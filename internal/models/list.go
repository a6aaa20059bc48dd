package models

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/offline"
)

// Provider is a provider with what it takes to ask it.
type Provider struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Local    bool     `json:"local"` // runs on this machine
	Usable   bool     `json:"usable"`
	Why      string   `json:"why"`            // where its keys come from, or what is missing
	Keys     []string `json:"keys,omitempty"` // names of its keys
	BaseURL  string   `json:"base_url,omitzero"`
	Protocol string   `json:"protocol"`
	KeyVars  []string `json:"key_variables,omitempty"` // environment variables that may hold its key, the usual one first
	URLVars  []string `json:"url_variables,omitempty"` // the same for its base URL
	Set      string   `json:"set,omitzero"`            // the variable that would help first, when it is not usable
}

// Listed is a model with what is known of it.
type Listed struct {
	catalog.Entry

	Usable bool   `json:"usable"`
	Why    string `json:"why,omitzero"` // why not
}

// Providers returns all providers, those that are built in first. It fetches no key and asks no server.
func (r *Registry) Providers() []Provider {
	var all []Provider
	for _, p := range r.providers {
		all = append(all, r.describe(p))
	}
	return all
}

func (r *Registry) describe(p provider) Provider {
	d := Provider{Name: p.name, Title: p.title, Local: p.local, KeyVars: p.allKeyVars(), URLVars: p.urlVars()}
	found, err := r.keysOf(p)
	for _, k := range found {
		d.Keys = append(d.Keys, k.name)
	}
	base, where := r.writtenAddress(p)
	d.BaseURL = plain(base)
	d.Protocol = string(protocolOf(p, base))
	missing := r.missing(p, found)
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
			d.Why = cmp.Or(where, "when it runs on this machine")
		case p.cloud != "":
			d.Why = "credentials of " + p.cloud
		default:
			d.Why = "without a key"
		}
	}
	return d
}

// plain is a base URL without what may be secret in it.
func plain(base string) string {
	if i := strings.LastIndex(base, "@"); i >= 0 {
		if j := strings.Index(base, "://"); j >= 0 && j < i {
			base = base[:j+3] + base[i+1:]
		}
	}
	base, _, _ = strings.Cut(base, "?")
	return base
}

// All yields the models of the catalog and of the configuration, sorted by provider and ID, and whether they can be asked. Models of local
// servers are not among them: see [Registry.Discover].
func (r *Registry) All() iter.Seq[Listed] {
	return func(yield func(Listed) bool) {
		state := map[string]Provider{}
		for _, p := range r.Providers() {
			state[p.Name] = p
		}
		for _, e := range r.entries() {
			l := Listed{Entry: e, Usable: true}
			if e.Provider != offlineName {
				p, ok := state[e.Provider]
				l.Usable = ok && p.Usable
				if !l.Usable {
					l.Why = cmp.Or(p.Why, "this provider is not known")
				}
			}
			if !yield(l) {
				return
			}
		}
	}
}

// entries is what the catalog and the configuration have, sorted.
func (r *Registry) entries() []catalog.Entry {
	all := []catalog.Entry{{Model: offline.New().Model(), Name: "Offline rules"}}
	known := map[string]bool{}
	for e := range r.Catalog().All() {
		e.Model = r.model(config.Ref{Provider: e.Provider, Model: e.ID})
		known[e.Ref()] = true
		all = append(all, e)
	}
	add := func(provider, id string) {
		if ref := (config.Ref{Provider: provider, Model: id}); !known[ref.String()] {
			known[ref.String()] = true
			all = append(all, catalog.Entry{Model: r.model(ref)})
		}
	}
	for name, p := range r.o.Config.Providers {
		for id := range p.Models {
			add(name, id)
		}
	}
	named := slices.Collect(maps.Keys(r.o.Config.Models))
	named = slices.AppendSeq(append(named, r.o.Config.Model), maps.Values(r.o.Config.Roles))
	for _, pool := range r.o.Config.Pools {
		named = append(named, pool...)
	}
	for _, name := range named { // a pool is none of them
		if ref, err := config.ParseRef(name); err == nil && ref.Provider != offlineName {
			add(ref.Provider, ref.Model)
		}
	}
	slices.SortFunc(all, func(a, b catalog.Entry) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Default returns the model to use when nobody has chosen one: that of the first provider with a key. It asks no server.
func (r *Registry) Default() (ref, why string, ok bool) {
	for _, p := range r.providers {
		if p.model == "" {
			continue
		}
		found, err := r.keysOf(p)
		if err != nil || len(found) == 0 || r.missing(p, found).why != "" {
			continue
		}
		return p.name + "/" + p.model, fmt.Sprintf("there is a key for %s (%s)", p.title, found[0].name), true
	}
	return "", "", false
}

// ModelOf returns a model of a provider to try it out with: the one that is asked by default, else the newest of the catalog. It reports
// false when none is known.
func (r *Registry) ModelOf(name string) (ref string, ok bool) {
	if p, known := r.provider(name); known && p.model != "" {
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
