package window

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// coded is an error with a stable code.
type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }
func (e *coded) Code() string  { return e.code }

// Room is the space left in the context window for the results of the next calls.
type Room struct {
	Level   Level
	Result  int    // bytes of text that one result may have; 0: the usual number
	Blocked bool   // the window is full: calls do not run, and the model must conclude
	Note    string // a line for the model when the level has changed; empty: none
}

// Level is how full a context window is.
type Level string

// The levels, by the share of the usable window that is taken.
const (
	Normal     Level = "normal"     // below 70 %
	Moderate   Level = "moderate"   // below 85 %
	Aggressive Level = "aggressive" // below 95 %
	Critical   Level = "critical"
)

// Sizes of context windows, in tokens.
const (
	assumedContext = 128_000 // of an unknown model
	usualAnswer    = 32_000  // reserved for the answer by default, at most a quarter of the window
)

// Usable returns the number of tokens that a request may have: the context window of the model less the answer, and less 2 % for the
// error of the estimate. It assumes 128 000 tokens for a model with an unknown context window.
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

// The shares of the usable window at which a level begins.
const (
	moderateAt   = 0.70
	aggressiveAt = 0.85
	criticalAt   = 0.95
)

// LevelOf returns the level of a window with this many tokens.
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

// resultBytes is the number of bytes for each of several results: a twentieth of the usable window if it is free, less as it fills, and
// few enough that all of them fit.
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

// room is the space left in a view for the results of the calls of its last answer.
func (v *View) room(h Header, usable int) Room {
	used := v.Estimate(h).Tokens
	r := Room{Level: LevelOf(used, usable)}
	calls, results, size := 0, 0, 0
	for _, m := range slices.Backward(v.Messages) {
		if m.Role == llm.RoleAssistant {
			calls = len(m.Calls())
			break
		}
	}
	r.Result = resultBytes(used, usable, calls)
	before, now := v.levels(usable)
	if now == before {
		return r
	}
	r.Note = fmt.Sprintf("The context window is %d %% full (%s).", 100*used/max(usable, 1), now)
	for _, m := range v.Messages {
		if m.Role == llm.RoleTool {
			results++
			size += countMessages(m)
		}
	}
	if size > 0 {
		r.Note += fmt.Sprintf(" At the average size of the results so far, about %d more calls fit.", max(usable-used, 0)/max(size/results, 1))
	}
	return r
}

// limits are the sizes of requests that models have refused. They are safe for concurrent use.
type limits struct {
	mu     sync.Mutex
	tokens map[string]int // estimated, by model
}

// leastLimit is the number of tokens that a model certainly accepts, at most half of its context window. A server that refuses
// everything for a while must not leave a session with a window in which nothing fits.
const leastLimit = 4000

// refused notes that a model refused a request of this estimated size, and returns the size that the next request may have. If the provider
// named its window, that counts, in tokens of the estimate. Otherwise the window is smaller than declared, by a tenth, and by half if the
// model refuses again. A refusal whose figures are about another request, or about no smaller window than the declared one, is no limit: it holds
// for the next request only, and limit is 0.
func (l *limits) refused(h Header, used int, cause error) (limit, usable int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	least := min(leastLimit, Usable(h)/2)
	e, _ := errors.AsType[*llm.Error](cause)
	if e != nil && e.Window > 0 {
		next := used * 9 / 10
		if e.Tokens > 2*used && e.Window >= h.Model.Context && h.Model.Context > 0 {
			return 0, max(min(next, Usable(h)), least)
		}
		real := h
		real.Model.Context = e.Window
		if e.Tokens > used && e.Tokens <= 2*used { // the estimate is too low
			real.Model.Context = e.Window * used / e.Tokens
		}
		limit = l.set(h, max(min(next, Usable(real)), min(least, Usable(real))))
		return limit, min(limit, Usable(h))
	}
	limit = used * 9 / 10
	if _, again := l.tokens[h.Model.Ref()]; again {
		limit = used / 2
	}
	limit = l.set(h, max(limit, least))
	return limit, min(limit, Usable(h))
}

// overflowNote says for people which limit holds after a refusal.
func overflowNote(h Header, limit int, cause error) live.Notice {
	text := h.Model.Ref() + " refused the request as too long"
	if e, ok := errors.AsType[*llm.Error](cause); ok && e.Window > 0 {
		text += fmt.Sprintf(": it accepts %d tokens", e.Window)
	}
	if limit > 0 {
		return live.Notice{Text: fmt.Sprintf("%s; Tenon now sends it at most about %d tokens", text, limit)}
	}
	return live.Notice{Text: text + "; Tenon sends a shorter request once"}
}

// restore takes the limit of the model from the journal, where another process may have noted it.
func (l *limits) restore(v *View, h Header) (limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ref := h.Model.Ref()
	if e, ok := v.Epoch.Body.(session.Epoch); ok && e.Limit > 0 && e.Model.Ref() == ref && l.tokens[ref] == 0 {
		return l.set(h, int(e.Limit))
	}
	return l.tokens[ref]
}

func (l *limits) set(h Header, limit int) int {
	if l.tokens == nil {
		l.tokens = make(map[string]int)
	}
	l.tokens[h.Model.Ref()] = limit
	return limit
}

// usable is the number of tokens that a request may have.
func (l *limits) usable(h Header) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	usable := Usable(h)
	if limit, ok := l.tokens[h.Model.Ref()]; ok {
		usable = min(usable, limit)
	}
	return usable
}

// vain is the size of a window in which trimming would not have freed enough; 0: unknown. It is safe for concurrent use.
type vain struct {
	mu     sync.Mutex
	tokens int
}

// tried reports whether trimming failed since the window last grew noticeably.
func (v *vain) tried(used, usable int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.tokens > 0 && v.tokens <= used && used < v.tokens+usable/50
}

func (v *vain) failed(used int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tokens = used
}
