package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// Options of a [Local]. If a function is nil, the conversation does not support its operation.
type Options struct {
	Dir      string            // working directory
	Version  string            // of the program, for forks
	Frontend string            // the name of a person at the frontend of this process, as a speaker
	Contents contents.Store    // saved contents of files, for Rewind
	Shared   *workspace.Shared // with the workspaces that are open in the directory, for Rewind
	Bounds   undo.Bounds       // of Rewind; nil: the directory of the session
	Settings llm.Settings      // of the agent's requests

	Model   func() llm.Model                                                         // the present model
	Mode    func() permission.Mode                                                   // the present mode
	Set     func(ctx context.Context, c session.Change) error                        // changes everything but the thinking
	Role    func() (name string, thinks llm.Thinks)                                  // the present role; empty: none
	Network func() string                                                            // the hosts that commands may reach, as in session.Change
	Goal    func(ctx context.Context) (session.Goal, error)                          // the newest; zero: none
	Compact func(ctx context.Context, focus string) ([]session.Event, string, error) // the string says why there is no summary
	Trim    func(ctx context.Context) (*session.Event, error)                        // nil event: nothing to trim
	Command func(command string) llm.ToolCall                                        // the call that runs a command of a person

	// Expand returns a person's message in the form for the model, such as the text of the command that it calls. It can run shell commands as
	// [Conversation].Command does; the message gets the text that run returns about each. Nil: messages stay as they are.
	Expand func(ctx context.Context, m llm.Message, run func(ctx context.Context, command string) (string, error)) (llm.Message, error)

	Rules  func() (rules, grants []permission.Rule)
	Revoke func(rule string) bool // reports whether there was the grant
	Jobs   func() []workspace.JobStatus
	EndJob func(ctx context.Context, job string) (found bool, err error)

	Servers func() []Server // language servers
	MCP     func() []Server

	Redact func(text string) string // hides secrets in prompts; nil: prompts stay as they are
	Close  func() error             // instead of closing the agent
}

