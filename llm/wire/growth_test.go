package wire_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// If the pieces of several calls alternate, the code does not check with each piece whether the arguments are complete: with 400 000 pieces
// that would take hours.
func TestCallsThatComeInTurns(t *testing.T) {
	var done llm.Message
	a := wire.NewAnswer(llm.Model{}, nil, func(e llm.Event, _ error) bool {
		if e, ok := e.(llm.Done); ok {
			done = e.Message
		}
		return true
	})
	const n = 200_000
	keys := []string{"a", "b"}
	for _, key := range keys {
		a.Call(key, key, "write")
		a.Arguments(key, `{"text":"`)
	}
	for range n {
		for _, key := range keys {
			a.Call(key, "", "")
			a.Arguments(key, "lines")
		}
	}
	for _, key := range keys {
		a.Call(key, "", "")
		a.Arguments(key, `"}`)
	}
	a.Finish()
	for _, c := range done.Calls() {
		if c.Arguments != `{"text":"`+strings.Repeat("lines", n)+`"}` {
			t.Errorf("call %s: %d bytes of arguments", c.ID, len(c.Arguments))
		}
	}
}
