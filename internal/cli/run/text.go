package run

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/activity"
	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
)

type view interface {
	// begin is called once, before the first event.
	begin(h header) error
	// event is called for each event in order. An error means that the reader of the output has closed it.
	event(e session.Event) error
	// end is called once, when r is complete, even if the run never began.
	end(r *report) error
}

// textView is --output text. On a terminal it streams all text of the model to standard output. Elsewhere standard output has only the
// complete answer, and standard error has the remarks of the model before its calls and everything else.
type textView struct {
	screen  *term.Screen
	quiet   bool // only the answer
	atEnd   bool // show the answer after the run
	safe    bool // the answer goes to a terminal
	palette term.Palette
	blocks  *markdown.Stream // draws the answer; nil: it is shown as it is

	intent  transcript.IntentFilter
	runes   term.WholeRunes
	begun   bool // text of the current message was shown
	streams bool // the current message has deltas
	before  bool // text of an earlier message was shown
	cut     bool // it stopped at the output limit: the next message continues its line

	act   activity.Activity
	model transcript.Transcript
}

func (v *textView) begin(header) error {
	v.screen.Status(func(time.Time) string { return "  starting" })
	return nil
}

func (v *textView) event(e session.Event) error {
	it, _ := v.model.Add(e)
	v.act.Add(e, time.Now())
	switch b := e.Body.(type) {
	case live.TurnStarted:
		v.status()
	case live.MessageStarted:
		v.message()
		v.status()
	case live.Delta:
		return v.delta(b)
	case live.Reset:
		return v.reset(b.Cause)
	case live.Waiting:
		v.waiting(b)
	case live.Routed:
		v.note(v.palette.Yellow("! " + term.Harmless(it.Note.Title)))
	case live.Notice:
		v.note(v.palette.Yellow("! " + term.OneLine(b.Text)))
	case live.Compacting, session.Summarized, session.Trimmed, session.Revert:
		if it != nil {
			v.note(v.palette.Dim("· " + term.Harmless(it.Note.Title)))
		}
	case session.Goal:
		v.status()
		if it != nil {
			v.note(v.goal(it.Note))
		}
	case session.Rejected:
		v.note(v.palette.Red("✗ rejected: " + term.OneLine(b.Reason)))
	case session.CallStarted, live.Progress:
		v.status()
	case session.Message:
		switch {
		case ofRunBefore(b): // that run has shown it
		case b.Role == llm.RoleAssistant:
			return v.answer(b)
		case b.Role == llm.RoleTool:
			v.result(it.Call(b.CallID))
		}
	}
	return nil
}

// message resets the state of the current message.
func (v *textView) message() {
	v.before = v.before || v.begun
	v.begun, v.streams = false, false
	v.intent, v.runes = transcript.IntentFilter{}, term.WholeRunes{}
}

func (v *textView) delta(d live.Delta) error {
	text := d.Type == live.DeltaText
	if v.streams = v.streams || text; !v.begun || !text {
		v.status()
	}
	if !text || v.atEnd || !v.safe {
		return nil
	}
	return v.show(v.intent.Next(v.runes.Next(d.Text)))
}

// show writes text of the answer, on a terminal the blocks that are complete.
func (v *textView) show(text string) error {
	if v.blocks != nil {
		text = v.blocks.Next(text)
	}
	return v.write(text)
}

// flush writes the rest of a message.
func (v *textView) flush() error {
	if v.blocks == nil {
		return nil
	}
	return v.write(v.blocks.Flush())
}

func (v *textView) write(text string) error {
	if !v.begun && !v.cut {
		text = strings.TrimLeft(text, "\r\n")
		if v.before && text != "" {
			text = "\n" + text
		}
	}
	v.begun = v.begun || text != ""
	if v.safe && v.blocks == nil {
		text = term.Harmless(text)
	}
	return v.screen.Answer(text)
}

// answer shows the rest of a complete message.
func (v *textView) answer(m session.Message) error {
	calls := len(m.Calls())
	if v.atEnd {
		return nil
	}
	text := v.intent.Next(v.runes.Flush()) + v.intent.Flush()
	if !v.streams || !v.safe {
		text = transcript.WithoutIntent(m.Text())
	}
	if !v.safe && calls > 0 {
		v.remark(text)
		return nil
	}
	if err := v.show(text); err != nil {
		return err
	}
	if v.cut = m.Stop == llm.StopLength && calls == 0; v.cut {
		v.message()
		return nil
	}
	err := v.flush()
	v.message()
	return cmp.Or(err, v.screen.EndLine())
}

