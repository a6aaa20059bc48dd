package tui

import (
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A new version of Bubble Tea without this ticker would make an idle terminal cost a percent of a core again, or need another way.
func TestBubbleTeaHasATicker(t *testing.T) {
	p := tea.NewProgram(nil)
	if tickerOf(p) != nil {
		t.Error("a program that does not run has a ticker")
	}
	if _, ok := tickerField(p); !ok {
		t.Error("this version of Bubble Tea has no field ticker")
	}
}

// The ticker is fast after a message and rests later.
func TestThePaceRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pace{ticker: time.NewTicker(slowest)}
		defer p.ticker.Stop()
		for range 3 {
			p.wake()
			start := time.Now()
			<-p.ticker.C
			if took := time.Since(start); took > drawEvery {
				t.Errorf("the screen was drawn after %s", took)
			}
		}
		looks := 0
		for late := time.After(time.Hour); ; looks++ {
			select {
			case <-p.ticker.C:
				continue
			case <-late:
			}
			break
		}
		if looks < 60 || looks > 90 {
			t.Errorf("%d looks in an idle hour", looks)
		}
		p.wake()
		time.Sleep(10 * time.Second) // the terminal takes a frame so slowly that all looks of that time are lost
		select {
		case <-p.ticker.C:
		case <-time.After(20 * time.Second):
			t.Error("no look after a slow frame")
		}
	})
}
