package team_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/team"
)

func TestForeground(t *testing.T) {
	b := newBench(t, map[string]string{
		"owner":   "call agent {\"task\":\"count the mills\",\"name\":\"counter\"}\n---\ntext There are two.",
		"counter": `call complete {"summary":"two mills","files":["a.txt"],"checks":["ls"],"risks":["fog"]}`,
	}, nil)
	if got := b.run("go"); got != "There are two." {
		t.Errorf("the owner says %q", got)
	}
	same(t, b.statuses(), "completed")
	same(t, b.texts(b.owner.Session()), `
		person: go
		model calls agent:
		tool agent: Report about task T1 (counter), attempt 1: completed. | two mills | Files that it names: | - a.txt | Checks: | - ls (not verified) | Doubts about its claims: | - it names ls as verification, but did not run it | - it names a.txt as changed, but the file did not change | Risks: | - fog
		model: There are two.`)
	one := b.tasks()[0]
	same(t, b.texts(one.Session), `
		agent: count the mills
		model calls complete:
		tool complete: The task is complete.`)
	if d := b.owner.Requests().Drafts; len(d) > 0 {
		t.Errorf("drafts wait: %v", d)
	}
	if a := b.opened[0]; a.Parent != b.owner.Session() || a.ParentRun == "" || a.Depth != 1 || a.Budget == nil || one.Dir != "/project" {
		t.Errorf("the assignment is %+v, the directory %q", a, one.Dir)
	}
}

// Calls of agent in one answer run at the same time: each sub-agent waits for the other.
func TestSeveralInOneAnswer(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\ncall agent {\"task\":\"y\",\"name\":\"b\"}\n---\ntext Done.",
	}, func(o *office) {
		meet := llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
			both.Done()
			both.Wait()
			return completion("met"), nil
		})
		o.clients["a"], o.clients["b"] = meet, meet
	})
	b.run("go")
	same(t, b.statuses(), "completed completed")
}

// completion is an answer that completes a task.
func completion(summary string) llm.Message {
	return llm.Message{Content: llm.Content{llm.ToolCall{Name: "complete", Arguments: fmt.Sprintf(`{"summary":%q}`, summary)}}}
}

// A run that no one watches continues with the reports of background tasks before it ends.
func TestBackground(t *testing.T) {
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\",\"background\":true}\n---\ntext I wait.\n---\ntext It is done.",
		"a":     "call notify {\"text\":\"half done\"}\n---\ncall complete {\"summary\":\"all done\"}",
	}, func(o *office) { o.change = func(to *team.Options) { to.Wait = true } })
	if got := b.run("go"); got != "It is done." {
		t.Errorf("the owner says %q", got)
	}
	got := b.texts(b.owner.Session())
	for _, want := range []string{
		"tool agent: Started task T1 (a) in the background. Its report comes as a message.",
		"agent: Message about task T1 (a), progress: | half done",
		"model: I wait.\nagent: Report about task T1 (a), attempt 1: completed. | all done",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
}

// Background reports wake an owner that is idle. One run takes all that wait.
func TestWakes(t *testing.T) {
	begin := make(chan struct{})
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\",\"background\":true}\n---\ntext Later.\n---\ntext I have it.",
	}, func(o *office) {
		o.clients["a"] = llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) { <-begin; return completion("so"), nil })
	})
	b.run("go")
	close(begin)
	for e, err := range b.owner.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := e.Body.(session.Message); ok && m.Text() == "I have it." {
			break
		}
	}
}

// One run takes the reports of all sub-agents that end while it is on.
func TestNoStorm(t *testing.T) {
	const children = 5
	begin := make(chan struct{})
	var b *bench
	b = newBench(t, nil, func(o *office) {
		for i := range children {
			o.clients[fmt.Sprint(i)] = llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) { <-begin; return completion("so"), nil })
		}
		o.clients["owner"] = llmtest.Func(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
			reports := 0
			for _, m := range req.Messages {
				reports += strings.Count(m.Text(), "Report about")
			}
			if reports == 1 {
				_, err := b.team.Wait(ctx)
				return llm.AssistantText("One."), err
			}
			return llm.AssistantText(fmt.Sprint(reports, " reports")), nil
		})
	})
	for i := range children {
		if _, _, err := b.team.Start(t.Context(), session.TaskCreated{Text: "x", Name: fmt.Sprint(i), Background: true}); err != nil {
			t.Fatal(err)
		}
	}
	close(begin)
	runs := 0
	for e, err := range b.owner.Follow(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Body.(session.RunStarted); ok {
			runs++
		}
		if m, ok := e.Body.(session.Message); ok && m.Text() == "5 reports" {
			break
		}
	}
	if runs != 1 {
		t.Errorf("%d runs, want 1", runs)
	}
}

