package app

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
)

// With the limits of a new user, a run of two hours ends when the model has finished, and its journal has all of it. The clock is that of the
// bubble: the program itself has no other clock than the system's.
func TestARunOfTwoHours(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal, 1) // the goroutine for signals is one for the process: it must begin outside of the bubble
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	synctest.Test(t, func(t *testing.T) {
		const turns, each = 60, 2*time.Minute + 10*time.Second
		w := newWorkplaceIn(t, base)
		disk := w.app.Store // watches a file for other processes, and the clock of a bubble stops meanwhile
		w.app.Store = memory.New()
		defer func() {
			if err := w.app.Store.Close(); err != nil {
				t.Error(err)
			}
			w.app.Store = disk
		}()
		w.spec.Limits.Turns = 0 // as without a configuration
		w.write("repo/f.txt", "one line\n")
		n := 0
		w.answer = func(*llm.Request) llm.Message {
			time.Sleep(each)
			if n++; n == turns {
				return llm.AssistantText("All of it is done.")
			}
			return calls("write", fmt.Sprintf(`{"path": "f%d.txt", "content": "part %d\n"}`, n, n))
		}
		begun := time.Now()
		w.open()
		events := w.ask("Work.")
		end := events[len(events)-1].Body.(session.RunEnded)
		if took := time.Since(begun); took < 2*time.Hour || end.Turns != turns || time.Duration(end.Elapsed) < 2*time.Hour {
			t.Errorf("it took %s: %+v", took, end)
		}
		results, last := 0, ""
		for _, m := range of[session.Message](events) {
			switch m.Role {
			case llm.RoleTool:
				if results++; m.Outcome != session.OutcomeOK {
					t.Errorf("result %d is %q: %s", results, m.Outcome, m.Text())
				}
			case llm.RoleAssistant:
				last = m.Text()
			}
		}
		if results != turns-1 || last != "All of it is done." {
			t.Errorf("%d results, and the last answer is %q", results, last)
		}
		w.close()
	})
}
