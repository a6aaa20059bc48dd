package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
)

// Resume continues what an earlier process left: it delivers mail, and lets the sub-agents of open tasks continue in the background. The hook of
// the team calls it before the first run of the owner, so that nothing starts while a person only looks. Once it has succeeded, it does
// nothing.
func (t *Team) Resume(ctx context.Context) error {
	t.admitting.Lock()
	defer t.admitting.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(); err != nil || t.resumed {
		return err
	}
	err := (reopening{t}).resume(ctx)
	if t.resumed = err == nil; err != nil {
		err = fmt.Errorf("team: cannot continue the tasks of session %s: %w", t.owner.Session(), err)
	}
	return err
}

// reopening continues the tasks of an earlier process.
type reopening struct{ *Team }

// resume is Resume once. The lock is held.
func (t reopening) resume(ctx context.Context) error {
	if len(t.state.Tasks) == 0 {
		return nil
	}
	box, err := inboxOf(ctx, t.options.Store, t.owner.Session())
	if err != nil {
		return err
	}
	for _, one := range t.state.Tasks {
		for _, m := range one.Mail {
			if m.Type != session.MailInstruction && !box.known[m.Mail] {
				if err := t.receive(ctx, one, m); err != nil {
					return err
				}
			}
		}
	}
	if err := errors.Join(t.reconcile(ctx, box), t.purge(ctx)); err != nil {
		return err
	}
	for _, one := range t.state.Open() {
		if t.workers[one.Task] == nil {
			t.launch(t.worker(one))
		}
	}
	return nil
}

// reconcile compares the calls of the owner with its tasks: it removes reports that a result shows, and reports tasks whose call was lost.
func (t reopening) reconcile(ctx context.Context, box *inbox) error {
	var lost []*Task // open tasks whose call may have no result
	var waiting []session.ID
	for _, one := range t.state.Tasks {
		if one.Open() && one.Call != "" && !box.known[lostDraft(one.Task)] {
			lost = append(lost, one)
		}
		for _, d := range box.Drafts {
			if strings.HasPrefix(string(d.ID), string(one.Task)+".") {
				waiting = append(waiting, d.ID)
			}
		}
	}
	if len(lost)+len(waiting) == 0 {
		return nil
	}
	for e, err := range t.options.Store.Read(ctx, t.owner.Session(), t.state.Tasks[0].Seq, session.Message{}.Kind()) {
		if err != nil {
			return err
		}
		m, ok := e.Body.(session.Message)
		if !ok || e.Imported || m.Role != llm.RoleTool || m.Outcome == session.OutcomeUnknown || m.Outcome == session.OutcomeInterrupted {
			continue
		}
		lost = slices.DeleteFunc(lost, func(one *Task) bool { return one.Call == m.CallID })
		for _, id := range shownBy(m) {
			if slices.Contains(waiting, id) {
				remove(ctx, t.owner, id)
			}
		}
	}
	for _, one := range lost {
		d := draftOf(lostDraft(one.Task), session.FromNews, fmt.Sprintf(
			"The process ended during the call that started %s. The task continues in the background, and its report comes as a message.", title(one)))
		d.Message.Speaker = session.Speaker{Kind: session.SpeakerTenon}
		if _, err := t.owner.Queue(ctx, d); err != nil && !late(err) {
			return err
		}
	}
	return nil
}

// lostDraft is the draft about a task whose call was lost.
func lostDraft(task session.ID) session.ID { return task + "+lost" }

// remove removes a draft of the owner, unless it has entered the conversation.
func remove(ctx context.Context, owner *agent.Agent, draft session.ID) {
	_, _ = owner.Request(ctx, session.Queued{Draft: draft, Change: "removed"}) // else the owner sees it twice
}