// A process that died between two entries leaves a session that no entry names: the next one removes it, and mail that was not delivered
// arrives.
func TestLeftBehind(t *testing.T) {
	b := newBench(t, map[string]string{"owner": "text Hi.\n---\ntext So.", "a": `call complete {"summary":"done"}`}, func(o *office) {
		o.change = func(to *team.Options) { to.Wait = true }
	})
	ctx, owner := t.Context(), b.owner.Session()
	if err := b.owner.Record(ctx, session.TaskCreated{Task: "t", Name: "a", Text: "x"}); err != nil {
		t.Fatal(err)
	}
	orphan, err := b.store.Create(ctx, session.Created{Parent: session.Origin{Session: owner}})
	if err != nil {
		t.Fatal(err)
	}
	b.stop()
	b.start(owner)
	if got := b.run("go"); got != "So." {
		t.Errorf("the owner says %q", got)
	}
	same(t, b.statuses(), "completed")
	if id := b.tasks()[0].Session; id == orphan {
		t.Error("the task has the session that was left behind")
	}
	for _, err := range b.store.Read(ctx, orphan, 0) {
		if !errors.Is(err, session.ErrNotFound) {
			t.Errorf("the session that was left behind: %v", err)
		}
	}
}

// A question of a sub-agent ends its run. The answer starts the next one, in the same attempt.
func TestEscalate(t *testing.T) {
	var b *bench
	b = newBench(t, map[string]string{"a": "call escalate {\"reason\":\"red or blue?\"}\n---\ncall complete {\"summary\":\"painted\"}"}, func(o *office) {
		o.change = func(to *team.Options) { to.Wait = to.Depth == 0 }
		o.clients["owner"] = llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
			switch last := req.Messages[len(req.Messages)-1].Text(); {
			case strings.Contains(last, "red or blue?"):
				one := b.tasks()[0]
				return llm.Message{Content: llm.Content{llm.ToolCall{Name: "agent_send", Arguments: fmt.Sprintf(`{"task":%q,"text":"blue","reply":%q}`, one.Task, one.Decision().Mail)}}}, nil
			case strings.Contains(last, "go"):
				return llm.Message{Content: llm.Content{llm.ToolCall{Name: "agent", Arguments: `{"task":"paint","name":"a"}`}}}, nil
			}
			return llm.AssistantText("Well."), nil
		})
	})
	b.run("go")
	same(t, b.texts(b.owner.Session()), `
		person: go
		model calls agent:
		tool agent: task T1 (a) waits for your answer; its question comes as a message. Answer with agent_send.
		agent: Message about task T1 (a), decision required: | red or blue? | The sub-agent waits. Answer with agent_send: task T1, reply MAIL.
		model calls agent_send:
		tool agent_send: Sent to task T1 (a).
		model: Well.
		agent: Report about task T1 (a), attempt 1: completed. | painted
		model: Well.`)
	same(t, b.texts(b.tasks()[0].Session), `
		agent: paint
		model calls escalate:
		tool escalate: The run ends here. It continues with the answer.
		agent: Answer to your question: | blue
		model calls complete:
		tool complete: The task is complete.`)
}

// If an owner does not answer, its run ends, and the task waits.
func TestUnansweredQuestion(t *testing.T) {
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext Never.",
		"a":     "call escalate {\"reason\":\"why?\",\"type\":\"blocked\"}",
	}, func(o *office) { o.change = func(to *team.Options) { to.Wait = true } })
	if got := b.run("go"); got != "Never." {
		t.Errorf("the owner says %q", got)
	}
	same(t, b.statuses(), "waiting_owner")
}

