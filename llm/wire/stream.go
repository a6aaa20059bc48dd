package wire

import (
	"iter"

	"github.com/tenon-agent/tenon/llm"
)

// Stream makes what a client's Stream returns. Answer yields the events of an answer, and returns the error that it ends with, or
// nil. A consumer who has left is told nothing more, whatever fails after that.
func Stream(answer func(yield func(llm.Event, error) bool) error) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		left := false
		err := answer(func(e llm.Event, err error) bool {
			left = left || !yield(e, err)
			return !left
		})
		if err != nil && !left {
			yield(nil, err)
		}
	}
}
