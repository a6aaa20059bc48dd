package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/models"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
)

// Setup is what a person has set up: the configuration, the keys, and the models that can be reached with them.
type Setup struct {
	Config  *config.Config
	Keys    *keys.Store
	Models  *models.Registry
	Secrets *keys.Redactor // knows every key that was in the environment or was used
	Dir     string         // the directory of the configuration; empty when there is no place for one

	getenv func(string) string
	former string              // the model that answered last in the session that goes on
	found  chan []models.Found // what runs on this machine, when that is looked for
}

// NewSetup reads the configuration for work in a directory, which may be empty. It looks at no network and fetches no key that is not
// in the environment. A mistake in the configuration is a [*config.Errors].
func NewSetup(getenv func(string) string, dir, version string) (*Setup, error) {
	s := &Setup{getenv: getenv, Secrets: keys.NewRedactor()}
	s.Dir, _ = config.UserDir(getenv) // without a home there is no configuration, which is no mistake
	var err error
	s.Config, err = config.Load(config.Options{Dir: s.Dir, WorkDir: dir, Getenv: getenv, Providers: models.Names()})
	if err != nil {
		return nil, err
	}
	s.Keys = keys.Open(s.Dir, keys.Options{Getenv: getenv})
	data, _ := DataDir(getenv)
	s.Models = models.New(models.Options{
		Config: s.Config, Keys: s.Keys, Getenv: getenv, DataDir: data, Version: version,
		Secret: func(text string) { s.Secrets.Hide(text) },
	})
	s.Secrets.Hide(s.Models.KnownSecrets()...)
	return s, nil
}

// Model is the model that was chosen, and why.
type Model struct {
	Client   llm.Client
	Why      string   // in words, such as "chosen by TENON_MODEL"
	Warnings []string // what of it cannot be asked
}

// NamedError says that the model that was named cannot be had. The cause is a [*models.UnknownError] or a [*models.UnusableError].
type NamedError struct {
	From string // where it was named: "--model", "TENON_MODEL" or "tenon.json"
	Err  error
}

func (e *NamedError) Error() string { return fmt.Sprintf("%s: %v", e.From, e.Err) }
func (e *NamedError) Unwrap() error { return e.Err }

// GoOn lets a session go on with the model that answered last in it, unless a flag or TENON_MODEL names another, a pool of the configuration
// is to choose, or that model cannot be had any more: another one would read the whole conversation anew. Who has found a model since they
// tried the offline one wants that.
func (s *Setup) GoOn(model string) {
	_, pool := s.Config.Pools[s.Config.Model]
	if provider, _, _ := strings.Cut(model, "/"); provider != offline.New().Model().Provider && !pool {
		s.former = model
	}
}

// Choose finds the model to use: the one of the flag, of TENON_MODEL, of the session that goes on, of the configuration, of the first provider with a key, of a server on
// this machine when [Setup.Look] was called, else the offline model, which is always there. The error is a [*NamedError].
func (s *Setup) Choose(flag string) (Model, error) {
	env := s.getenv("TENON_MODEL")
	switch {
	case flag != "":
		s.Config.Record("model", flag, "--model")
		return s.named(flag, "--model", "chosen by --model")
	case env != "":
		s.Config.Record("model", env, "TENON_MODEL")
		return s.named(env, "TENON_MODEL", "chosen by TENON_MODEL")
	}
	if s.former != "" {
		if m, err := s.named(s.former, "the session", "the model of the session"); err == nil {
			return m, nil
		}
	}
	if s.Config.Model != "" {
		return s.named(s.Config.Model, "tenon.json", "chosen in tenon.json")
	}
	if ref, why, ok := s.Models.Default(); ok {
		return s.named(ref, "the first key", why)
	}
	if ref, why, ok := models.FirstFound(s.looked()); ok {
		return s.named(ref, "a local server", why)
	}
	m := Model{Client: offline.New(), Why: "no other model is set up"}
	if _, err := s.Keys.List(); err != nil { // one of them may have been meant
		m.Warnings = append(m.Warnings, err.Error())
	}
	return m, nil
}