// purge removes sessions that were made for a task and that no entry names, because the process died in between.
func (t reopening) purge(ctx context.Context) error {
	used := make(map[session.SessionID]bool)
	for _, one := range t.state.Tasks {
		used[one.Session] = used[one.Session] || one.Open() || one.Session != ""
	}
	if !used[""] { // each open task has one
		return nil
	}
	for e, err := range t.options.Store.Read(ctx, t.owner.Session(), 0, session.ParallelStarted{}.Kind()) {
		if err != nil {
			return err
		}
		p, _ := e.Body.(session.ParallelStarted)
		for _, b := range p.Branches {
			used[b.Session] = true
		}
	}
	var empty []session.SessionID
	for s, err := range t.options.Store.List(ctx, index.Query{Parent: t.owner.Session()}) {
		if err != nil {
			return err
		}
		if !used[s.ID] && s.Runs == 0 && s.Messages == 0 {
			empty = append(empty, s.ID)
		}
	}
	for _, id := range empty {
		_ = t.options.Store.Purge(ctx, id) // if it fails, an empty session stays, and does no harm
	}
	return nil
}

// Hook returns the hook of the owner. It continues the tasks of an earlier process before the first run.
func (t *Team) Hook() agent.Hook {
	return agent.Hook{
		Name:      "team",
		BeforeRun: func(ctx context.Context, _ session.RunStarted) error { return t.Resume(ctx) },
		AfterCall: func(_ context.Context, _ agent.Proposed, m session.Message) (session.Message, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.shown = append(t.shown, shownBy(m)...)
			return m, nil
		},
		AfterTurn: func(ctx context.Context, _ int, _ live.TurnEnded) { // the results are durable
			t.mu.Lock()
			defer t.mu.Unlock()
			for _, d := range t.owner.Requests().Drafts {
				if slices.Contains(t.shown, d.ID) {
					remove(context.WithoutCancel(ctx), t.owner, d.ID)
				}
			}
			t.shown = nil
		},
		BeforeEnd: func(ctx context.Context, _ llm.Message) string {
			if t.options.Wait {
				awaitTasks(ctx, t)
			}
			return "" // drafts that came continue the run
		},
		AfterRun: func(_ context.Context, end session.RunEnded) {
			if end.Reason == session.ReasonDone { // mail may have come after the run looked for the last time
				t.wake()
			}
		},
	}
}

// shows is the details of results that show reports.
type shows struct {
	Shown []session.ID `json:"shown,omitzero"` // their drafts
}

// shownBy returns the drafts whose text a result of a tool of the team has.
func shownBy(m session.Message) []session.ID {
	var s shows
	if !slices.Contains(ownerTools, m.Tool) || json.Unmarshal(m.Details, &s) != nil {
		return nil
	}
	return s.Shown
}

// awaitTasks waits while sub-agents work and nothing has come for the owner.
func awaitTasks(ctx context.Context, t *Team) {
	for !wakes(t.owner.Requests().Drafts) {
		t.mu.Lock()
		busy, changed := slices.ContainsFunc(t.state.Open(), func(one *Task) bool { return busyWith(t, one) }), t.changed
		t.mu.Unlock()
		if !busy || ctx.Err() != nil || t.ctx.Err() != nil || wakes(t.owner.Requests().Drafts) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-t.ctx.Done():
		}
	}
}

// wake starts a run of the owner, if it is idle and mail of sub-agents waits.
func (t *Team) wake() {
	if t.options.Wake != nil {
		t.options.Wake()
		return
	}
	select {
	case t.wakeup <- struct{}{}:
	default:
	}
}

// wakeAgain is how long wakeOwner waits for an agent that is busy between runs.
const wakeAgain = 250 * time.Millisecond

// wakeOwner starts runs of the owner until the team closes. One run takes all drafts that wait.
func wakeOwner(t *Team) {
	for {
		select {
		case <-t.wakeup:
		case <-t.ctx.Done():
			return
		}
		for {
			d, ok := firstDraft(t.owner.Requests().Drafts, ofAgent)
			if !ok {
				break
			}
			_, err := t.owner.Start(t.ctx, inputOf(d))
			if !errors.Is(err, agent.ErrBusy) || t.owner.Requests().Run != "" { // the end of a run wakes the owner again
				break
			}
			select {
			case <-time.After(wakeAgain):
			case <-t.ctx.Done():
				return
			}
		}
	}
}
