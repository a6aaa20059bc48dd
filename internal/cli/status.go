package cli

import (
	"io"
	"strings"
	"sync"
	"time"
)

const (
	redrawEvery = 100 * time.Millisecond // at most ten times a second
	clockEvery  = time.Second            // how often a line that shows a time changes by itself
)

// screen writes a run to a terminal or to plain streams. On a terminal it keeps one status line below everything else,
// which says what goes on now: it is drawn again when its text changes, and when nothing goes on there is no line and no
// timer. It is safe for concurrent use.
type screen struct {
	out, err  io.Writer
	width     func() int // of the terminal that err is; nil when it is none: there is no status line then
	shareLine bool       // out is a terminal too: what stands there unfinished must not be overdrawn

	mu     sync.Mutex
	text   func(now time.Time) string // of the status line; nil when nothing goes on
	shown  string                     // what is on the terminal now
	drawn  time.Time
	timer  *time.Timer
	mid    bool // the answer stands in the middle of a line
	closed bool
	failed error // of out
}

// status sets what the status line says; nil takes it away.
func (s *screen) status(text func(now time.Time) string) {
	if s.width == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
	s.update()
}

// note writes lines to err, above the status line. text ends with a newline.
func (s *screen) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	if s.mid && s.shareLine {
		if s.failed == nil {
			_, s.failed = io.WriteString(s.out, "\n")
		}
		s.mid = false
	}
	_, _ = io.WriteString(s.err, text) // there is nobody left to tell
	s.update()
}

// answer writes to out. The error is that of the first write that failed.
func (s *screen) answer(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" || s.failed != nil {
		return s.failed
	}
	if s.shareLine {
		s.clear()
	}
	_, s.failed = io.WriteString(s.out, text)
	s.mid = !strings.HasSuffix(text, "\n")
	s.update()
	return s.failed
}

// endLine ends the answer's line, if it stands in the middle of one.
func (s *screen) endLine() error {
	s.mu.Lock()
	mid := s.mid
	s.mu.Unlock()
	if !mid {
		return nil
	}
	return s.answer("\n")
}

// close takes the status line away for good.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.closed, s.text = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
}

// update draws the status line, or has it drawn when it is time. It must be called with mu held, as all below.
func (s *screen) update() {
	if s.width == nil || s.closed {
		return
	}
	if s.text == nil || s.mid && s.shareLine {
		s.clear()
		if s.timer != nil {
			s.timer.Stop()
		}
		return
	}
	now := time.Now()
	if wait := redrawEvery - now.Sub(s.drawn); wait > 0 {
		s.later(wait)
		return
	}
	line := fit(s.text(now), s.width()-1)
	if line != s.shown {
		_, _ = io.WriteString(s.err, "\r"+line+"\x1b[K")
		s.shown, s.drawn = line, now
	}
	s.later(clockEvery)
}

func (s *screen) later(d time.Duration) {
	if s.timer != nil {
		s.timer.Reset(d)
		return
	}
	s.timer = time.AfterFunc(d, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.update()
	})
}

func (s *screen) clear() {
	if s.shown != "" {
		_, _ = io.WriteString(s.err, "\r\x1b[K")
		s.shown = ""
	}
}
