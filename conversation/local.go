package conversation

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// Options of a [Local]. If a function is nil, the conversation does not support its operation.
type Options struct {
	Dir      string            // working directory
	Version  string            // of the program, for forks
	Contents contents.Store    // saved contents of files, for Rewind
	Shared   *workspace.Shared // with the workspaces that are open in the directory, for Rewind
	Bounds   undo.Bounds       // of Rewind; nil: the directory of the session
	Settings llm.Settings      // of the agent's requests

	Model   func() llm.Model                                                         // the present model
	Mode    func() permission.Mode                                                   // the present mode
	Set     func(ctx context.Context, c session.Change) error                        // changes everything but the thinking
	Compact func(ctx context.Context, focus string) ([]session.Event, string, error) // the string says why there is no summary
	Jobs    func() []workspace.JobStatus
	Redact  func(text string) string // hides secrets in prompts; nil: prompts stay as they are
	Close   func() error             // instead of closing the agent
}

// Local is a conversation in this process: an [agent.Agent] with the interface of frontends.
type Local struct {
	agent   *agent.Agent
	store   index.Store
	options Options

	mu       sync.Mutex // one change at a time
	settings llm.Settings
}

var _ Conversation = (*Local)(nil)

// New returns the conversation of an agent, whose session is in the store. Closing the conversation closes the agent.
func New(a *agent.Agent, store index.Store, o Options) *Local {
	if o.Close == nil {
		o.Close = a.Close
	}
	return &Local{agent: a, store: store, options: o, settings: o.Settings}
}

// Open opens the session that w names, with an agent made of o, for programs that assemble their agents themselves. The warnings name the
// sessions that it skipped.
func Open(ctx context.Context, store index.Store, w Which, o agent.Options) (c *Local, warnings []Warning, err error) {
	warnings, err = Choose(ctx, store, w, func(ctx context.Context, chosen Chosen) error {
		id, created := chosen.ID, false
		if id == "" {
			var err error
			if id, err = store.Create(ctx, session.Created{Dir: chosen.Dir, Host: agent.Host(), Version: o.Version, From: chosen.From, Fork: chosen.Fork}); err != nil {
				return err
			}
			created = true
		}
		a, err := agent.Open(ctx, store, id, o)
		switch {
		case err != nil && created:
			return errors.Join(err, store.Purge(ctx, id)) // nothing has happened in it
		case err != nil:
			return err
		}
		c = New(a, store, Options{Dir: chosen.Dir, Version: o.Version, Model: o.Client.Model, Settings: o.Settings})
		return nil
	})
	return c, warnings, err
}

// Session is the ID of the session.
func (l *Local) Session() session.SessionID { return l.agent.Session() }

// State implements [Conversation].
func (l *Local) State(ctx context.Context) (State, error) {
	requests := l.agent.Requests()
	s := State{Session: l.agent.Session(), Dir: l.options.Dir, Run: requests.Run, Drafts: requests.Drafts}
	for _, q := range requests.Questions {
		if q.Answer == nil {
			s.Asking = append(s.Asking, q)
		}
	}
	for sum, err := range l.store.List(ctx, index.Query{Prefix: string(s.Session), Limit: 1}) {
		if err != nil {
			return s, err
		}
		s.Seq, s.Title, s.Usage = sum.Entries, sum.Title, sum.Usage
	}
	if l.options.Model != nil {
		s.Model = l.options.Model()
	}
	if l.options.Mode != nil {
		s.Mode = l.options.Mode()
	}
	if l.options.Jobs != nil {
		s.Jobs = l.options.Jobs()
	}
	s.Context.Window = s.Model.Context
	for e, err := range l.agent.Path().Backward(ctx) {
		if err != nil {
			return s, err
		}
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleAssistant {
			u := m.Usage
			s.Context.Used = u.Input + u.CacheRead + u.CacheWrite + u.Output
			break
		}
		if _, ok := e.Body.(session.Summarized); ok {
			break // the next request says it
		}
	}
	return s, nil
}

// Follow implements [Conversation].
func (l *Local) Follow(ctx context.Context, after int64) iter.Seq2[session.Event, error] {
	return l.agent.Follow(ctx, after)
}

// Prompt implements [Conversation].
func (l *Local) Prompt(ctx context.Context, p Prompt) (Prompted, error) {
	in := l.input(p)
	run, err := l.agent.Start(context.WithoutCancel(ctx), in) // a run ends by Abort, not with the request that started it
	if !errors.Is(err, agent.ErrBusy) || len(in.Messages) == 0 || p.From != "" {
		return Prompted{Run: run}, err
	}
	lane := p.Lane
	if lane == "" {
		lane = session.FromFollowUp
	}
	m := session.Message{Message: in.Messages[0], Speaker: p.Speaker}
	if m.Speaker.Kind == "" {
		m.Speaker.Kind = session.SpeakerPerson
	}
	d, err := l.agent.Queue(ctx, request.Draft{Lane: lane, Message: m})
	return Prompted{Draft: d.ID}, err
}

