package models

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/internal/spelling"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/offline"
)

// offlineName is the provider of the offline model.
const offlineName = "offline"

// Options of a [Registry]. The zero value is usable: it has the built-in providers with keys and addresses from the environment.
type Options struct {
	Providers map[string]Provider // by name: settings of built-in providers, and further providers
	Models    map[string]Facts    // by reference without a variant: facts about single models
	Pools     map[string][]string // by name: references to models, preferred ones first
	Named     []string            // further references that [Registry.All] lists

	Keys    Keys                // stored keys; nil: those of the environment alone
	Getenv  func(string) string // default [os.Getenv]
	DataDir string              // directory of the refreshed catalog and of the health of keys; empty: the built-in catalog, and no health
	Version string              // of the program, for the user agent

	// Secret receives every key before its first use, so that the caller can hide it. It may be nil.
	Secret func(string)
}

// Keys stores keys of providers. Implementations are safe for concurrent use.
type Keys interface {
	// Names returns the names of a provider's keys in the order in which to try them: "$VARIABLE" for each of the variables that
	// is set, then the stored keys. It fetches no key.
	Names(provider string, variables ...string) ([]string, error)
	// Reveal returns a key by a name that Names returned.
	Reveal(ctx context.Context, provider, name string) (string, error)
	// Known returns the stored keys that are readable without delay, so that the caller can hide them.
	Known() []string
}

// environment has the keys of environment variables.
type environment func(string) string

func (e environment) Names(_ string, variables ...string) (names []string, _ error) {
	for _, v := range variables {
		if e(v) != "" {
			names = append(names, "$"+v)
		}
	}
	return names, nil
}

func (e environment) Reveal(_ context.Context, _, name string) (string, error) {
	return strings.TrimSpace(e(strings.TrimPrefix(name, "$"))), nil
}

func (environment) Known() []string { return nil }

// Registry makes clients of models. It is safe for concurrent use.
type Registry struct {
	o         Options
	servers   []server // the built-in ones, then the configured ones
	connector connector

	mu      sync.Mutex
	catalog *catalog.Catalog
	windows measured
}

// server is a provider with its settings.
type server struct {
	provider
	settings Provider
	o        *Options
	only     *key // instead of all other keys
}

// New returns a registry.
func New(o Options) *Registry {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Keys == nil {
		o.Keys = environment(o.Getenv)
	}
	if o.Secret == nil {
		o.Secret = func(string) {}
	}
	r := &Registry{o: o, windows: measured{tokens: make(map[string]int)}}
	r.connector = connector{o: &r.o, http: make(map[string]*http.Client), google: new(google.Credentials)}
	all := builtin()
	for _, name := range slices.Sorted(maps.Keys(o.Providers)) {
		if !slices.ContainsFunc(all, func(p provider) bool { return p.name == name }) {
			all = append(all, provider{name: name, title: name, protocol: OpenAIChat, profile: "openai-compatible"})
		}
	}
	for _, p := range all {
		c := o.Providers[p.name]
		p.protocol, p.profile = cmp.Or(c.Protocol, p.protocol), cmp.Or(c.Profile, p.profile)
		r.servers = append(r.servers, server{provider: p, settings: c, o: &r.o})
	}
	return r
}

// With returns a registry in which a provider has only this key, to try the key.
func (r *Registry) With(provider, name, secret string) *Registry {
	out := New(r.o)
	for i := range out.servers {
		if out.servers[i].name == provider {
			out.servers[i].only = &key{name: name, get: func(context.Context) (string, error) { return secret, nil }}
		}
	}
	return out
}

func (r *Registry) server(name string) (server, bool) {
	i := slices.IndexFunc(r.servers, func(p server) bool { return p.name == name })
	if i < 0 {
		return server{}, false
	}
	return r.servers[i], true
}

// Choice is a model, or a pool of models.
type Choice struct {
	Client   llm.Client // retries, and sends what the configuration adds to requests
	Models   []llm.Model
	Warnings []string // the models of a pool that cannot be used, and why
}

