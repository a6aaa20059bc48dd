package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/tenon-agent/tenon/tool"
)

// The environment that makes the test binary a process which works on a session until it is done or killed.
const (
	crashDir   = "TENON_TEST_CRASH_DIR"   // where its database and its files are
	crashPoint = "TENON_TEST_CRASH_POINT" // the point at which it kills itself, from 1; 0: none
	crashModel = "TENON_TEST_CRASH_MODEL" // a script of llmtest for its model; default the work below
)

// work is the job of the crashing process: steps in their order, those of one line in one answer. Every step leaves a
// line in the file "effects", so that it can be counted how often it happened.
var work = [][]step{
	{{"read", "input"}},
	{{"write", "a.txt"}},
	{{"command", "first"}},
	{{"write", "b.txt"}, {"write", "c.txt"}, {"read", "input"}},
	{{"command", "second"}},
	{{"write", "a.txt"}, {"command", "third"}},
	{{"read", "a.txt"}},
	{{"write", "d.txt"}},
	{{"command", "fourth"}},
	{{"write", "e.txt"}, {"write", "f.txt"}, {"command", "fifth"}},
	{{"command", "sixth"}},
	{{"write", "g.txt"}},
}

type step struct{ tool, what string }

// stepArgs are the arguments of all its tools. Step names the step: its line and its place, such as "3.1".
type stepArgs struct {
	Step string `json:"step"`
	What string `json:"what"`
}

func crashing() bool { return os.Getenv(crashDir) != "" }