// Local is a conversation in this process: an [agent.Agent] with the interface of frontends.
type Local struct {
	agent   *agent.Agent
	store   index.Store
	options Options

	mu       sync.Mutex // one change at a time
	settings llm.Settings

	rewinding sync.Mutex             // an undo waits for the one before
	prompting sync.Mutex             // a prompt finds the agent idle, or its draft is there when the agent gets idle
	alone     atomic.Pointer[string] // an operation between runs is on: the ID of the call of a command, else empty
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
	s := State{Session: l.agent.Session(), Seq: requests.Seq, Dir: l.options.Dir, Run: requests.Run, Drafts: requests.Drafts}
	for _, q := range requests.Questions {
		if q.Answer == nil {
			s.Asking = append(s.Asking, q)
		}
	}
	for sum, err := range l.store.List(ctx, index.Query{Prefix: string(s.Session), Limit: 1}) {
		if err != nil {
			return s, err
		}
		s.Title, s.Usage = sum.Title, sum.Usage
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
	if l.options.Servers != nil {
		s.Servers = l.options.Servers()
	}
	if l.options.MCP != nil {
		s.MCP = l.options.MCP()
	}
	if l.options.Role != nil {
		s.Role, _ = l.options.Role()
	}
	if l.options.Network != nil {
		s.Network = l.options.Network()
	}
	if l.options.Goal != nil {
		g, err := l.options.Goal(ctx)
		if err != nil {
			return s, err
		}
		if g.State != "" {
			s.Goal = &g
		}
	}
	if id := l.alone.Load(); id != nil {
		s.Command = *id
	}
	s.Thinking = s.Model.Level(l.agent.Header().Thinking)
	if s.Run == "" {
		next := l.agent.Limits()
		s.Budgets = append(s.Budgets, Budget{
			Name: "run", Money: max(cmp.Or(next.Cost, agent.DefaultCost), 0), Tokens: max(next.Tokens, 0), Turns: max(next.Turns, 0),
		})
	}
	for b := l.agent.Budget(); b != nil; b = b.Parent() {
		limits := b.Limits()
		s.Budgets = append(s.Budgets, Budget{
			Name: b.Name(), Money: max(limits.Money, 0), Tokens: max(limits.Tokens, 0), Turns: max(limits.Turns, 0), Spent: b.Spent(),
		})
	}
	s.Context.Window = s.Model.Context
	return s, s.read(ctx, until{l.agent.Path(), s.Seq})
}

// read adds the facts of the branch that ends at the newest entry.
func (s *State) read(ctx context.Context, path view.Path) error {
	if s.Run != "" {
		answer, ok, err := view.Unfinished(ctx, path)
		if err != nil {
			return err
		}
		if ok {
			s.Answer = answer.Body.(session.Message).Content
		}
	}
	for e, err := range path.Backward(ctx) {
		if err != nil {
			return err
		}
		if end, ok := e.Body.(session.RunEnded); ok && s.Run == "" && s.Reached == (Reached{}) && end.Reason == session.ReasonLimit {
			s.Reached = Reached{end.Limit, end.Spent, end.Max}
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
	return nil
}

// until is a path without the entries after a number.
type until struct {
	view.Path
	seq int64
}

// Backward implements [view.Path].
func (u until) Backward(ctx context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		within := false // inherited entries have the numbers of another session
		for e, err := range u.Path.Backward(ctx) {
			within = within || e.Seq <= u.seq
			if (within || err != nil) && !yield(e, err) {
				return
			}
		}
	}
}

// Follow implements [Conversation].
func (l *Local) Follow(ctx context.Context, after int64) iter.Seq2[session.Event, error] {
	return l.agent.Follow(ctx, after)
}

// Prompt implements [Conversation].
func (l *Local) Prompt(ctx context.Context, p Prompt) (Prompted, error) {
	if err := expand(ctx, l, &p.Message, false); err != nil {
		return Prompted{}, err
	}
	in := l.input(ctx, p)
	l.prompting.Lock()
	defer l.prompting.Unlock()
	run, err := l.agent.Start(context.WithoutCancel(ctx), in) // a run ends by Abort, not with the request that started it
	if !errors.Is(err, agent.ErrBusy) || len(in.Messages) == 0 || p.From != "" {
		return Prompted{Run: run}, err
	}
	lane := p.Lane
	if lane == "" {
		lane = session.FromFollowUp
	}
	m := session.Message{Message: in.Messages[0], Speaker: in.Speaker}
	if m.Speaker.Kind == "" {
		m.Speaker.Kind = session.SpeakerPerson
	}
	d, err := l.agent.Queue(ctx, request.Draft{Lane: lane, Message: m})
	return Prompted{Draft: d.ID}, err
}

// Run implements [Conversation].
func (l *Local) Run(ctx context.Context, p Prompt) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		if err := expand(ctx, l, &p.Message, false); err != nil {
			yield(session.Event{}, err)
			return
		}
		l.agent.Do(ctx, l.input(ctx, p))(yield)
	}
}

// expand replaces a message by its form for the model. The outputs of commands are in the conversation, or also in the message for agents with
// sessions of their own.
func expand(ctx context.Context, l *Local, m *llm.Message, outputs bool) (err error) {
	if l.options.Expand == nil || m.Empty() {
		return nil
	}
	*m, err = l.options.Expand(ctx, *m, func(ctx context.Context, command string) (string, error) {
		e, err := l.Command(ctx, command)
		said, ok := e.Body.(session.Message)
		if err != nil || !outputs || !ok {
			return "`" + command + "` (which has run: its output is above)", err
		}
		return "`" + command + "`, which has run:\n\n" + said.Text() + "\n\n", nil
	})
	return err
}

// input returns a prompt as the agent takes it.
func (l *Local) input(ctx context.Context, p Prompt) agent.Input {
	if by, ok := ctx.Value(speakerKey{}).(session.Speaker); ok && p.Speaker.Kind == "" {
		p.Speaker = by
	}
	in := agent.Input{Speaker: p.Speaker, Continuation: agent.Continuation{From: p.From}}
	if p.Message.Empty() {
		if p.From != "" {
			in.Kind = session.ContinuesBranch
		}
		return in
	}
	in.Messages = []llm.Message{l.options.redact(p.Message)}
	return in
}

// speaker returns the speaker of a request.
func (o *Options) speaker(ctx context.Context) session.Speaker {
	if by, ok := ctx.Value(speakerKey{}).(session.Speaker); ok {
		return by
	}
	return session.Speaker{Kind: session.SpeakerPerson, Name: o.Frontend}
}

