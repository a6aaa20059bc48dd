package agent

import (
	"context"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
)

// Change says what [Agent.Set] changes. Zero members stay as they are.
type Change struct {
	Client   llm.Client
	Tools    []tool.Tool // all of them; an empty list that is not nil is none
	Offer    func(tool string) Offer
	System   *string
	Settings *llm.Settings
	Limits   *Limits
	Keep     bool // the session keeps Limits: when it is resumed, those that changed win over [Options.Limits]
	Gate     Gate
	Role     *string // its name, for the journal
}

// setup is what of an agent can change while it lives. A run takes it at the beginning of each turn.
type setup struct {
	client   llm.Client
	tools    toolset
	dialect  Dialect    // of the tools, for the model
	offered  []llm.Tool // as the dialect shows them
	late     []llm.Tool
	system   string
	settings llm.Settings
	limits   Limits
	gate     Gate
	role     string
}

// Set changes the agent from its next turn on, also while a run is on. The context window marks a change of the model, the tools, the system
// prompt or the thinking with one session.Epoch; another model is also in the journal at once, as a session.ModelChanged.
// With Keep, so are other limits of turns, tokens and money, as a session.LimitsChanged.
func (a *Agent) Set(ctx context.Context, c Change) error {
	a.changing.Lock()
	defer a.changing.Unlock()
	next := *a.setup.Load()
	if c.Tools != nil {
		var err error
		if next.tools, err = newToolset(c.Tools, next.tools.offers); err != nil {
			return err
		}
	}
	if c.Offer != nil {
		next.tools = next.tools.offering(c.Offer)
	}
	if c.System != nil {
		next.system = *c.System
	}
	if c.Settings != nil {
		next.settings = *c.Settings
	}
	if c.Limits != nil {
		changed := c.Limits.changed(next.limits)
		next.limits = *c.Limits
		if a.spending.forget(); c.Keep && changed != (session.LimitsChanged{}) {
			if _, err := a.feed.annotate(ctx, changed); err != nil {
				return err
			}
		}
	}
	if c.Gate != nil {
		next.gate = c.Gate
	}
	if c.Role != nil {
		next.role = *c.Role
	}
	if c.Client != nil {
		next.client = c.Client
		if _, err := a.feed.append(ctx, session.ModelChanged{Model: c.Client.Model()}); err != nil {
			return err
		}
	}
	if c.Client != nil || c.Tools != nil || c.Offer != nil {
		next.show(a.options.Dialect)
	}
	a.setup.Store(&next)
	if c.Limits != nil {
		a.spending.limit(a)
	}
	return nil
}

// show sets how the model knows the tools.
func (s *setup) show(dialect func(llm.Model, []llm.Tool) Dialect) {
	if s.dialect = plainDialect(s.tools); dialect != nil {
		s.dialect = dialect(s.client.Model(), s.tools.all)
	}
	s.offered, s.late = s.dialect.Offer(s.tools.specs), s.dialect.Offer(s.tools.late)
}

// Header returns the part of the next request before its messages.
func (a *Agent) Header() window.Header { return a.setup.Load().header() }

func (s *setup) header() window.Header {
	return window.Header{Model: s.client.Model(), System: s.system, Tools: s.offered, Late: s.late, Settings: s.settings}
}

// Limits returns the limits of the next turn.
func (a *Agent) Limits() Limits { return a.setup.Load().limits }

// SetClient lets another model answer from the next turn on, as [Agent.Set] does.
func (a *Agent) SetClient(ctx context.Context, c llm.Client) error {
	if c == nil {
		return errNoClient
	}
	return a.Set(ctx, Change{Client: c})
}
