package dialog

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/transcript"
)

// Answered is the outcome of a [Permission] and of [Questions], for Answer of the conversation.
type Answered struct {
	Dialog   Dialog
	Question string
	Answers  []ask.Answer
}

type second struct{}

// waiting is the common part of dialogs that another frontend, or the end of a time, can answer.
type waiting struct {
	base
	guard
	self  Dialog
	id    string
	until time.Time
	part  func() (at, count int, text *pager) // the visible part of the question; at is -1 for the list of all
}

func newWaiting(self Dialog, title string, q request.Question, typing bool, o *Options) waiting {
	return waiting{base: base{o: o, title: title}, guard: guard{typing: typing}, self: self, id: q.ID, until: q.Until}
}

func (w *waiting) Bottom() bool { return true }

// Question returns the ID of the question.
func (w *waiting) Question() string { return w.id }

// leaves reports whether a message is for the transcript or the prompt: one that came too early, or that scrolls if the text fits.
func (w *waiting) leaves(msg tea.Msg) bool {
	_, _, text := w.part()
	_, wheel := msg.(tea.MouseWheelMsg)
	scrolls := wheel || w.o.is(msg, keys.ScrollUp, keys.ScrollDown)
	return w.leavesKey(w.o, msg) || scrolls && (text == nil || !text.over)
}

// large reports whether the person wants to see all of a long text.
func (w *waiting) large() bool {
	_, _, text := w.part()
	return text != nil && text.open
}

// tick keeps the remaining time up to date.
func (w *waiting) tick() tea.Cmd {
	if w.until.IsZero() {
		return nil
	}
	return after(w.self, time.Second, second{})
}

// waits handles the messages of a dialog that waits. It reports false if the dialog should handle the message.
func (w *waiting) waits(msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case Message:
		if _, ok := m.body.(second); ok {
			return w.tick(), true
		}
	case Opened:
		return tea.Batch(w.start(w.self), w.tick()), true
	}
	return w.held(w.self, w.o, msg)
}

// Title has the remaining time, too.
func (w *waiting) Title() string {
	title := w.title
	switch at, count, _ := w.part(); {
	case count > 1 && at < 0:
		title = fmt.Sprintf("%s for %s", title, transcript.Count(count, "call"))
	case count > 1:
		title = fmt.Sprintf("%s %d of %d", title, at+1, count)
	}
	if w.until.IsZero() {
		return title
	}
	d := w.until.Sub(w.o.now()).Round(time.Second)
	if d <= 0 {
		return title + ", the time is over"
	}
	return fmt.Sprintf("%s, %d:%02d left", title, d/time.Minute, d%time.Minute/time.Second)
}

// hold is the line that says why the dialog takes no keys; none if it does.
func (w *waiting) hold(width int) []string {
	if w.open() {
		return nil
	}
	return []string{w.o.Theme.Warn.Paint(fit(w.words(w.o), width))}
}
