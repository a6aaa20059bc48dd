package window_test

import (
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// spoken is a message of the journal. In the role of the user, a person is its speaker.
func spoken(m llm.Message) session.Message {
	out := session.Message{Message: m}
	if m.Role == llm.RoleUser {
		out.Speaker = session.Speaker{Kind: session.SpeakerPerson}
	}
	return out
}
