package team_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/sqlite"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// The environment that makes the test binary a process with an owner and its team, which work until they are done or killed.
const (
	crashDir   = "TENON_TEST_TEAM_DIR"   // where its database is
	crashPoint = "TENON_TEST_TEAM_POINT" // the point at which it kills itself, from 1; 0: none
	crashWaits = "TENON_TEST_TEAM_WAITS" // "true": the owner gives its tasks in the foreground
	crashTrees = "TENON_TEST_TEAM_TREES" // the project of which some tasks get a worktree; empty: none
)

// names are the sub-agents. The one named "c" asks its owner a question, and "e" has a sub-agent of its own, "f".
var names = strings.Fields("a b c d e")

// copied are the sub-agents that work in worktrees, if there are any. That of "f" is a copy of that of "e".
var copied = strings.Fields("a c e f")

// inCopy reports whether a sub-agent works in a worktree.
func inCopy(name string) bool { return os.Getenv(crashTrees) != "" && slices.Contains(copied, name) }

// treesOf are the worktrees of a crash.
func treesOf(dir string) worktree.Store {
	return worktree.Store{Private: filepath.Join(dir, "private"), Files: filepath.Join(dir, "copies")}
}

// fusedContext has a point before and after the start of every git command.
type fusedContext struct {
	context.Context
	fuse *fuse
}

func (c fusedContext) Done() <-chan struct{} {
	c.fuse.point()
	return c.Context.Done()
}

// work is what a sub-agent writes in its worktree.
type work struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// inTrees lets sub-agents work in worktrees.
func (o *office) inTrees(dir, project string, f *fuse) {
	o.fail = func(a team.Assignment) (err error) {
		if a.Worktree == "" {
			return nil
		}
		root := project
		for e := range o.store.Read(context.Background(), a.Parent, 0) { // the owner of "f" is in a worktree itself
			if c, ok := e.Body.(session.Created); ok && c.Dir != elsewhere {
				root = c.Dir
			}
		}
		_, err = treesOf(dir).Continue(fusedContext{context.Background(), f}, root, a.Worktree, string(a.Parent))
		return err
	}
	o.opens = func(a team.Assignment, opts *agent.Options) {
		w, err := treesOf(dir).Open(a.Worktree)
		if err != nil {
			return // it has none
		}
		opts.Dir = w.Dir()
		opts.Tools = append(opts.Tools, tool.New("put", "Write a file.", tool.Nothing, func(_ context.Context, p work, _ tool.Report) (tool.Result, error) {
			f.point()
			defer f.point()
			return tool.TextResult("written"), os.WriteFile(filepath.Join(w.Dir(), p.File), []byte(p.Text), 0o600)
		}))
	}
}

