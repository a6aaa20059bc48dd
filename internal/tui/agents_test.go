package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
)

// office is a stage whose session has sub-agents. The test writes their journals.
type office struct {
	*stage
	owner session.SessionID
}

func openOffice(t *testing.T, script string, width, height int) office {
	t.Helper()
	t.Parallel()
	s := play(t, &theater{client: llmtest.New(t, script), src: t.TempDir()}, width, height)
	s.shows("test/script")
	return office{s, s.app.pane.session()}
}

// notes adds entries to the session of the owner.
func (o office) notes(bodies ...session.Body) {
	o.t.Helper()
	if _, err := o.host.store.Annotate(o.t.Context(), o.owner, bodies...); err != nil {
		o.t.Fatal(err)
	}
}

// hires gives a task to a sub-agent and begins it.
func (o office) hires(task session.ID, name, role string) session.Writer {
	o.t.Helper()
	id, err := o.host.store.Create(o.t.Context(), session.Created{Dir: o.host.src, Parent: session.Origin{Session: o.owner}})
	if err != nil {
		o.t.Fatal(err)
	}
	w, err := o.host.store.Open(o.t.Context(), id, session.Lease{Owner: "a test"})
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = w.Close() })
	o.notes(session.TaskCreated{Task: task, Name: name, Role: role, Text: "Do this: " + name + ".", Background: true}, session.TaskStarted{Task: task, Attempt: 1, Session: id, Worktree: "wt-" + string(task)})
	return w
}

// begun waits until the terminal knows the sessions of n agents.
func (o office) begun(n int) {
	o.t.Helper()
	o.until(fmt.Sprint(n, " agents at work"), func(string) bool {
		known := 0
		for _, r := range o.app.pane.agentRows() {
			if r.Session != "" {
				known++
			}
		}
		return known == n
	})
}

// works adds entries to the session of a sub-agent.
func (o office) works(w session.Writer, bodies ...session.Body) {
	o.t.Helper()
	if _, err := w.Append(o.t.Context(), session.Stamp{Run: "r1"}, bodies...); err != nil {
		o.t.Fatal(err)
	}
}

// says is an answer of a model with a call.
func says(text, command string) session.Message {
	m := llm.AssistantText(text)
	m.Model, m.Usage = "test/small", llm.Usage{Input: 12_000, Output: 300, Cost: 0.02}
	if command != "" {
		m.Content, m.Stop = append(m.Content, llm.ToolCall{ID: "c1", Name: "shell", Arguments: fmt.Sprintf(`{"command":%q}`, command)}), llm.StopCalls
	}
	return session.Message{Message: m}
}

// The panel follows the journals of sub-agents; a narrow screen has their number.
func TestAgentsInThePanel(t *testing.T) {
	o := openOffice(t, "text Hello.", 140, 40)
	w := o.hires("t1", "find the callers", "explorer")
	o.shows("explorer: find the callers, in the background")
	o.shows("○ find the callers")
	o.works(w, session.RunStarted{Run: "r1"}, says("I look.", "make test"), session.CallStarted{Call: "c1", Tool: "shell", Title: "make test"})
	o.shows("● find the callers      12k $0.02")
	o.shows("shell make test")
	o.works(w, session.Mail{Mail: "m1", Task: "t1", To: o.owner, Type: session.MailDecision, Text: "A or B?"})
	o.shows("asks its owner: A or B?")
	o.notes(session.Mail{Mail: "m2", Task: "t1", To: w.Session(), Type: session.MailInstruction, Reply: "m1", Text: "A."})
	o.hides("A or B?")
	o.send(size(100, 40))
	o.shows("test/script · 1 agent")
	o.send(size(140, 40))
	o.hides("1 agent")
	o.notes(session.TaskSettled{Task: "t1", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCompleted, Summary: "Two callers.", Usage: llm.Usage{Output: 20}}})
	o.shows("✓ find the callers")
	o.shows("explorer: find the callers · completed")
	o.notes(session.TaskStarted{Task: "t1", Attempt: 2, Session: w.Session()})
	o.shows("● find the callers")
	o.works(w, session.RunEnded{Reason: session.ReasonDone})
	o.shows("○ find the callers")
}

