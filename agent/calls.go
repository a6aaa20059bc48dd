package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/window"
)

// name is the name of a prepared call for rules and people.
func (j *job) name() string { return cmp.Or(tool.Line(j.ready.As), j.call.Name) }

// caller runs the calls of the answers of a run.
type caller struct {
	*run
	room     window.Room // for the results of the calls that are on
	unusable int         // turns in a row whose calls could not be used
	denials  int         // calls in a row that were denied
	repeats  repeats
}

// job is one call of an answer on its way to its result.
type job struct {
	call    llm.ToolCall // as the tool knows it
	written string       // the name that the model wrote
	tool    tool.Tool
	ready   *tool.Call        // nil while its arguments are not checked
	changed []session.Speaker // who changed its arguments, in order
	byGate  bool              // its arguments are those of the gate
	note    string            // for the model, after the result
	own     bool              // a person made the call, see Use
	entry   session.Event     // of the result
	result  *session.Message
}

// runCalls gives every call of an answer its result: it checks the arguments, asks the gate about all of them together, and
// runs what may run. Results are durable as they come in. The error is one that ends the run; then, too, every call has its
// result, unless the journal cannot be written.
func (r *caller) runCalls(calls []llm.ToolCall, stop llm.StopReason) error {
	if len(calls) == 0 {
		return nil
	}
	jobs, begun := make([]*job, len(calls)), time.Now()
	for i, c := range calls {
		jobs[i] = &job{call: c, written: c.Name}
	}
	all := slices.Clone(jobs)
	defer func() { r.repeats.add(all, time.Since(begun)) }()
	if err := r.measure(jobs); err != nil {
		r.refuse(jobs, session.OutcomeSkipped, "This call was not run: Tenon could not measure the space for its result.")
		_, failed := r.append(results(jobs)...)
		return firstError(failed, err)
	}
	r.check(jobs, stop == llm.StopLength)
	decisions, err := r.decide(jobs)
	switch {
	case err != nil && r.ctx.Err() != nil:
		r.refuse(jobs, session.OutcomeCancelled, "This call was not run: the run was cancelled before it was allowed.")
	case err != nil:
		r.refuse(jobs, session.OutcomeDenied, "This call was not run: the permission check failed.")
	}
	if _, failed := r.append(append(decisions, results(jobs)...)...); failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	return r.schedule(slices.DeleteFunc(jobs, func(j *job) bool { return j.result != nil }))
}

// measure asks the window how much room there is for the results. Where there is none, the calls have theirs then.
func (r *caller) measure(jobs []*job) (err error) {
	r.room, err = r.a.options.Window.Room(r.ctx, r.a.feed.branch, r.header())
	if err != nil {
		return fmt.Errorf("agent: cannot measure the window: %w", err)
	}
	if r.room.Blocked {
		r.refuse(jobs, session.OutcomeSkipped, "This call was not run: the context window has no space for its result. "+
			"Conclude now: report what you did, what you found, and what remains.")
	}
	if r.room.Note != "" {
		jobs[len(jobs)-1].note = r.room.Note
	}
	return nil
}

// check finds the tool of each call and validates its arguments. What cannot run has its result then.
func (r *caller) check(jobs []*job, cut bool) {
	seen := make(map[string]int)
	unusable := 0
	for i, j := range jobs {
		switch {
		case j.result != nil:
			continue
		case cut || j.call.Truncated:
			unusable++
			j.settle(session.OutcomeInvalid, "This call was not run: the answer was cut at the output limit, so its arguments may be "+
				"incomplete. Make fewer or smaller calls in one answer.")
			continue
		case r.concluding:
			j.settle(session.OutcomeDenied, "This call was not run: no more calls are allowed in this run.")
			continue
		}
		canonical, err := r.setup.dialect.Call(j.call)
		if err == nil {
			j.call = canonical
			err = r.prepare(j, j.call.Arguments)
		}
		if err != nil {
			if _, ok := errors.AsType[*tool.ArgumentsError](err); ok || j.tool == nil {
				unusable++
			}
			j.settle(session.OutcomeInvalid, err.Error())
			continue
		}
		key := j.call.Name + "\x00" + string(j.ready.Arguments)
		if first, again := seen[key]; again && r.redundant(j, first, jobs[first+1:i]) {
			continue
		}
		seen[key] = i
	}
	if unusable == len(jobs) {
		r.unusable++
	} else {
		r.unusable = 0
	}
}

