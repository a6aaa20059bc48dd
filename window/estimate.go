package window

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Estimate is about how many tokens a request has.
type Estimate struct {
	Tokens  int     // as the provider will count
	Counted int     // by the local count alone; 0: most of it is what the provider reported of the request before
	Scale   float64 // tokens of the provider for one of the local count, as far as is known
}

// Estimate says how many tokens the next request of the view has: what the provider reported of the last one and its answer, and a local
// count of what came since. In a new epoch, and where nothing was reported, everything is counted.
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

// reported is the place of the last answer to a request of this epoch whose usage is known; -1 when there is none, or when what was sent
// then is not what would be sent now.
func (v *View) reported(m llm.Model) int {
	if v.loose != "" || len(v.requests) == 0 {
		return -1
	}
	last := v.requests[0].Body.(session.Requested)
	if last.Model != m.Ref() {
		return -1
	}
	for i := len(v.Messages) - 1; i >= 0; i-- {
		if v.Messages[i].Role != llm.RoleAssistant {
			continue
		}
		if believable(v.Messages[i].Usage, last.Estimate) && v.Blocks[i].Why == Said && v.answers[v.Blocks[i].Entries[0]] {
			return i
		}
		return -1
	}
	return -1
}

// believable reports whether what was reported can be the size of a request. Some servers report only what they have read anew, or nothing
// that is true: a window that believed them would be full before it knows.
func believable(u llm.Usage, estimate int64) bool {
	const least = 4 // of what was estimated, a quarter
	return u.Prompt() > 0 && u.Prompt()*least >= estimate
}

// learning is what the newest requests of a view say of how their model counts.
type learning struct {
	request session.Requested
	answer  llm.Usage
}

// remembered is the local tokens that stand behind a scale that a request brings along.
const remembered = 20_000

// scale is what is known of how a model counts.
func (v *View) scale(m llm.Model) tokens.Scale {
	scale := tokens.Start(m)
	l := v.learned
	if l.request.Model != m.Ref() || l.request.Scale == 0 {
		return scale
	}
	scale = scale.Learn(remembered, int(remembered*l.request.Scale))
	return scale.Learn(int(l.request.Counted), int(l.answer.Prompt()))
}

// learn takes what a request was estimated at and what its answer reported. The newest one that can teach something is the one that counts.
func (v *View) learn(r session.Requested, answer llm.Usage) {
	if v.learned.request.Counted > 0 && v.learned.answer.Prompt() > 0 {
		return
	}
	if v.learned.request.Model == "" || r.Model == v.learned.request.Model && r.Counted > 0 && answer.Prompt() > 0 {
		v.learned = learning{r, answer}
	}
}

// countMessages counts messages for no model in particular.
func countMessages(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += tokens.Message(m)
	}
	return n
}
