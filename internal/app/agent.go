package app

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/team/goal"
	"github.com/tenon-agent/tenon/team/role"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/tool/family"
	"github.com/tenon-agent/tenon/tool/plan"
	"github.com/tenon-agent/tenon/tool/retract"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/host"
)

// Agent is an agent with its site, the part of the directory that its tools work in.
type Agent struct {
	*agent.Agent
	Questions *approval.Broker // nil: the agent asks no questions
	Gate      *approval.Gate

	id        session.SessionID
	hooks     *hooking // nil: it has none
	spec      Spec
	store     index.Store
	site      *site
	team      *team.Team // nil: it starts no sub-agents
	window    *window.Window
	problem   atomic.Pointer[string] // of the last summary; empty: none
	answering atomic.Pointer[llm.Client]
	changes   chan *conversation.Local // carries out requests to change the agent, once it is there
	titles    *conversation.Titles
	news      news
	reminders reminders
	handoffs  handoffs
	goal      *goal.Pursuit
	external  *connections
	mcp       *servers
	expansion *expansion
	specs     []llm.Tool
	role      atomic.Pointer[role.Role]
	mode      permission.Mode // of the person, which the role may narrow; the model gets its tools
	cancelled atomic.Bool     // the last run was: the person does not want to wait
	acts      acts
}

// New makes an agent with a new session.
func (a *App) New(ctx context.Context, s Spec) (*Agent, error) {
	created := session.Created{Dir: s.Bounds.Root, Host: agent.Host(), Version: a.version, From: s.After, Fork: s.Fork, Parent: session.Origin{Session: s.parent}}
	if c := s.child; c != nil {
		created.Parent = session.Origin{Session: c.Parent, Run: c.ParentRun}
	}
	id, err := a.Store.Create(ctx, created)
	if err != nil {
		return nil, err
	}
	ag, err := a.open(ctx, id, s, false)
	if err != nil {
		return nil, errors.Join(err, a.Store.Purge(ctx, id)) // nothing has happened in it
	}
	return ag, nil
}

// Resume makes an agent that continues a session. The error is a [*session.LockedError] while another process writes it.
func (a *App) Resume(ctx context.Context, id session.SessionID, s Spec) (*Agent, error) {
	ag, err := a.open(ctx, id, s, true)
	if err != nil {
		return nil, err
	}
	if err := ag.recall(ctx); err != nil {
		return nil, errors.Join(err, ag.Close())
	}
	return ag, nil
}

func (a *App) open(ctx context.Context, id session.SessionID, s Spec, resumed bool) (_ *Agent, err error) {
	ag := &Agent{id: id, store: a.Store, spec: s, changes: make(chan *conversation.Local, 1)}
	ag.answering.Store(&s.Client)
	ag.role.Store(new(role.Role))
	ag.mode = s.Policy.Mode()
	ag.news, ag.reminders.agent, ag.handoffs.agent, ag.expansion = news{agent: ag}, ag, ag, &expansion{agent: ag}
	if ag.site, err = a.openSite(id, s, ag.record, ag.news.ended); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ag.site.close())
		}
	}()
	if resumed {
		if err = a.Complete(ctx, id, ag.site.checkpoints, ag.site.within); err != nil {
			return nil, err
		}
	}
	ag.hooks = newHooks(ag, s.Hooks, resumed)
	ag.Questions = brokerOf(ag)
	if ag.team, err = a.staff(ag); err != nil {
		return nil, err
	}
	var limits approval.Ask
	if ag.Questions != nil {
		limits = ag.Questions.Ask
	}
	artifacts := a.artifacts(id)
	ag.Gate = approval.NewGate(approval.Options{
		Judge: ag.expansion.judge(judgeOf(ag)), Broker: ag.Questions, Grants: s.grants(), Keep: keeperOf(ag, s.Keep), Own: []string{artifacts.Dir, ag.site.outputs}, Readable: skillDirs(s.Skills.Skills),
	})
	ag.goal = newGoal(ag, s)
	ag.window, ag.titles = ag.newWindow(s.Window, state.In(a.Dir), state.Summary+string(id)), ag.newTitles(s.Titles)
	ag.external = &connections{agent: ag, builtin: append(ag.tools(s, artifacts), ag.site.lspTools()...), apis: apiTools(ag, s.APIs, networkOf(ag, s))}
	ag.mcp = newServers(ag, a.version)
	defer func() {
		if err != nil {
			err = errors.Join(err, ag.mcp.close())
		}
	}()
	ag.external.load(ag.mcp.connected(), s.Client.Model())
	tools := ag.external.tools()
	for _, t := range tools {
		ag.specs = append(ag.specs, t.Spec())
	}
	o := agent.Options{
		Client: s.Client, Dialect: ag.external.dialect, System: ag.system(s.Client), Day: a.day, Gate: gateOf(ag), Limits: s.Limits, Override: s.Override, Ask: limits, Window: ag.window, Keep: ag.site.keep,
		Tools:    tools,
		Hooks:    []agent.Hook{{Name: "titles", AfterTurn: ag.titles.AfterTurn, AfterRun: ag.titles.AfterRun}, {Name: "cancelled", AfterRun: ag.afterRun}, ag.goal.Hook(), ag.reminders.hook(), ag.handoffs.hook(), ag.mcp.hook(), ag.expansion.hook()},
		Offer:    ag.offers(s.Policy.Mode(), s.Client),
		Settings: s.Settings, Change: ag.change,
		Dir: s.Bounds.Root, Version: a.version, Owner: Owner(s.Owner), TakeOver: s.TakeOver,
		SubAgent: s.parent != "", Parent: s.parent, Budget: s.budget,
	}
	s.child.enlist(&o)
	if ag.hooks != nil {
		o.Hooks = append(o.Hooks, ag.hooks.hook())
	}
	if ag.team != nil {
		o.Hooks = append(o.Hooks, ag.team.Hook())
	}
	if ag.Agent, err = agent.Open(ctx, a.Store, id, o); err != nil {
		return nil, err
	}
	ag.goal.Bind(ag.Agent)
	if ag.team != nil {
		if err = ag.team.Bind(ctx, ag.Agent); err != nil {
			return nil, errors.Join(err, ag.Agent.Close())
		}
	}
	ag.mcp.learn()
	return ag, nil
}