// redundant answers a call that repeats an earlier read of the same answer, if no call between the two may change the file. Every other call
// runs again, because each run has its effect. If the call changes something, a notice reports the repetition, which may be a mistake.
func (r *caller) redundant(j *job, first int, between []*job) bool {
	e := j.ready.Effects
	if !e.ReadOnly() {
		r.a.feed.hub.moment(live.Notice{Text: fmt.Sprintf("the model asks for the same call of %s twice", j.call.Name)})
		return false
	}
	disturbs := func(o *job) bool { return o.ready != nil && o.ready.Effects.Collides(e) }
	if !e.Idempotent || e.Command != "" || len(e.Reads) == 0 || slices.ContainsFunc(between, disturbs) {
		return false
	}
	j.settle(session.OutcomeSkipped, fmt.Sprintf("This call is the same as call %d of this message; see its result.", first+1))
	j.result.IsError = false
	return true
}

// prepare validates arguments for the job's tool.
func (r *caller) prepare(j *job, arguments string) error {
	t, ok := r.setup.tools.byName[j.call.Name]
	if !ok {
		return fmt.Errorf("there is no tool named %q", j.call.Name)
	}
	j.tool = t
	ready, err := contained(func() (*tool.Call, error) { return t.Prepare(r.ctx, arguments) })
	switch {
	case err != nil:
		return err
	case ready == nil || ready.Run == nil || !json.Valid(ready.Arguments):
		return fmt.Errorf("the tool %s is at fault: it prepared a call without a function to run, or without arguments in JSON", j.call.Name)
	}
	j.ready = ready
	return nil
}

// maxChanges is how often the arguments of a call may be changed before it runs.
const maxChanges = 3

// decide asks the hooks and the gate about the calls that can run, and returns the decisions that the journal keeps, also with an error.
// Denied calls have their result then. If the gate changes the arguments of a call, all of them decide about it once more.
func (r *caller) decide(jobs []*job) (decisions []session.Body, _ error) {
	open := jobs
	for round := 0; ; round++ {
		open = slices.DeleteFunc(slices.Clone(open), func(j *job) bool { return j.result != nil })
		for _, j := range open {
			decisions = append(decisions, r.beforeCall(j)...)
		}
		open = slices.DeleteFunc(open, func(j *job) bool { return j.result != nil })
		if len(open) == 0 || r.ctx.Err() != nil {
			return decisions, nil
		}
		proposed := make([]Proposed, len(open))
		for i, j := range open {
			proposed[i] = j.proposed()
		}
		verdicts, err := r.setup.gate.Decide(r.ctx, proposed)
		if err == nil && len(verdicts) != len(open) {
			err = fmt.Errorf("agent: the gate gave %d verdicts for %d calls", len(verdicts), len(open))
		}
		if err != nil {
			return decisions, err
		}
		var changed []*job
		for i, j := range open {
			d, again := r.judge(j, verdicts[i], round)
			if d.Verdict == "deny" || d.By != "" || d.Reason != "" || d.Arguments != "" {
				decisions = append(decisions, d)
			}
			if again {
				changed = append(changed, j)
			}
		}
		open = changed
	}
}

// proposed is the call as the hooks and the gate see it.
func (j *job) proposed() Proposed {
	return Proposed{
		Call: j.call, Tool: j.tool.Spec(), As: j.name(), Title: tool.Line(j.ready.Title), Arguments: j.ready.Arguments,
		Effects: j.ready.Effects, Preview: j.ready.Preview, Changed: j.byGate,
	}
}

// beforeCall lets the hooks change or deny a call.
func (r *caller) beforeCall(j *job) (decisions []session.Body) {
	refused := r.a.hooks.refuse(func(h Hook) error {
		if h.BeforeCall == nil || j.result != nil {
			return nil
		}
		arguments, err := h.BeforeCall(r.ctx, j.proposed())
		if err != nil || arguments == "" {
			return err
		}
		changed, err := r.change(j, arguments, h.speaker())
		if changed || err != nil {
			decisions = append(decisions, session.Decision{
				Call: j.call.ID, Verdict: "change", By: h.Name, Speaker: h.speaker(), Arguments: arguments,
			})
		}
		if err != nil {
			j.settle(session.OutcomeInvalid, fmt.Sprintf("This call was not run: hook %s changed its arguments, and they are invalid: %v", h.Name, err))
		}
		return nil
	})
	if refused != nil {
		decisions = append(decisions, r.deny(j, session.Decision{
			By: refused.by.Name, Speaker: refused.by, Code: refused.code(), Reason: refused.Error(),
		}))
	}
	return decisions
}