// The list leads to the session of an agent, which goes on in the same place. What a person types goes there.
func TestTheViewOfAnAgent(t *testing.T) {
	o := openOffice(t, "text Hello.", 100, 40)
	o.types("hi")
	o.press("enter")
	o.shows("Hello.")
	o.idle()
	w := o.hires("t1", "find the callers", "explorer")
	o.works(w, session.RunStarted{Run: "r1"}, says("I look.", ""))
	o.notes(session.TaskCreated{Task: "t2", Name: "later", Text: "Do it later."})
	o.press("alt+a")
	o.shows("─ Agents ─")
	o.shows("running")
	o.shows("not begun")
	o.press("enter")
	o.shows("agent find the callers · running · esc back")
	o.shows("I look.")
	o.hides("› hi")
	o.works(w, says("I found one.", ""))
	o.shows("I found one.")
	o.shows("ctrl+c cancels")

	queued := func() (all []string) {
		open, err := request.Read(t.Context(), o.host.store, w.Session())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range open.Drafts {
			all = append(all, fmt.Sprint(d.Lane, " ", d.Message.Speaker.Kind, " ", d.Message.Text()))
		}
		return all
	}
	o.types("look at tests, too")
	o.press("enter")
	o.shows("◷ look at tests, too")
	o.types("stop looking at docs")
	o.press("alt+enter")
	o.shows("↳ stop looking at docs")
	if got := queued(); !slices.Equal(got, []string{"follow_up person look at tests, too", "steering person stop looking at docs"}) {
		t.Errorf("the agent gets %q", got)
	}

	o.press("ctrl+c")
	aborted := func() (n int) {
		for e := range o.host.store.Read(t.Context(), w.Session(), 0, "abort") {
			if b := e.Body.(session.Abort); b.By.Kind == session.SpeakerPerson {
				n++
			}
		}
		return n
	}
	o.until("the abort", func(string) bool { return aborted() == 1 })
	o.press("alt+a")
	o.hides("esc back")
	o.shows("› hi")
	o.types("and again")
	o.shows("› and again")
	o.press("ctrl+u")

	o.press("alt+a", "delete")
	o.shows("Stop the agent find the callers?")
	o.press("enter")
	o.until("another abort", func(string) bool { return aborted() == 2 })
	o.press("enter")
	o.shows("esc back")
	o.notes(session.TaskSettled{Task: "t1", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCancelled}})
	o.shows("· cancelled · esc back")
	o.types("more")
	o.press("enter")
	o.shows("the task is settled")
	o.press("ctrl+u", "esc")
	o.shows("explorer: find the callers · cancelled")
}

// gives gives a task of a sub-agent to another one.
func (o office) gives(by session.Writer, task session.ID, name string) session.Writer {
	o.t.Helper()
	id, err := o.host.store.Create(o.t.Context(), session.Created{Dir: o.host.src, Parent: session.Origin{Session: by.Session()}})
	if err != nil {
		o.t.Fatal(err)
	}
	w, err := o.host.store.Open(o.t.Context(), id, session.Lease{Owner: "a test"})
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { _ = w.Close() })
	o.works(by, session.TaskCreated{Task: task, Name: name, Text: name}, session.TaskStarted{Task: task, Attempt: 1, Session: id})
	return w
}

