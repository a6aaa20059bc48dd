package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/team/role"
)

// NoRole is the name with which a person leaves a role.
const NoRole = "none"

// smallRole is the role of the model for small tasks.
const smallRole = "small"

// RoleSet holds the roles that an agent may have.
type RoleSet struct {
	Roles    []role.Role // sorted by name; the configuration has set their models
	Inert    int         // number of roles of the project that do not count, because its directory is not trusted
	Problems []error     // about unusable files
}

// Roles finds the roles for work in a directory: the built-in ones, the person's, those of the project if its directory is trusted, and the
// names that only the configuration has. Allow rules of a project's role do not count.
func (s *Setup) Roles(dir string) (RoleSet, error) {
	var set RoleSet
	var own, project []role.Folder
	for _, name := range s.ownPlaces("agents") {
		own = append(own, role.Folder{Dir: name})
	}
	root, places := projectPlaces(dir, "agents")
	for _, name := range places {
		project = append(project, role.Folder{Dir: name, Within: root})
	}
	mine, all := role.Find(own), role.Find(append(own, project...))
	foreign := func(r role.Role) bool {
		return !slices.ContainsFunc(mine.Roles, func(m role.Role) bool { return m.Name == r.Name && m.File == r.File })
	}
	if n := len(slices.DeleteFunc(slices.Clone(all.Roles), func(r role.Role) bool { return !foreign(r) })); n > 0 || len(all.Problems) > len(mine.Problems) {
		trusted, err := trusted(s.Dir, dir)
		if err != nil {
			return set, err
		}
		if !trusted {
			set.Inert, all = n, mine
		}
	}
	set.Roles, set.Problems = all.Roles, all.Problems
	for i, r := range set.Roles {
		if foreign(r) {
			set.Roles[i].Rules.Allow = nil
			if m := slices.IndexFunc(mine.Roles, func(m role.Role) bool { return m.Name == r.Name }); m >= 0 {
				set.Roles[i] = under(set.Roles[i], mine.Roles[m])
			}
		}
		switch ref := cmp.Or(s.Config.Roles[r.Name], s.Config.Roles[r.Model]); {
		case ref != "":
			set.Roles[i].Model = ref
		case r.Model == smallRole: // which the configuration does not have
			set.Roles[i].Model = ""
		}
	}
	for name, ref := range s.Config.Roles {
		if !slices.ContainsFunc(set.Roles, func(r role.Role) bool { return r.Name == name }) {
			set.Roles = append(set.Roles, role.Role{Name: name, Model: ref, Description: "a model of the configuration", File: s.Config.UserFile})
		}
	}
	slices.SortFunc(set.Roles, func(a, b role.Role) int { return strings.Compare(a.Name, b.Name) })
	return set, nil
}

// under returns a role of a project that can do no more than the role of the person, or the built-in one, whose name it has.
func under(r, m role.Role) role.Role {
	if r.Mode = narrower(cmp.Or(r.Mode, m.Mode), m.Mode); m.Tools != nil {
		both := slices.DeleteFunc(slices.Clone(r.Tools), func(t string) bool { return !slices.Contains(m.Tools, t) })
		if r.Tools = both; len(both) == 0 {
			r.Tools = m.Tools
		}
	}
	r.Without = slices.Concat(r.Without, m.Without)
	r.Rules.Ask, r.Rules.Deny = slices.Concat(r.Rules.Ask, m.Rules.Ask), slices.Concat(r.Rules.Deny, m.Rules.Deny)
	return r
}

