package app

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/approval"
	"github.com/tenon-agent/tenon/internal/guidance"
	"github.com/tenon-agent/tenon/internal/keys"
	"github.com/tenon-agent/tenon/internal/undo"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/artifact"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/plan"
	"github.com/tenon-agent/tenon/tool/retract"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/tool/web"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

// Agent is an agent with the workspace that its tools work in.
type Agent struct {
	*agent.Agent
	Questions *approval.Broker // nil: nobody is asked
	Gate      *approval.Gate

	store       session.Store
	workspace   *workspace.Workspace
	checkpoints *checkpoint.Store
	seen        *files.Set
	secrets     *keys.Redactor
	endings     endings

	spec      Spec
	answering atomic.Pointer[llm.Client]
	window    *window.Window
	problem   atomic.Pointer[string] // that the last digest had; empty: none
	guide     *guidance.Guide
	skills    []skill.Skill
	title     titling
}

// New makes an agent with a new session.
func (a *App) New(ctx context.Context, s Spec) (*Agent, error) {
	id, err := a.Store.Create(ctx, session.Created{Dir: s.Bounds.Root, Version: a.version, From: s.After})
	if err != nil {
		return nil, err
	}
	ag, err := a.open(ctx, id, s)
	if err != nil {
		return nil, errors.Join(err, a.Store.Purge(ctx, id)) // nothing has happened in it
	}
	return ag, nil
}

// Resume makes an agent that goes on with a session. The error is a [*session.LockedError] while another process writes it.
func (a *App) Resume(ctx context.Context, id session.SessionID, s Spec) (*Agent, error) {
	ag, err := a.open(ctx, id, s)
	if err != nil {
		return nil, err
	}
	if err := ag.recall(ctx); err != nil {
		return nil, errors.Join(err, ag.Close())
	}
	return ag, nil
}

func (a *App) open(ctx context.Context, id session.SessionID, s Spec) (_ *Agent, err error) {
	ag := &Agent{store: a.Store, secrets: s.Secrets, spec: s, skills: s.Skills.Skills}
	ag.answering.Store(&s.Client)
	defer func() {
		if err != nil {
			err = errors.Join(err, ag.release())
		}
	}()
	if ag.checkpoints, err = checkpoint.Open(a.checkpoints(id), checkpoint.Options{}); err != nil {
		return nil, err
	}
	b := s.Bounds.in(s.Policy.Mode())
	artifacts := a.artifacts(id)
	ag.workspace, err = workspace.Open(b.Root, workspace.Options{
		Roots: b.Roots, Outside: workspace.AskOutside, Hidden: b.Hidden, Protected: b.Protected, Refuse: ag.unreadable,
		Shown:       append(skillDirs(ag.skills), filepath.Join(artifacts, resultsName)),
		Checkpoints: ag.checkpoints, Owner: string(id), Sandbox: b.Sandbox, Outputs: b.Outputs, Changed: ag.record, JobEnded: ag.tell,
		Label: agent.CallID,
	})
	if err != nil {
		return nil, err
	}
	if err = a.Recover(ctx, id, ag.checkpoints); err != nil {
		return nil, err
	}
	if s.Ask {
		ag.Questions = approval.NewBroker(func(b session.Body) { ag.Announce(b) }, s.AskTime)
	}
	ag.Gate = approval.NewGate(approval.Options{
		Policy: s.Policy, Broker: ag.Questions, Keep: s.Keep, Own: []string{artifacts}, Readable: skillDirs(ag.skills),
	})
	ag.guide, ag.window = ag.newGuide(s), ag.newWindow(s)
	tools, err := ag.tools(s, artifacts)
	if err != nil {
		return nil, err
	}
	ag.Agent, err = agent.Open(ctx, a.Store, id, agent.Options{
		Client: s.Client, System: s.System, Gate: ag.Gate, Limits: s.Limits, Window: ag.window, Keep: newKeeper(artifacts).keep,
		Tools:    redacted(permitted(guided(tools, ag.guide), ag.workspace), s.Secrets),
		Hooks:    agent.Hooks{AfterTurn: ag.entitle, AfterRun: ag.runEnded},
		Thinking: s.Thinking, MaxTokens: s.MaxTokens, Cache: s.Cache, Temperature: s.Temperature, Schema: s.Schema,
		Dir: s.Bounds.Root, Version: a.version, Owner: owner(s.Owner),
	})
	if err != nil {
		return nil, err
	}
	return ag, nil
}

// checkpoints is where the contents of files before their changes lie, artifacts what a model keeps for itself.
func (a *App) checkpoints(id session.SessionID) string {
	return filepath.Join(a.dir, checkpointsName, string(id))
}

