package tui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	drawEvery = 16 * time.Millisecond // between two looks at the screen while something happens
	quiet     = 100 * time.Millisecond
	slowest   = time.Minute
)

// pace lets the renderer of Bubble Tea rest while nothing happens. Bubble Tea looks for a changed screen sixty times a second, which costs an
// idle terminal more than one percent of a core (measured with version 2.0.9), and has no option for it. So pace slows its ticker down: each look
// comes twice as late as the one before. The ticker does not stop, because a busy machine or a slow terminal can delay the last frame for longer
// than any limit.
type pace struct {
	mu     sync.Mutex
	ticker *time.Ticker  // of Bubble Tea; nil: it is not known, and keeps its speed
	every  time.Duration // between two looks now
	slower *time.Timer
	last   time.Time // of the last message
}

// tickerOf returns the ticker of a program that runs; nil if this version of Bubble Tea has none.
func tickerOf(p *tea.Program) *time.Ticker {
	if f, ok := tickerField(p); ok {
		return (*time.Ticker)(f.UnsafePointer())
	}
	return nil
}

func tickerField(p *tea.Program) (reflect.Value, bool) {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	return f, f.IsValid() && f.Type() == reflect.TypeFor[*time.Ticker]()
}

// wake is called for each message, which may change the screen.
func (p *pace) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	if p.ticker == nil || p.every == drawEvery {
		return
	}
	p.every = drawEvery
	p.ticker.Reset(p.every)
	if p.slower == nil {
		p.slower = time.AfterFunc(quiet, p.rest)
	} else {
		p.slower.Reset(quiet)
	}
}

// rest slows the ticker down if no message came for a while.
func (p *pace) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := quiet - time.Since(p.last); left > 0 {
		p.slower.Reset(left)
		return
	}
	p.every = min(max(2*p.every, quiet), slowest)
	p.ticker.Reset(p.every)
	if p.every < slowest {
		p.slower.Reset(p.every + p.every/2) // after one look
	}
}
