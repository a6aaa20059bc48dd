package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/tool"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Person is the value of By in a verdict that a person gave.
const Person = "person"

// Codes of a person's verdicts, in [agent.Verdict] and in the journal. A verdict of the judge has the code of the judge.
const (
	CodeAllowed = "approval.allowed" // a person allowed the call
	CodeEdited  = "approval.edited"  // a person wrote its arguments
	CodeDenied  = "approval.denied"  // a person denied it
	CodeTimeout = "approval.timeout" // no person answered in time
)

// Options of a [Gate].
type Options struct {
	// Judge gives the verdicts, such as a policy, a [permission.Live] one, or the [permission.Meet] of two.
	Judge permission.Judge

	// Broker asks people. Nil: the run is not interactive, and the gate denies the calls about which it would ask.
	Broker *Broker

	// Grants count from the start, such as the grants of the gate of a parent session.
	Grants []permission.Rule

	// Own lists the directories of the session itself, absolute. Calls touch them without a verdict.
	Own []string

	// Readable lists directories that calls read without a verdict, absolute, such as those of skills.
	Readable []string

	// Keep writes rules that a person granted for all sessions to the configuration. Nil: grants hold for this session only.
	Keep func(ctx context.Context, rules []permission.Rule) error
}

// Gate decides about calls by a judge. If the judge says so, it asks people about all calls of one answer together, except for calls whose
// preview fails: they would fail anyway. It implements [agent.Gate] and [permission.Judge], and is safe for concurrent use.
type Gate struct {
	options Options

	mu     sync.Mutex
	grants []permission.Rule
}

// NewGate returns a gate.
func NewGate(o Options) *Gate { return &Gate{options: o, grants: slices.Clone(o.Grants)} }

// Grants returns the rules that people granted so far.
func (g *Gate) Grants() []permission.Rule {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.grants)
}

// Revoke removes a grant, by the text of its rule, from the next verdict on. It reports whether people had granted it. A grant for all
// sessions stays in the configuration.
func (g *Gate) Revoke(rule string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.grants)
	g.grants = slices.DeleteFunc(slices.Clone(g.grants), func(r permission.Rule) bool { return r.Text() == rule })
	return len(g.grants) < before
}

// Judge implements [permission.Judge]: the verdict of the gate's judge, with the grants that people gave, and without a question.
func (g *Gate) Judge(c permission.Call, grants ...permission.Rule) permission.Verdict {
	declared := c.Effects.Declared()
	own := func(p tool.Path) bool { _, ok := paths.In(g.options.Own, p.Name); return ok }
	readable := func(p tool.Path) bool { _, ok := paths.In(g.options.Readable, p.Name); return ok || own(p) }
	c.Effects.Reads = slices.DeleteFunc(slices.Clone(c.Effects.Reads), readable)
	c.Effects.Writes = slices.DeleteFunc(slices.Clone(c.Effects.Writes), own)
	if declared && len(c.Effects.Reads) == 0 && len(c.Effects.Writes) == 0 {
		c.Effects.None = true // the rest still counts
	}
	return g.options.Judge.Judge(c, append(g.Grants(), grants...)...)
}

// Foresee implements [agent.Foreseer].
func (g *Gate) Foresee(c agent.Proposed) bool { return g.judge(c).Action == permission.Allow }

// judge gives the verdict of [Gate.Judge] on a call of the agent.
func (g *Gate) judge(c agent.Proposed) permission.Verdict {
	return g.Judge(permission.Call{Tool: cmp.Or(c.As, c.Call.Name), Effects: c.Effects, Arguments: c.Arguments})
}

