package transcript

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Notes about tasks name them as people know them, also when the report comes much later.
func TestNotesAboutTasks(t *testing.T) {
	report := session.TaskReport{
		Outcome: session.TaskCompleted, Summary: "**Two** callers.", Files: []string{"said.go"}, Changed: []string{"a.go"},
		Checks:      []session.TaskCheck{{Command: "go test", Verified: true}, {Command: "go vet", Doubt: "it did not run"}},
		Limitations: []string{"no Windows"}, Risks: []string{"slow"}, Doubts: []string{"go vet did not run"}, Denied: []string{"write b (permission.scope)"}, Denials: 2, Usage: llm.Usage{Output: 10, Cost: 0.02},
	}
	items := fold(
		new(Transcript),
		session.TaskCreated{Task: "t1", Name: "find the callers\nof X", Text: "Find them.", Role: "explorer", Background: true},
		session.TaskCreated{Task: "t2", Text: "Fix the test.\nAll of it.", Worktree: true},
		session.TaskCreated{Task: "t1", Name: "another"},
		session.TaskStarted{Task: "t1", Attempt: 1, Session: "s1"},
		session.TaskSettled{Task: "t2", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskFailed}},
		session.TaskSettled{Task: "t1", Attempt: 1, Report: report},
		session.TaskSettled{Task: "t1", Attempt: 1, Report: report},
		session.TaskSettled{Task: "t9", Attempt: 2, Report: session.TaskReport{Outcome: session.TaskCancelled}},
		session.Mail{Type: session.MailProgress, Text: "half"},
		session.Mail{Type: session.MailDecision, Text: "A or\nB?"},
		session.Mail{Type: session.MailRisk, Text: "the disk is full"},
		session.ParallelStarted{Prompt: "Sort it.", Branches: []session.ParallelBranch{{Session: "p1", Name: "big", Model: "a/b"}, {Session: "p2", Model: "a/c"}}},
		session.ParallelEnded{Selected: "p1", Reason: "most tests pass", Results: []session.ParallelResult{
			{Session: "p1", Score: 0.75, Usage: llm.Usage{Cost: 0.5}}, {Session: "p2", Error: "no answer"},
		}},
		session.ParallelEnded{},
	)
	want := []Note{
		{NoteInfo, "explorer: find the callers of X, in the background", "", "Find them."},
		{NoteInfo, "agent: Fix the test., in a copy of the project", "", "Fix the test.\nAll of it."},
		{Kind: NoteWarning, Title: "agent: Fix the test. · failed"},
		{
			NoteWarning, "explorer: find the callers of X · completed · $0.02 · 2s · 1 doubt · 2 denied calls", "**Two** callers.",
			"files:\n  a.go\nchecks:\n  go test · verified\n  go vet · not verified: it did not run\ndoubts:\n  go vet did not run\ndenied:\n  write b (permission.scope)\nlimitations:\n  no Windows\nrisks:\n  slow\n",
		},
		{Kind: NoteInfo, Title: "agent: task t9 · cancelled"},
		{NoteWarning, "a decision is needed: A or B?", "A or\nB?", ""},
		{NoteWarning, "a risk: the disk is full", "the disk is full", ""},
		{NoteInfo, "2 runs on one prompt: Sort it.", "", "big (a/b)\na/c\n"},
		{NoteInfo, "selected big (a/b): most tests pass", "", "big (a/b) · score 0.75 · $0.50 · selected\na/c · no answer\n"},
		{Kind: NoteWarning, Title: "no parallel run was selected"},
	}
	if len(items) != len(want) {
		t.Fatalf("%d notes, want %d", len(items), len(want))
	}
	for i, it := range items {
		if it.Note != want[i] {
			t.Errorf("got %+v, want %+v", it.Note, want[i])
		}
	}
}