// change replaces the arguments of a call, and reports whether they are others now.
func (r *caller) change(j *job, arguments string, by session.Speaker) (changed bool, _ error) {
	before := j.ready.Arguments
	if err := r.prepare(j, arguments); err != nil {
		return false, err
	}
	if bytes.Equal(before, j.ready.Arguments) {
		return false, nil
	}
	j.byGate = by.Kind != session.SpeakerHook
	j.changed = append(j.changed, by)
	return true, nil
}

// deny gives a call the result of its denial, and completes the decision.
func (r *caller) deny(j *job, d session.Decision) session.Decision {
	d.Call, d.Verdict, d.Title = j.call.ID, "deny", tool.Line(j.ready.Title)
	if name := j.name(); name != j.written {
		d.As = name
	}
	r.denials++
	j.settle(session.OutcomeDenied, "This call was denied: "+firstOf(d.Reason, "it is not allowed here")+".")
	return d
}

// judge applies a verdict of the gate to a call. It returns the decision, and whether the call must be decided about again because its
// arguments have become others.
func (r *caller) judge(j *job, v Verdict, round int) (d session.Decision, again bool) {
	if v.Fails != nil {
		j.finish(r.bounded(j.call, message(j.call, tool.Result{}, v.Fails)))
		return d, false
	}
	d = session.Decision{Call: j.call.ID, Verdict: "allow", By: v.By, Code: v.Code, Reason: v.Reason, Arguments: v.Arguments, Remedy: v.Remedy}
	if !v.Allow {
		return r.deny(j, d), false
	}
	if v.Arguments != "" {
		changed, err := r.change(j, v.Arguments, changer(v))
		switch {
		case err != nil:
			j.settle(session.OutcomeInvalid, "This call was not run: its arguments were changed when it was allowed, and they are invalid: "+err.Error())
			return d, false
		case changed && round == maxChanges:
			d.Reason = "its arguments were changed again and again"
			return r.deny(j, d), false
		case changed:
			return d, true
		}
		d.Arguments = ""
	}
	r.denials = 0
	return d, false
}

// changer is who changes arguments by a verdict.
func changer(v Verdict) session.Speaker {
	if v.By == string(session.SpeakerPerson) {
		return session.Speaker{Kind: session.SpeakerPerson}
	}
	return session.Speaker{Kind: session.SpeakerTenon, Name: v.By}
}

// refuse gives a result to every job that has none.
func (r *caller) refuse(jobs []*job, outcome session.Outcome, text string) {
	for _, j := range jobs {
		if j.result == nil {
			j.settle(outcome, text)
		}
	}
}

// settle gives the job a result without having run.
func (j *job) settle(outcome session.Outcome, text string) {
	m := view.Result(j.call, outcome, text)
	m.Message = m.Valid()
	j.finish(m)
}

// finish gives the job its result, with the note for the model after it.
func (j *job) finish(m session.Message) {
	if j.note != "" {
		m.Content = append(slices.Clone(m.Content), llm.Text{Text: "\n[" + j.note + "]"})
	}
	j.result = &m
}

// results returns the results that jobs have.
func results(jobs []*job) []session.Body {
	var bodies []session.Body
	for _, j := range jobs {
		if j.result != nil {
			bodies = append(bodies, *j.result)
		}
	}
	return bodies
}

// maxDetails is how many bytes of JSON the details of a result may have.
const maxDetails = 1 << 20

// message makes the result of a call that ran, without bounds.
func message(c llm.ToolCall, res tool.Result, err error) session.Message {
	m := session.Message{Message: llm.Message{
		Role: llm.RoleTool, CallID: c.ID, Tool: c.Name, Content: res.Content, IsError: res.IsError || err != nil,
	}}
	if err != nil {
		m.Content = append(slices.Clone(res.Content), llm.Text{Text: err.Error()})
	}
	if m.IsError {
		m.Outcome = session.OutcomeFailed
	}
	m.Failed, m.Brief, m.Diffs = res.Failed, res.Brief, journaled(res.Diffs)
	if res.Details != nil {
		details, err := json.Marshal(res.Details)
		if err != nil {
			details, _ = json.Marshal(map[string]string{"error": "the details are no JSON: " + err.Error()})
		}
		m.Details = details
	}
	return m
}

