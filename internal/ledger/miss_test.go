package ledger_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
)

// fork goes on in a fork of the session, from its end.
func (k *talk) fork() {
	k.t.Helper()
	id, err := k.store.Create(k.t.Context(), session.Created{Dir: "/work", From: session.Origin{Session: k.id}, Fork: true})
	if err != nil {
		k.t.Fatal(err)
	}
	w, err := k.store.Open(k.t.Context(), id, session.Lease{Owner: "test"})
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = w.Close() })
	k.id, k.writer = id, w
}

// The reason is the change that made the difference, not one that only happened at the same time.
func TestTheReasonOfAMiss(t *testing.T) {
	missed := &llm.Usage{CacheWrite: 10_200}
	for name, c := range map[string]struct {
		play  func(k *talk)
		want  ledger.Miss
		epoch string
		idle  time.Duration
	}{
		"nine tenths are all that blocks allow": {func(k *talk) {
			k.ask("two", &llm.Usage{CacheRead: 9000, Input: 1200})
		}, ledger.Hit, "", 0},
		"less is a miss": {func(k *talk) {
			k.ask("two", &llm.Usage{CacheRead: 8999, Input: 1200})
		}, ledger.Unexplained, "", 0},
		"an epoch that left all bytes as they were": {func(k *talk) {
			k.header.Thinking = llm.ThinkHigh
			k.ask("two", missed)
		}, ledger.Unexplained, "thinking", 0},
		"another model": {func(k *talk) {
			k.header.Model.ID = "claude-opus-4-1"
			k.ask("two", missed)
		}, ledger.OtherModel, "model", 0},
		"a fork after a while": {func(k *talk) {
			k.fork()
			k.ask("two", missed)
		}, ledger.Expired, "", 6 * time.Minute},
		"an epoch that a fork inherited": {func(k *talk) {
			k.header.System = "You help otherwise."
			k.append(session.Epoch{Reason: "system", Model: k.header.Model, System: k.header.System, Tools: k.header.Tools})
			k.fork()
			k.ask("two", missed)
		}, ledger.NewEpoch, "system", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := begin(t)
				k.ask("one", &llm.Usage{CacheWrite: 10_000})
				time.Sleep(c.idle)
				c.play(k)
				requests := k.requests()
				if r := requests[len(requests)-1]; r.Miss != c.want || r.Epoch != c.epoch {
					t.Errorf("missed by %q in the epoch %q, want %q and %q", r.Miss, r.Epoch, c.want, c.epoch)
				}
			})
		})
	}
}

// A miss belongs to the time and to the day of its request, as the person counts days.
func TestTheTimeOfAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := begin(t)
		k.ask("one", &llm.Usage{CacheWrite: 10_000})
		k.ask("two", &llm.Usage{CacheWrite: 10_200})
		time.Sleep(time.Minute)
		noon := time.Now()
		k.ask("three", &llm.Usage{CacheWrite: 10_400})
		zone := time.FixedZone("west", -5*60*60)
		for until, want := range map[time.Time]int{{}: 2, noon: 1} {
			a, err := ledger.Open(t.Context(), k.store, ledger.Query{Until: until, Zone: zone})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := a.By(t.Context(), index.GroupDay)
			day := noon.In(zone).Format(time.DateOnly)
			if err != nil || len(rows) != 1 || rows[0].Key != day || rows[0].Lost[ledger.Unexplained].Requests != want {
				t.Errorf("until %v: %+v (%v), want %d misses", until, rows, err, want)
			}
		}
	})
}
