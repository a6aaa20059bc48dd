package app

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// personal returns the call that runs a command of a person, who can wait longer than a model.
func personal(command string) llm.ToolCall {
	const seconds = 600
	arguments, _ := json.Marshal(map[string]any{"command": command, "timeout": seconds}) // a text and a number always encode
	return llm.ToolCall{Name: "shell", Arguments: string(arguments)}
}

// network returns the hosts that commands may reach, in the form of a [session.Change].
func (a *Agent) network() string {
	hosts := a.site.bounds.Load().Hosts
	if len(hosts) == 0 {
		return "none"
	}
	return strings.Join(hosts, ",")
}

// trim shortens old results now, and returns the entry of the trim; nil: there was nothing to trim.
func (a *Agent) trim(ctx context.Context) (*session.Event, error) {
	defer a.window.Trim()() // also if no request comes, because a run is on
	entries, err := a.Prepare(ctx)
	for _, e := range entries {
		if _, ok := e.Body.(session.Trimmed); ok {
			return &e, err
		}
	}
	return nil, err
}
