package approval_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
)

// A gate asks a person about a command that its policy does not decide.
func Example() {
	policy, err := permission.New(permission.Options{Root: "/src", Home: "/home/user", Mode: permission.AskMode})
	if err != nil {
		fmt.Println(err)
		return
	}
	// A program passes the Ask of its agent, which records questions and answers as entries of the session. This example asks no one.
	broker := approval.NewBroker(func(_ context.Context, q session.Asking) ([]ask.Answer, error) {
		fmt.Println("asked about", q.Calls[0].Tool)
		return []ask.Answer{{Allow: true}}, nil
	}, 0)
	gate := approval.NewGate(approval.Options{Judge: policy, Broker: broker})
	c := policy.Command("make install")
	verdicts, err := gate.Decide(context.Background(), []agent.Proposed{{
		Call: llm.ToolCall{ID: "1", Name: c.Tool}, Effects: c.Effects, Arguments: json.RawMessage(`{"command":"make install"}`),
	}})
	fmt.Println(verdicts[0].Allow, verdicts[0].By, err)
	// Output:
	// asked about shell
	// true person <nil>
}