func TestWithoutComplete(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"reminded":  {"text Well.\n---\ncall complete {\"summary\":\"done\"}", "completed: done"},
		"silent":    {"text Well.\n---\ntext Still.", "failed: it ended without a call of complete or escalate; its last words: Still."},
		"error":     {`error auth "no key"`, "failed: test/script: "},
		"panic":     {"panic oh", "failed: test/script: other: the client panicked: oh"},
		"both":      {"call complete {\"summary\":\"done\"}\ncall escalate {\"reason\":\"why?\"}\n---\ncall complete {\"summary\":\"sure\"}", "completed: sure"},
		"both back": {"call escalate {\"reason\":\"why?\"}\ncall complete {\"summary\":\"done\"}\n---\ncall complete {\"summary\":\"sure\"}", "completed: sure"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext So.", "a": c.script}, nil)
			b.run("go")
			r := b.tasks()[0].Report()
			if got := fmt.Sprintf("%s: %s", r.Outcome, r.Summary); !strings.HasPrefix(got, c.want) {
				t.Errorf("the report is %q, want %q", got, c.want)
			}
			if n := len(b.tasks()[0].Mail); n > 0 {
				t.Errorf("%d messages were sent", n)
			}
		})
	}
}

// complete takes effect after the other calls of its answer, wherever it is among them.
func TestCompleteWithOtherCalls(t *testing.T) {
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext So.",
		"a":     "call complete {\"summary\":\"done\"}\ncall notify {\"text\":\"and this\"}\ncall agent_list",
	}, nil)
	b.run("go")
	one := b.tasks()[0]
	same(t, b.texts(one.Session), `
		agent: x
		model calls complete calls notify calls agent_list:
		tool complete: The task is complete.
		tool notify: The message is sent after this answer.
		tool agent_list: There are no tasks.`)
	if one.Status() != team.StatusCompleted || len(one.Mail) != 1 {
		t.Errorf("status %s, mail %v", one.Status(), one.Mail)
	}
}

// Open can fail or panic: the attempt is settled anyway.
func TestFailures(t *testing.T) {
	scripts := map[string]string{"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext So.", "a": `call complete {"summary":"done"}`}
	for name, change := range map[string]func(*office){
		"failed: cannot start: no room":                        func(o *office) { o.fail = func(team.Assignment) error { return errors.New("no room") } },
		"failed: cannot start: Options.Open panicked: no idea": func(o *office) { o.fail = func(team.Assignment) error { panic("no idea") } },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, scripts, change)
			b.run("go")
			r := b.tasks()[0].Report()
			if got := fmt.Sprintf("%s: %s", r.Outcome, r.Summary); got != name {
				t.Errorf("the report is %q, want %q", got, name)
			}
			if d := b.owner.Requests().Drafts; len(d) > 0 {
				t.Errorf("drafts wait: %v", d)
			}
		})
	}
}

// hanging is a model that waits until its request is cancelled.
func hanging() llm.Client {
	return llmtest.Func(func(ctx context.Context, _ *llm.Request) (llm.Message, error) {
		<-ctx.Done()
		return llm.Message{}, context.Cause(ctx)
	})
}

