package term

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/term/termtest"
)

func liveScreen(tty *termtest.Terminal) *Screen {
	return &Screen{Out: tty, Err: tty, Width: tty.TerminalWidth, ShareLine: true}
}

func says(text string) func(time.Time) string { return func(time.Time) string { return text } }

func TestStatusIsDrawnAtMostTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &termtest.Terminal{Columns: 80}
		s := liveScreen(tty)
		defer s.Close()
		for i := range 1000 { // one second of changes
			s.Status(says(fmt.Sprint("at ", i)))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(RedrawEvery)
		writes := tty.Taken()
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
		tty := &termtest.Terminal{Columns: 80}
		s := liveScreen(tty)
		s.Status(says("reading"))
		tty.Taken()
		time.Sleep(time.Hour)
		if w := tty.Taken(); len(w) != 0 {
			t.Errorf("%d writes without a change", len(w))
		}
		s.Status(nil)
		tty.Taken()
		time.Sleep(time.Hour)
		if w := tty.Taken(); len(w) != 0 {
			t.Errorf("%d writes with nothing going on", len(w))
		}
		s.Close()
	})
}

func TestStatusCountsSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &termtest.Terminal{Columns: 80}
		s := liveScreen(tty)
		defer s.Close()
		start := time.Now()
		s.Status(func(now time.Time) string { return "waiting" + Elapsed(now.Sub(start)) })
		time.Sleep(3*time.Second + RedrawEvery)
		got := tty.Taken()
		want := []string{"\rwaiting\x1b[K", "\rwaiting 1s\x1b[K", "\rwaiting 2s\x1b[K", "\rwaiting 3s\x1b[K"}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestNotesStandAboveTheStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &termtest.Terminal{Columns: 80}
		s := liveScreen(tty)
		s.Status(says("working"))
		time.Sleep(time.Second)
		s.Note("✓ read go.mod\n")
		time.Sleep(time.Second)
		got := termtest.Show(strings.Join(tty.Taken(), ""))
		if want := []string{"✓ read go.mod", "working"}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("shows %q, want %q", got, want)
		}
		s.Close()
		if got := termtest.Show("working" + strings.Join(tty.Taken(), "")); got[0] != "" {
			t.Errorf("close leaves %q", got)
		}
	})
}

func TestStatusDoesNotOverdrawTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &termtest.Terminal{Columns: 80}
		s := liveScreen(tty)
		defer s.Close()
		s.Status(says("answering"))
		time.Sleep(time.Second)
		for _, piece := range []string{"The ans", "wer is", " 42."} {
			if err := s.Answer(piece); err != nil {
				t.Fatal(err)
			}
			s.Status(says("still answering"))
			time.Sleep(time.Second)
		}
		all := strings.Join(tty.Taken(), "")
		if got := termtest.Show(all); len(got) != 1 || got[0] != "The answer is 42." {
			t.Errorf("shows %q", got)
		}
		if err := s.EndLine(); err != nil {
			t.Fatal(err)
		}
		s.Note("done\n")
		got := termtest.Show(all + strings.Join(tty.Taken(), ""))
		if want := []string{"The answer is 42.", "done", ""}; fmt.Sprint(got[:2]) != fmt.Sprint(want[:2]) {
			t.Errorf("shows %q, want %q", got, want)
		}
	})
}

func TestStatusFitsTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := &termtest.Terminal{Columns: 20}
		s := liveScreen(tty)
		defer s.Close()
		s.Status(says("shell go test ./... and much more than fits"))
		got := termtest.Show(strings.Join(tty.Taken(), ""))
		if n := len([]rune(got[0])); n > 19 {
			t.Errorf("%q has %d columns", got[0], n)
		}
	})
}

func TestPlainStreamsHaveNoStatus(t *testing.T) {
	var out, err bytes.Buffer
	s := &Screen{Out: &out, Err: &err}
	defer s.Close()
	s.Status(says("working"))
	s.Note("a note\n")
	if e := s.Answer("an answer"); e != nil {
		t.Fatal(e)
	}
	if err.String() != "a note\n" || out.String() != "an answer" {
		t.Errorf("got %q and %q", err.String(), out.String())
	}
}