// bounded is a result as the journal keeps it. What a tool or a hook returns is data: it is bounded and made valid text.
func (r *caller) bounded(c llm.ToolCall, m session.Message) session.Message {
	m.Content = r.bound(c, m.Content)
	m.Message = m.Valid()
	m.Brief, m.Diffs = tool.Line(m.Brief), diffs(m.Diffs)
	switch {
	case len(m.Details) > maxDetails:
		m.Details, _ = json.Marshal(map[string]any{"error": "the details were too large to keep", "bytes": len(m.Details)})
	case len(m.Details) > 0 && !json.Valid(m.Details):
		m.Details, _ = json.Marshal(map[string]string{"error": "the details are no JSON"})
	}
	return m
}

// maxDiffs is how many files the diffs of a result have, maxDiffText how many bytes all their texts.
const maxDiffs, maxDiffText = 200, 64 << 10

// journaled is the diffs of a tool as the journal has them.
func journaled(all []tool.FileDiff) (out []session.FileDiff) {
	for _, d := range all {
		out = append(out, session.FileDiff(d))
	}
	return out
}

// diffs bounds the diffs of a result.
func diffs(all []session.FileDiff) []session.FileDiff {
	if len(all) == 0 {
		return nil
	}
	out := make([]session.FileDiff, min(len(all), maxDiffs))
	room := maxDiffText
	for i := range out {
		d := all[i]
		d.Path, d.From, d.Text = strings.ToValidUTF8(d.Path, "\ufffd"), strings.ToValidUTF8(d.From, "\ufffd"), strings.ToValidUTF8(d.Text, "\ufffd")
		if len(d.Text) > room {
			d.Text, d.Cut = d.Text[:strings.LastIndexByte(d.Text[:room], '\n')+1], true
		}
		room -= len(d.Text)
		out[i] = d
	}
	return out
}

// limit is the number of bytes of text that a result may have.
func (r *caller) limit() int {
	if r.room.Result > 0 {
		return min(r.a.options.MaxResult, r.room.Result)
	}
	return r.a.options.MaxResult
}

// bound cuts a result to what the window has room for, keeps the whole text, and says where. A tool that knows the limit has cut its text itself.
func (r *caller) bound(c llm.ToolCall, content llm.Content) llm.Content {
	e := tool.Excerpt{Head: content.Text()}
	if len(e.Head) > r.limit() && r.a.options.Keep != nil && !tool.Binary(e.Head) {
		place, err := r.a.options.Keep(context.WithoutCancel(r.ctx), c, e.Head)
		if e.File, e.Kept = place, int64(len(e.Head)); err != nil {
			e.File, e.Kept, e.Lost = "", 0, err.Error()
		}
	}
	return bound(content, e, r.limit())
}

// bound truncates the texts of a result to limit bytes together, and replaces binary data by a note. Texts that are too long together become
// one text, the excerpt, because the limit also holds for a thousand short ones.
func bound(content llm.Content, e tool.Excerpt, limit int) llm.Content {
	if len(e.Head) > limit {
		content = slices.Clone(content)
		i := slices.IndexFunc(content, isText)
		text, _ := e.Bound(limit)
		content[i] = llm.Text{Text: text}
		return append(content[:i+1], slices.DeleteFunc(content[i+1:], isText)...)
	}
	out := content
	for i, p := range content {
		t, ok := p.(llm.Text)
		if !ok {
			continue
		}
		if cut, lost := tool.Bound(t.Text, limit); lost > 0 {
			out = slices.Clone(out)
			out[i] = llm.Text{Text: cut}
		}
	}
	return out
}

func isText(p llm.Part) bool {
	_, ok := p.(llm.Text)
	return ok
}

// contained calls f and returns its panic as an error.
func contained[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the tool panicked: %v", p)
		}
	}()
	return f()
}

// report returns the function with which a running call reports its progress.
func (r *caller) report(ctx context.Context, c llm.ToolCall) tool.Report {
	return func(text string) {
		p := live.Progress{Call: c.ID, Tool: c.Name, Text: strings.ToValidUTF8(text[max(0, len(text)-maxProgress):], "\uFFFD")}
		if ctx.Err() == nil && text != "" {
			r.moment(p)
		}
	}
}

// encode is the JSON of a value of ours that always has one.
func encode(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
