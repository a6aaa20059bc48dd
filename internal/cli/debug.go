package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tenon-agent/tenon/session"
)

// debugEvent writes an event as one line.
func (j *job) debugEvent(e session.Event) {
	data, err := json.Marshal(e)
	if err != nil {
		data = []byte(err.Error())
	}
	j.tell("event " + string(data))
}

// debugState writes the state view of the session.
func (j *job) debugState(p session.Path) {
	s, err := session.StateOf(context.Background(), p) // also after a cancel
	if err != nil {
		j.tell("state: " + err.Error())
		return
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		j.tell("state: " + err.Error())
		return
	}
	j.tell(fmt.Sprintf("state %s", data))
}