func crashMain() int {
	at, _ := strconv.ParseInt(os.Getenv(crashPoint), 10, 64)
	if err := crashRun(os.Getenv(crashDir), &fuse{at: at}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func crashRun(dir string, f *fuse) error {
	ctx := context.Background()
	store, err := sqlite.Open(filepath.Join(dir, "sessions.db"))
	if err != nil {
		return err
	}
	defer store.Close()
	o := &office{store: fusedStore{store, f}, clients: map[string]llm.Client{"owner": llmtest.Func(ownerAnswer)}}
	o.change = func(to *team.Options) { to.Wait = true }
	if project := os.Getenv(crashTrees); project != "" {
		o.inTrees(dir, project, f)
	}
	for _, name := range append(names, "f") {
		o.clients[name] = llmtest.Func(childAnswer(name))
	}
	var id session.SessionID
	for s, err := range store.List(ctx, index.Query{}) {
		if err != nil {
			return err
		}
		id = s.ID
	}
	m, err := o.open(ctx, id, "owner", 0, nil, agent.Options{})
	if err != nil {
		return err
	}
	defer m.Close()
	run := m.agent.Continue(ctx, agent.Continuation{})
	if state, err := view.StateOf(ctx, m.agent.Path()); err != nil {
		return err
	} else if state.Run == "" {
		run = m.agent.Run(ctx, llm.UserText("do the work"))
	}
	for range 3 { // it died after an answer with which it waited, or between its last answer and the end of the run
		out, err := agent.Wait(run)
		if err != nil && !errors.Is(err, view.ErrAnswered) {
			return err
		}
		if out.Text == allDone {
			break
		}
		run = m.agent.Run(ctx, llm.UserText("continue"))
	}
	fmt.Println("finished", f.passed.Load())
	return nil
}

const allDone = "All is done."

// ownerAnswer is the model of the owner. It knows only the conversation.
func ownerAnswer(_ context.Context, req *llm.Request) (llm.Message, error) {
	k := knownBy(req.Messages)
	var calls llm.Content
	add := func(name, format string, args ...any) {
		id := fmt.Sprintf("o%d_%d", len(req.Messages), len(calls))
		calls = append(calls, llm.ToolCall{ID: id, Name: name, Arguments: fmt.Sprintf(format, args...)})
	}
	switch {
	case k.unsure: // the outcome of a call is unknown
		add("agent_list", "{}")
	case len(k.given) < len(names):
		for _, name := range names {
			if !k.given[name] {
				add("agent", `{"task":"work as %s","name":%q,"key":%q,"background":%t,"worktree":%t}`, name, name, name, os.Getenv(crashWaits) == "", inCopy(name))
			}
		}
	case k.question != "" && !k.answered:
		add("agent_send", `{"task":"c","text":"blue","reply":%q}`, k.question)
	case len(k.sent) < len(names):
		for _, name := range names {
			if !k.sent[name] && name != "c" {
				add("agent_send", `{"task":%q,"text":"go on %s","priority":%q}`, name, name, []string{"urgent", "interrupt"}[len(name+k.last)%2])
			} else if name == "c" {
				k.sent[name] = true
			}
		}
	}
	switch {
	case len(calls) > 0:
		return llm.Message{Content: calls}, nil
	case len(k.reported) == len(names):
		return llm.AssistantText(allDone), nil
	}
	return llm.AssistantText("I wait."), nil
}

// known is what the conversation of the owner shows.
type known struct {
	given, sent, reported map[string]bool
	unsure                bool // the outcome of a call is unknown, and no list has come since
	question              string
	answered              bool
	last                  string
}

func knownBy(messages []llm.Message) known {
	k := known{given: map[string]bool{}, sent: map[string]bool{"c": true}, reported: map[string]bool{}}
	asked := map[string]llm.ToolCall{}
	for _, m := range messages {
		text := m.Text()
		for _, c := range m.Calls() {
			asked[c.ID] = c
		}
		for _, name := range names {
			if strings.Contains(text, "Report about") && strings.Contains(text, fmt.Sprintf("(%s), attempt", name)) {
				k.reported[name] = true
			}
		}
		if m.Role != llm.RoleTool {
			if _, after, ok := strings.Cut(text, ", reply "); ok {
				k.question, _, _ = strings.Cut(after, ".")
			}
			continue
		}
		c := asked[m.CallID]
		unknown := m.IsError && strings.Contains(text, "unknown")
		k.unsure = k.unsure || unknown
		for _, name := range names {
			quoted := fmt.Sprintf("%q", name)
			switch {
			case c.Name == "agent" && strings.Contains(c.Arguments, quoted) && !m.IsError:
				k.given[name] = true
			case c.Name == "agent_send" && strings.Contains(c.Arguments, quoted) && !m.IsError:
				if strings.Contains(c.Arguments, "reply") {
					k.answered = true
				} else {
					k.sent[name] = true
				}
			}
		}
		if c.Name != "agent_list" || m.IsError {
			continue
		}
		k.unsure = false
		for line := range strings.Lines(text) {
			for _, name := range names {
				if !strings.Contains(line, "("+name+")") {
					continue
				}
				k.given[name] = true
				if strings.Contains(line, "last instruction: go on "+name) {
					k.sent[name] = true
				}
				if strings.Contains(line, "last instruction: blue") {
					k.answered = true
				}
			}
		}
	}
	return k
}

// childAnswer is the model of a sub-agent: for each prompt and each instruction it sends a message, and then completes.
func childAnswer(name string) func(context.Context, *llm.Request) (llm.Message, error) {
	return func(_ context.Context, req *llm.Request) (llm.Message, error) {
		done, wrote, notified, asked, given, unsure, waited := 0, false, false, false, false, false, false
		for _, m := range req.Messages {
			if m.Role != llm.RoleTool {
				continue
			}
			if m.IsError {
				unsure = unsure || m.Tool == "agent" && strings.Contains(m.Text(), "unknown")
				waited = waited && m.Tool != "complete" // a message ended the wait
				continue
			}
			switch m.Tool {
			case "complete":
				done, notified, wrote = done+1, false, false
			case "put":
				wrote = true
			case "notify":
				notified = true
			case "escalate":
				asked = true
			case "agent":
				given = true
			case "agent_list":
				unsure, given = false, given || strings.Contains(m.Text(), "(f)")
			case "agent_wait":
				waited = true
			}
		}
		call := func(tool, format string, args ...any) (llm.Message, error) {
			c := llm.ToolCall{ID: fmt.Sprintf("%s%d", tool, len(req.Messages)), Name: tool, Arguments: fmt.Sprintf(format, args...)}
			return llm.Message{Content: llm.Content{c}}, nil
		}
		switch {
		case !wrote && inCopy(name):
			return call("put", `{"file":"%s%d.txt","text":"by %[1]s"}`, name, done)
		case !notified:
			return call("notify", `{"text":"%s began %d","priority":%q}`, name, done, []string{"notify", "urgent", "interrupt"}[(len(name)+int(name[0])+done)%3])
		case name == "c" && !asked:
			return call("escalate", `{"reason":"red or blue?"}`)
		case name == "e" && unsure:
			return call("agent_list", "{}")
		case name == "e" && !given:
			return call("agent", `{"task":"work as f","name":"f","key":"f","background":%t,"worktree":%t}`, os.Getenv(crashWaits) == "", inCopy("f"))
		case name == "e" && !waited:
			return call("agent_wait", "{}")
		}
		return call("complete", `{"summary":"%s did %d"}`, name, done)
	}
}

// fuse kills the process at a point.
type fuse struct {
	at     int64
	passed atomic.Int64
}

// point is a place where the process may die.
func (f *fuse) point() {
	if f.passed.Add(1) != f.at {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until it takes effect
}

// fusedStore has a point before and after everything that it writes.
type fusedStore struct {
	index.Store
	fuse *fuse
}

func (s fusedStore) Create(ctx context.Context, c session.Created) (session.SessionID, error) {
	s.fuse.point()
	defer s.fuse.point()
	return s.Store.Create(ctx, c)
}

func (s fusedStore) Annotate(ctx context.Context, id session.SessionID, bodies ...session.Body) ([]session.Event, error) {
	s.fuse.point()
	defer s.fuse.point()
	return s.Store.Annotate(ctx, id, bodies...)
}

func (s fusedStore) Open(ctx context.Context, id session.SessionID, l session.Lease) (session.Writer, error) {
	w, err := s.Store.Open(ctx, id, l)
	return fusedWriter{w, s.fuse}, err
}

type fusedWriter struct {
	session.Writer
	fuse *fuse
}

func (w fusedWriter) Append(ctx context.Context, at session.Stamp, bodies ...session.Body) ([]session.Event, error) {
	w.fuse.point()
	defer w.fuse.point()
	return w.Writer.Append(ctx, at, bodies...)
}
