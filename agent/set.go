package agent

import (
	"context"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// Change says what [Agent.Set] changes. Zero members stay as they are.
type Change struct {
	Client   llm.Client
	Tools    []tool.Tool // all of them; an empty list that is not nil is none
	Offer    func(tool string) Offer
	System   *string
	Settings *llm.Settings
	Limits   *Limits
	Gate     Gate
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
}

// Set changes the agent from its next turn on, also while a run is on. The context window marks a change of the model, the tools, the system
// prompt or the thinking with one session.Epoch; another model is also in the journal at once, as a session.ModelChanged.
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
		next.limits = *c.Limits
	}
	if c.Gate != nil {
		next.gate = c.Gate
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
	return nil
}

// show sets how the model knows the tools.
func (s *setup) show(dialect func(llm.Model, []llm.Tool) Dialect) {
	if s.dialect = plainDialect(s.tools); dialect != nil {
		s.dialect = dialect(s.client.Model(), s.tools.all)
	}
	s.offered, s.late = s.dialect.Offer(s.tools.specs), s.dialect.Offer(s.tools.late)
}

// SetClient lets another model answer from the next turn on, as [Agent.Set] does.
func (a *Agent) SetClient(ctx context.Context, c llm.Client) error {
	if c == nil {
		return errNoClient
	}
	return a.Set(ctx, Change{Client: c})
}
