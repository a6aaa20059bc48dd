package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/models"
	"github.com/tenon-agent/tenon/llm/catalog"
	"github.com/tenon-agent/tenon/llm/offline"
)

// listOptions is the flags of tenon models list.
type listOptions struct {
	all, discover, json bool
	provider            string
}

// modelList is what tenon models list shows, and its JSON.
type modelList struct {
	Default   chosenModel         `json:"default"`
	Models    []listedModel       `json:"models"`
	Pools     map[string][]string `json:"pools"`
	Roles     map[string]string   `json:"roles"`
	Providers []models.Provider   `json:"providers"`
	Servers   []models.Found      `json:"servers"` // on this machine
	Warnings  []string            `json:"warnings"`

	hidden int // models that match and cannot be asked
}

// chosenModel is the model that works when no other is named.
type chosenModel struct {
	Ref string `json:"ref"`
	Why string `json:"why"`
}

// listedModel is a line of the list.
type listedModel struct {
	Ref     string `json:"ref"`
	Default bool   `json:"default"`
	models.Listed
}

func (p *program) listModels(c *cobra.Command, o listOptions, filters []string) error {
	s, err := p.setUp()
	if err != nil {
		return err
	}
	if o.provider != "" && o.provider != offline.New().Model().Provider {
		if err := knownProvider(c, s, o.provider); err != nil {
			return err
		}
	}
	o.discover = o.discover || slices.ContainsFunc(s.Models.Providers(), func(p models.Provider) bool { return p.Local && p.Name == o.provider })
	list := newModelList(c.Context(), s, o, p.env.Getenv)
	list.pick(o, filters)
	for _, w := range list.Warnings {
		p.tell(s, "! "+oneLine(w)+"\n")
	}
	if o.json {
		return p.showJSON(s, list)
	}
	if len(list.Models) == 0 && len(filters) > 0 && list.hidden == 0 {
		return noSuchModel(c, filters)
	}
	if err := p.show(s, p.modelTable(list)); err != nil {
		return err
	}
	p.tell(s, list.advice(o, len(filters) > 0))
	return nil
}

// noSuchModel says that nothing matches, and when a filter was meant to be a command, which.
func noSuchModel(c *cobra.Command, filters []string) error {
	var commands []string
	for _, sub := range c.Commands() {
		commands = append(commands, sub.Name())
	}
	if near := nearest(filters[0], commands); near != "" {
		return usagef(c, "no model has %q in its name: did you mean %q?", filters[0], c.CommandPath()+" "+near)
	}
	return fmt.Errorf("no model of the catalog has %q in its name; one that you know of works all the same: tenon models test PROVIDER/MODEL",
		strings.Join(filters, " "))
}

// newModelList gathers what there is.
func newModelList(ctx context.Context, s *app.Setup, o listOptions, getenv func(string) string) *modelList {
	l := &modelList{
		Pools: s.Config.Pools, Roles: s.Config.Roles, Providers: s.Models.Providers(), Warnings: slices.Clone(s.Config.Warnings),
		Models: []listedModel{}, Servers: []models.Found{},
	}
	l.choose(ctx, s, o, getenv)
	if file := s.Models.CatalogFile(); file != "" {
		if _, err := catalog.Open(file); err != nil {
			l.Warnings = append(l.Warnings, err.Error())
		}
	}
	if s.Config.Inert != "" {
		l.Warnings = append(l.Warnings, inertNote(s.Config))
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

// choose finds the model that works by default, and the servers of this machine when they are wanted.
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
	l.Servers = append(l.Servers, s.Models.Discover(ctx)...)
	if ref, why, ok := models.FirstFound(l.Servers); ok && alone {
		l.Default = chosenModel{ref, why}
	}
}

// served is the references of the models of this machine's servers.
func (l *modelList) served() []string {
	var refs []string
	for _, server := range l.Servers {
		for _, id := range server.Models {
			refs = append(refs, server.Provider+"/"+id)
		}
	}
	return refs
}

// pick keeps the models that the options and filters ask for.
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

// inertNote tells of a project's configuration that has no effect.
func inertNote(c *config.Config) string {
	return fmt.Sprintf("%s has no effect, since its folder is not trusted: look at it with 'tenon trust'", c.Inert)
}
