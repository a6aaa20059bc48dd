package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
)

// job is one call of an answer on its way to its result.
type job struct {
	call    llm.ToolCall
	tool    tool.Tool
	ready   *tool.Call // nil while its arguments are not checked
	changed bool       // the gate let it run with other arguments
	note    string     // what the model is told behind its result
	result  *session.Message
}

// runCalls gives every call of an answer its result: it checks the arguments, asks the gate about all of them together, and
// runs what may run. Results are durable as they come in. The error is one that ends the run; then, too, every call has its
// result, unless the journal cannot be written.
func (r *run) runCalls(answer llm.Message) error {
	calls := answer.Calls()
	if len(calls) == 0 {
		return nil
	}
	jobs := make([]*job, len(calls))
	for i, c := range calls {
		jobs[i] = &job{call: c}
	}
	if err := r.measure(jobs); err != nil {
		r.refuse(jobs, session.OutcomeSkipped, "This call was not run: the room for its result could not be measured.")
		_, failed := r.append(results(jobs)...)
		return firstError(failed, err)
	}
	r.check(jobs, answer.Stop == llm.StopLength)
	decisions, err := r.decide(jobs)
	switch {
	case err != nil && r.ctx.Err() != nil:
		r.refuse(jobs, session.OutcomeCancelled, "This call was not run: the run was cancelled before it was allowed.")
	case err != nil:
		r.refuse(jobs, session.OutcomeDenied, "This call was not run: its permission could not be decided.")
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
func (r *run) measure(jobs []*job) (err error) {
	r.room, err = r.a.options.Window.Room(r.ctx, r.a.feed.branch, r.header(r.a.client()))
	if err != nil {
		return fmt.Errorf("agent: measure the window: %w", err)
	}
	if r.room.Blocked {
		r.refuse(jobs, session.OutcomeSkipped, "This call was not run: there is no room for its result. "+
			"Conclude now: say what was done, what was found, and what remains.")
	}
	if r.room.Note != "" {
		jobs[len(jobs)-1].note = r.room.Note
	}
	return nil
}

// check finds the tool of each call and validates its arguments. What cannot run has its result then.
func (r *run) check(jobs []*job, cut bool) {
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
		if err := r.prepare(j, j.call.Arguments); err != nil {
			if _, ok := errors.AsType[*tool.ArgumentsError](err); ok || errors.Is(err, errNoTool) {
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

// redundant answers a call that is the same as an earlier one of the same answer and would see the same: one that reads, with nothing
// between them that may change what it reads. Every other is run again, for each run has its effect, as eight times sleep 1 has; of
// one that changes something people are told, for it may not be meant.
func (r *run) redundant(j *job, first int, between []*job) bool {
	e := j.ready.Effects
	if !e.ReadOnly() {
		r.a.feed.moment(session.Notice{Text: fmt.Sprintf("the model asks for the same call of %s twice", j.call.Name)})
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

var errNoTool = errors.New("there is no tool")

// prepare validates arguments for the job's tool.
func (r *run) prepare(j *job, arguments string) error {
	t, ok := r.a.tools.byName[j.call.Name]
	if !ok {
		return fmt.Errorf("%w named %q; the tools are: %s", errNoTool, j.call.Name, strings.Join(r.a.tools.names, ", "))
	}
	ready, err := contained(func() (*tool.Call, error) { return t.Prepare(r.ctx, arguments) })
	switch {
	case err != nil:
		return err
	case ready == nil || ready.Run == nil || !json.Valid(ready.Arguments):
		return fmt.Errorf("the tool %s is at fault: it prepared a call without a function to run, or without arguments in JSON", j.call.Name)
	}
	j.tool, j.ready = t, ready
	return nil
}

// maxChanges is how often the arguments of a call may be changed before it runs.
const maxChanges = 3

// decide asks the gate about the calls that can run, and returns the decisions that the journal keeps, also with an error. Denied
// calls have their result then. Calls whose arguments were changed are asked about again: nobody's word makes up for the rules.
func (r *run) decide(jobs []*job) (decisions []session.Body, _ error) {
	open := jobs
	for round := 0; ; round++ {
		open = slices.DeleteFunc(slices.Clone(open), func(j *job) bool { return j.result != nil })
		if len(open) == 0 || r.ctx.Err() != nil {
			return decisions, nil
		}
		proposed := make([]Proposed, len(open))
		for i, j := range open {
			proposed[i] = Proposed{
				Call: j.call, Tool: j.tool.Spec(), Arguments: j.ready.Arguments, Effects: j.ready.Effects, Preview: j.ready.Preview, Changed: round > 0,
			}
		}
		verdicts, err := r.ask(proposed)
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

// judge applies a verdict to a call. It returns the decision, and whether the call must be decided about again because its arguments
// have become others.
func (r *run) judge(j *job, v Verdict, round int) (d session.Decision, again bool) {
	d = session.Decision{Call: j.call.ID, Verdict: "allow", By: v.By, Reason: v.Reason, Arguments: v.Arguments}
	if !v.Allow {
		d.Verdict = "deny"
		r.denials++
		j.settle(session.OutcomeDenied, "This call was denied: "+firstOf(v.Reason, "it is not allowed here")+".")
		return d, false
	}
	if v.Arguments == "" {
		r.denials = 0
		return d, false
	}
	before := j.ready.Arguments
	if err := r.prepare(j, v.Arguments); err != nil {
		j.settle(session.OutcomeInvalid, "The arguments of this call were changed before it was allowed, but not well: "+err.Error())
		return d, false
	}
	switch {
	case bytes.Equal(before, j.ready.Arguments):
		d.Arguments = ""
		r.denials = 0
		return d, false
	case round == maxChanges:
		d.Verdict, d.Reason = "deny", "its arguments were changed again and again"
		j.settle(session.OutcomeDenied, "This call was denied: "+d.Reason+".")
		return d, false
	}
	j.changed = true
	return d, true
}

// refuse gives a result to every job that has none.
func (r *run) refuse(jobs []*job, outcome session.Outcome, text string) {
	for _, j := range jobs {
		if j.result == nil {
			j.settle(outcome, text)
		}
	}
}

// settle gives the job a result without having run.
func (j *job) settle(outcome session.Outcome, text string) {
	m := session.Result(j.call, outcome, text)
	m.Message = m.Valid()
	j.finish(m)
}

// finish gives the job its result, with what the model is to be told behind it.
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

// message makes the result of a call that ran. What a tool returns is data: it is bounded and made valid text.
func (r *run) message(c llm.ToolCall, res tool.Result, err error) session.Message {
	m := session.Message{Message: llm.Message{
		Role: llm.RoleTool, CallID: c.ID, Tool: c.Name, Content: res.Content, IsError: res.IsError || err != nil,
	}}
	if err != nil {
		m.Content = append(slices.Clone(res.Content), llm.Text{Text: err.Error()})
	}
	if m.IsError {
		m.Outcome = session.OutcomeFailed
	}
	m.Content = r.bound(c, m.Content)
	m.Message = m.Valid()
	if res.Details != nil {
		details, err := json.Marshal(res.Details)
		if err != nil {
			details, _ = json.Marshal(map[string]string{"error": "the details are no JSON: " + err.Error()})
		}
		if len(details) > maxDetails {
			details, _ = json.Marshal(map[string]any{"error": "the details were too large to keep", "bytes": len(details)})
		}
		m.Details = details
	}
	return m
}

// bound cuts a result to what the window has room for, keeps the whole text, and says where.
func (r *run) bound(c llm.ToolCall, content llm.Content) llm.Content {
	limit := r.a.options.MaxResult
	if r.room.Result > 0 {
		limit = min(limit, r.room.Result)
	}
	text := content.Text()
	if len(text) <= limit || r.a.options.Keep == nil || tool.Binary(text) {
		return bound(content, limit)
	}
	place, err := r.a.options.Keep(context.WithoutCancel(r.ctx), c, text)
	if err != nil {
		r.a.feed.moment(session.Notice{Text: fmt.Sprintf("the whole result of %s could not be kept: %v", c.Name, err)})
		return bound(content, limit)
	}
	return append(bound(content, limit), llm.Text{Text: fmt.Sprintf("\n[The whole of it, %d bytes, is in %s: read the part that you need.]", len(text), place)})
}

// bound cuts the texts of a result to limit bytes together, and tells of binary data only that it is there. Where they are
// too long together they become one text, for a thousand short ones are no less.
func bound(content llm.Content, limit int) llm.Content {
	if text := content.Text(); len(text) > limit {
		content = slices.Clone(content)
		i := slices.IndexFunc(content, isText)
		content[i] = llm.Text{Text: text}
		content = append(content[:i+1], slices.DeleteFunc(content[i+1:], isText)...)
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

// report returns the function with which a running call tells its progress.
func (r *run) report(ctx context.Context, c llm.ToolCall) tool.Report {
	return func(text string) {
		if ctx.Err() == nil {
			r.a.feed.tell(c.ID, c.Name, text)
		}
	}
}

// encode is the JSON of a value of ours that always has one.
func encode(v any) json.RawMessage {
	data, _ := json.Marshal(v)
	return data
}
