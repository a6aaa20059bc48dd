package team_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/team"
)

func TestMain(m *testing.M) {
	if os.Getenv(crashDir) != "" {
		os.Exit(crashMain())
	}
	goleak.VerifyTestMain(m)
}

// member is a sub-agent.
type member struct {
	agent *agent.Agent
	team  *team.Team // its own
}

func (m member) Agent() *agent.Agent { return m.agent }

func (m member) Close() error { return errors.Join(m.team.Close(), m.agent.Close()) }

// office opens agents with teams over a store. Models are by the name of the agent; the owner is "owner".
type office struct {
	store   index.Store
	clients map[string]llm.Client
	change  func(*team.Options)                   // nil: nothing
	opens   func(team.Assignment, *agent.Options) // nil: nothing
	limits  agent.Limits                          // of the owner
	fail    func(team.Assignment) error           // nil: none
	mu      sync.Mutex
	opened  []team.Assignment
}

// elsewhere is the directory of agents that have none.
const elsewhere = "/project"

// open makes an agent with its team. id is empty for a new session.
func (o *office) open(ctx context.Context, id session.SessionID, name string, depth int, wake func(), opts agent.Options) (member, error) {
	to := team.Options{Store: o.store, Open: o.member, Depth: depth, Wake: wake, Wait: depth > 0}
	if o.change != nil {
		o.change(&to)
	}
	tm, err := team.New(to)
	if err != nil {
		return member{}, err
	}
	opts.Client = o.clients[name]
	if opts.Client == nil {
		return member{}, fmt.Errorf("there is no model for %q", name)
	}
	opts.Tools = slices.Concat(opts.Tools, tm.Tools())
	opts.Hooks = append([]agent.Hook{tm.Hook()}, opts.Hooks...)
	opts.Gate, opts.Name, opts.Dir = agent.AllowAll(), name, cmp.Or(opts.Dir, elsewhere)
	var a *agent.Agent
	if id == "" {
		a, err = agent.New(ctx, o.store, opts)
	} else {
		a, err = agent.Open(ctx, o.store, id, opts)
	}
	if err != nil {
		return member{}, err
	}
	if err := tm.Bind(ctx, a); err != nil {
		_ = a.Close()
		return member{}, err
	}
	return member{a, tm}, nil
}

// member is a team.Options.Open.
func (o *office) member(ctx context.Context, a team.Assignment) (team.Member, error) {
	o.mu.Lock()
	o.opened = append(o.opened, a)
	o.mu.Unlock()
	if o.fail != nil {
		if err := o.fail(a); err != nil {
			return nil, err
		}
	}
	opts := agent.Options{
		SubAgent: true, Parent: a.Parent, ParentRun: a.ParentRun, Budget: a.Budget, Tools: a.Tools, Hooks: []agent.Hook{a.Hook},
	}
	if o.opens != nil {
		o.opens(a, &opts)
	}
	m, err := o.open(ctx, a.Session, a.Name, a.Depth, a.Wake, opts)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// bench is an owner with a team.
type bench struct {
	*office
	t     testing.TB
	owner *agent.Agent
	team  *team.Team
}

// newBench makes an owner. The scripts are of the owner and of sub-agents, by name.
func newBench(t testing.TB, scripts map[string]string, change func(*office)) *bench {
	t.Helper()
	o := &office{store: memory.New(), clients: make(map[string]llm.Client)}
	for name, script := range scripts {
		o.clients[name] = llmtest.New(t, script, llmtest.ByHistory())
	}
	if change != nil {
		change(o)
	}
	b := &bench{office: o, t: t}
	b.start("")
	t.Cleanup(func() { b.stop() })
	return b
}

func (b *bench) start(id session.SessionID) {
	b.t.Helper()
	m, err := b.open(b.t.Context(), id, "owner", 0, nil, agent.Options{Limits: b.limits})
	if err != nil {
		b.t.Fatal(err)
	}
	b.owner, b.team = m.agent, m.team
}

func (b *bench) stop() {
	if err := errors.Join(b.team.Close(), b.owner.Close()); err != nil {
		b.t.Error(err)
	}
}

// run gives the owner a text and returns its last answer.
func (b *bench) run(text string) string {
	b.t.Helper()
	out, err := agent.Wait(b.owner.Run(b.t.Context(), llm.UserText(text)))
	if err != nil || out.Ended.Reason != session.ReasonDone {
		b.t.Fatalf("the run ended with %+v, %v", out.Ended, err)
	}
	return out.Text
}

// tasks are the tasks of the owner.
func (b *bench) tasks() []*team.Task {
	b.t.Helper()
	tasks, err := b.team.List(context.WithoutCancel(b.t.Context()))
	if err != nil {
		b.t.Fatal(err)
	}
	return tasks
}

// texts is the conversation of a session, one line a message.
func (b *bench) texts(id session.SessionID) string {
	b.t.Helper()
	messages, err := view.Messages(context.WithoutCancel(b.t.Context()), view.Stored(b.store, id, ""))
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, e := range messages {
		m := e.Body.(session.Message)
		line := string(m.Author().Kind)
		if m.Role == llm.RoleTool {
			line += " " + m.Tool
		}
		for _, c := range m.Calls() {
			line += " calls " + c.Name
		}
		lines = append(lines, strings.TrimSpace(line+": "+b.plain(m.Text())))
	}
	return strings.Join(lines, "\n")
}

// plain replaces the IDs of tasks by numbers and those of mail by "MAIL".
func (b *bench) plain(text string) string {
	for i, one := range b.tasks() {
		text = strings.ReplaceAll(text, string(one.Task), fmt.Sprint("T", i+1))
		for _, m := range one.Mail {
			text = strings.ReplaceAll(text, string(m.Mail), "MAIL")
		}
	}
	return strings.ReplaceAll(text, "\n", " | ")
}

func same(t testing.TB, got, want string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(want), "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	if want := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// statuses are the statuses of the tasks.
func (b *bench) statuses() string {
	var all []string
	for _, one := range b.tasks() {
		all = append(all, string(one.Status()))
	}
	return strings.Join(all, " ")
}

// settled waits until the tasks are settled or wait for the owner.
func (b *bench) settled() {
	b.t.Helper()
	if _, err := b.team.Wait(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}
