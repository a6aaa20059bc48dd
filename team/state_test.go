package team_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/team"
)

// Whatever the order and however often: each attempt is settled once, by the first report, and attempts follow each other.
func TestOneSettlementForEachAttempt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := new(team.State)
		outcomes := []session.TaskOutcome{session.TaskCompleted, session.TaskFailed, session.TaskCancelled, "odd"}
		task := rapid.SampledFrom([]session.ID{"a", "b"})
		first := map[session.ID]map[int]string{"a": {}, "b": {}}
		for i := range rapid.IntRange(0, 60).Draw(t, "entries") {
			id, attempt := task.Draw(t, "task"), rapid.IntRange(0, 4).Draw(t, "attempt")
			summary := string(rune('A' + i%26))
			e := session.Event{Seq: int64(i + 1), Time: time.Unix(int64(i), 0), Imported: rapid.IntRange(0, 9).Draw(t, "imported") == 0}
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				e.Body = session.TaskCreated{Task: id, Text: "x", Key: "k" + string(id)}
			case 1, 2:
				e.Body = session.TaskStarted{Task: id, Attempt: attempt, Session: "s" + id}
			default:
				outcome := rapid.SampledFrom(outcomes).Draw(t, "outcome")
				e.Body = session.TaskSettled{Task: id, Attempt: attempt, Report: session.TaskReport{Outcome: outcome, Summary: summary}}
			}
			before := 0
			if one := s.Task(id); one != nil {
				before = len(one.Reports)
			}
			err := s.Add(e)
			one := s.Task(id)
			if one == nil {
				continue
			}
			settled, isReport := e.Body.(session.TaskSettled)
			if isReport && err == nil && !e.Imported {
				if _, twice := first[id][settled.Attempt]; twice {
					t.Fatalf("attempt %d of %s was settled twice", settled.Attempt, id)
				}
				first[id][settled.Attempt] = summary
			} else if len(one.Reports) != before {
				t.Fatalf("entry %d changed the reports: %v", e.Seq, err)
			}
		}
		for _, one := range s.Tasks {
			if len(one.Reports) > one.Attempt || one.Attempt > len(one.Reports)+1 {
				t.Fatalf("attempt %d with %d reports", one.Attempt, len(one.Reports))
			}
			for i, r := range one.Reports {
				if r.Summary != first[one.Task][i+1] {
					t.Fatalf("the report of attempt %d is %q, the first was %q", i+1, r.Summary, first[one.Task][i+1])
				}
			}
			if open := s.ByKey(one.Key) == one; open != one.Open() {
				t.Fatalf("found by key: %v, open: %v", open, one.Open())
			}
		}
	})
}

// The status follows from the entries of the owner and of the sub-agent.
func TestStatus(t *testing.T) {
	s := new(team.State)
	at := func(b session.Body) session.Event { return session.Event{Time: time.Unix(1, 0), Body: b} }
	report := func(o session.TaskOutcome) session.TaskReport { return session.TaskReport{Outcome: o} }
	question := session.Mail{Mail: "m", Task: "a", Type: session.MailDecision}
	steps := []struct {
		child bool
		body  session.Body
		want  team.Status
	}{
		{false, session.TaskCreated{Task: "a"}, team.StatusCreated},
		{false, session.TaskStarted{Task: "a", Attempt: 1, Session: "s"}, team.StatusIdle},
		{true, session.RunStarted{}, team.StatusRunning},
		{true, session.TaskCreated{Task: "b"}, team.StatusWaitingTasks},
		{true, session.TaskSettled{Task: "b", Attempt: 1, Report: report(session.TaskFailed)}, team.StatusRunning},
		{true, question, team.StatusWaitingOwner},
		{true, session.RunEnded{}, team.StatusWaitingOwner},
		{false, session.Mail{Mail: "n", Task: "a", Type: session.MailInstruction}, team.StatusWaitingOwner},
		{false, session.Mail{Mail: "o", Task: "a", Type: session.MailInstruction, Reply: "m"}, team.StatusIdle},
		{false, session.TaskSettled{Task: "a", Attempt: 1, Report: report(session.TaskCompleted)}, team.StatusCompleted},
		{false, session.TaskStarted{Task: "a", Attempt: 2, Session: "s"}, team.StatusIdle},
		{false, session.TaskSettled{Task: "a", Attempt: 2, Report: report(session.TaskCancelled)}, team.StatusCancelled},
	}
	for i, step := range steps {
		var err error
		if step.child {
			err = s.AddChild("a", at(step.body))
		} else {
			err = s.Add(at(step.body))
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Task("a").Status(); got != step.want {
			t.Errorf("after step %d, %s: %s, want %s", i, step.body.Kind(), got, step.want)
		}
	}
	for _, b := range []session.Body{
		session.TaskCreated{Task: "a"},
		session.TaskCreated{},
		session.TaskStarted{Task: "z", Attempt: 1, Session: "s"},
		session.TaskStarted{Task: "a", Attempt: 4, Session: "s"},
		session.TaskStarted{Task: "a", Attempt: 3, Session: "other"},
		session.TaskStarted{Task: "a", Attempt: 1, Session: "s"},
		session.TaskSettled{Task: "a", Attempt: 3, Report: report(session.TaskFailed)},
		session.TaskSettled{Task: "z", Attempt: 1},
		session.Mail{Mail: "n", Task: "a", Type: session.MailInstruction},
		session.Mail{Mail: "p", Task: "z", Type: session.MailInstruction},
	} {
		if err := s.Add(at(b)); err == nil {
			t.Errorf("%#v has no error", b)
		}
	}
}
