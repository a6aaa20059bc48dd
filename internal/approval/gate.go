package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// Person is who decided, in the journal, when no rule did.
const Person = "person"

// Options of a [Gate].
type Options struct {
	Policy *permission.Policy
	Broker *Broker // asks people; nil: nobody can be asked, and what would be is denied

	// Own is directories of the session itself, absolute: what calls do there is nobody's business.
	Own []string

	// Readable is directories that may be read unasked, absolute, such as those of skills.
	Readable []string

	// Keep writes rules that were given for good where they are read the next time. Nil: grants hold for the session alone.
	Keep func(ctx context.Context, rules []permission.Rule) error
}

// Gate decides about calls by a policy, and asks people about the rest, all calls of one answer together. It implements
// [agent.Gate], and is safe for concurrent use.
type Gate struct {
	options Options

	mu     sync.Mutex
	policy *permission.Policy
}

// NewGate returns a gate.
func NewGate(o Options) *Gate { return &Gate{options: o, policy: o.Policy} }

// Policy is the policy as it is now, with what was granted.
func (g *Gate) Policy() *permission.Policy {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.policy
}

// Change puts another policy in the place of the present one, such as the same in another mode.
func (g *Gate) Change(to func(*permission.Policy) *permission.Policy) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.policy = to(g.policy)
}

// Decide implements [agent.Gate].
func (g *Gate) Decide(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
	policy := g.Policy()
	verdicts := make([]agent.Verdict, len(calls))
	var asked []open
	for i, c := range calls {
		d := policy.Judge(permission.Call{Tool: c.Call.Name, Effects: g.foreign(c.Effects), Arguments: c.Arguments})
		switch {
		case d.Verdict == permission.Ask && c.Changed: // a person wrote it, and no rule stands against it
			verdicts[i] = agent.Verdict{Allow: true, By: Person}
		case d.Verdict == permission.Ask && g.options.Broker != nil:
			asked = append(asked, open{place: i, call: c, decision: d})
		default:
			d = d.Or(permission.Deny)
			verdicts[i] = agent.Verdict{Allow: d.Verdict == permission.Allow, By: d.Rule, Reason: d.Reason}
		}
	}
	if len(asked) == 0 {
		return verdicts, nil
	}
	return verdicts, g.ask(ctx, asked, verdicts)
}

// foreign is effects without those that are nobody's business.
func (g *Gate) foreign(e tool.Effects) tool.Effects {
	own := func(p tool.Path) bool { return inside(g.options.Own, p.Name) }
	e.Reads = slices.DeleteFunc(slices.Clone(e.Reads), func(p tool.Path) bool { return own(p) || inside(g.options.Readable, p.Name) })
	e.Writes = slices.DeleteFunc(slices.Clone(e.Writes), own)
	return e
}

// inside reports whether a path is one of some directories or lies in it.
func inside(dirs []string, name string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, name)
		return err == nil && filepath.IsLocal(rel)
	})
}

// open is a call that a person is asked about.
type open struct {
	place    int
	call     agent.Proposed
	decision permission.Decision
}

// ask brings calls to a person, and puts what they say into the verdicts.
func (g *Gate) ask(ctx context.Context, asked []open, verdicts []agent.Verdict) error {
	q := session.Asking{Calls: make([]session.Pending, len(asked))}
	for i, o := range asked {
		q.Calls[i] = o.pending(ctx)
	}
	answers, err := g.options.Broker.Ask(ctx, q)
	switch {
	case errors.Is(err, ErrNobody):
		for _, o := range asked {
			verdicts[o.place] = agent.Verdict{By: o.decision.Rule, Reason: o.decision.Reason + "; " + ErrNobody.Error()}
		}
		return nil
	case err != nil:
		return err
	}
	for i, o := range asked {
		if verdicts[o.place], err = g.said(ctx, o, answers[i]); err != nil {
			return err
		}
	}
	return nil
}

// pending is how a call is shown to a person.
func (o open) pending(ctx context.Context) session.Pending {
	effects, _ := json.Marshal(o.call.Effects) // texts and truth values always are JSON
	p := session.Pending{
		Call: o.call.Call.ID, Tool: o.call.Call.Name, Arguments: o.call.Arguments, Effects: effects, Reason: o.decision.Reason,
	}
	if o.call.Preview != nil {
		preview, err := o.call.Preview(ctx)
		if err != nil {
			preview = "it would fail: " + err.Error()
		}
		p.Preview = preview
	}
	for _, s := range o.decision.Suggest {
		grant := session.Grant{Words: s.In(permission.Session).Words()}
		for _, r := range s.Rules {
			grant.Rules = append(grant.Rules, r.Text())
		}
		p.Grants = append(p.Grants, grant)
	}
	return p
}

// said is the verdict of a person.
func (g *Gate) said(ctx context.Context, o open, a Answer) (agent.Verdict, error) {
	if !a.Allow {
		reason := strings.TrimSpace(a.Reason)
		if reason == "" {
			reason = "the user said no"
		}
		return agent.Verdict{By: Person, Reason: reason}, nil
	}
	v := agent.Verdict{Allow: true, By: Person, Reason: a.Reason, Arguments: a.Arguments}
	if a.Grant == 0 {
		return v, nil
	}
	if a.Grant < 0 || a.Grant > len(o.decision.Suggest) {
		return v, fmt.Errorf("approval: grant %d of %d was given", a.Grant, len(o.decision.Suggest))
	}
	scope := permission.Session
	if a.Always {
		scope = permission.User
	}
	given := o.decision.Suggest[a.Grant-1].In(scope)
	if a.Always {
		if g.options.Keep == nil {
			return v, errors.New("approval: nothing can be granted for good here")
		}
		if err := g.options.Keep(ctx, given.Rules); err != nil {
			return v, fmt.Errorf("the rule could not be kept: %w", err)
		}
	}
	g.Change(func(p *permission.Policy) *permission.Policy { return p.With(given.Rules...) })
	v.Reason = strings.TrimSpace(v.Reason + " (granted: " + given.Words() + ")")
	return v, nil
}