func (s *Setup) named(name, from, why string) (Model, error) {
	c, err := s.Models.Choose(name)
	if err != nil {
		return Model{}, &NamedError{from, err}
	}
	return Model{Client: c.Client, Why: why, Warnings: c.Warnings}, nil
}

// IsUnknownModel reports whether err says that a name means no model, so that it is a matter of usage.
func IsUnknownModel(err error) bool {
	_, ok := errors.AsType[*models.UnknownError](err)
	return ok
}

// Look begins to look for model servers on this machine, in the background, when nothing else will be chosen. TENON_DISCOVER=off or "discover":
// false in the configuration keeps it from that.
func (s *Setup) Look(ctx context.Context, flag string) {
	if flag != "" || s.getenv("TENON_MODEL") != "" || s.former != "" || s.Config.Model != "" || s.getenv("TENON_DISCOVER") == "off" {
		return
	}
	if s.Config.Discover != nil && !*s.Config.Discover {
		return
	}
	if _, _, ok := s.Models.Default(); ok {
		return
	}
	s.found = make(chan []models.Found, 1)
	go func() { s.found <- s.Models.Discover(ctx) }()
}

// Looking reports whether servers on this machine are being looked for.
func (s *Setup) Looking() bool { return s.found != nil }

// lookTimeout is how long a start may wait for a server that listens and does not answer. Ports where nobody listens answer at once.
const lookTimeout = 100 * time.Millisecond

func (s *Setup) looked() []models.Found {
	if s.found == nil {
		return nil
	}
	select {
	case found := <-s.found:
		return found
	case <-time.After(lookTimeout):
		return nil
	}
}

// Spec is what the configuration says of agents.
func (s *Setup) Spec() Spec {
	c := s.Config
	l := c.Limits
	small := s.role("small")
	writer := small
	if c.Window.Model != "" {
		writer = s.lazily(c.Window.Model)
	}
	return Spec{
		Thinking: c.Thinking, MaxTokens: c.MaxTokens, Temperature: c.Temperature, Cache: cachePolicy(c.Cache), Secrets: s.Secrets,
		Web: s.Web(), Keep: s.Keep,
		Window:   Windowing{Threshold: c.Window.Threshold, Manual: c.Window.Manual, Writer: writer},
		Titles:   Titling{Off: c.Titles != nil && !*c.Titles || s.getenv("TENON_TITLES") == "off", Writer: small},
		Guidance: Guiding{Names: c.Context.Files, MaxFile: c.Context.MaxFile, MaxAll: c.Context.MaxAll, Personal: s.personal()},
		Limits: agent.Limits{
			Turns: l.Turns, Tokens: l.Tokens, Time: l.Duration, Cost: l.Cost, SessionCost: l.SessionCost, DayCost: l.DayCost,
		},
	}
}

// role is the model of a role, which is looked up when it is first asked. Nil: nobody has that role.
func (s *Setup) role(name string) func() (llm.Client, error) {
	ref := s.Config.Roles[name]
	if ref == "" {
		return nil
	}
	return s.lazily(ref)
}

func (s *Setup) lazily(ref string) func() (llm.Client, error) {
	return sync.OnceValues(func() (llm.Client, error) {
		c, err := s.Models.Choose(ref)
		return c.Client, err
	})
}

// personal is where a person has context files, Tenon's own first: who has none for Tenon has them for another agent.
func (s *Setup) personal() []string {
	var out []string
	if s.Dir != "" {
		out = append(out, s.Dir)
	}
	if home := s.getenv("HOME"); home != "" {
		out = append(out, filepath.Join(home, ".claude"), filepath.Join(home, ".codex"))
	}
	return out
}

func cachePolicy(s string) llm.CachePolicy {
	if s == "auto" {
		return llm.CacheAuto
	}
	return llm.CachePolicy(s)
}

// OverLimits returns the limits with those in over that are set.
func OverLimits(l, over agent.Limits) agent.Limits {
	return agent.Limits{
		Turns: cmp.Or(over.Turns, l.Turns), Tokens: cmp.Or(over.Tokens, l.Tokens), Time: cmp.Or(over.Time, l.Time),
		Cost: cmp.Or(over.Cost, l.Cost), SessionCost: cmp.Or(over.SessionCost, l.SessionCost), DayCost: cmp.Or(over.DayCost, l.DayCost),
	}
}