// UnknownError is the error of a name that no model has.
type UnknownError struct {
	Name   string // as the caller gave it
	Reason string // the mistake, and a suggestion
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown model %q: %s", e.Name, e.Reason) }

// Code returns "models.unknown".
func (e *UnknownError) Code() string { return "models.unknown" }

// UnavailableError is the error of a model that exists but cannot be used now.
type UnavailableError struct {
	Name   string // the model, or its provider
	Reason string // the missing condition, and a remedy

	// Available is the references of usable models, if the caller should choose another one.
	Available []string
}

func (e *UnavailableError) Error() string {
	text := fmt.Sprintf("%s is not available: %s", e.Name, e.Reason)
	if len(e.Available) > 0 {
		text += "; available: " + strings.Join(e.Available, ", ")
	}
	return text
}

// Code returns "models.unavailable".
func (e *UnavailableError) Code() string { return "models.unavailable" }

// Client returns the client of a model reference, such as "anthropic/claude-sonnet-4-6", with its key and address from the
// environment. It retries failed requests. The errors are those of [Registry.Choose].
func Client(ref string) (llm.Client, error) {
	c, err := New(Options{}).Choose(ref)
	return c.Client, err
}

// Choose returns the model of a name: a reference "provider/model[@variant]" or the name of a pool. The error is an [*UnknownError],
// or an [*UnavailableError] if the model, or every model of the pool, lacks a key or an address.
func (r *Registry) Choose(name string) (Choice, error) {
	name = strings.TrimSpace(name)
	if m := offline.New().Model(); name == m.Provider || name == m.Ref() {
		return Choice{Client: offline.New(), Models: []llm.Model{m}}, nil
	}
	refs, err := r.candidates(name)
	if err != nil {
		return Choice{}, &UnknownError{name, r.suggest(name, err)}
	}
	var out Choice
	var links []chain.Link
	var policy *chain.RetryPolicy
	var failed error
	for _, ref := range refs {
		p, ok := r.server(ref.Provider)
		if !ok && ref.Provider != offlineName {
			return Choice{}, &UnknownError{name, r.suggest(ref.String(), nil)}
		}
		link, model, err := r.link(p, ref, name)
		if err != nil {
			failed = cmp.Or(failed, err)
			out.Warnings = append(out.Warnings, fmt.Sprintf("cannot use %s: %v", ref, err))
			continue
		}
		if policy == nil {
			policy = new(p.policy())
		}
		if near := r.misspelled(ref); near != "" {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s is not in the catalog; did you mean %s/%s?", ref, ref.Provider, near))
		}
		links = append(links, link)
		out.Models = append(out.Models, model)
	}
	if len(links) == 0 {
		return Choice{}, failed
	}
	out.Client = chain.New(*policy, chain.Memory{Dir: r.o.DataDir, Pool: strings.Join(r.o.Pools[name], " ")}, links...)
	return out, nil
}

// misspelled returns the model of the catalog whose name has the same digits as that of ref, and almost the same letters. It returns nothing if
// the catalog or the configuration knows ref.
func (r *Registry) misspelled(ref Ref) string {
	_, configured := r.o.Models[ref.Provider+"/"+ref.Model]
	_, provided := r.o.Providers[ref.Provider].Models[ref.Model]
	_, known := r.Catalog().Entry(ref.Provider, ref.Model)
	if configured || provided || known {
		return ""
	}
	digits := func(name string) string {
		return strings.Map(func(c rune) rune {
			if c < '0' || c > '9' {
				return -1
			}
			return c
		}, name)
	}
	var alike []string
	for e := range r.Catalog().All() {
		if e.Provider == ref.Provider && digits(e.ID) == digits(ref.Model) {
			alike = append(alike, e.ID)
		}
	}
	return spelling.Nearest(ref.Model, alike, 2)
}

// link returns the clients of one model that was chosen by a name, one for each key.
func (r *Registry) link(p server, ref Ref, name string) (chain.Link, llm.Model, error) {
	if ref.Provider == offlineName {
		c := offline.New()
		if ref.Model != c.Model().ID {
			return chain.Link{}, llm.Model{}, &UnknownError{ref.String(), r.suggest(offlineName, fmt.Errorf("the name of the offline model is %s", c.Model().Ref()))}
		}
		return chain.Link{Keys: []chain.Key{{Client: c}}}, c.Model(), nil
	}
	model := r.model(ref)
	model.Price.Free = model.Price.Free || p.local && !model.Price.Known()
	if name != model.Ref() {
		model.Reference = name
	}
	vary, err := r.variant(ref)
	if err != nil {
		return chain.Link{}, model, err
	}
	found, err := p.keysOf()
	if err != nil {
		return chain.Link{}, model, err
	}
	if m := p.missing(found); m.why != "" {
		return chain.Link{}, model, &UnavailableError{Name: p.name, Reason: m.why}
	}
	if len(found) == 0 {
		found = []key{{}}
	}
	var link chain.Link
	f, _ := r.facts(ref)
	window := cmp.Or(f.Context, r.windows.of(ref.Provider+"/"+ref.Model))
	for _, k := range found {
		c := &deferred{model: model, vary: vary, make: func(ctx context.Context) (llm.Client, error) {
			return r.connector.client(ctx, p, model, window, k)
		}}
		name := k.name
		if len(found) == 1 {
			name = ""
		}
		link.Keys = append(link.Keys, chain.Key{Name: name, ID: k.id(p.name, ref.Model), Client: c})
	}
	return link, model, nil
}

// candidates returns the models of a name: those of a pool, or the model of a reference.
func (r *Registry) candidates(name string) ([]Ref, error) {
	names, pool := r.o.Pools[name]
	switch {
	case pool:
	case strings.Contains(name, "/"):
		names = []string{name}
	default:
		return nil, fmt.Errorf("no pool has this name; write provider/model, or add the pool to the configuration")
	}
	refs := make([]Ref, len(names))
	for i, n := range names {
		ref, err := ParseRef(n)
		if err != nil {
			return nil, err
		}
		refs[i] = ref
	}
	return refs, nil
}

// facts returns the configured facts of a model. The facts of its provider replace all others.
func (r *Registry) facts(ref Ref) (Facts, bool) {
	if f, ok := r.o.Providers[ref.Provider].Models[ref.Model]; ok {
		return f, true
	}
	f, ok := r.o.Models[ref.Provider+"/"+ref.Model]
	return f, ok
}

// AssumedContext is the context window of a model whose window is unknown, in tokens. Many models have this one, and few have a smaller one.
const AssumedContext = 128_000

// model returns the facts of the catalog about a model, with those of its local server and of the configuration in their place.
func (r *Registry) model(ref Ref) llm.Model {
	c := r.Catalog()
	provider := baseOf(ref.Provider)
	m, ok := c.Model(provider, ref.Model)
	if !ok {
		m, _ = c.Guess(provider, ref.Model)
	}
	m.Provider = ref.Provider
	if window := r.windows.of(ref.Provider + "/" + ref.Model); window > 0 {
		m.Context, m.MaxOutput = window, min(m.MaxOutput, window)
	}
	if f, ok := r.facts(ref); ok {
		m = f.Apply(m)
	}
	m.Context = cmp.Or(m.Context, AssumedContext)
	return m
}

// Catalog returns the catalog of models. The first call reads it.
func (r *Registry) Catalog() *catalog.Catalog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.catalog == nil {
		r.catalog = catalog.Embedded()
		if file := r.CatalogFile(); file != "" {
			r.catalog, _ = catalog.Open(file) // tenon models reports an error
		}
	}
	return r.catalog
}

