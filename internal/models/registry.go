package models

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/spelling"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/offline"
)

// offlineName is the provider of the model that is always there.
const offlineName = "offline"

// Options is what a [Registry] is made of.
type Options struct {
	Config  *config.Config
	Keys    *keys.Store
	Getenv  func(string) string
	DataDir string // where the refreshed catalog is; empty: nowhere
	Version string // of the program, for the user agent

	// Secret is told every key before it is used, so that it can be kept out of what is shown. It may be nil.
	Secret func(string)
}

// Registry knows the models that can be reached. It is safe for concurrent use.
type Registry struct {
	o         Options
	providers []provider // what is built in and what is configured

	only *onlyKey

	mu      sync.Mutex
	catalog *catalog.Catalog
	http    map[string]*http.Client // by proxy
	google  *google.Credentials
}

// New returns a registry.
func New(o Options) *Registry {
	if o.Secret == nil {
		o.Secret = func(string) {}
	}
	r := &Registry{o: o, providers: builtin(), http: make(map[string]*http.Client), google: new(google.Credentials)}
	var own []string
	for name := range o.Config.Providers {
		if _, ok := r.provider(name); !ok {
			own = append(own, name)
		}
	}
	sort.Strings(own)
	for _, name := range own {
		r.providers = append(r.providers, provider{name: name, title: name, protocol: config.OpenAIChat, profile: "openai-compatible"})
	}
	for i := range r.providers {
		p := &r.providers[i]
		c := o.Config.Providers[p.name]
		p.protocol = cmp.Or(c.Protocol, p.protocol)
		p.profile = cmp.Or(c.Profile, p.profile)
	}
	return r
}

// onlyKey is the one key that a provider has.
type onlyKey struct {
	provider string
	key
}

// With returns a registry in which a provider has one key, whatever others there are, to try that one.
func (r *Registry) With(provider, name string, k keys.Key) *Registry {
	out := New(r.o)
	out.only = &onlyKey{provider, key{name, func(context.Context) (string, error) { return k.Reveal(), nil }}}
	return out
}

func (r *Registry) provider(name string) (provider, bool) {
	i := slices.IndexFunc(r.providers, func(p provider) bool { return p.name == name })
	if i < 0 {
		return provider{}, false
	}
	return r.providers[i], true
}

// Choice is a model, or a pool of them, that can be asked.
type Choice struct {
	Client   llm.Client // with retries, and with what the configuration says of it
	Models   []llm.Model
	Warnings []string // what of a pool cannot be asked, and why
}

// UnknownError says that a name means no model.
type UnknownError struct {
	Name   string // as it was given
	Reason string // what is wrong with it, and what there is
}

func (e *UnknownError) Error() string { return fmt.Sprintf("the model %q: %s", e.Name, e.Reason) }

// UnusableError says that a model is known and cannot be asked.
type UnusableError struct {
	Provider string
	Reason   string // what is missing, and what to do
}

func (e *UnusableError) Error() string {
	return fmt.Sprintf("%s cannot be asked: %s", e.Provider, e.Reason)
}

// Choose returns the model of a name: a reference "provider/model[@variant]", or the name of a pool. The error is an [*UnknownError],
// or an [*UnusableError] when no model of the name can be asked.
func (r *Registry) Choose(name string) (Choice, error) {
	name = strings.TrimSpace(name)
	if m := offline.New().Model(); name == m.Provider || name == m.Ref() {
		return Choice{Client: offline.New(), Models: []llm.Model{m}}, nil
	}
	refs, err := r.o.Config.Candidates(name)
	if err != nil {
		return Choice{}, &UnknownError{name, r.suggest(name, err)}
	}
	var out Choice
	var links []chain.Link
	var policy *llm.RetryPolicy
	var failed error
	for _, ref := range refs {
		p, ok := r.provider(ref.Provider)
		if !ok && ref.Provider != offlineName {
			return Choice{}, &UnknownError{name, r.suggest(ref.String(), nil)}
		}
		link, model, err := r.link(p, ref)
		if err != nil {
			failed = cmp.Or(failed, err)
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s is left out: %v", ref, err))
			continue
		}
		if policy == nil {
			policy = new(r.policy(p))
		}
		links = append(links, link)
		out.Models = append(out.Models, model)
	}
	if len(links) == 0 {
		return Choice{}, failed
	}
	out.Client = chain.New(*policy, links...)
	return out, nil
}

