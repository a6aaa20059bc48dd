package window

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Estimate is the estimated size of a request.
type Estimate struct {
	Tokens  int     // as the provider will count them
	Counted int     // by the local count alone; 0: the provider reported most of them for the previous request
	Scale   float64 // estimated tokens of the provider for one token of the local count
}

// Estimate estimates the size of the next request: the size that the provider reported for the last request and its answer, plus a local
// count of the messages since then. In a new epoch, or without a report, it counts everything.
func (v *View) Estimate(h Header) Estimate {
	scale := v.scale(h.Model)
	e := Estimate{Scale: scale.Factor()}
	if at := v.reported(h.Model); at >= 0 {
		e.Tokens = scale.After(v.Messages[at], v.Messages[at+1:]...)
		return e
	}
	e.Counted = scale.Family().Request(h.request(v.Messages))
	e.Tokens = scale.Tokens(e.Counted)
	return e
}

// reported is the index of the last answer to a request of this epoch with a known usage. It is -1 if there is none, or if the next
// request differs from what the provider counted then.
func (v *View) reported(m llm.Model) int {
	if v.loose != "" || v.sent == 0 || v.last.Model != m.Ref() {
		return -1
	}
	for i := len(v.Messages) - 1; i >= 0; i-- {
		if v.Messages[i].Role != llm.RoleAssistant {
			continue
		}
		if believable(v.Messages[i].Usage, v.last.Estimate) && v.Blocks[i].Why == Said && v.inEpoch(v.Blocks[i].Entries[0]) {
			return i
		}
		return -1
	}
	return -1
}

// believable reports whether a usage can be the size of a request. Some servers report only the tokens that they read again, or wrong
// numbers.
func believable(u llm.Usage, estimate int64) bool {
	const least = 4 // a quarter of the estimate
	return u.Prompt() > 0 && u.Prompt()*least >= estimate
}

// meter is what the journal knows about the sizes of requests.
type meter struct {
	sent         int               // requests of this epoch
	last, before session.Requested // the newest two of these
	learned      learning
}

// learning is the newest request and answer that show how the model counts.
type learning struct {
	request session.Requested
	answer  llm.Usage
}

// take adds a request, from the newest to the oldest, with the usage of its answer.
func (m *meter) take(r session.Requested, answer llm.Usage, inEpoch bool) {
	if inEpoch {
		switch m.sent++; m.sent {
		case 1:
			m.last = r
		case 2:
			m.before = r
		}
	}
	if l := m.learned; l.request.Counted > 0 && l.answer.Prompt() > 0 {
		return
	}
	if m.learned.request.Model == "" || r.Model == m.learned.request.Model && r.Counted > 0 && answer.Prompt() > 0 {
		m.learned = learning{r, answer}
	}
}

// scale is the known scale of a model.
func (m *meter) scale(of llm.Model) tokens.Scale {
	const remembered = 20_000 // tokens of the local count that the scale of a request weighs
	scale := tokens.Start(of)
	l := m.learned
	if l.request.Model != of.Ref() || l.request.Scale == 0 {
		return scale
	}
	scale = scale.Learn(remembered, int(remembered*l.request.Scale))
	return scale.Learn(int(l.request.Counted), int(l.answer.Prompt()))
}

// levels are the levels at the last two requests. A window that was full at the start of its epoch changed its level then.
func (m *meter) levels(usable int) (before, now Level) {
	return LevelOf(int(m.before.Estimate), usable), LevelOf(int(m.last.Estimate), usable)
}

// countMessages counts messages for an unknown model.
func countMessages(messages ...llm.Message) int {
	n := 0
	for _, m := range messages {
		n += tokens.Message(m)
	}
	return n
}