// Decide implements [agent.Gate].
func (g *Gate) Decide(ctx context.Context, calls []agent.Proposed) ([]agent.Verdict, error) {
	verdicts := make([]agent.Verdict, len(calls))
	var questions []question
	for i, c := range calls {
		v := g.judge(c)
		switch {
		case v.Action == permission.Ask && c.Changed: // a person wrote these arguments, and no rule denies them
			verdicts[i] = agent.Verdict{Allow: true, By: Person, Code: CodeEdited}
		case v.Action == permission.Ask && g.options.Broker != nil:
			q := question{call: c, verdict: v, answer: &verdicts[i]}
			if c.Preview != nil {
				var err error
				switch q.preview, err = c.Preview(ctx); {
				case err == nil:
				case ctx.Err() != nil:
					return nil, ctx.Err()
				case slices.ContainsFunc(calls[:i], func(o agent.Proposed) bool { return o.Effects.Collides(c.Effects) }):
					q.preview = "the call would fail now, before the other calls: " + err.Error()
				default: // no need to ask
					verdicts[i] = agent.Verdict{Fails: err}
					continue
				}
			}
			questions = append(questions, q)
		default:
			mode, flags := v.Remedy()
			v = v.Unattended()
			verdicts[i] = agent.Verdict{
				Allow: v.Action == permission.Allow, By: v.Rule, Code: v.Code, Reason: v.Reason, Remedy: session.Remedy{Mode: string(mode), Flags: flags},
			}
		}
	}
	if len(questions) == 0 {
		return verdicts, nil
	}
	return verdicts, g.ask(ctx, questions)
}

// question is a call that a person decides about.
type question struct {
	call    agent.Proposed
	verdict permission.Verdict
	preview string
	answer  *agent.Verdict
}

// ask asks a person about calls, and stores the verdicts.
func (g *Gate) ask(ctx context.Context, questions []question) error {
	asking := session.Asking{Calls: make([]ask.Call, len(questions))}
	for i, q := range questions {
		asking.Calls[i] = q.pending()
	}
	answers, err := g.options.Broker.Ask(ctx, asking)
	switch {
	case errors.Is(err, ErrNobody):
		for _, q := range questions {
			*q.answer = agent.Verdict{By: q.verdict.Rule, Code: CodeTimeout, Reason: q.verdict.Reason + "; " + ErrNobody.Error()}
		}
		return nil
	case err != nil:
		return err
	}
	for i, q := range questions {
		if *q.answer, err = g.answered(ctx, q, answers[i]); err != nil {
			return err
		}
	}
	return nil
}

// pending returns the call as a person sees it.
func (q question) pending() ask.Call {
	effects, _ := json.Marshal(q.call.Effects) // strings and booleans always encode
	p := ask.Call{
		Call: q.call.Call.ID, Tool: cmp.Or(q.call.As, q.call.Call.Name), Arguments: q.call.Arguments, Effects: effects, Reason: q.verdict.Reason,
		Preview: q.preview,
	}
	for _, s := range q.verdict.Suggest {
		grant := ask.Grant{Words: s.In(permission.Session).Words()}
		for _, r := range s.Rules {
			grant.Rules = append(grant.Rules, r.Text())
		}
		p.Grants = append(p.Grants, grant)
	}
	return p
}

// answered returns the verdict of a person.
func (g *Gate) answered(ctx context.Context, q question, a ask.Answer) (agent.Verdict, error) {
	if !a.Allow {
		reason := strings.TrimSpace(a.Reason)
		if reason == "" {
			reason = "the user denied it"
		}
		return agent.Verdict{By: Person, Code: CodeDenied, Reason: reason}, nil
	}
	v := agent.Verdict{Allow: true, By: Person, Code: CodeAllowed, Reason: a.Reason, Arguments: a.Arguments}
	if a.Grant == 0 {
		return v, nil
	}
	granted, err := g.grant(ctx, q.verdict.Suggest, a)
	v.Reason = strings.TrimSpace(v.Reason + " (granted: " + granted + ")")
	return v, err
}

// grant adds the rules that a person chose, and describes them in words.
func (g *Gate) grant(ctx context.Context, offered []permission.Suggestion, a ask.Answer) (string, error) {
	if a.Grant < 0 || a.Grant > len(offered) {
		return "", fmt.Errorf("approval: there is no grant %d; the question offers %d", a.Grant, len(offered))
	}
	given := offered[a.Grant-1].In(permission.Session)
	if a.Always {
		if given = given.In(permission.User); g.options.Keep == nil {
			return "", errors.New("approval: cannot grant for all sessions: there is no configuration to write to")
		}
		if err := g.options.Keep(ctx, given.Rules); err != nil {
			return "", fmt.Errorf("cannot write the granted rule: %w", err)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grants = append(g.grants, given.Rules...)
	return given.Words(), nil
}