func (a *App) artifacts(id session.SessionID) string {
	return filepath.Join(a.dir, "artifacts", string(id))
}

// tools is the built-in tools.
func (a *Agent) tools(s Spec, artifacts string) ([]tool.Tool, error) {
	a.seen = files.NewSet(a.workspace)
	o := s.Web
	o.Allow = a.redirect
	network, err := web.New(a.workspace, o)
	if err != nil {
		return nil, err
	}
	planning := plan.Options{Record: a.plan}
	if a.Questions != nil {
		planning.Asker = asker{a.Questions}
	}
	return slices.Concat(
		a.seen.Tools(s.Editor), search.New(a.workspace), shell.New(a.workspace, shell.Options{Analyze: s.Bounds.Effects, Told: a.told}),
		network, plan.New(planning), []tool.Tool{artifact.New(artifacts)}, retract.New(&conversation{agent: a}),
		skill.New(skill.Options{Skills: a.skills, MaxSize: s.Skills.MaxSize, Loaded: a.loaded}),
	), nil
}

// plan keeps a list of what is to be done.
func (a *Agent) plan(ctx context.Context, items []plan.Item) error {
	t := session.Todo{Items: make([]session.TodoItem, len(items))}
	for i, item := range items {
		t.Items[i] = session.TodoItem{Text: item.Text, Status: string(item.Status)}
	}
	return a.Record(ctx, t)
}

// record makes changes of files durable, before a tool makes them and after a command did.
func (a *Agent) record(ctx context.Context, changes []workspace.Change) error {
	return a.Record(ctx, undo.Record(agent.CallID(ctx), changes))
}

// recall gives the tools back what the model has read, as far as its window still shows it.
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
	for _, e := range slices.Backward(p.read) {
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleTool && m.Outcome == session.OutcomeOK && len(m.Details) > 0 && shown[e.ID] {
			a.seen.Recall(m.Tool, m.Details)
		}
	}
	return nil
}

// recorded is a path that remembers what was read of it, newest first.
type recorded struct {
	session.Path
	read []session.Event
}

// Backward implements [session.Path].
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

// Close ends the jobs and the run that is on, gives the session back and lets go of the workspace. A [*TakenBackError] is about a job.
func (a *Agent) Close() error {
	taken := a.endJobs() // while what they changed can be recorded
	a.title.stop(titlePatience)
	a.window.Close()
	return errors.Join(taken, a.Agent.Close(), a.workspace.Close(), a.sweep(), a.checkpoints.Close())
}

// sweep drops the copies of files that no command has changed after all.
func (a *Agent) sweep() error {
	switch {
	case a.checkpoints.Empty():
		return nil
	case a.checkpoints.HasLog():
		return nil // of a command whose changes could not be told: who opens the session next finds them
	}
	kept := make(map[string]bool)
	for e, err := range a.store.Annotations(context.Background(), a.Session(), session.FilesChanged{}.Kind()) {
		if err != nil {
			return err
		}
		if c, ok := e.Body.(session.FilesChanged); ok {
			for _, f := range c.Files {
				for _, s := range []*session.FileState{f.Before, f.After} {
					if s != nil {
						kept[s.Hash] = true
					}
				}
			}
		}
	}
	return a.checkpoints.Sweep(func(hash string) bool { return kept[hash] })
}

// release lets go of what lies on disk.
func (a *Agent) release() error {
	var err error
	if a.workspace != nil {
		err = a.workspace.Close()
	}
	if a.checkpoints != nil {
		err = errors.Join(err, a.checkpoints.Close())
	}
	return err
}

// Kill ends the commands of the tools at once. The run sees it as their end; it is for a program that leaves without Close.
func (a *Agent) Kill() { a.workspace.Kill() }

// asker brings the questions of a model to people.
type asker struct{ broker *approval.Broker }

// Ask implements [plan.Asker].
func (a asker) Ask(ctx context.Context, questions []plan.Question) ([]plan.Answer, error) {
	q := session.Asking{Questions: make([]session.Question, len(questions))}
	for i, one := range questions {
		q.Questions[i] = session.Question{Text: one.Text, Multiple: one.Multiple, Default: one.Default}
		for _, option := range one.Options {
			q.Questions[i].Options = append(q.Questions[i].Options, session.Option{Label: option})
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

// Places are the directories of what belongs to a session beside the store. They need not exist.
func (a *App) Places(id session.SessionID) []string {
	return []string{a.checkpoints(id), a.artifacts(id)}
}