// goal returns the goal of a change with its sender, and without secrets.
func (o *Options) goal(ctx context.Context, c session.Change) (*session.Goal, error) {
	g := *c.Goal
	if g.By = c.By; g.By.Kind == "" {
		g.By = o.speaker(ctx)
	}
	if o.Redact != nil {
		g.Goal = o.Redact(g.Goal)
		for _, command := range g.Checks {
			if o.Redact(command) != command {
				return nil, ErrSecret
			}
		}
	}
	return &g, nil
}

// redact hides secrets in the texts of a message.
func (o *Options) redact(m llm.Message) llm.Message {
	if o.Redact == nil {
		return m
	}
	m.Content = slices.Clone(m.Content)
	for i, part := range m.Content {
		if t, ok := part.(llm.Text); ok {
			t.Text = o.Redact(t.Text)
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
	if err := expand(ctx, l, &m, false); err != nil {
		return err
	}
	return send(ctx, l.agent, session.Queued{
		Draft: draft, Change: "edited", Message: l.options.redact(m), Speaker: l.options.speaker(ctx),
	})
}

// Move implements [Conversation].
func (l *Local) Move(ctx context.Context, draft session.ID, lane session.Source, before session.ID) error {
	return send(ctx, l.agent, session.Queued{Draft: draft, Change: "moved", Lane: lane, Before: before})
}

// Remove implements [Conversation].
func (l *Local) Remove(ctx context.Context, draft session.ID) error {
	return send(ctx, l.agent, session.Queued{Draft: draft, Change: "removed"})
}

// Answer implements [Conversation].
func (l *Local) Answer(ctx context.Context, question string, answers ...ask.Answer) error {
	return send(ctx, l.agent, session.Answered{ID: question, Answers: answers, By: l.options.speaker(ctx)})
}

// Abort implements [Conversation].
func (l *Local) Abort(ctx context.Context) error {
	if l.alone.Load() != nil { // which is no run, so that the journal has no request
		l.agent.Abort()
		return nil
	}
	return send(ctx, l.agent, session.Abort{By: l.options.speaker(ctx)})
}

func send(ctx context.Context, a *agent.Agent, b session.Body) error {
	_, err := a.Request(ctx, b)
	return err
}

// Set implements [Conversation].
func (l *Local) Set(ctx context.Context, c session.Change) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := c
	rest.Thinking, rest.By, rest.Cost, rest.SessionCost = "", session.Speaker{}, 0, 0
	if c.Goal != nil {
		var err error
		if rest.Goal, err = l.options.goal(ctx, c); err != nil {
			return err
		}
	}
	if rest != (session.Change{}) {
		if l.options.Set == nil {
			return fmt.Errorf("cannot change the conversation: %w", ErrUnsupported)
		}
		if err := l.options.Set(ctx, rest); err != nil {
			return err
		}
	}
	l.settings.Thinking = cmp.Or(c.Thinking, l.settings.Thinking)
	var change agent.Change
	if settings := l.settings; c.Thinking != "" {
		change.Settings = &settings
	} else if c.Role != "" && l.options.Role != nil {
		_, thinks := l.options.Role()
		settings.Thinking = cmp.Or(thinks, settings.Thinking)
		change.Settings = &settings
	}
	if c.Cost != 0 || c.SessionCost != 0 {
		limits := l.agent.Limits().With(agent.Limits{Cost: c.Cost, SessionCost: c.SessionCost})
		change.Limits, change.Keep = &limits, true
	}
	return l.agent.Set(ctx, change)
}

// Rewind implements [Conversation].
func (l *Local) Rewind(ctx context.Context, b Back) (plan *undo.Plan, err error) {
	if l.options.Contents == nil {
		return nil, fmt.Errorf("cannot rewind: %w", ErrUnsupported)
	}
	if b.DryRun {
		return b.Plan(ctx, l.store, l.agent.Session(), l.options.Bounds)
	}
	l.rewinding.Lock()
	defer l.rewinding.Unlock()
	err = between(ctx, l, "", func() error {
		return l.agent.Exclusive(ctx, func(w session.Writer) (err error) {
			plan, err = b.Apply(ctx, l.store, w, l.options.Contents, l.options.Shared, l.options.Bounds)
			return err
		})
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
	var events []session.Event
	var problem string
	err := between(ctx, l, "", func() (err error) {
		events, problem, err = l.options.Compact(ctx, focus)
		return err
	})
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
