package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// view shows a run as one of the output formats does.
type view interface {
	// begin is called once, before the first event.
	begin(h header) error
	// event is called for each event in order. An error means that nobody reads what is written any more.
	event(e session.Event) error
	// end is called once, when r is complete, also when the run never began.
	end(r *report) error
}

// textView is --output text. On a terminal all text of the model is on standard output, as it comes. Elsewhere only the
// answer is, when it is complete: what the model says before its calls goes to standard error, as everything else does.
type textView struct {
	screen  *screen
	quiet   bool // only the answer
	atEnd   bool // the answer is shown when the run is over
	safe    bool // the answer goes to a terminal
	palette palette

	intent  intentFilter
	runes   whole
	begun   bool // text of the message that streams was shown
	streams bool // deltas of the message came
	before  bool // text of an earlier message was shown
	cut     bool // and stopped at the output limit: the next message goes on in the middle of its line

	turn    int
	running []runningCall // calls that run now, oldest first
	calls   map[string]llm.ToolCall
	alike   map[string]int // calls of this turn that did well, by tool
}

// maxAlike is how many calls of one tool are shown in one turn, when there is nothing to say but that they did well. The
// rest is counted.
const maxAlike = 10

// runningCall is a call that has no result yet.
type runningCall struct {
	id, tool, argument string
	started            time.Time
	said               string // the last line that it told
}

func (v *textView) begin(header) error {
	v.phase("starting", time.Now())
	return nil
}

func (v *textView) event(e session.Event) error {
	switch b := e.Body.(type) {
	case session.TurnStarted:
		v.turn = e.Turn
		v.phase("waiting for the model", e.Time)
	case session.TurnEnded:
		v.countAlike()
	case session.MessageStarted:
		v.message()
		v.phase("waiting for the model", e.Time)
	case session.Delta:
		return v.delta(b, e.Time)
	case session.Reset:
		return v.reset(b.Cause)
	case session.Waiting:
		v.waiting(b)
	case session.Routed:
		v.note(v.palette.yellow("! " + routed(b)))
	case session.Notice:
		v.note(v.palette.yellow("! " + oneLine(b.Text)))
	case session.Compacting, session.Digest, session.Reduced, session.Revert:
		if line := windowWords(b); line != "" {
			v.note(v.palette.dim("· " + line))
		}
	case session.Rejected:
		v.note(v.palette.red("✗ turned away: " + oneLine(b.Reason)))
	case session.CallStarted:
		v.callStarted(b, e.Time)
	case session.Progress:
		v.progress(b)
	case session.Message:
		switch {
		case ofRunBefore(b): // which has shown it
		case b.Role == llm.RoleAssistant:
			return v.answer(b)
		case b.Role == llm.RoleTool:
			v.result(b, e.Time)
		}
	}
	return nil
}

// message forgets what is known of the message before.
func (v *textView) message() {
	v.before = v.before || v.begun
	v.begun, v.streams = false, false
	v.intent, v.runes = intentFilter{}, whole{}
}

func (v *textView) delta(d session.Delta, at time.Time) error {
	switch d.Type {
	case session.DeltaText:
		v.streams = true
		if !v.begun {
			v.phase("answering", at)
		}
		if v.atEnd || !v.safe {
			return nil
		}
		return v.show(v.intent.next(v.runes.next(d.Text)))
	case session.DeltaThinking:
		v.phase("thinking", at)
	case session.DeltaArguments:
		if d.Tool != "" {
			v.phase("writing a call of "+oneLine(d.Tool), at)
		}
	}
	return nil
}

// show writes text of the answer.
func (v *textView) show(text string) error {
	if !v.begun && !v.cut {
		text = strings.TrimLeft(text, "\r\n")
		if v.before && text != "" {
			text = "\n" + text
		}
	}
	v.begun = v.begun || text != ""
	if v.safe {
		text = harmless(text)
	}
	return v.screen.answer(text)
}

