package chain_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
)

// A later chain skips the keys that rest, as the first one would, and begins with the model that answered last.
func TestMemory(t *testing.T) {
	for name, test := range map[string]struct {
		first, second string // scripts of two processes
		after         time.Duration
		want          []string // of the first one, then of the second one
		facts         int      // that are in the memory at the end
	}{
		"nothing to note": {"a: ok", "a: ok", 0, []string{"yes; done", "yes; done"}, 0},
		"a key rests": {
			"a one: 429/1h\na two: ok", "a one: ok\na two: ok", 59 * time.Minute, []string{"to a two; yes; done", "to a two; yes; done"}, 1,
		},
		"it has rested": {
			"a one: 429/1h\na two: ok", "a one: ok\na two: ok", time.Hour, []string{"to a two; yes; done", "yes; done"}, 0,
		},
		"its credit is used up": {"a one: 402\na two: ok", "a one: ok\na two: ok", time.Minute, []string{"to a two; yes; done", "to a two; yes; done"}, 1},
		"the server refuses it": {
			"a one: 401 of the server\na two: ok", "a one: ok\na two: ok", 0, []string{"to a two; yes; done", "to a two; yes; done"}, 1,
		},
		"this machine cannot read it": {"a one: 401\na two: ok", "a one: ok\na two: ok", 0, []string{"to a two; yes; done", "yes; done"}, 0},
		"a rest that is over soon":    {"a one: 429\na two: ok", "a one: ok\na two: ok", 0, []string{"to a two; yes; done", "yes; done"}, 0},
		"every key rests: a person may have fixed it": {
			"a one: 429/1h\na two: 402", "a one: ok\na two: ok", 0, []string{"to a two; error quota", "yes; done"}, 1,
		},
		"the only key": {"a: 429/1h", "a: ok", 0, []string{"error rate_limited", "yes; done"}, 0},
		"another model answers": {
			"a: 529\nb: ok", "a: ok\nb: ok", 29 * time.Minute, []string{"wait 1s 2/4; wait 2s 3/4; wait 4s 4/4; to b; yes; done", "yes; done"}, 1,
		},
		"the first model again": {
			"a: 400\nb: ok", "a: ok\nb: 402", time.Minute, []string{"to b; yes; done", "to a; yes; done"}, 1,
		},
		"the next model, since the key rests": {
			"a: 429/1h\nb: ok", "a: ok\nb: ok", 40 * time.Minute, []string{"to b; yes; done", "to b; yes; done"}, 2,
		},
		"another chain": {"a one: 429/1h\na two: ok", "b one: ok\nc: ok", 0, []string{"to a two; yes; done", "yes; done"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				first, _ := buildWith(t, dir, test.first)
				got := []string{ask(t.Context(), first, &llm.Request{})}
				time.Sleep(test.after)
				second, _ := buildWith(t, dir, test.second)
				got = append(got, ask(t.Context(), second, &llm.Request{}))
				if n := len(state.In(dir).Facts()); n != test.facts {
					t.Errorf("%d facts, want %d", n, test.facts)
				}
				if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
				}
			})
		})
	}
}

// The model of a pool is known before its first request.
func TestRememberedModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, now := t.TempDir(), time.Now()
		state.In(dir).Set(state.Pick+"pool", state.Fact{At: now, Until: now.Add(time.Hour), Text: "p/b"})
		c, _ := buildWith(t, dir, "a: ok\nb: ok")
		if ref := c.Model().Ref(); ref != "p/b" {
			t.Errorf("it asks %s", ref)
		}
		time.Sleep(30 * time.Minute)
		if ref := c.Model().Ref(); ref != "p/a" {
			t.Errorf("later it asks %s", ref)
		}
	})
}