// CatalogFile is the file of a refreshed catalog; empty without a data directory.
func (r *Registry) CatalogFile() string {
	if r.o.DataDir == "" {
		return ""
	}
	return filepath.Join(r.o.DataDir, "models.json")
}

// policy returns how to retry failed requests.
func (p server) policy() chain.RetryPolicy {
	var policy chain.RetryPolicy
	c := p.settings.Retry
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

// suggest says why a name means no model, and suggests another one.
func (r *Registry) suggest(name string, err error) string {
	reason := "there is no such provider"
	if err != nil {
		reason = err.Error()
	}
	word, _, _ := strings.Cut(name, "/")
	var best string
	var all []string
	nearest := 3
	for _, p := range r.servers {
		all = append(all, p.name)
	}
	for pool := range r.o.Pools {
		all = append(all, pool)
	}
	for _, n := range append(all, offlineName) {
		if d := spelling.Distance(word, n); d < nearest {
			best, nearest = n, d
		}
	}
	if _, ok := r.server(name); ok {
		reason = fmt.Sprintf("it is a provider; write %s/MODEL", name)
		if ref, ok := r.ModelOf(name); ok {
			reason += ", such as " + ref
		}
	}
	if best != "" && best != word {
		reason += fmt.Sprintf(" (did you mean %q?)", best)
	}
	return reason + "; `tenon models` lists all models, and \"offline\" needs no key and no network"
}
