package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/redact"
)

// Setup is the setup of a person: the configuration, the keys, and the models that Tenon can reach with them.
type Setup struct {
	Config  *config.Config
	Keys    *keys.Store
	Models  *models.Registry
	Secrets *redact.Redactor // knows every key from the environment and every key that Tenon has used
	Dir     string           // the directory of the configuration; empty: there is none
	State   state.File       // what processes have learned about keys, pools and summaries

	getenv func(string) string
	former string              // the model that answered last in the resumed session
	found  chan []models.Found // the servers on this machine; nil: Tenon does not look for them
}

// NewSetup reads the configuration for work in a directory, which may be empty. It does not use the network and reads no
// key outside the environment. A mistake in the configuration is a [*config.Errors].
func NewSetup(getenv func(string) string, dir, version string) (*Setup, error) {
	s := &Setup{getenv: getenv, Secrets: redact.New()}
	s.Dir, _ = config.UserDir(getenv) // without a home directory there is no configuration; that is not an error
	var err error
	s.Config, err = config.Load(config.Options{Dir: s.Dir, WorkDir: dir, Getenv: getenv, Providers: models.Names()})
	if err != nil {
		return nil, err
	}
	s.Keys = keys.Open(s.Dir, keys.Options{Getenv: getenv})
	data, _ := DataDir(getenv)
	s.State = state.In(data)
	s.Models = models.New(models.Options{
		Providers: s.Config.Providers, Models: s.Config.Models, Pools: s.Config.Pools,
		Named: append(slices.Collect(maps.Values(s.Config.Roles)), s.Config.Model),
		Keys:  s.Keys, Getenv: getenv, DataDir: data, Version: version,
		Secret: func(text string) { s.Secrets.Hide(text) },
	})
	catalog, _ := s.Config.CatalogURL.Ready()
	s.Secrets.Hide(redact.InURL(catalog)...)
	s.Secrets.Hide(s.Models.KnownSecrets()...)
	for _, name := range s.Config.Variables {
		if value := getenv(name); strings.Contains(value, "://") {
			s.Secrets.Hide(redact.InURL(value)...)
		} else {
			s.Secrets.Hide(value)
		}
	}
	return s, nil
}

// Model is the chosen model, and the reason for the choice.
type Model struct {
	Client   llm.Client
	Why      string   // in words, such as "chosen by TENON_MODEL"
	Warnings []string // members of a pool that cannot answer, keys that Tenon cannot read, small context windows

	name, from string // the reference or pool, and the origin of the name; empty: the offline model
}

// Unset reports whether the person has set up no model. Then the offline model answers.
func (m Model) Unset() bool { return m.name == "" && m.Why == noModel }

// noModel is the reason for the offline model.
const noModel = "no other model is set up"

// NamedError reports that Tenon cannot use the named model. The cause is a [*models.UnknownError] or a [*models.UnavailableError].
type NamedError struct {
	From string // the origin of the name: "--model", "TENON_MODEL" or "tenon.json"
	Err  error
}

func (e *NamedError) Error() string { return fmt.Sprintf("%s: %v", e.From, e.Err) }
func (e *NamedError) Unwrap() error { return e.Err }

// GoOn lets the model or the pool of a session answer in it again, unless a flag or TENON_MODEL names another model, which would read the
// whole conversation without a cache. A session of the offline model gets the model of a new session.
func (s *Setup) GoOn(model string) {
	s.former = ""
	if provider, _, _ := strings.Cut(model, "/"); provider != offline.New().Model().Provider {
		s.former = model
	}
}

// Choose returns the model to use: that of the flag, of TENON_MODEL, of the session, of the configuration, of the first provider with a key,
// of a server on this machine if [Setup.Look] was called, else the offline model. The error is a [*NamedError].
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
		m, err := s.named(s.former, "the session", "the model of the session")
		if err != nil {
			err = &NamedError{"the session", &models.UnavailableError{
				Name: s.former, Reason: reason(err) + "; choose another model with --model", Available: s.Models.Available(),
			}}
		}
		return m, err
	}
	if s.Config.Model != "" {
		return s.named(s.Config.Model, "tenon.json", "chosen in tenon.json")
	}
	ref, why, ok := s.Models.Default()
	if ok {
		return s.named(ref, "the first key", why)
	}
	if ref, why, ok := models.FirstFound(s.looked()); ok {
		return s.named(ref, "a local server", why)
	}
	m := Model{Client: offline.Fallback(), Why: noModel}
	if why != "" { // the person may have meant this provider
		m.Warnings = append(m.Warnings, why)
	}
	if _, err := s.Keys.List(); err != nil { // the person may have meant one of these keys
		m.Warnings = append(m.Warnings, err.Error())
	}
	return m, nil
}

