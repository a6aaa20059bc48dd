package window

import (
	"fmt"
	"slices"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// Sizes of windows, in tokens.
const (
	assumedContext = 128_000 // of models of which nothing is known
	usualAnswer    = 32_000  // held back for the answer where nothing else is said, but never more than a quarter of the window
)

// Usable is how many tokens a request may have, so that an answer still fits behind it: the window of the model less the answer and 2 %
// for the error of the estimate. Of a model whose window is not known 128 000 are assumed.
func Usable(h Header) int {
	size := h.Model.Context
	if size <= 0 {
		size = assumedContext
	}
	answer := h.MaxTokens
	if answer <= 0 {
		answer = usualAnswer
		if h.Model.MaxOutput > 0 {
			answer = min(answer, h.Model.MaxOutput)
		}
	}
	return size - min(answer, size/4) - size/50
}

// pinsShare is the part of the usable window that pinned messages may have together.
const pinsShare = 4

// The shares of the usable window at which a level begins.
const (
	moderateAt   = 0.70
	aggressiveAt = 0.85
	criticalAt   = 0.95
)

// LevelOf is the level of a window with so many tokens in it.
func LevelOf(used, usable int) Level {
	switch fill := float64(used) / float64(max(usable, 1)); {
	case fill >= criticalAt:
		return Critical
	case fill >= aggressiveAt:
		return Aggressive
	case fill >= moderateAt:
		return Moderate
	default:
		return Normal
	}
}

// resultBytes is how many bytes one of so many results may have: a twentieth of the usable window when it is free, less as it fills, and no
// more than lets all of them fit into what is left.
func resultBytes(used, usable, results int) int {
	const (
		bytesPerToken = 4
		least         = 4 << 10
		leastOfMany   = 1 << 10
	)
	room := usable / 20 * bytesPerToken
	switch LevelOf(used, usable) {
	case Moderate:
		room /= 2
	case Aggressive:
		room /= 4
	case Critical:
		room /= 8
	}
	room = max(room, least)
	if results > 1 {
		room = min(room, max((usable-used)*bytesPerToken/results, leastOfMany))
	}
	return room
}

// room is what is left in a view, for the results of the calls of its last answer.
func (v *View) room(h Header, usable int) Room {
	used := v.Estimate(h).Tokens
	r := Room{Level: LevelOf(used, usable)}
	r.Result = resultBytes(used, usable, v.calls())
	if before, now := v.levels(usable); now != before {
		r.Note = fmt.Sprintf("The context window is %d %% full (%s).%s", 100*used/max(usable, 1), now, v.callsLeft(usable-used))
	}
	return r
}

// calls is how many calls the last answer has.
func (v *View) calls() int {
	for _, m := range slices.Backward(v.Messages) {
		if m.Role == llm.RoleAssistant {
			return len(m.Calls())
		}
	}
	return 0
}

// levels is the level at the request before the last, and at the last. A window that was full already as its epoch began has changed
// its level then.
func (v *View) levels(usable int) (before, now Level) {
	before, now = Normal, Normal
	if len(v.requests) > 0 {
		now = LevelOf(int(v.requests[0].Body.(session.Requested).Estimate), usable)
	}
	if len(v.requests) > 1 {
		before = LevelOf(int(v.requests[1].Body.(session.Requested).Estimate), usable)
	}
	return before, now
}

// callsLeft estimates how many more calls fit, by the results so far.
func (v *View) callsLeft(left int) string {
	results := 0
	size := 0
	for _, m := range v.Messages {
		if m.Role == llm.RoleTool {
			results++
			size += countMessages([]llm.Message{m})
		}
	}
	if results == 0 || size == 0 {
		return ""
	}
	return fmt.Sprintf(" At the size of the results so far, about %d more calls fit.", max(left, 0)/max(size/results, 1))
}