func TestRefusedTasks(t *testing.T) {
	b := newBench(t, map[string]string{"owner": "text Hi."}, func(o *office) {
		o.clients["a"] = hanging()
		o.change = func(to *team.Options) {
			to.Limits.Open = 3
			to.Roles = func() []team.RoleInfo { return []team.RoleInfo{{"builder", "builds"}} }
		}
	})
	start := func(c session.TaskCreated) (team.Task, bool, error) {
		c.Name, c.Background = "a", true
		return b.team.Start(t.Context(), c)
	}
	one, fresh, err := start(session.TaskCreated{Text: "x", Key: "k", Scope: session.Scope{Paths: []string{"src/", "/project/doc"}}})
	if err != nil || !fresh || strings.Join(one.Scope.Paths, " ") != "/project/src /project/doc" {
		t.Fatalf("%+v, %v", one, err)
	}
	if same, fresh, err := start(session.TaskCreated{Text: "y", Key: "k"}); err != nil || fresh || same.Task != one.Task {
		t.Errorf("the same key: %+v, %v, %v", same, fresh, err)
	}
	if _, _, err := start(session.TaskCreated{Text: "y", Scope: session.Scope{Paths: []string{"src/x.go"}}}); code(err) != "team.scope" || !strings.Contains(err.Error(), string(one.Task)) {
		t.Errorf("an overlapping scope: %v", err)
	}
	for _, s := range []session.Scope{{ReadOnly: true, Paths: []string{"src"}}, {Paths: []string{"test"}}} {
		if _, _, err := start(session.TaskCreated{Text: "y", Scope: s}); err != nil {
			t.Errorf("scope %v: %v", s, err)
		}
	}
	if _, _, err := start(session.TaskCreated{Text: "y"}); code(err) != "team.limit" {
		t.Errorf("too many tasks: %v", err)
	}
	if _, err := b.team.Tools()[0].Prepare(t.Context(), `{"task":"x","role":"pilot"}`); code(err) != "team.not_found" {
		t.Errorf("an unknown role: %v", err)
	}
}

func code(err error) string {
	var c interface{ Code() string }
	errors.As(err, &c)
	if c == nil {
		return ""
	}
	return c.Code()
}

// Sub-agents have sub-agents down to the limit, and work within the scope of their owner.
func TestDepth(t *testing.T) {
	completed := make(chan struct{}) // the first call of complete has its result
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext So.",
		"a":     "call agent {\"task\":\"y\",\"name\":\"b\",\"background\":true}\ncall complete {\"summary\":\"early\"}\n---\ntext I wait.\n---\ncall complete {\"summary\":\"done\"}",
		"b":     "call agent {\"task\":\"z\",\"name\":\"c\"}\n---\ncall complete {\"summary\":\"alone\"}",
	}, func(o *office) {
		o.opens = func(a team.Assignment, opts *agent.Options) {
			switch a.Name {
			case "a":
				opts.Hooks = append(opts.Hooks, agent.Hook{Name: "early", AfterTurn: func(_ context.Context, turn int, _ live.TurnEnded) {
					if turn == 1 {
						close(completed)
					}
				}})
			case "b":
				opts.Hooks = append(opts.Hooks, agent.Hook{Name: "later", BeforeRun: func(context.Context, session.RunStarted) error { <-completed; return nil }})
			}
		}
	})
	b.run("go")
	a := b.tasks()[0]
	own, err := team.Read(t.Context(), b.store, a.Session)
	if err != nil || len(own.Tasks) != 1 {
		t.Fatal(err)
	}
	same(t, strings.ReplaceAll(b.texts(a.Session), string(own.Tasks[0].Task), "B"), `
		agent: x
		model calls agent calls complete:
		tool agent: Started task B (b) in the background. Its report comes as a message.
		tool complete: your task B is open; wait for your tasks with agent_wait or cancel them with agent_cancel first
		model: I wait.
		agent: Report about task B (b), attempt 1: completed. | alone
		model calls complete:
		tool complete: The task is complete.`)
	if got := b.texts(own.Tasks[0].Session); !strings.Contains(got, "tool agent: there is no tool named") {
		t.Errorf("at the limit:\n%s", got)
	}
}

// The next attempt knows the one before.
func TestNextAttempt(t *testing.T) {
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext So.",
		"a":     "call complete {\"summary\":\"one\"}\n---\ncall complete {\"summary\":\"two\"}",
	}, nil)
	b.run("go")
	one := b.tasks()[0]
	if err := b.team.Send(t.Context(), team.Instruction{Task: one.Task, Text: "again"}); err != nil {
		t.Fatal(err)
	}
	b.settled()
	one = b.tasks()[0]
	if one.Attempt != 2 || len(one.Reports) != 2 || one.Reports[1].Summary != "two" {
		t.Errorf("the task is %+v", one)
	}
	same(t, b.texts(one.Session), `
		agent: x
		model calls complete:
		tool complete: The task is complete.
		agent: Instruction of the agent that gave you the task: | again
		model calls complete:
		tool complete: The task is complete.`)
}

