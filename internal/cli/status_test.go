package cli

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// terminal is a writer that pretends to be one.
type terminal struct {
	mu      sync.Mutex
	columns int
	writes  []string
}

func (t *terminal) TerminalWidth() int { return t.columns }

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writes = append(t.writes, string(p))
	return len(p), nil
}

// taken returns what was written since the last call.
func (t *terminal) taken() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	writes := t.writes
	t.writes = nil
	return writes
}

// show is what a terminal shows after it got text: its lines, the last one being that of the cursor.
func show(text string) []string {
	lines, at := [][]rune{nil}, 0
	for text != "" {
		last := &lines[len(lines)-1]
		if rest, ok := strings.CutPrefix(text, "\x1b[K"); ok {
			*last = (*last)[:min(at, len(*last))]
			text = rest
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\n':
			lines, at = append(lines, nil), 0
		case '\r':
			at = 0
		default:
			*last = append((*last)[:min(at, len(*last))], append([]rune{r}, (*last)[min(at+1, len(*last)):]...)...)
			at++
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = string(l)
	}
	return out
}

func liveScreen(tty *terminal) *screen {
	return &screen{out: tty, err: tty, width: tty.TerminalWidth, shareLine: true}
}

func says(text string) func(time.Time) string { return func(time.Time) string { return text } }

func TestStatusIsDrawnAtMostTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &terminal{columns: 80}
		s := liveScreen(tty)
		defer s.close()
		for i := range 1000 { // one second of changes
			s.status(says(fmt.Sprint("at ", i)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(redrawEvery)
		writes := tty.taken()
		if n := len(writes); n < 9 || n > 12 {
			t.Errorf("%d writes in a second, want about 10", n)
		}
		if last := writes[len(writes)-1]; !strings.Contains(last, "at 999") {
			t.Errorf("the last write is %q, want the last change", last)
		}
	})
}

func TestStatusRestsWhenNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &terminal{columns: 80}
		s := liveScreen(tty)
		s.status(says("reading"))
		tty.taken()
		time.Sleep(time.Hour)
		if w := tty.taken(); len(w) != 0 {
			t.Errorf("%d writes without a change", len(w))
		}
		s.status(nil)
		tty.taken()
		time.Sleep(time.Hour)
		if w := tty.taken(); len(w) != 0 {
			t.Errorf("%d writes with nothing going on", len(w))
		}
		s.close()
	})
}

func TestStatusCountsSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &terminal{columns: 80}
		s := liveScreen(tty)
		defer s.close()
		start := time.Now()
		s.status(func(now time.Time) string { return "waiting" + elapsed(now.Sub(start)) })
		time.Sleep(3*time.Second + redrawEvery)
		got := tty.taken()
		want := []string{"\rwaiting\x1b[K", "\rwaiting 1s\x1b[K", "\rwaiting 2s\x1b[K", "\rwaiting 3s\x1b[K"}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestNotesStandAboveTheStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &terminal{columns: 80}
		s := liveScreen(tty)
		s.status(says("working"))
		time.Sleep(time.Second)
		s.note("✓ read go.mod\n")
		time.Sleep(time.Second)
		got := show(strings.Join(tty.taken(), ""))
		if want := []string{"✓ read go.mod", "working"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("shows %q, want %q", got, want)
		}
		s.close()
		if got := show("working" + strings.Join(tty.taken(), "")); got[0] != "" {
			t.Errorf("close leaves %q", got)
		}
	})
}

func TestStatusDoesNotOverdrawTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &terminal{columns: 80}
		s := liveScreen(tty)
		defer s.close()
		s.status(says("answering"))
		time.Sleep(time.Second)
		for _, piece := range []string{"The ans", "wer is", " 42."} {
			if err := s.answer(piece); err != nil {
				t.Fatal(err)
			}
			s.status(says("still answering"))
			time.Sleep(time.Second)
		}
		all := strings.Join(tty.taken(), "")
		if got := show(all); len(got) != 1 || got[0] != "The answer is 42." {
			t.Errorf("shows %q", got)
		}
		if err := s.endLine(); err != nil {
			t.Fatal(err)
		}
		s.note("done\n")
		got := show(all + strings.Join(tty.taken(), ""))
		if want := []string{"The answer is 42.", "done", ""}; fmt.Sprint(got[:2]) != fmt.Sprint(want[:2]) {
			t.Errorf("shows %q, want %q", got, want)
		}
	})
}

func TestStatusFitsTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &terminal{columns: 20}
		s := liveScreen(tty)
		defer s.close()
		s.status(says("shell go test ./... and much more than fits"))
		got := show(strings.Join(tty.taken(), ""))
		if n := len([]rune(got[0])); n > 19 {
			t.Errorf("%q has %d columns", got[0], n)
		}
	})
}

func TestPlainStreamsHaveNoStatus(t *testing.T) {
	var out, err bytes.Buffer
	s := &screen{out: &out, err: &err}
	defer s.close()
	s.status(says("working"))
	s.note("a note\n")
	if e := s.answer("an answer"); e != nil {
		t.Fatal(e)
	}
	if err.String() != "a note\n" || out.String() != "an answer" {
		t.Errorf("got %q and %q", err.String(), out.String())
	}
}