// Parallel runs are tasks. They end with their group, or with the process that ran them.
func TestParallelRunsAreTasks(t *testing.T) {
	var tr Transcript
	state := func(want string) {
		t.Helper()
		got := ""
		for _, k := range tr.Tasks() {
			got += fmt.Sprintf("%s %s %s %s %d", k.Task, k.Label(), k.Model, k.Worktree, k.Attempt)
			if k.Report != nil {
				got += fmt.Sprintf(" %s %s %.1f", k.Report.Outcome, k.Report.Summary, k.Usage.Cost)
			}
			got += "\n"
		}
		if got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
	begun := session.ParallelStarted{Group: "g", Prompt: "Sort it.", Branches: []session.ParallelBranch{
		{Session: "p1", Name: "1", Model: "a/b", Worktree: "w1"}, {Session: "p2", Name: "2", Model: "a/b", Worktree: "w2"}, {Name: "3"},
	}}
	fold(&tr, begun)
	state("g.1 run 1 a/b w1 1\ng.2 run 2 a/b w2 1\ng.3 run 3   0\n")
	fold(&tr, session.ParallelEnded{Group: "g", Selected: "p2", Reason: "it is short", Results: []session.ParallelResult{
		{Session: "p1", Usage: llm.Usage{Cost: 0.5}}, {Session: "p2"}, {Error: "no space"},
	}}, session.Message{})
	state("g.1 run 1 a/b w1 1 completed not selected 0.5\ng.2 run 2 a/b w2 1 completed selected: it is short 0.0\ng.3 run 3   0 failed no space 0.0\n")
	if selected, all := tr.Parallel(); selected != "w2" || !slices.Equal(all, []string{"w1", "w2"}) {
		t.Error(selected, all)
	}
	tr = Transcript{}
	fold(&tr, begun, session.RunStarted{Run: "r"})
	state("g.1 run 1 a/b w1 1 cancelled  0.0\ng.2 run 2 a/b w2 1 cancelled  0.0\ng.3 run 3   0 cancelled  0.0\n")
	if selected, all := tr.Parallel(); selected != "" || len(all) != 2 {
		t.Error(selected, all)
	}
}

// The state of a task is that of its newest attempt.
func TestTasks(t *testing.T) {
	var tr Transcript
	fold(
		&tr,
		session.TaskCreated{Task: "t1", Text: "Do it."},
		session.TaskStarted{Task: "t1", Attempt: 1, Session: "s1", Worktree: "w1"},
		session.TaskSettled{Task: "t1", Attempt: 1, Report: session.TaskReport{Outcome: session.TaskFailed, Usage: llm.Usage{Output: 3}}},
		session.Mail{Mail: "m2", Reply: "m1", Type: session.MailInstruction},
		session.TaskStarted{Task: "t1", Attempt: 2, Session: "s1", Worktree: "w1"},
	)
	tr.Add(session.Event{Seq: 9, ID: "e9", Imported: true, Body: session.TaskCreated{Task: "t2", Text: "Do that."}})
	if all := tr.Tasks(); len(all) != 1 || all[0].Attempt != 2 || all[0].Report != nil || all[0].Usage.Output != 3 || all[0].Worktree != "w1" || !all[0].Since.After(all[0].Time) {
		t.Errorf("%+v", all)
	}
	if !tr.Replied("m1") || tr.Replied("m2") {
		t.Error("the mail m1 has an answer, m2 has none")
	}
}

// A message of an agent has a name and a role, and no ID of a session.
func TestAuthorsThatAreAgents(t *testing.T) {
	var tr Transcript
	by := func(name string) session.Message {
		return session.Message{Message: llm.UserText("x"), Speaker: session.Speaker{Kind: session.SpeakerAgent, Name: name}}
	}
	items := fold(
		&tr,
		session.Created{Parent: session.Origin{Session: "s0"}},
		session.TaskCreated{Task: "t1", Name: "find the callers", Role: "explorer"}, session.TaskStarted{Task: "t1", Attempt: 1, Session: "s1"},
		by("s1"), by("s0"), by("other"),
	)
	for i, want := range []string{"Agent find the callers (explorer)", "Agent that gave the task", "Agent other"} {
		if got := items[1+i].Who(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