// A person can talk to a sub-agent, with the authority of a person.
func TestPersonTalks(t *testing.T) {
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext So.",
		"a":     "call complete {\"summary\":\"one\"}\n---\ncall complete {\"summary\":\"two\"}",
	}, nil)
	b.run("go")
	person := session.Speaker{Kind: session.SpeakerPerson, Name: "cli"}
	if err := b.team.Send(t.Context(), team.Instruction{Task: b.tasks()[0].Task, Text: "again", Speaker: person}); err != nil {
		t.Fatal(err)
	}
	b.settled()
	one := b.tasks()[0]
	if got := b.texts(one.Session); !strings.Contains(got, "\nperson: again\n") || one.Attempt != 2 || len(one.Mail) != 0 {
		t.Errorf("attempt %d, mail %v:\n%s", one.Attempt, one.Mail, got)
	}
}

// Steering reaches a sub-agent that works.
func TestSteering(t *testing.T) {
	var b *bench
	b = newBench(t, map[string]string{"owner": "call agent {\"task\":\"x\",\"name\":\"a\"}\n---\ntext So."}, func(o *office) {
		o.clients["a"] = llmtest.Func(func(_ context.Context, req *llm.Request) (llm.Message, error) {
			if len(req.Messages) == 1 {
				if err := b.team.Send(context.Background(), team.Instruction{Task: b.tasks()[0].Task, Text: "left", Priority: session.MailInterrupt}); err != nil {
					return llm.Message{}, err
				}
				return llm.Message{Content: llm.Content{llm.ToolCall{Name: "agent_list", Arguments: "{}"}}}, nil
			}
			return completion(req.Messages[len(req.Messages)-1].Text()), nil
		})
	})
	b.run("go")
	if r := b.tasks()[0].Report(); !strings.Contains(r.Summary, "\nleft\n") {
		t.Errorf("the report is %+v", r)
	}
}

// Cancelling a task cancels its tasks too, and a late report changes nothing.
func TestCancel(t *testing.T) {
	working := make(chan struct{})
	b := newBench(t, map[string]string{
		"owner": "text Hi.",
		"a":     "call agent {\"task\":\"y\",\"name\":\"b\"}",
	}, func(o *office) {
		o.clients["b"] = llmtest.Func(func(ctx context.Context, _ *llm.Request) (llm.Message, error) {
			close(working)
			<-ctx.Done()
			return completion("late"), nil
		})
	})
	one, _, err := b.team.Start(t.Context(), session.TaskCreated{Text: "x", Name: "a", Background: true})
	if err != nil {
		t.Fatal(err)
	}
	<-working
	if b.team.Member(one.Task) == nil {
		t.Error("there is no member")
	}
	if err := b.team.Cancel(t.Context(), one.Task, "enough"); err != nil {
		t.Fatal(err)
	}
	own, err := team.Read(t.Context(), b.store, b.tasks()[0].Session)
	if err != nil || len(own.Tasks) != 1 || own.Tasks[0].Status() != team.StatusCancelled {
		t.Errorf("the task of the sub-agent is %+v, %v", own.Tasks[0], err)
	}
	same(t, b.statuses(), "cancelled")
	if err := b.team.Cancel(t.Context(), one.Task, ""); code(err) != "team.late" {
		t.Errorf("cancelled twice: %v", err)
	}
	if b.team.Member(one.Task) != nil {
		t.Error("a settled task has a member")
	}
}

// An abort of the owner cancels the sub-agents that its calls wait for.
func TestAbort(t *testing.T) {
	var b *bench
	b = newBench(t, map[string]string{"owner": `call agent {"task":"x","name":"a"}`}, func(o *office) {
		o.clients["a"] = llmtest.Func(func(ctx context.Context, _ *llm.Request) (llm.Message, error) {
			b.owner.Abort()
			<-ctx.Done()
			return llm.Message{}, context.Cause(ctx)
		})
	})
	out, err := agent.Wait(b.owner.Run(t.Context(), llm.UserText("go")))
	if err != nil || out.Ended.Reason != session.ReasonCancelled {
		t.Errorf("the run ended with %+v, %v", out.Ended, err)
	}
	b.settled()
	same(t, b.statuses(), "cancelled")
}

