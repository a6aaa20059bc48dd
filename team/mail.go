package team

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/tool"
)

// inbox is the queue of a session, and all drafts that it ever had.
type inbox struct {
	request.State
	known map[session.ID]bool
}

func inboxOf(ctx context.Context, log session.Log, id session.SessionID) (*inbox, error) {
	box := &inbox{known: make(map[session.ID]bool)}
	for e, err := range log.Read(ctx, id, 0, request.Kinds()...) {
		if err != nil {
			return nil, err
		}
		_ = box.State.Add(e) // its sender knows
		if q, ok := e.Body.(session.Queued); ok && q.Change == "added" && !e.Imported {
			box.known[q.Draft] = true
		}
	}
	return box, nil
}

// lacks returns what a sub-agent has not received yet: its prompt and instructions.
func (b *inbox) lacks(one *Task) (drafts []request.Draft) {
	if !b.known[one.Task] {
		drafts = append(drafts, draftOf(one.Task, session.FromFollowUp, one.Text))
	}
	for _, m := range one.Mail {
		if m.Type == session.MailInstruction && !b.known[m.Mail] {
			drafts = append(drafts, draftOf(m.Mail, laneOf(m), instructionText(m)))
		}
	}
	return drafts
}

// draftOf makes a draft without its speaker.
func draftOf(id session.ID, lane session.Source, text string) request.Draft {
	return request.Draft{ID: id, Lane: lane, Message: session.Message{Message: llm.UserText(text).Valid()}}
}

// laneOf is the lane in which mail enters. An answer enters before the next request, because its receiver waits for it.
func laneOf(m session.Mail) session.Source {
	switch {
	case m.Reply != "" || m.Priority == session.MailInterrupt:
		return session.FromSteering
	case m.Priority == session.MailUrgent:
		return session.FromFollowUp
	default:
		return session.FromNews
	}
}

// deliver queues what the sub-agent has not received.
func (w *worker) deliver(ctx context.Context) error {
	w.delivering.Lock() // one delivery at a time, in the order of the mail
	defer w.delivering.Unlock()
	m := w.current()
	if m == nil {
		return nil // the worker does it when it opens the agent
	}
	one, _ := w.t.Task(w.created.Task)
	box, err := inboxOf(ctx, w.t.options.Store, one.Session)
	if err != nil {
		return err
	}
	for _, d := range box.lacks(&one) {
		d.Message.Speaker = speakerOf(w.t.owner.Session())
		if _, err := m.Agent().Queue(ctx, d); err != nil && !late(err) && !errors.Is(err, agent.ErrClosed) {
			return err
		}
	}
	return nil
}

// flush reads the journal of the sub-agent for results of its tools: it records and delivers the mail in them, and returns the report if there
// is one.
func (w *worker) flush(ctx context.Context) (*session.TaskReport, error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	one, _ := w.t.Task(w.created.Task)
	if one.Session == "" {
		return nil, nil
	}
	for e, err := range w.t.options.Store.Read(ctx, one.Session, w.seen, session.Message{}.Kind()) {
		if err != nil {
			return w.report, err
		}
		if s := saidBy(e); s.Task == w.created.Task && s.Attempt == w.attempt {
			if s.Mail != nil {
				err = w.t.post(ctx, w, *s.Mail)
			}
			if w.report = cmp.Or(w.report, s.Report); err != nil {
				return w.report, err
			}
		}
		w.seen = e.Seq
	}
	return w.report, nil
}

// saidBy returns the details of an entry that is the result of a tool of a sub-agent.
func saidBy(e session.Event) (s said) {
	m, _ := e.Body.(session.Message)
	if !e.Imported && m.Role == llm.RoleTool && m.Outcome == session.OutcomeOK && slices.Contains(childTools, m.Tool) {
		_ = json.Unmarshal(m.Details, &s) // else it is empty
	}
	return s
}

// post records mail of a sub-agent in its session, if that has not been done, and delivers it to the owner.
func (t *Team) post(ctx context.Context, w *worker, m session.Mail) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.state.Task(m.Task)
	if slices.ContainsFunc(one.Mail, func(o session.Mail) bool { return o.Mail == m.Mail }) {
		return nil
	}
	now := session.Now()
	ctx = context.WithoutCancel(ctx)
	var err error
	if a := w.current(); a != nil {
		err = a.Agent().Record(ctx, m)
	} else {
		_, err = t.options.Store.Annotate(ctx, one.Session, m)
	}
	if err != nil {
		return err
	}
	_ = t.state.AddChild(m.Task, session.Event{Time: now, Body: m}) // it is new
	t.change()
	return t.receive(ctx, one, m)
}

// receive queues mail of a sub-agent for the owner. The lock is held.
func (t *Team) receive(ctx context.Context, one *Task, m session.Mail) error {
	d := draftOf(m.Mail, laneOf(m), mailText(one, m))
	d.Message.Speaker = speakerOf(one.Session)
	_, err := t.owner.Queue(ctx, d)
	if late(err) || errors.Is(err, agent.ErrClosed) { // the next process delivers it
		return nil
	}
	if d.Lane != session.FromNews {
		t.wake()
	}
	return err
}