// answer is the whole message: what was not shown as it came is shown now.
func (v *textView) answer(m session.Message) error {
	v.calls = make(map[string]llm.ToolCall)
	for _, c := range m.Calls() {
		v.calls[c.ID] = c
	}
	if v.atEnd {
		return nil
	}
	text := v.intent.next(v.runes.flush()) + v.intent.flush()
	if !v.streams || !v.safe {
		text = withoutIntent(m.Text())
	}
	if !v.safe && len(v.calls) > 0 {
		v.remark(text)
		return nil
	}
	if err := v.show(text); err != nil {
		return err
	}
	v.message()
	if v.cut = m.Stop == llm.StopLength && len(v.calls) == 0; v.cut {
		return nil
	}
	return v.screen.endLine()
}

// remark is what the model says before its calls, where standard output is for the answer alone.
func (v *textView) remark(text string) {
	if text = strings.TrimSpace(text); text != "" {
		v.note(v.palette.dim(harmless(text)))
	}
	v.message()
}

func (v *textView) reset(cause *llm.Error) error {
	begun := v.begun
	v.message()
	if !begun || v.atEnd {
		return nil
	}
	err := v.screen.endLine()
	v.note(v.palette.yellow("! the answer above broke off" + because(cause) + "; it begins anew"))
	return err
}

func because(cause *llm.Error) string {
	if cause == nil {
		return ""
	}
	return " (" + oneLine(cause.Error()) + ")"
}

// routed says in words that another model or key is asked.
func routed(r session.Routed) string {
	what := "going on with " + oneLine(r.Model)
	if r.Key != "" {
		what += ", key " + oneLine(r.Key)
	}
	return what + because(r.Cause)
}

func (v *textView) waiting(w session.Waiting) {
	what := fmt.Sprintf("attempt %d of %d", w.Attempt, w.Of)
	until := time.Now().Add(time.Duration(w.Delay))
	v.note(v.palette.yellow(fmt.Sprintf("! %s follows in %s%s", what, seconds(time.Duration(w.Delay)), because(w.Cause))))
	v.screen.status(func(now time.Time) string {
		left := max(until.Sub(now), 0)
		return fmt.Sprintf("  %s in %ds%s", what, int((left+time.Second-1)/time.Second), because(w.Cause))
	})
}

func (v *textView) callStarted(c session.CallStarted, at time.Time) {
	v.running = append(v.running, runningCall{
		id: c.Call, tool: oneLine(c.Tool), argument: argumentOf(string(c.Arguments)), started: at,
	})
	v.calling()
}

func (v *textView) progress(p session.Progress) {
	for i := range v.running {
		if v.running[i].id != p.Call {
			continue
		}
		text := strings.TrimRight(p.Text, "\r\n")
		text = text[strings.LastIndexAny(text, "\r\n")+1:]
		if text = oneLine(text); text != "" {
			v.running[i].said = text
		}
	}
	v.calling()
}

// calling lets the status line tell of the oldest call that runs.
func (v *textView) calling() {
	if len(v.running) == 0 {
		v.phase("waiting for the model", time.Now())
		return
	}
	c, more := v.running[0], len(v.running)-1
	v.screen.status(func(now time.Time) string {
		text := "  " + c.tool + " " + fit(c.argument, 60)
		if more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		text += elapsed(now.Sub(c.started))
		if c.said != "" {
			text += " · " + c.said
		}
		return text
	})
}

// phase lets the status line say what goes on since a time.
func (v *textView) phase(what string, since time.Time) {
	turn := v.turn
	v.screen.status(func(now time.Time) string {
		text := "  " + what
		if turn > 1 {
			text += fmt.Sprintf(" (turn %d)", turn)
		}
		return text + elapsed(now.Sub(since))
	})
}

// elapsed is for the status line: whole seconds, and nothing for the first one.
func elapsed(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return " " + d.Truncate(time.Second).String()
}

