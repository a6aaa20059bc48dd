package agent_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-agent/tenon/session"
)

// An answer that streams for two seconds is saved at most four times a second, and what was saved is the answer but for its
// end.
func TestAnUnfinishedAnswerIsSavedNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Repeat("text word \ndelay 50ms\n", 40), nil)
		b.run("go")
		partials := bodies[session.Partial](b.journal())
		if n := len(partials); n < 6 || n > 8 {
			t.Errorf("an answer of two seconds was saved %d times", n)
		}
		var saved strings.Builder
		for _, p := range partials {
			saved.WriteString(p.Content.Text())
		}
		whole := strings.Repeat("word ", 40)
		if got := saved.String(); !strings.HasPrefix(whole, got) || len(got) < len(whole)*3/4 {
			t.Errorf("saved %q of %q", got, whole)
		}
		if got := b.texts(); strings.Count(got, "word") != 40 {
			t.Errorf("the conversation is\n%s", got)
		}
	})
}
