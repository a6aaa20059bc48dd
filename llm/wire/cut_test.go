package wire_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// A protocol ends a call before it reports that the limit of the answer cut it. Such a call must never count as ready.
func TestCallCutByTheLimit(t *testing.T) {
	tests := []struct {
		name      string
		arguments []string // of calls, each ended
		stop      llm.StopReason
		want      string
	}{
		{"whole", []string{`{"a":1}`}, llm.StopLength, `ready {"a":1}|done {"a":1}`},
		{"in the arguments", []string{`{"a":1}`, `{"a`}, llm.StopLength, `ready {"a":1}|done {"a":1} {"a (truncated)`},
		{"before the arguments", []string{""}, llm.StopLength, `done {} (truncated)`},
		{"not the one without arguments", []string{"", `{"a":1}`}, llm.StopLength, `ready {}|ready {"a":1}|done {} {"a":1}`},
		{"without arguments", []string{""}, llm.StopCalls, `ready {}|done {}`},
		{"malformed, not cut", []string{`{"a`}, llm.StopCalls, `ready {"a|done {"a`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var trace []string
			a := wire.NewAnswer(llm.Model{}, nil, func(e llm.Event, _ error) bool {
				switch e := e.(type) {
				case llm.CallReady:
					trace = append(trace, "ready "+e.Call.Arguments)
				case llm.Done:
					line := "done"
					for _, c := range e.Message.Calls() {
						line += " " + c.Arguments
						if c.Truncated {
							line += " (truncated)"
						}
					}
					trace = append(trace, line)
				}
				return true
			})
			for i, arguments := range tt.arguments {
				key := fmt.Sprint(i)
				a.Call(key, "", "tool")
				a.Arguments(key, arguments)
				a.EndCall(key)
			}
			a.Stop = tt.stop
			a.Finish()
			if got := strings.Join(trace, "|"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Arguments that a model wrote are sent back as they are, also when a name is in them twice.
func TestMarshalKeepsDuplicateNames(t *testing.T) {
	got, err := wire.Marshal(map[string]any{"input": jsontext.Value(`{"a":1,"a":2}`)})
	if want := `{"input":{"a":1,"a":2}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
