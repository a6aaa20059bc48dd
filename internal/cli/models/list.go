package models

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/models"
)

type listOptions struct {
	all, discover bool
	provider      string
}

// modelList is the output of tenon models list, and its JSON.
type modelList struct {
	Default   chosenModel             `json:"default"`
	Models    []listedModel           `json:"models"`
	Pools     map[string][]string     `json:"pools"`
	Roles     map[string]string       `json:"roles"`
	Providers []models.ProviderStatus `json:"providers"`
	Servers   []models.Found          `json:"servers"` // on this machine
	Warnings  []string                `json:"warnings"`
	Resting   []chain.Health          `json:"resting"`   // keys that Tenon skips if another one can answer
	Picks     map[string]state.Fact   `json:"picks"`     // by pool: the model that answers instead of the first one
	Summaries map[string]state.Fact   `json:"summaries"` // by session: failures in a row, and the last one

	hidden int // matching models that are not usable
}

// chosenModel is the default model.
type chosenModel struct {
	Ref string `json:"ref"`
	Why string `json:"why"`
}

type listedModel struct {
	Ref     string `json:"ref"`
	Default bool   `json:"default"`
	models.Listed
}

func listModels(env *command.Env, c *cobra.Command, o listOptions, filters []string) (r command.Result, err error) {
	s, err := env.SetUp("")
	if err != nil {
		return r, err
	}
	if o.provider != "" && o.provider != offline.New().Model().Provider {
		if err := KnownProvider(c, s, o.provider); err != nil {
			return r, err
		}
	}
	o.discover = o.discover || slices.ContainsFunc(s.Models.Providers(), func(p models.ProviderStatus) bool { return p.Local && p.Name == o.provider })
	list := newModelList(c.Context(), s, o, env.Getenv)
	list.pick(o, filters)
	for _, w := range list.Warnings {
		env.Tell("! %s", term.OneLine(w))
	}
	asJSON, err := c.Flags().GetBool("json")
	if err == nil && !asJSON && len(list.Models) == 0 && len(filters) > 0 && list.hidden == 0 {
		err = noSuchModel(c, filters)
	}
	return command.Result{JSON: list, Text: modelTable(env, list), Note: list.advice(o, len(filters) > 0)}, err
}

// noSuchModel is the error if no model matches. It suggests a command that is similar to a filter.
func noSuchModel(c *cobra.Command, filters []string) error {
	var commands []string
	for _, sub := range c.Commands() {
		commands = append(commands, sub.Name())
	}
	if near := command.Nearest(filters[0], commands); near != "" {
		return command.Usagef(c, "no model has %q in its name; did you mean %q?", filters[0], c.CommandPath()+" "+near)
	}
	return fmt.Errorf("no model of the catalog has %q in its name; models outside of the catalog work too: tenon models test PROVIDER/MODEL",
		strings.Join(filters, " "))
}

func newModelList(ctx context.Context, s *app.Setup, o listOptions, getenv func(string) string) *modelList {
	l := &modelList{
		Pools: s.Config.Pools, Roles: s.Config.Roles, Providers: s.Models.Providers(), Warnings: slices.Clone(s.Config.Warnings),
		Models: []listedModel{}, Servers: []models.Found{}, Resting: models.Resting(s.Models), Picks: map[string]state.Fact{}, Summaries: map[string]state.Fact{},
	}
	for name, fact := range s.State.Facts() {
		if id, ok := strings.CutPrefix(name, state.Summary); ok {
			l.Summaries[id] = fact
		}
		for pool, refs := range l.Pools {
			if name == state.Pick+strings.Join(refs, " ") {
				l.Picks[pool] = fact
			}
		}
	}
	l.choose(ctx, s, o, getenv)
	if file := s.Models.CatalogFile(); file != "" {
		if _, err := catalog.Open(file); err != nil {
			l.Warnings = append(l.Warnings, err.Error())
		}
	}
	if s.Config.Inert != "" {
		l.Warnings = append(l.Warnings, app.InertNote(s.Config))
	}
	known := map[string]bool{}
	add := func(m models.Listed) {
		ref := m.Ref()
		if !known[ref] {
			known[ref] = true
			l.Models = append(l.Models, listedModel{Ref: ref, Default: ref == l.Default.Ref, Listed: m})
		}
	}
	for m := range s.Models.All() {
		add(m)
	}
	for _, ref := range append(l.served(), l.Default.Ref) { // that the catalog does not have
		if choice, err := s.Models.Choose(ref); err == nil && len(choice.Models) > 0 {
			add(models.Listed{Entry: catalog.Entry{Model: choice.Models[0]}, Usable: true})
		}
	}
	slices.SortStableFunc(l.Models, func(a, b listedModel) int {
		switch {
		case a.Usable == b.Usable:
			return strings.Compare(a.Provider, b.Provider)
		case a.Usable:
			return -1
		default:
			return 1
		}
	})
	return l
}

// choose finds the default model, and the servers of this machine if the options or the configuration ask for them.
func (l *modelList) choose(ctx context.Context, s *app.Setup, o listOptions, getenv func(string) string) {
	m, err := s.Choose("")
	if err != nil {
		l.Warnings = append(l.Warnings, err.Error())
	} else {
		l.Default = chosenModel{m.Client.Model().Ref(), m.Why}
		l.Warnings = append(l.Warnings, m.Warnings...)
	}
	wanted := s.Config.Discover == nil || *s.Config.Discover
	nothing := l.Default.Ref == offline.New().Model().Ref() && getenv("TENON_MODEL") == "" && s.Config.Model == ""
	alone := nothing && wanted && getenv("TENON_DISCOVER") != "off"
	if !o.discover && !alone {
		return
	}
	servers, small := s.Models.MeasureFound(ctx, s.Models.Discover(ctx))
	l.Servers, l.Warnings = append(l.Servers, servers...), append(l.Warnings, small...)
	if ref, why, ok := models.FirstFound(l.Servers); ok && alone {
		l.Default = chosenModel{ref, why}
	}
}

// served returns references of the models that servers of this machine offer.
func (l *modelList) served() []string {
	var refs []string
	for _, server := range l.Servers {
		for _, id := range server.Models {
			refs = append(refs, server.Provider+"/"+id)
		}
	}
	return refs
}

func (l *modelList) pick(o listOptions, filters []string) {
	l.Models = slices.DeleteFunc(l.Models, func(m listedModel) bool {
		if o.provider != "" && m.Provider != o.provider {
			return true
		}
		text := strings.ToLower(m.Ref + " " + m.Name)
		for _, f := range filters {
			if !strings.Contains(text, strings.ToLower(f)) {
				return true
			}
		}
		if !m.Usable && !o.all && o.provider == "" {
			l.hidden++
			return true
		}
		return false
	})
}
