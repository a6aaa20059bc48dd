package ask_test

import (
	"encoding/json"
	"fmt"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
)

// An agent asks whether a call may run, and a person allows it once.
func Example() {
	question := session.Asking{ID: "q1", Calls: []ask.Call{{
		Call: "c1", Tool: "shell", Arguments: json.RawMessage(`{"command":"make"}`), Reason: "commands need approval",
		Grants: []ask.Grant{{Rules: []string{"shell(make *)"}, Words: "commands that begin with make"}},
	}}}
	answer := session.Answered{ID: question.ID, Answers: []ask.Answer{{Allow: true}}}

	text, err := json.Marshal(answer)
	fmt.Println(string(text), err)
	// Output:
	// {"id":"q1","answers":[{"allow":true}]} <nil>
}
