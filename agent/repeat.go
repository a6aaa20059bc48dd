package agent

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// The patience of the loop with a model that repeats itself, in turns in a row that brought nothing new.
const (
	hintRepeats = 4  // then the model learns of it
	maxRepeats  = 12 // then the run ends
)

// repeatHint is the message to a model that repeats itself.
const repeatHint = "Your last calls repeated earlier calls and had the same results. Do not repeat them. Try a different approach, or finish: " +
	"report what you tried and what blocks you."

// waits is how long the calls of a turn must take for the turn to count as waiting, such as for a background job. Waiting is no repetition.
const waits = 10 * time.Second

// repeats recognizes a model that goes in circles: turns whose calls and results were all there before. A run has no limit of turns by
// default, so this ends one that would never end.
type repeats struct {
	seed  maphash.Seed
	turns [30]uint64 // the last turns that were new
	next  int        // where the next one goes
	stale int        // turns in a row that were not new
}

func newRepeats() repeats { return repeats{seed: maphash.MakeSeed()} }

// add notes the calls of a turn, with their results.
func (r *repeats) add(jobs []*job, took time.Duration) {
	if took >= waits {
		return
	}
	var h maphash.Hash
	h.SetSeed(r.seed)
	write := func(s string) {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(s)))) // it never fails
		_, _ = h.WriteString(s)
	}
	for _, j := range jobs {
		write(j.call.Name)
		write(j.call.Arguments)
		if j.result != nil {
			write(j.result.Message.Text())
		}
	}
	turn := h.Sum64()
	if slices.Contains(r.turns[:], turn) {
		r.stale++
		return
	}
	r.stale = 0
	r.turns[r.next%len(r.turns)] = turn
	r.next++
}

// repeated ends a run whose model makes the same calls again and again, after a hint to the model.
func (r *caller) repeated() (again bool, _ *session.RunEnded, _ error) {
	switch stale := r.repeats.stale; {
	case stale >= maxRepeats:
		return false, limitEnd("repetition", "the limit of %d turns that only repeat calls and their results", maxRepeats), nil
	case stale == hintRepeats:
		if err := r.hint(repeatHint); err != nil {
			return false, r.failure(err), err
		}
	}
	return true, nil, nil
}