func (s *Setup) named(name, from, why string) (Model, error) {
	c, err := s.Models.Choose(name)
	if err != nil {
		return Model{}, &NamedError{from, err}
	}
	return Model{Client: c.Client, Why: why, Warnings: c.Warnings, name: name, from: from}, nil
}

// measured returns a chosen model with the context windows that local servers give its models. The error is a [*NamedError] if they are too
// small for an agent.
func (m Model) measured(ctx context.Context, s *Setup) (Model, error) {
	if m.name == "" {
		return m, nil
	}
	warnings, err := s.Models.Measure(ctx, m.name)
	if err != nil {
		return Model{}, &NamedError{m.from, err}
	}
	m, err = s.named(m.name, m.from, m.Why)
	m.Warnings = append(m.Warnings, warnings...)
	return m, err
}

// reason returns the reason why Tenon cannot use a model.
func reason(err error) string {
	if unknown, ok := errors.AsType[*models.UnknownError](err); ok {
		return unknown.Reason
	}
	if unavailable, ok := errors.AsType[*models.UnavailableError](err); ok {
		return unavailable.Reason
	}
	return err.Error()
}

// IsUnknown reports whether err says that a name means no model or no role, which is a usage error.
func IsUnknown(err error) bool {
	_, model := errors.AsType[*models.UnknownError](err)
	_, role := errors.AsType[*UnknownRoleError](err)
	return model || role
}

// Look starts to look for model servers on this machine, in the background, if no other setting names a model. TENON_DISCOVER=off or
// "discover": false in the configuration disables it.
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

// Looking reports whether Tenon looks for servers on this machine.
func (s *Setup) Looking() bool { return s.found != nil }

// lookTimeout is the longest wait at a start for a server that listens and does not answer. Ports without a server refuse at once.
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

// Spec returns the settings of the configuration for agents.
func (s *Setup) Spec() Spec {
	c := s.Config
	small := s.lazily(c.Roles["small"])
	writer := small
	if c.Window.Model != "" {
		writer = s.lazily(c.Window.Model)
	}
	return Spec{
		Settings: llm.Settings(c.Request), Secrets: s.Secrets,
		Web: s.Web(), LSP: lspOf(s), Tools: c.Tools, Keep: s.Keep, External: External{Share: c.Window.Tools},
		Window:   Windowing{Threshold: c.Window.Threshold, Manual: c.Window.Manual, Strategy: c.Window.Strategy, Turns: c.Window.Turns, Writer: writer},
		Titles:   Titling{Off: c.Titles != nil && !*c.Titles || s.getenv("TENON_TITLES") == "off", Writer: small},
		Guidance: Guiding{Names: c.Context.Files, MaxFile: c.Context.MaxFile, MaxAll: c.Context.MaxAll, Personal: s.personal()},
		Limits:   limitsOf(s.Config),
		Judge:    s.lazily(c.Roles["judge"]),
		Hooks:    HooksOf(s),
	}
}

// softLimit is the share of a limit at which a run asks: late enough to be rare, and early enough for a run of 20 dollars to have 4 left.
const softLimit = 0.8

// limitsOf returns the limits of the configuration. The default limit of cost is that of package agent, which does not refuse models without a
// price.
func limitsOf(c *config.Config) agent.Limits {
	l := agent.Limits(c.Limits)
	l.Soft = cmp.Or(l.Soft, softLimit)
	if slices.ContainsFunc(c.Origins(), func(o config.Origin) bool { return o.Key == "limits.cost" && o.Where == "default" }) {
		l.Cost = 0
	}
	return l
}

// lazily returns a function that chooses a model when it is first called. Nil: the reference is empty.
func (s *Setup) lazily(ref string) func() (llm.Client, error) {
	if ref == "" {
		return nil
	}
	return sync.OnceValues(func() (llm.Client, error) {
		c, err := s.Models.Choose(ref)
		return c.Client, err
	})
}

// personal returns the directories for the person's context files, Tenon's own first. The others belong to other agents: a person without
// files for Tenon may have files for one of them.
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