// namesFor returns the tools as the family of a model knows them. The offline model knows the canonical names.
func namesFor(m llm.Model, tools []llm.Tool) *family.Dialect {
	f := models.FamilyOf(m)
	if m.Provider == offline.New().Model().Provider {
		f = ""
	}
	return family.New(f, tools)
}

func (a *Agent) serve(l *conversation.Local) { a.changes <- l }

// change carries out a request to change the agent. A request may be in the journal before the conversation is there.
func (a *Agent) change(ctx context.Context, c session.Change) error {
	select {
	case l := <-a.changes:
		a.changes <- l
		return l.Set(ctx, c)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// networkOf returns the settings of tools that use the network: they reach the hosts of the session.
func networkOf(a *Agent, s Spec) web.Options {
	o := s.Web
	o.Allow, o.Hosts, o.Commands = a.redirect, func() host.List { return a.site.bounds.Load().hosts() }, a.site.dialer
	return o
}

// tools returns the built-in tools.
func (a *Agent) tools(s Spec, artifacts artifact.Options) []tool.Tool {
	o := networkOf(a, s)
	planning := plan.Options{Record: a.plan, Receiver: &a.handoffs}
	if a.Questions != nil {
		planning.Asker = asker{a.Questions}
	}
	return slices.Concat(
		a.acts.tools(), a.site.seen.Tools(), search.New(a.site.workspace),
		shell.New(a.site.workspace, shell.Options{Analyze: a.site.effects, Reported: a.news.reported}),
		web.New(a.site.workspace, o), plan.New(planning), []tool.Tool{artifact.New(artifacts)}, retract.New(&retractable{agent: a}),
		skill.New(skill.Options{Skills: s.Skills.Skills, MaxSize: s.Skills.MaxSize, Loaded: a.loaded}),
		teamTools(a.team),
	)
}

func (a *Agent) plan(ctx context.Context, items []plan.Item) error {
	a.reminders.planned(items)
	t := session.Todo{Items: make([]session.TodoItem, len(items))}
	for i, item := range items {
		t.Items[i] = session.TodoItem{Text: item.Text, Status: string(item.Status)}
	}
	return a.Record(ctx, t)
}

// record records changes of files: before a tool makes them, and after a command made them.
func (a *Agent) record(ctx context.Context, changes []workspace.Change) error {
	a.site.moved(changes)
	return a.Record(ctx, undo.Record(agent.CallID(ctx), changes))
}

// recall restores what the tools know of the files that the model has read, as far as the context window still has their contents.
func (a *Agent) recall(ctx context.Context) error {
	p := recorded{Path: a.Path()}
	v, err := window.Look(ctx, &p)
	if err != nil {
		return err
	}
	shown := make(map[session.ID]bool)
	for _, b := range v.Blocks {
		if b.Why == window.Said {
			shown[b.Entries[0]] = true
		}
	}
	started := make(map[string]session.CallStarted)
	for _, e := range slices.Backward(p.read) {
		if s, ok := e.Body.(session.CallStarted); ok {
			started[s.Call] = s
		}
		m, ok := e.Body.(session.Message)
		if !ok || m.Role != llm.RoleTool || m.Outcome != session.OutcomeOK || !shown[e.ID] {
			continue
		}
		if len(m.Details) > 0 {
			a.site.seen.Recall(m.Tool, m.Details)
		}
		a.observe(m, started[m.CallID])
	}
	return nil
}

// observe compares the result of a command, or of the read of another program, with the files that it shows.
func (a *Agent) observe(m session.Message, s session.CallStarted) {
	var e tool.Effects
	if json.Unmarshal(s.Effects, &e) != nil {
		return
	}
	if e.Command != "" {
		e = a.site.effects(e.Command, e.Dir)
	} else if s.Tool != "read" || len(m.Details) > 0 {
		return
	}
	if files := names(slices.DeleteFunc(e.Reads, func(p tool.Path) bool { return p.Tree })); len(files) > 0 {
		a.site.seen.Observe(m.Text()+"\n"+numbered().ReplaceAllString(m.Text(), "")+"\n", files...)
	}
}

// numbered finds the numbers that programs write before the lines of a file.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ *\d+(?:→|\t|\| ?|: )`) })

// recorded is a path that keeps the entries that were read of it, newest first.
type recorded struct {
	view.Path
	read []session.Event
}

// Backward implements [view.Path].
func (p *recorded) Backward(ctx context.Context) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for e, err := range p.Path.Backward(ctx) {
			p.read = append(p.read, e)
			if !yield(e, err) {
				return
			}
		}
	}
}