// Named returns the role with a name. NoRole is the zero Role.
func (s RoleSet) Named(name string) (role.Role, error) {
	if name == NoRole {
		return role.Role{}, nil
	}
	var names []string
	for _, r := range s.Roles {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	return role.Role{}, &UnknownRoleError{Name: name, Roles: names}
}

// RoleSource returns where a role comes from, for people.
func RoleSource(r role.Role) string { return cmp.Or(r.File, "built in") }

// UnknownRoleError reports that there is no role with a name.
type UnknownRoleError struct {
	Name  string
	Roles []string // the names of all roles
}

func (e *UnknownRoleError) Error() string {
	return fmt.Sprintf("unknown role %q; the roles are %s, and %s to leave a role", e.Name, strings.Join(e.Roles, ", "), NoRole)
}

// Code returns "role.unknown".
func (e *UnknownRoleError) Code() string { return "role.unknown" }

// Warnings names the roles that cannot be used.
func (s RoleSet) Warnings() (out []conversation.Warning) {
	for _, err := range s.Problems {
		out = append(out, conversation.Warning{Code: "role.unusable", Text: "role: " + err.Error()})
	}
	if s.Inert > 0 {
		out = append(out, conversation.Warning{
			Code: "role.untrusted", Text: fmt.Sprintf("roles of this project ignored, because its directory is not trusted: %d; see 'tenon trust'", s.Inert),
		})
	}
	return out
}

// start gives the conversation its first role. The model is there already. A role of the session that no longer exists is a warning.
func (o *Opened) start(ctx context.Context, from Opening) error {
	r, err := o.roles.Named(cmp.Or(o.starting, NoRole))
	if err != nil {
		o.Warnings = append(o.Warnings, conversation.Warning{Code: "role.unusable", Text: "the session continues without its role: " + err.Error()})
		return nil
	}
	if r.Name == "" {
		return nil
	}
	ref, _ := modelOf(o.Setup, r)
	o.lent = o.lent || ref != "" && ref == reference(o.agent.client().Model())
	err = o.limit(ctx, r, o.agent.mode, "")
	if err == nil && r.Name == plannerRole {
		err = o.agent.Set(ctx, agent.Change{Offer: o.agent.offers(o.agent.mode, o.agent.client())})
	}
	if err != nil || r.Thinking == "" || from.Settings.Thinking != "" {
		return err
	}
	settings := o.agent.spec.Settings
	settings.Thinking = r.Thinking
	return o.agent.Set(ctx, agent.Change{Settings: &settings})
}

func reference(m llm.Model) string { return cmp.Or(m.Reference, m.Ref()) }

// loan is the model that a change brings, and the one that answers after the role.
type loan struct {
	client llm.Client // nil: the present one
	lent   bool       // the role brings it
	before llm.Client // that answered before the roles; nil: see former
}

// lend returns the model of a change to a model by name or, with switched, to a role.
func (o *Opened) lend(ctx context.Context, model string, r role.Role, switched bool) (l loan, err error) {
	l = loan{lent: o.lent, before: o.before}
	if model == "" && !switched {
		return l, nil
	}
	ref := model
	if model == "" {
		ref = o.modelOf(r)
	}
	switch {
	case model != "":
		l.lent, l.before = false, nil
	case ref != "" && !l.lent:
		l.lent, l.before = true, o.agent.client()
	case ref == "" && l.lent:
		l.lent, l.before = false, nil
		l.client, err = o.former(ctx)
		return l, err
	}
	if ref != "" {
		l.client, err = o.client(ctx, ref)
	}
	return l, err
}

// client returns the client of a model or pool.
func (o *Opened) client(ctx context.Context, name string) (llm.Client, error) {
	if _, err := o.Setup.Models.Measure(ctx, name); err != nil {
		return nil, err
	}
	choice, err := o.Setup.Models.Choose(name)
	return choice.Client, err
}

// former returns the client that answered before the roles: that of the last run without one, else that of a new session.
func (o *Opened) former(ctx context.Context) (llm.Client, error) {
	if o.before != nil {
		return o.before, nil
	}
	for e, err := range o.agent.Path().Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if run, ok := e.Body.(session.RunStarted); ok && run.Config.Role == "" {
			return o.client(ctx, reference(run.Config.Model))
		}
	}
	o.Setup.GoOn("")
	m, err := o.Setup.Choose("")
	return m.Client, err
}

// modelOf is [modelOf], and reports its warning.
func (o *Opened) modelOf(r role.Role) string {
	ref, warning := modelOf(o.Setup, r)
	switch {
	case warning == "":
	case o.Conversation != nil:
		o.agent.Announce(live.Notice{Text: warning})
	default:
		o.Warnings = append(o.Warnings, conversation.Warning{Code: "role.model", Text: warning})
	}
	return ref
}

// modelOf returns the model or pool of a role, "" if it leaves the model as it is. The names that Claude Code has for models mean the newest
// usable model of their family.
func modelOf(s *Setup, r role.Role) (ref, warning string) {
	if !slices.Contains([]string{"sonnet", "opus", "haiku"}, r.Model) {
		return r.Model, ""
	}
	released := ""
	for m := range s.Models.All() {
		if m.Usable && m.Deprecated == "" && strings.Contains(m.ID, "claude-") && strings.Contains(m.ID, r.Model) && (ref == "" || m.Released > released) {
			ref, released = m.Ref(), m.Released
		}
	}
	if ref == "" {
		warning = fmt.Sprintf("the role %s is for the model %s, which is not set up: the model of the session answers; set roles.%s in %s", r.Name, r.Model, r.Name, s.Config.UserFile)
	}
	return ref, warning
}

// narrower returns the narrower one of two modes. An empty one is none.
func narrower(m, of permission.Mode) permission.Mode {
	if all := permission.Modes(); of != "" && slices.Index(all, of) < slices.Index(all, m) {
		return of
	}
	return m
}

// within returns limits of runs that are also inside those of a role.
func within(l agent.Limits, r role.Role) agent.Limits {
	l.Turns, l.Time = lower(l.Turns, r.Turns), lower(l.Time, r.Time)
	if r.Cost > 0 && lower(cmp.Or(l.Cost, agent.DefaultCost), r.Cost) == r.Cost {
		l.Cost = r.Cost
	}
	return l
}

// lower returns the lower one of two limits. A number that is not positive is none.
func lower[N int | float64 | time.Duration](a, b N) N {
	if b > 0 && (a <= 0 || b < a) {
		return b
	}
	return a
}

// rulesOfRole returns the rules of a role, which its parser has checked.
func rulesOfRole(r role.Role) (all []permission.Rule) {
	texts := map[permission.Action][]string{permission.Allow: r.Rules.Allow, permission.Ask: r.Rules.Ask, permission.Deny: r.Rules.Deny}
	for _, action := range []permission.Action{permission.Deny, permission.Ask, permission.Allow} {
		for _, text := range texts[action] {
			if rule, err := permission.ParseRule(action, permission.Session, text); err == nil {
				all = append(all, rule)
			}
		}
	}
	return all
}