// crashMain works on the one session in crashDir until the work is done. It prints every entry that it sees.
func crashMain() int {
	dir := os.Getenv(crashDir)
	at, _ := strconv.ParseInt(os.Getenv(crashPoint), 10, 64)
	if err := crashRun(dir, &fuse{at: at}); err != nil {
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
	client := llmtest.Func(nextAnswer)
	if script := os.Getenv(crashModel); script != "" {
		client = llmtest.Must(script)
	}
	a, err := openOnly(ctx, fusedStore{store, f}, agent.Options{
		Client: client, Tools: stepTools(dir, f), Gate: agent.AllowAll(), Hooks: []agent.Hook{stepHook(f)},
	})
	if err != nil {
		return err
	}
	defer a.Close()
	state, err := view.StateOf(ctx, a.Path())
	if err != nil {
		return err
	}
	run := a.Continue(ctx, agent.Continuation{})
	if state.Run == "" {
		run = a.Run(ctx, llm.UserText("do the work"))
	}
	if state.Ended != nil && state.Ended.Reason == session.ReasonDone {
		fmt.Println("finished", f.passed.Load())
		return nil
	}
	for e, err := range run {
		if errors.Is(err, view.ErrAnswered) {
			break // it died between the last answer and the end of the run
		}
		if err != nil {
			return err
		}
		if e.Durable() {
			fmt.Println("entry", e.Seq, e.ID, e.Body.Kind())
		}
	}
	fmt.Println("finished", f.passed.Load())
	return nil
}

// openOnly opens the only session of a store, or makes one.
func openOnly(ctx context.Context, store index.Store, o agent.Options) (*agent.Agent, error) {
	for s, err := range store.List(ctx, index.Query{}) {
		if err != nil {
			return nil, err
		}
		return agent.Open(ctx, store, s.ID, o)
	}
	return agent.New(ctx, store, o)
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

// fusedStore has a point before and after every append.
type fusedStore struct {
	index.Store
	fuse *fuse
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
	events, err := w.Writer.Append(ctx, at, bodies...)
	w.fuse.point()
	return events, err
}

// stepHook is a hook with points between what it does and the append of that.
func stepHook(f *fuse) agent.Hook {
	return agent.Hook{
		Name: "steps",
		Prompt: func(context.Context, session.Message) (string, error) {
			f.point()
			return "Mind the order.", nil
		},
		BeforeCall: func(_ context.Context, c agent.Proposed) (string, error) {
			f.point()
			return string(c.Arguments), nil
		},
		AfterCall: func(_ context.Context, c agent.Proposed, m session.Message) (session.Message, error) {
			f.point()
			if c.Call.Name == "read" {
				m.Content = append(m.Content, llm.Text{Text: " (read once)"})
			}
			return m, nil
		},
		BeforeEnd: func(context.Context, llm.Message) string {
			f.point()
			return ""
		},
	}
}

// stepTools are the tools of the work, with points before and after their effects.
func stepTools(dir string, f *fuse) []tool.Tool {
	file := func(name string) string { return filepath.Join(dir, "files", name) }
	return []tool.Tool{
		tool.New("read", "Read.",
			func(_ context.Context, a stepArgs) (tool.Effects, error) {
				return tool.Effects{Reads: []tool.Path{tool.File(file(a.What))}, Idempotent: true}, nil
			},
			func(_ context.Context, a stepArgs, _ tool.Report) (tool.Result, error) {
				f.point()
				data, err := os.ReadFile(file(a.What))
				return tool.TextResult(string(data)), err
			}),
		tool.New("write", "Write.",
			func(_ context.Context, a stepArgs) (tool.Effects, error) {
				return tool.Effects{Writes: []tool.Path{tool.File(file(a.What))}}, nil
			},
			func(_ context.Context, a stepArgs, _ tool.Report) (tool.Result, error) {
				f.point()
				err := os.WriteFile(file(a.What), []byte("by step "+a.Step), 0o600)
				if err == nil {
					err = leaveTrace(dir, a.Step)
				}
				f.point()
				return tool.TextResult("wrote " + a.What), err
			}),
		tool.New("command", "Run.",
			func(_ context.Context, a stepArgs) (tool.Effects, error) {
				return tool.Effects{Unknown: true, Exclusive: true}, nil
			},
			func(ctx context.Context, a stepArgs, _ tool.Report) (tool.Result, error) {
				f.point()
				c := exec.CommandContext(ctx, "git", "config", "--file", file("config"), "--add", "step.done", a.Step)
				out, err := c.CombinedOutput()
				if err == nil {
					err = leaveTrace(dir, a.Step)
				}
				f.point()
				return tool.TextResult("ran " + a.What + string(out)), err
			}),
		tool.New("check", "Say whether a step was done.",
			func(context.Context, stepArgs) (tool.Effects, error) {
				return tool.Effects{None: true, Idempotent: true}, nil
			},
			func(_ context.Context, a stepArgs, _ tool.Report) (tool.Result, error) {
				if len(tracesOf(dir)[a.Step]) > 0 {
					return tool.TextResult("done"), nil
				}
				return tool.TextResult("not done"), nil
			}),
	}
}

// leaveTrace writes one line for one execution of a step, in one system call.
func leaveTrace(dir, name string) error {
	f, err := os.OpenFile(filepath.Join(dir, "effects"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(name + "\n")
	return errors.Join(err, f.Close())
}

// tracesOf is the executions of each step.
func tracesOf(dir string) map[string][]string {
	traces := make(map[string][]string)
	f, err := os.Open(filepath.Join(dir, "effects"))
	if err != nil {
		return traces
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name := lines.Text()
		traces[name] = append(traces[name], name)
	}
	return traces
}

// nextAnswer is a model that does the work. It knows only the conversation: it calls the first steps that are not done,
// and where the outcome of one is unknown, it looks before it calls it again.
func nextAnswer(_ context.Context, req *llm.Request) (llm.Message, error) {
	known := progressOf(req.Messages)
	for i, line := range work {
		var calls llm.Content
		for j, s := range line {
			name := fmt.Sprintf("%d.%d", i, j)
			switch known[name] {
			case stepDone:
			case stepUnknown:
				calls = append(calls, stepCall("check", name, s.what, len(req.Messages)))
			default:
				calls = append(calls, stepCall(s.tool, name, s.what, len(req.Messages)))
			}
		}
		if len(calls) > 0 {
			return llm.Message{Content: append(llm.Content{llm.Text{Text: fmt.Sprintf("Step %d.", i)}}, calls...)}, nil
		}
	}
	return llm.AssistantText("All is done."), nil
}

func stepCall(tool, name, what string, turn int) llm.ToolCall {
	args, _ := json.Marshal(stepArgs{Step: name, What: what})
	return llm.ToolCall{ID: fmt.Sprintf("c%d_%s", turn, strings.ReplaceAll(name, ".", "_")), Name: tool, Arguments: string(args)}
}

type known int

const (
	stepOpen known = iota
	stepUnknown
	stepDone
)

// progressOf is what a conversation shows of each step.
func progressOf(messages []llm.Message) map[string]known {
	steps := make(map[string]known)
	asked := make(map[string]llm.ToolCall)
	for _, m := range messages {
		for _, c := range m.Calls() {
			asked[c.ID] = c
		}
		if m.Role != llm.RoleTool {
			continue
		}
		args := argsOf(asked[m.CallID])
		switch {
		case m.Tool == "check" && m.Text() == "done":
			steps[args.Step] = stepDone
		case m.Tool == "check" && m.Text() == "not done":
			steps[args.Step] = stepOpen
		case m.Tool == "check":
		case !m.IsError:
			steps[args.Step] = stepDone
		case strings.Contains(m.Text(), "unknown"):
			steps[args.Step] = stepUnknown
		}
	}
	return steps
}

func argsOf(c llm.ToolCall) stepArgs {
	var args stepArgs
	_ = json.Unmarshal([]byte(c.Arguments), &args)
	return args
}

// stepResult is the result of a step that was done.
func stepResult(a stepArgs) string {
	if strings.HasSuffix(a.What, ".txt") {
		return "wrote " + a.What
	}
	return "ran " + a.What
}
