package wire

import (
	"iter"

	"github.com/tenon-agent/tenon/llm"
)

// Stream turns a function into the result of a client's Stream method. The function yields the events of an answer and returns its
// error or nil. After the consumer has left, Stream yields nothing more.
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