// Close ends the jobs and the current run, and releases the session and the directory. A [*conversation.Warning] is about a job.
func (a *Agent) Close() error {
	var ended error
	if a.team != nil {
		ended = a.team.Close()
	}
	a.hooks.close()
	reverted := a.site.endJobs() // while the agent can record their changes
	a.titles.Stop()
	summarized := a.finishSummary()
	a.window.Close()
	return errors.Join(ended, reverted, summarized, a.Agent.Close(), a.mcp.close(), a.site.close())
}

// summaryTimeout is the longest wait of Close for a summary.
const summaryTimeout = time.Minute

// finishSummary lets a summary that a run has begun take effect. Otherwise the next run would pay for it again.
func (a *Agent) finishSummary() error {
	ctx, cancel := context.WithTimeout(context.Background(), summaryTimeout)
	defer cancel()
	if a.cancelled.Load() || !a.window.Finish(ctx) {
		return nil
	}
	_, err := a.Prepare(ctx)
	return err
}

func (a *Agent) afterRun(_ context.Context, end session.RunEnded) {
	a.cancelled.Store(end.Reason == session.ReasonCancelled)
}

// Kill ends the commands of the tools at once, for a program that exits without Close.
func (a *Agent) Kill() { a.site.workspace.Kill() }

// system returns the system prompt for a model: that of the spec, or the built-in one.
func (a *Agent) system(c llm.Client) string {
	if a.spec.System != "" {
		return a.spec.child.prompt(a.spec.System)
	}
	names, offer := namesFor(c.Model(), a.specs), a.offers(a.mode, c)
	return a.spec.child.prompt(Prompt(c.Model(), func(tool string) string {
		if offer(tool) != agent.Always {
			return "" // the model does not get it
		}
		return names.Name(tool)
	}))
}

// SetClient lets another model answer from the next turn on, as [agent.Agent.SetClient] does. The model gets the system prompt of its family.
func (a *Agent) SetClient(ctx context.Context, c llm.Client) error {
	if c == nil {
		return a.Agent.SetClient(ctx, c) // its error
	}
	system := a.system(c)
	if err := a.Set(ctx, agent.Change{Client: c, System: &system, Offer: a.offers(a.mode, c)}); err != nil {
		return err
	}
	a.answering.Store(&c)
	return nil
}

func (a *Agent) client() llm.Client { return *a.answering.Load() }

// Compact replaces the older turns with a summary now and returns its entries. Focus names the most important subject; it may be empty. The
// problem, if there is one, says why there is no summary, why the model did not write it, or which pinned messages are too long. During a
// run the error is [agent.ErrBusy].
func (a *Agent) Compact(ctx context.Context, focus string) (entries []session.Event, problem string, err error) {
	a.problem.Store(new(string))
	a.window.Compact(window.Ask{Focus: focus})
	entries, err = a.Prepare(ctx)
	if slices.ContainsFunc(entries, func(e session.Event) bool { _, ok := e.Body.(session.Summarized); return ok }) {
		a.hooks.mayBeSummarized()
		a.hooks.summarized(ctx)
	}
	return entries, *a.problem.Load(), err
}

// announce shows an event of the window to all listeners.
func (a *Agent) announce(b session.Body) {
	switch b := b.(type) {
	case live.Compacting:
		if b.Done && b.Error != "" {
			a.problem.Store(&b.Error)
		} else if b.Done {
			a.hooks.mayBeSummarized()
		}
	case live.Notice:
		a.problem.Store(&b.Text)
	}
	a.Announce(b)
}

type asker struct{ broker *approval.Broker }

// Ask implements [plan.Asker].
func (a asker) Ask(ctx context.Context, questions []plan.Question) ([]plan.Answer, error) {
	q := session.Asking{Call: agent.CallID(ctx), Questions: make([]ask.Question, len(questions))}
	for i, one := range questions {
		q.Questions[i] = ask.Question{Text: one.Text, Multiple: one.Multiple, Default: one.Default}
		for _, option := range one.Options {
			q.Questions[i].Options = append(q.Questions[i].Options, ask.Option{Label: option})
		}
	}
	got, err := a.broker.Ask(ctx, q)
	if errors.Is(err, approval.ErrNobody) {
		return nil, plan.ErrNobody
	}
	if err != nil {
		return nil, err
	}
	answers := make([]plan.Answer, len(got))
	for i, g := range got {
		answers[i] = plan.Answer(g.Choices)
	}
	return answers, nil
}