// remark shows the text of the model before its calls if standard output is for the answer only.
func (v *textView) remark(text string) {
	if text = strings.TrimSpace(text); text != "" {
		v.note(v.palette.Dim(term.Harmless(text)))
	}
	v.message()
}

func (v *textView) reset(cause *llm.Error) error {
	begun := v.begun
	v.message()
	if v.blocks != nil {
		v.blocks.Drop()
	}
	if !begun || v.atEnd {
		return nil
	}
	err := v.screen.EndLine()
	v.note(v.palette.Yellow("! the answer above broke off" + transcript.Because(cause) + "; it starts again"))
	return err
}

func (v *textView) waiting(w live.Waiting) {
	v.note(v.palette.Yellow(fmt.Sprintf("! attempt %d of %d follows in %s%s", w.Attempt, w.Of, transcript.Duration(time.Duration(w.Delay)), transcript.Because(w.Cause))))
	v.status()
}

// status shows in the status line what happens now.
func (v *textView) status() {
	act, running, progress := v.act, v.model.Running(), ""
	if len(running) > 0 {
		first := *running[0] // later events change it while the screen draws it
		running[0], progress = &first, term.OneLine(first.Progress)
	}
	v.screen.Status(func(now time.Time) string {
		text := "  " + act.Line(now, running, false)
		if act.Turn > 1 && len(running) == 0 {
			text += fmt.Sprintf(" · turn %d", act.Turn)
		}
		if progress != "" {
			text += " · " + progress
		}
		return text
	})
}

func (v *textView) result(c *transcript.Call) {
	v.status()
	v.note(v.resultLine(c))
	if v.screen.Width != nil {
		var tasks []session.TodoItem
		if answer := v.model.Answer(); answer != nil {
			tasks = answer.Todo
		}
		for _, line := range details(c, tasks, v.screen.Width(), v.palette) {
			v.note(line)
		}
	}
}

func (v *textView) goal(n transcript.Note) string {
	if n.Kind == transcript.NoteWarning {
		return v.palette.Yellow("! " + term.Harmless(n.Title))
	}
	return v.palette.Dim("· " + term.Harmless(n.Title))
}

// resultLine returns the line of a call: name, title, outcome, duration.
func (v *textView) resultLine(c *transcript.Call) string {
	const most, mostOfDenial = 160, 600 // a denial says how to allow the call
	what := term.OneLine(c.Name)
	if c.Title != "" {
		what += " " + term.Fit(term.OneLine(c.Title), v.room(len(what)))
	}
	mark, width := v.palette.Green("✓"), most
	if !c.OK() {
		mark = v.palette.Red("✗")
	}
	if c.State == transcript.Denied {
		width = mostOfDenial
	}
	line := mark + " " + what + v.palette.Dim(" · "+term.Fit(term.OneLine(c.Brief), width))
	if took := c.Took(); took > 0 {
		line += v.palette.Dim(" · " + transcript.Duration(took))
	}
	return line
}

// room returns the columns for the title of a call, next to the name of its tool and a short outcome.
func (v *textView) room(tool int) int {
	const outcome = 28
	if v.screen.Width == nil {
		return 80
	}
	return min(max(v.screen.Width()-tool-outcome, 20), 80)
}

func (v *textView) note(line string) {
	if v.screen.Width != nil && term.Cells(line) > v.screen.Width() && !strings.Contains(line, "\n") {
		line = term.Wrap("", 0, line, v.screen.Width()-1, "    ")
	}
	if !v.quiet {
		v.screen.Note(line + "\n")
	}
}

func (v *textView) end(r *report) error {
	v.screen.Status(nil)
	var err error
	if (v.atEnd || r.Plan != "") && r.Answer != "" { // the model wrote a plan as the argument of a call
		err = v.show(r.Answer)
	}
	err = cmp.Or(err, v.flush())
	if e := v.screen.EndLine(); err == nil {
		err = e
	}
	if r.ended {
		v.note(v.endLine(r))
	}
	return err
}

func (v *textView) endLine(r *report) string {
	facts := fmt.Sprintf("%s, %s, %s, session %s", transcript.Count(r.Turns, "turn"), transcript.Usage(llm.Usage(r.Usage)),
		transcript.Duration(time.Duration(r.Seconds*float64(time.Second))), r.Session)
	how := r.StopReason
	if how == session.ReasonDone && len(r.Errors) > 0 {
		how = session.ReasonError // the run has no valid answer
	}
	if how == session.ReasonDone && r.unreached() {
		how = session.Reason(strings.ReplaceAll(string(r.Goal.State), "_", " "))
	}
	said := string(how)
	if how != session.ReasonDone {
		said = v.palette.Yellow(said)
	}
	return said + v.palette.Dim(": "+facts)
}
