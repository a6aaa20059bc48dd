// Package term writes to terminals: colors, width, text without control characters, and a status line.
package term

import (
	"io"
	"strings"
	"sync"
	"time"
)

const (
	RedrawEvery = 100 * time.Millisecond // at most ten times a second
	clockEvery  = time.Second            // how often a line that shows a time changes by itself
)

// Screen writes a run to a terminal or to plain streams. On a terminal it keeps one status line below everything else,
// which says what goes on now: it is drawn again when its text changes, and when nothing goes on there is no line and no
// timer. It is safe for concurrent use.
type Screen struct {
	Out, Err  io.Writer
	Width     func() int // of the terminal that err is; nil when it is none: there is no status line then
	ShareLine bool       // Out is a terminal too: the status must not overwrite its unfinished line

	mu     sync.Mutex
	text   func(now time.Time) string // of the status line; nil when nothing goes on
	shown  string                     // the status on the terminal now
	drawn  time.Time
	timer  *time.Timer
	mid    bool // the answer ends in the middle of a line
	closed bool
	failed error // of out
}

// Status sets what the status line says; nil takes it away.
func (s *Screen) Status(text func(now time.Time) string) {
	if s.Width == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
	s.update()
}

// Note writes lines to err, above the status line. text ends with a newline.
func (s *Screen) Note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	if s.mid && s.ShareLine {
		if s.failed == nil {
			_, s.failed = io.WriteString(s.Out, "\n")
		}
		s.mid = false
	}
	_, _ = io.WriteString(s.Err, text) // standard error is gone: there is no place for the error
	s.update()
}

// Answer writes to out. The error is that of the first write that failed.
func (s *Screen) Answer(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == "" || s.failed != nil {
		return s.failed
	}
	if s.ShareLine {
		s.clear()
	}
	_, s.failed = io.WriteString(s.Out, text)
	s.mid = !strings.HasSuffix(text, "\n")
	s.update()
	return s.failed
}

// EndLine ends an unfinished line of the answer.
func (s *Screen) EndLine() error {
	s.mu.Lock()
	mid := s.mid
	s.mu.Unlock()
	if !mid {
		return nil
	}
	return s.Answer("\n")
}

// Close takes the status line away for good.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.closed, s.text = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
}

// update draws the status line, or has it drawn when it is time. It must be called with mu held, as all below.
func (s *Screen) update() {
	if s.Width == nil || s.closed {
		return
	}
	if s.text == nil || s.mid && s.ShareLine {
		s.clear()
		if s.timer != nil {
			s.timer.Stop()
		}
		return
	}
	now := time.Now()
	if wait := RedrawEvery - now.Sub(s.drawn); wait > 0 {
		s.later(wait)
		return
	}
	line := Fit(s.text(now), s.Width()-1)
	if line != s.shown {
		_, _ = io.WriteString(s.Err, "\r"+line+"\x1b[K")
		s.shown, s.drawn = line, now
	}
	s.later(clockEvery)
}

func (s *Screen) later(d time.Duration) {
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

func (s *Screen) clear() {
	if s.shown != "" {
		_, _ = io.WriteString(s.Err, "\r\x1b[K")
		s.shown = ""
	}
}

// Elapsed is for the status line: whole seconds, and nothing for the first one.
func Elapsed(d time.Duration) string {
	if d < time.Second {
		return ""
	}
	return " " + d.Truncate(time.Second).String()
}
