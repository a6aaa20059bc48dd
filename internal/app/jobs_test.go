package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// newAgent makes an agent that may do everything, with a model that follows a script.
func newAgent(t *testing.T, script string) *Agent {
	t.Helper()
	ag := openAgent(t, script, permission.Yolo)
	t.Cleanup(func() {
		if err := ag.Close(); err != nil {
			t.Error(err)
		}
	})
	return ag
}

// openAgent makes one for the caller to close.
func openAgent(t *testing.T, script string, mode permission.Mode) *Agent {
	t.Helper()
	data, dir := t.TempDir(), t.TempDir()
	getenv := vars("TENON_DATA_DIR", data, "TENON_CONFIG_DIR", t.TempDir(), "HOME", t.TempDir())
	s, err := NewSetup(getenv, dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bounds(dir)
	policy, err := s.Policy(b, Permissions{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(getenv, "v1")
	if err != nil {
		t.Fatal(err)
	}
	ag, err := a.New(t.Context(), Spec{Client: llmtest.Must(script), Bounds: b, Policy: policy, Titles: Titling{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return ag
}

// Close reports the changes that the sandbox undoes when the agent ends a job: no one else can.
func TestCloseReportsWhatTheSandboxUndoes(t *testing.T) {
	if sandbox.Look().Level() != sandbox.Namespaces {
		t.Skip("no sandbox here")
	}
	ag := openAgent(t, "text Done.", permission.Auto)
	up := make(chan bool)
	const line = "git init -q sub; git -C sub config core.fsmonitor ./program; echo up; sleep 1000"
	if _, err := ag.site.workspace.Start(t.Context(), workspace.Command{Line: line, Report: func([]byte) { close(up) }}); err != nil {
		t.Fatal(err)
	}
	<-up
	err := ag.Close()
	if taken, ok := errors.AsType[*conversation.Warning](err); !ok || !strings.Contains(taken.Error(), "core.fsmonitor") {
		t.Error(err)
	}
}

// The model sees the end of a job once, whether a tool or the queue comes first.
func TestTheEndOfAJobIsReportedOnce(t *testing.T) {
	ag := newAgent(t, "text Done.\n---\ntext I see.")
	queued := func(want int) {
		t.Helper()
		if got := len(ag.Requests().Drafts); got != want {
			t.Errorf("%d drafts, want %d", got, want)
		}
	}
	ag.news.ended(workspace.JobStatus{ID: "job1"})
	queued(1)
	ag.news.reported("job1")
	queued(0)
	ag.news.reported("job1")
	ag.news.reported("job2")
	ag.news.ended(workspace.JobStatus{ID: "job2"})
	ag.news.ended(workspace.JobStatus{ID: "job3", Awaited: true})
	ag.news.ended(workspace.JobStatus{ID: "job4", Killed: true})
	queued(0)
	ag.news.ended(workspace.JobStatus{ID: "job5"})
	if _, err := agent.Wait(ag.Run(t.Context(), llm.UserText("go"))); err != nil {
		t.Fatal(err)
	}
	queued(0)
	ag.news.reported("job5") // it is in the conversation already
}

// A tool that waits for a job reports its end. The queue does not repeat it.
func TestAJobThatAToolHasReported(t *testing.T) {
	up := filepath.Join(t.TempDir(), "up")
	ag := newAgent(t, `call shell {"command": "until [ -e `+filepath.ToSlash(up)+` ]; do sleep 0.01; done", "background": true}
---
call job {"action": "wait", "id": "job1"}
---
text Done.
---
text Reported twice.`)
	told := 0
	for e, err := range ag.Run(t.Context(), llm.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.CallStarted:
			if b.Tool != "job" {
				continue
			}
			// Not before the model waits: the end of a job that comes earlier is news for the next turn.
			if err := os.WriteFile(up, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		case session.Message:
			told += strings.Count(b.Content.Text(), "has ended")
		}
	}
	if told != 1 {
		t.Errorf("the end was reported %d times", told)
	}
}

// The model learns of the end of a job with the next results, long before its last answer.
func TestTheEndOfAJobComesWithTheNextResults(t *testing.T) {
	dir := filepath.ToSlash(t.TempDir())
	ag := newAgent(t, `call shell {"command": "until [ -e `+dir+`/up ]; do sleep 0.01; done; echo built", "background": true}
---
call shell {"command": "touch `+dir+`/up; until [ -e `+dir+`/queued ]; do sleep 0.01; done"}
---
call shell {"command": "true"}
---
text Done.`)
	var order []string
	for e, err := range ag.Run(t.Context(), llm.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.Queued:
			if b.Change == "added" {
				if err := os.WriteFile(filepath.Join(dir, "queued"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		case session.Message:
			if order = append(order, string(b.Role)); b.Speaker.Kind == session.SpeakerJob {
				order[len(order)-1] = "job: " + b.Text()
			}
		}
	}
	want := []string{
		"user", "assistant", "tool", "assistant", "tool",
		"job: built\n[the job job1 (until [ -e " + dir + "/up ]; do sleep 0.01; done; echo built) has ended: exit code 0]", "assistant", "tool", "assistant",
	}
	if !slices.Equal(order, want) {
		t.Errorf("the messages are\n%q, want\n%q", order, want)
	}
}

// Lines that the shell cannot read are errors for the model to correct, and no denials, of which three in a row end a run.
func TestSyntaxErrorsAreNoDenials(t *testing.T) {
	const wrong = "call shell {\"command\": \"echo \\\"open\"}\n---\n"
	ag := openAgent(t, strings.Repeat(wrong, 4)+"text Done.", permission.Edits)
	defer ag.Close()
	results := 0
	for e, err := range ag.Run(t.Context(), llm.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.Message:
			if b.Role != llm.RoleTool {
				continue
			}
			if results++; !b.IsError || b.Outcome != session.OutcomeInvalid || !strings.Contains(b.Text(), "unexpected") && !strings.Contains(b.Text(), "nterminated") {
				t.Errorf("%+v", b)
			}
		case session.Decision:
			t.Errorf("%+v", b)
		case session.RunEnded:
			if b.Reason != session.ReasonDone {
				t.Errorf("%+v", b)
			}
		}
	}
	if results != 4 {
		t.Errorf("%d results", results)
	}
}

// Eight times the same harmless command in one message are eight runs, side by side.
func TestEightSleeps(t *testing.T) {
	const calls = 8
	ag := newAgent(t, strings.Repeat("call shell {\"command\": \"sleep 0.2\"}\n", calls)+"---\ntext Done.")
	started, results := 0, 0
	for e, err := range ag.Run(t.Context(), llm.UserText("go")) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.CallStarted:
			started++
		case session.Message:
			if b.Role != llm.RoleTool {
				continue
			}
			if results++; started != calls || b.Outcome != session.OutcomeOK {
				t.Errorf("a result after %d calls had started: %s, %q", started, b.Outcome, b.Content.Text())
			}
		}
	}
	if results != calls {
		t.Errorf("%d results", results)
	}
}