// link makes the clients of one model, one for each key.
func (r *Registry) link(p provider, ref config.Ref) (chain.Link, llm.Model, error) {
	if ref.Provider == offlineName {
		c := offline.New()
		if ref.Model != c.Model().ID {
			return chain.Link{}, llm.Model{}, &UnknownError{ref.String(), r.suggest(offlineName, fmt.Errorf("the offline model is called %s", c.Model().Ref()))}
		}
		return chain.Link{Keys: []chain.Key{{Client: c}}}, c.Model(), nil
	}
	model := r.model(ref)
	vary, err := r.variant(ref)
	if err != nil {
		return chain.Link{}, model, err
	}
	found, err := r.keysOf(p)
	if err != nil {
		return chain.Link{}, model, err
	}
	if m := r.missing(p, found); m.why != "" {
		return chain.Link{}, model, &UnusableError{p.name, m.why}
	}
	if len(found) == 0 {
		found = []key{{}}
	}
	var link chain.Link
	for _, k := range found {
		c := &deferred{model: model, vary: vary, make: func(ctx context.Context) (llm.Client, error) { return r.client(ctx, p, model, k) }}
		name := k.name
		if len(found) == 1 {
			name = ""
		}
		link.Keys = append(link.Keys, chain.Key{Name: name, Client: c})
	}
	return link, model, nil
}

// model returns what is known about a model: what the catalog has, and over it what is configured.
func (r *Registry) model(ref config.Ref) llm.Model {
	c := r.Catalog()
	provider := ref.Provider
	for _, suffix := range []string{"-chat", "-responses"} { // other ways to the same models
		if base, ok := strings.CutSuffix(provider, suffix); ok && (base == "openai" || base == "azure") {
			provider = base
		}
	}
	m, ok := c.Model(provider, ref.Model)
	if !ok {
		m, _ = c.Guess(provider, ref.Model)
	}
	m.Provider = ref.Provider
	if f, ok := r.o.Config.Facts(ref); ok {
		m = f.Apply(m)
	}
	return m
}

// Catalog returns the catalog of models. It is read when it is needed first.
func (r *Registry) Catalog() *catalog.Catalog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.catalog == nil {
		r.catalog = catalog.Embedded()
		if file := r.CatalogFile(); file != "" {
			r.catalog, _ = catalog.Open(file) // what cannot be read is told by tenon models
		}
	}
	return r.catalog
}

// CatalogFile is where a refreshed catalog is kept; empty when there is no place.
func (r *Registry) CatalogFile() string {
	if r.o.DataDir == "" {
		return ""
	}
	return filepath.Join(r.o.DataDir, "models.json")
}

// policy is how often a provider is asked again.
func (r *Registry) policy(p provider) llm.RetryPolicy {
	var policy llm.RetryPolicy
	c := r.o.Config.Providers[p.name].Retry
	if c.Retries != nil {
		policy.Retries = cmp.Or(*c.Retries, -1)
	}
	if c.Delay != nil {
		policy.Delay = cmp.Or(*c.Delay, -1)
	}
	if c.MaxDelay != nil {
		policy.MaxDelay = cmp.Or(*c.MaxDelay, -1)
	}
	return policy
}

// suggest says what is wrong with a name that means no model.
func (r *Registry) suggest(name string, err error) string {
	reason := "there is no such provider"
	if err != nil {
		reason = err.Error()
	}
	word, _, _ := strings.Cut(name, "/")
	var best string
	var all []string
	nearest := 3
	for _, p := range r.providers {
		all = append(all, p.name)
	}
	for pool := range r.o.Config.Pools {
		all = append(all, pool)
	}
	for _, n := range append(all, offlineName) {
		if d := spelling.Distance(word, n); d < nearest {
			best, nearest = n, d
		}
	}
	if _, ok := r.provider(name); ok {
		reason = fmt.Sprintf("it is a provider: write %s/MODEL", name)
		if ref, ok := r.ModelOf(name); ok {
			reason += ", such as " + ref
		}
	}
	if best != "" && best != word {
		reason += fmt.Sprintf(" (did you mean %q?)", best)
	}
	return reason + "; `tenon models` lists what there is, and \"offline\" needs no key and no network"
}