func (v *textView) result(m session.Message, at time.Time) {
	var took time.Duration
	for i, c := range v.running {
		if c.id == m.CallID {
			took = at.Sub(c.started)
			v.running = append(v.running[:i:i], v.running[i+1:]...)
			break
		}
	}
	v.calling()
	line, well := v.resultLine(m, took)
	if well {
		if v.alike == nil {
			v.alike = make(map[string]int)
		}
		v.alike[m.Tool]++
		if v.alike[m.Tool] > maxAlike {
			return
		}
	}
	v.note(line)
}

// countAlike tells how many calls were not shown in the turn that ends.
func (v *textView) countAlike() {
	for _, tool := range slices.Sorted(maps.Keys(v.alike)) {
		if more := v.alike[tool] - maxAlike; more > 0 {
			v.note(v.palette.green("✓") + " " + oneLine(tool) + v.palette.dim(fmt.Sprintf(" · %d more", more)))
		}
	}
	clear(v.alike)
}

// resultLine is what people see of a call: its tool, its main argument, what became of it, and how long it took. It
// reports whether all went well.
func (v *textView) resultLine(m session.Message, took time.Duration) (line string, well bool) {
	what := oneLine(m.Tool)
	if arg := argumentOf(v.calls[m.CallID].Arguments); arg != "" {
		what += " " + fit(arg, v.room(len(what)))
	}
	well = !m.IsError && m.Outcome == session.OutcomeOK
	outcome := summary(m)
	if !well {
		outcome = failure(m)
	}
	well = well && detailsOf(m).failed() == ""
	mark := v.palette.green("✓")
	if !well {
		mark = v.palette.red("✗")
	}
	line = mark + " " + what + v.palette.dim(" · "+outcome)
	if took > 0 {
		line += v.palette.dim(" · " + seconds(took))
	}
	return line, well
}

// failure is why a call did not go well. A denial says how the call can be allowed, so all of it is told.
func failure(m session.Message) string {
	const most, mostOfDenial = 160, 600
	outcome := firstLine(m.Text())
	switch m.Outcome {
	case session.OutcomeFailed, session.OutcomeOK:
	case session.OutcomeDenied:
		outcome = strings.TrimSuffix(strings.TrimPrefix(outcome, "This call was denied: "), ".") // the words for the model repeat the outcome
		return fit("denied: "+outcome, mostOfDenial)
	default:
		outcome, _, _ = strings.Cut(outcome, ". ") // what follows is what the model should do
		outcome = strings.ReplaceAll(string(m.Outcome), "_", " ") + ": " + outcome
	}
	return fit(outcome, most)
}

// room is how many columns the argument of a call may take, beside the name of its tool and a short outcome.
func (v *textView) room(tool int) int {
	const outcome = 28
	if v.screen.width == nil {
		return 80
	}
	return min(max(v.screen.width()-tool-outcome, 20), 80)
}

// firstLine is the first line of text that has words.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return oneLine(line)
}

func (v *textView) note(line string) {
	if !v.quiet {
		v.screen.note(line + "\n")
	}
}

// end shows how the run ended.
func (v *textView) end(r *report) error {
	v.screen.status(nil)
	var err error
	if v.atEnd && r.Answer != "" {
		err = v.show(r.Answer)
	}
	if e := v.screen.endLine(); err == nil {
		err = e
	}
	if r.ended {
		v.note(v.endLine(r))
	}
	return err
}

func (v *textView) endLine(r *report) string {
	usage := llm.Usage{
		Input: r.Usage.Input, CacheRead: r.Usage.CacheRead, CacheWrite: r.Usage.CacheWrite,
		Output: r.Usage.Output, Reasoning: r.Usage.Reasoning, Cost: r.Cost,
	}
	facts := fmt.Sprintf("%s, %s, %s, session %s", count(r.Turns, "turn"), usageWords(usage),
		seconds(time.Duration(r.Seconds*float64(time.Second))), r.Session)
	how := r.StopReason
	if how == session.ReasonDone && len(r.Errors) > 0 {
		how = session.ReasonError // the run came to its end, but its answer is none
	}
	said := string(how)
	if how != session.ReasonDone {
		said = v.palette.yellow(said)
	}
	return said + v.palette.dim(": "+facts)
}