// Run implements [Conversation].
func (l *Local) Run(ctx context.Context, p Prompt) iter.Seq2[session.Event, error] {
	return l.agent.Do(ctx, l.input(p))
}

// input returns a prompt as the agent takes it.
func (l *Local) input(p Prompt) agent.Input {
	in := agent.Input{Speaker: p.Speaker, Continuation: agent.Continuation{From: p.From}}
	if p.Message.Empty() {
		if p.From != "" {
			in.Kind = session.ContinuesBranch
		}
		return in
	}
	in.Messages = []llm.Message{l.redact(p.Message)}
	return in
}

// redact hides secrets in the texts of a message.
func (l *Local) redact(m llm.Message) llm.Message {
	if l.options.Redact == nil {
		return m
	}
	m.Content = slices.Clone(m.Content)
	for i, part := range m.Content {
		if t, ok := part.(llm.Text); ok {
			t.Text = l.options.Redact(t.Text)
			m.Content[i] = t
		}
	}
	return m
}

// Ask asks people a question and waits for the answer, as [agent.Agent.Ask] does. An approval.Broker needs it.
func (l *Local) Ask(ctx context.Context, q session.Asking) ([]ask.Answer, error) {
	return l.agent.Ask(ctx, q)
}

// Edit implements [Conversation].
func (l *Local) Edit(ctx context.Context, draft session.ID, m llm.Message) error {
	return l.request(ctx, session.Queued{
		Draft: draft, Change: "edited", Message: l.redact(m), Speaker: session.Speaker{Kind: session.SpeakerPerson},
	})
}

// Move implements [Conversation].
func (l *Local) Move(ctx context.Context, draft session.ID, lane session.Source, before session.ID) error {
	return l.request(ctx, session.Queued{Draft: draft, Change: "moved", Lane: lane, Before: before})
}

// Remove implements [Conversation].
func (l *Local) Remove(ctx context.Context, draft session.ID) error {
	return l.request(ctx, session.Queued{Draft: draft, Change: "removed"})
}

// Answer implements [Conversation].
func (l *Local) Answer(ctx context.Context, question string, answers ...ask.Answer) error {
	return l.request(ctx, session.Answered{ID: question, Answers: answers})
}

// Abort implements [Conversation].
func (l *Local) Abort(ctx context.Context) error { return l.request(ctx, session.Abort{}) }

func (l *Local) request(ctx context.Context, b session.Body) error {
	_, err := l.agent.Request(ctx, b)
	return err
}

// Set implements [Conversation].
func (l *Local) Set(ctx context.Context, c session.Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := c
	rest.Thinking, rest.By = "", session.Speaker{}
	if rest != (session.Change{}) {
		if l.options.Set == nil {
			return fmt.Errorf("cannot change the conversation: %w", ErrUnsupported)
		}
		if err := l.options.Set(ctx, rest); err != nil {
			return err
		}
	}
	if c.Thinking == "" {
		return nil
	}
	l.settings.Thinking = c.Thinking
	settings := l.settings
	return l.agent.Set(ctx, agent.Change{Settings: &settings})
}

// Rewind implements [Conversation].
func (l *Local) Rewind(ctx context.Context, b Back) (plan *undo.Plan, err error) {
	if l.options.Contents == nil {
		return nil, fmt.Errorf("cannot rewind: %w", ErrUnsupported)
	}
	if b.DryRun {
		return b.Plan(ctx, l.store, l.agent.Session(), l.options.Bounds)
	}
	err = l.agent.Exclusive(ctx, func(w session.Writer) (err error) {
		plan, err = b.Apply(ctx, l.store, w, l.options.Contents, l.options.Shared, l.options.Bounds)
		return err
	})
	return plan, err
}

// Compact implements [Conversation].
func (l *Local) Compact(ctx context.Context, focus string) (*session.Event, []Warning, error) {
	if l.options.Compact == nil {
		return nil, nil, fmt.Errorf("cannot summarize: %w", ErrUnsupported)
	}
	if l.options.Redact != nil {
		focus = l.options.Redact(focus)
	}
	events, problem, err := l.options.Compact(ctx, focus)
	var warnings []Warning
	if problem != "" {
		warnings = append(warnings, Warning{Code: "conversation.summary", Text: problem})
	}
	for _, e := range events {
		if _, ok := e.Body.(session.Summarized); ok {
			return &e, warnings, err
		}
	}
	return nil, warnings, err
}

// Fork implements [Conversation].
func (l *Local) Fork(ctx context.Context, at session.ID) (session.SessionID, error) {
	from := session.Origin{Session: l.agent.Session(), Entry: at}
	return l.store.Create(ctx, session.Created{Dir: l.options.Dir, Host: agent.Host(), Version: l.options.Version, From: from, Fork: true})
}

// Close implements [Conversation].
func (l *Local) Close() error { return l.options.Close() }