// Keys lead from agent to agent, and from the last one back to the session. Agents that sub-agents started are among them, settled ones only
// if no other agent works.
func TestNeighbors(t *testing.T) {
	o := openOffice(t, "text Hello.", 100, 40)
	o.types("hi")
	o.press("enter")
	o.shows("Hello.")
	o.idle()
	first := o.hires("t1", "find the callers", "explorer")
	o.works(first, session.RunStarted{Run: "r1"}, says("I look.", ""))
	inner := o.gives(first, "t2", "read the docs")
	o.works(inner, session.RunStarted{Run: "r1"}, says("I read.", ""))
	o.notes(session.TaskCreated{Task: "t3", Name: "later", Text: "Do it later."})
	last := o.hires("t4", "write a test", "")
	o.works(last, session.RunStarted{Run: "r1"}, says("I write.", ""))
	o.begun(3)
	o.shows("4 agents")
	for _, next := range []string{"agent find the callers", "agent read the docs", "agent write a test", "› hi", "agent find the callers"} {
		o.press("alt+n")
		o.shows(next)
	}
	o.press("alt+p")
	o.shows("› hi")
	o.press("alt+p")
	o.shows("I write.")
	o.press("alt+p", "alt+p") // quickly
	o.shows("agent find the callers · waits for its agents")
	o.notes(session.TaskSettled{Task: "t4", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCompleted, Summary: "Written."}})
	o.until("a settled task", func(string) bool { return owner(o.app).working() == 3 })
	o.press("alt+n")
	o.shows("agent read the docs")
	o.press("alt+n")
	o.shows("› hi")
	o.works(first, session.TaskSettled{Task: "t2", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCompleted}})
	o.notes(session.TaskSettled{Task: "t1", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCompleted}})
	o.until("two settled tasks", func(string) bool { return o.app.pane.working() == 1 }) // and one that has not begun
	o.press("alt+p")
	o.shows("agent write a test · completed")
	o.press("esc")
	o.hides("esc back")
}

// The list and the panel have the tasks that sub-agents gave below those of the session, also those of agents that were done before the
// terminal came.
func TestTasksOfSubAgents(t *testing.T) {
	o := openOffice(t, "text Hello.", 140, 40)
	w := o.hires("t1", "find the callers", "explorer")
	o.works(w, session.RunStarted{Run: "r1"})
	inner := o.gives(w, "t2", "read the docs")
	o.works(inner, session.RunStarted{Run: "r1"}, session.Mail{Mail: "m1", Task: "t2", To: w.Session(), Type: session.MailDecision, Text: "A or B?"})
	o.shows("  ? read the docs")
	o.shows("asks its owner: A or B?")
	o.works(w, session.Mail{Mail: "m2", Task: "t2", To: inner.Session(), Type: session.MailInstruction, Reply: "m1", Text: "A."})
	o.shows("  ● read the docs")
	o.press("alt+a")
	o.shows("  read the docs")
	o.shows("waits for its agents")
	o.press("down", "enter")
	o.shows("agent read the docs · running")
	o.press("esc")
	o.works(w, session.TaskSettled{Task: "t2", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCompleted, Summary: "Read."}})
	o.shows("  ✓ read the docs")
	o.notes(session.TaskSettled{Task: "t1", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskCompleted, Summary: "Found."}})
	o.shows("✓ find the callers")
	o.press("ctrl+n")
	o.hides("find the callers")
	o.types("/resume " + string(o.owner))
	o.press("enter")
	o.shows("✓ find the callers")
	o.hides("read the docs")
	o.press("alt+a")
	o.shows("  read the docs")
	o.shows("completed")
}

// Another session ends the view, and both conversations.
func TestAnotherSessionEndsTheView(t *testing.T) {
	o := openOffice(t, "text Hello.", 100, 40)
	w := o.hires("t1", "find the callers", "")
	o.works(w, session.RunStarted{Run: "r1"}, says("I look.", ""), session.RunEnded{Reason: session.ReasonDone})
	o.begun(1)
	o.press("alt+a", "enter")
	o.shows("esc back")
	o.types("/model x")
	o.press("enter")
	o.shows("does not support the operation")
	o.press("ctrl+n")
	o.hides("esc back")
	if o.app.home != nil || o.app.pane.session() == o.owner || o.app.pane.session() == w.Session() {
		t.Error("the view stayed")
	}
}