// Instruction is mail of the owner, or of a person, to a sub-agent.
type Instruction struct {
	Task     session.ID
	Text     string
	Priority session.MailPriority // default urgent
	Reply    session.ID           // the question that it answers; empty: the one that the sub-agent waits for, if it does
	Speaker  session.Speaker      // a person; zero: the owner
}

// Send sends an instruction. If the newest attempt at the task is settled, it starts the next one, which knows what was said before. Send
// returns when the instruction is durable. The text of a person goes to the session of the sub-agent at once, with the authority of a person.
func (t *Team) Send(ctx context.Context, in Instruction) error {
	w, err := t.send(ctx, in)
	if err != nil {
		return err
	}
	err = w.deliver(ctx)
	w.wake()
	return err
}

// send records an instruction, and returns the worker that delivers it.
func (t *Team) send(ctx context.Context, in Instruction) (*worker, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.usable(); err != nil {
		return nil, err
	}
	one := t.state.Task(in.Task)
	switch {
	case one == nil:
		return nil, unknownTask(in.Task)
	case one.Session == "":
		return nil, tool.Codef("team.not_found", "task %s has no sub-agent; give it again", in.Task)
	case in.Reply != "" && (one.Decision() == nil || one.Decision().Mail != in.Reply):
		return nil, tool.Codef("team.not_found", "task %s does not wait for an answer to %s", in.Task, in.Reply)
	case one.Decision() != nil && in.Priority != session.MailNotify:
		in.Reply = one.Decision().Mail
	}
	if !one.Open() && in.Priority == session.MailNotify { // it starts an attempt
		in.Priority = session.MailUrgent
	}
	m := session.Mail{
		Mail: session.NewSessionID(), Task: in.Task, To: one.Session, Type: session.MailInstruction,
		Priority: cmp.Or(in.Priority, session.MailUrgent), Reply: in.Reply, Text: in.Text,
	}
	var bodies []session.Body
	person := in.Speaker.Kind == session.SpeakerPerson
	if !person || m.Reply != "" { // its draft is enough
		bodies = append(bodies, m)
	}
	again := !one.Open()
	if again {
		if err := room(t); err != nil {
			return nil, err
		}
		bodies = append(bodies, nextAttempt(one))
	}
	if person {
		d := draftOf(m.Mail, laneOf(m), in.Text)
		added := session.Queued{Draft: d.ID, Change: "added", Lane: d.Lane, Message: d.Message.Message, Speaker: in.Speaker}
		if _, err := request.Send(ctx, t.options.Store, one.Session, added); err != nil {
			return nil, err
		}
	}
	if err := t.record(ctx, bodies...); err != nil {
		return nil, err
	}
	if again {
		return t.launchNext(one), nil
	}
	w := t.workers[in.Task]
	if w == nil {
		w = t.worker(one)
		t.launch(w)
	}
	return w, nil
}

// maxReport is how many bytes of a report the owner gets. The journal has all of it.
const maxReport = 16 << 10

// title names a task in texts for a model.
func title(one *Task) string {
	if one.Name == "" {
		return "task " + string(one.Task)
	}
	return fmt.Sprintf("task %s (%s)", one.Task, tool.Line(one.Name))
}

// reportText is a report for the owner.
func reportText(one *Task, attempt int, r session.TaskReport) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Report about %s, attempt %d: %s.\n%s\n", title(one), attempt, r.Outcome, strings.TrimSpace(r.Summary))
	list := func(name string, items []string) {
		if len(items) > 0 {
			fmt.Fprintf(&b, "%s:\n- %s\n", name, strings.Join(items, "\n- "))
		}
	}
	list("Files that it names", r.Files)
	list("Files that it changed", r.Changed)
	var checks []string
	for _, c := range r.Checks {
		state := "verified"
		if !c.Verified {
			state = "not verified"
		}
		checks = append(checks, fmt.Sprintf("%s (%s)", c.Command, state))
	}
	list("Checks", checks)
	list("Doubts about its claims", r.Doubts)
	list(fmt.Sprintf("Denied calls, %d in all", r.Denials), r.Denied)
	list("Limitations", r.Limitations)
	list("Risks", r.Risks)
	list("Recommended further work", r.FollowUps)
	list("Artifacts", r.Artifacts)
	if one.Worktree != "" {
		fmt.Fprintf(&b, "Its changes are in worktree %s: %s\n", one.Worktree, one.Dir)
	}
	text, _ := tool.Bound(strings.TrimRight(b.String(), "\n"), maxReport)
	return text
}

// mailText is mail of a sub-agent for the owner.
func mailText(one *Task, m session.Mail) string {
	text := fmt.Sprintf("Message about %s, %s:\n%s", title(one), strings.ReplaceAll(string(m.Type), "_", " "), m.Text)
	if m.Type == session.MailDecision {
		text += fmt.Sprintf("\nThe sub-agent waits. Answer with agent_send: task %s, reply %s.", m.Task, m.Mail)
	}
	return text
}

// instructionText is mail of the owner for a sub-agent.
func instructionText(m session.Mail) string {
	if m.Reply != "" {
		return "Answer to your question:\n" + m.Text
	}
	return "Instruction of the agent that gave you the task:\n" + m.Text
}