// agent_wait returns the reports, and they do not come again. A message for the owner ends the wait.
func TestWaitTool(t *testing.T) {
	var b *bench
	b = newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\",\"background\":true}\n---\ncall agent_wait\n---\ncall agent {\"task\":\"y\",\"name\":\"b\",\"background\":true}\n---\ncall agent_wait\n---\ntext So.",
		"a":     `call complete {"summary":"one"}`,
	}, func(o *office) {
		o.clients["b"] = llmtest.Func(func(ctx context.Context, req *llm.Request) (llm.Message, error) {
			if len(req.Messages) > 1 {
				<-ctx.Done()
				return llm.Message{}, context.Cause(ctx)
			}
			waits := 0
			for e, err := range b.owner.Follow(ctx, 0) {
				if c, ok := e.Body.(session.CallStarted); ok && c.Tool == "agent_wait" {
					waits++
				}
				if err != nil || waits == 2 {
					break
				}
			}
			return llm.Message{Content: llm.Content{llm.ToolCall{Name: "notify", Arguments: `{"text":"look","priority":"interrupt"}`}}}, nil
		})
	})
	b.run("go")
	same(t, b.texts(b.owner.Session()), `
		person: go
		model calls agent:
		tool agent: Started task T1 (a) in the background. Its report comes as a message.
		model calls agent_wait:
		tool agent_wait: Report about task T1 (a), attempt 1: completed. | one
		model calls agent:
		tool agent: Started task T2 (b) in the background. Its report comes as a message.
		model calls agent_wait:
		tool agent_wait: task T2 (b) continues in the background.
		agent: Message about task T2 (b), progress: | look
		model: So.`)
}

// As many sub-agents run at a time as the limit says, in the order of their tasks.
func TestSlots(t *testing.T) {
	const all, atATime = 6, 2
	var mu sync.Mutex
	running, most := 0, 0
	var order []string
	b := newBench(t, map[string]string{"owner": "text Hi."}, func(o *office) {
		o.change = func(to *team.Options) { to.Limits.Running = atATime }
		for i := range all {
			name := fmt.Sprint(i)
			o.clients[name] = llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
				mu.Lock()
				running++
				most = max(most, running)
				order = append(order, name)
				mu.Unlock()
				defer func() { mu.Lock(); running--; mu.Unlock() }()
				return completion("done"), nil
			})
		}
	})
	for i := range all {
		if _, _, err := b.team.Start(t.Context(), session.TaskCreated{Text: "x", Name: fmt.Sprint(i), Background: true}); err != nil {
			t.Fatal(err)
		}
	}
	b.settled()
	if most > atATime || len(order) != all {
		t.Errorf("%d at a time, in the order %v", most, order)
	}
}

// Tasks outlive a team that closes: the next one continues them before its first run, and not before.
func TestRestart(t *testing.T) {
	begin := make(chan struct{})
	b := newBench(t, map[string]string{
		"owner": "call agent {\"task\":\"x\",\"name\":\"a\",\"background\":true}\n---\ntext Later.\n---\ntext Now.\n---\ntext I see.",
	}, func(o *office) {
		o.change = func(to *team.Options) { to.Wait = to.Depth == 0 && o.clients["b"] != nil }
		o.clients["a"] = llmtest.Func(func(ctx context.Context, _ *llm.Request) (llm.Message, error) {
			select {
			case <-begin:
				return completion("so"), nil
			case <-ctx.Done():
				return llm.Message{}, context.Cause(ctx)
			}
		})
	})
	b.run("go")
	id := b.owner.Session()
	b.stop()
	close(begin)
	b.clients["b"] = hanging() // the new owner waits for its tasks
	b.start(id)
	if n := len(b.opened); n != 1 {
		t.Fatalf("%d agents were opened before the first run", n)
	}
	if got := b.run("and now?"); got != "I see." {
		t.Errorf("the owner says %q:\n%s", got, b.texts(id))
	}
	same(t, b.statuses(), "completed")
	if a := b.opened[1]; a.Session == "" || a.Attempt != 1 {
		t.Errorf("the second assignment is %+v", a)
	}
}