// An old session with many entries still knows its tasks.
func TestTasksBeforeTheRecentEntries(t *testing.T) {
	o := openOffice(t, "text Hello.", 140, 40)
	o.hires("t1", "find the callers", "explorer")
	for range recent + 10 {
		o.notes(session.Tags{Tags: []string{"x"}})
	}
	o.press("ctrl+n")
	o.hides("find the callers")
	o.types("/resume " + string(o.owner))
	o.press("enter")
	o.shows("○ find the callers")
	o.notes(session.TaskSettled{Task: "t1", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskFailed}})
	o.shows("explorer: find the callers · failed")
}

// The screens with tasks in all states. The journals are made of events, so that times are always the same.
func TestGoldenAgents(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.until("the session", func(string) bool { return s.app.pane.state.Dir != "" })
	s.app.now = func() time.Time { return noon.Add(time.Minute) }
	s.app.cards.Now = s.app.now
	seq := int64(100)
	send := func(from *follower, bodies ...session.Body) {
		var all []session.Event
		for _, b := range bodies {
			seq++
			all = append(all, session.Event{Seq: seq, ID: session.ID(fmt.Sprint("e", seq)), Run: "r1", Time: noon.Add(time.Duration(seq) * time.Second / 10), Body: b})
		}
		s.send(events{gen: s.app.pane.gen, from: from, all: all, over: true})
	}
	usage := llm.Usage{Input: 30_000, Output: 900, Cost: 0.11}
	send(
		nil,
		session.TaskCreated{Task: "t1", Name: "find the callers of Parse", Role: "explorer", Background: true},
		session.TaskCreated{Task: "t2", Name: "write the tests", Worktree: true},
		session.TaskCreated{Task: "t3", Name: "choose a format", Role: "designer"},
		session.TaskCreated{Task: "t4", Name: "fix the parser", Worktree: true},
		session.TaskCreated{Task: "t5", Text: "Describe the change in the changelog."},
		session.TaskStarted{Task: "t1", Attempt: 1, Session: "s1"}, session.TaskStarted{Task: "t3", Attempt: 1, Session: "s3"},
		session.TaskStarted{Task: "t4", Attempt: 1, Session: "s4", Worktree: "parser"}, session.TaskStarted{Task: "t5", Attempt: 1, Session: "s5"},
		session.TaskSettled{Task: "t4", Attempt: 1, Report: session.TaskReport{
			Outcome: session.TaskCompleted, Summary: "The parser is fixed.", Checks: []session.TaskCheck{{Command: "go test ./..."}}, Doubts: []string{"go test ./... did not run"}, Usage: usage,
		}},
		session.TaskSettled{Task: "t5", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskFailed, Summary: "The budget is used up.", Usage: usage}},
	)
	send(&follower{task: "t1"}, session.RunStarted{Run: "r1"}, says("I look.", "grep -rn Parse ."), session.CallStarted{Call: "c1", Tool: "shell", Title: "grep -rn Parse ."})
	send(&follower{task: "t3"}, session.RunStarted{Run: "r1"}, says("Which one?", ""), session.Mail{Mail: "m1", Type: session.MailDecision, Text: "JSON or TOML?"})
	var out [2]strings.Builder
	shot := func(name string) {
		for i, d := range [][2]int{{80, 24}, {200, 60}} {
			s.send(size(d[0], d[1]))
			fmt.Fprintf(&out[i], "---- %s\n", name)
			for line := range strings.SplitSeq(s.screen(), "\n") {
				fmt.Fprintln(&out[i], strings.TrimRight(line, " "))
			}
		}
	}
	shot("five tasks")
	s.press("alt+a")
	shot("the list of agents")
	golden(t, "agents-80.txt", out[0].String())
	golden(t, "agents-200.txt", out[1].String())
}
