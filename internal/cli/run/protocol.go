package run

import (
	"fmt"
	"io"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/session"
)

// streamVersion is the version of the output formats json and stream-json. It grows with changes that break
// programs that read them. New members and new kinds of events do not break them.
const streamVersion = 1

// header holds the facts before a run: the first line of stream-json.
type header struct {
	Type    string            `json:"type"` // "tenon.stream"
	Version int               `json:"version"`
	Tenon   string            `json:"tenon"` // version of the program
	Session session.SessionID `json:"session"`
	Resumed bool              `json:"resumed"` // the session existed before
	Dir     string            `json:"dir"`
	Model   string            `json:"model"`
	Why     string            `json:"why"` // why this model
}

func (h header) words() string {
	text := fmt.Sprintf("model %s (%s)", h.Model, h.Why)
	if h.Resumed {
		text += fmt.Sprintf(", continues session %s", h.Session)
	}
	return text
}

// jsonView is --output json: one object at the end.
type jsonView struct{ out io.Writer }

func (v jsonView) begin(header) error { return nil }

func (v jsonView) event(session.Event) error { return nil }

func (v jsonView) end(r *report) error { return command.WriteJSON(v.out, r) }

// streamView is --output stream-json: a header, each event, and the result, one per line.
type streamView struct{ out io.Writer }

func (v streamView) begin(h header) error {
	h.Type, h.Version = "tenon.stream", streamVersion
	return command.WriteJSON(v.out, h)
}

func (v streamView) event(e session.Event) error { return command.WriteJSON(v.out, e) }

func (v streamView) end(r *report) error { return command.WriteJSON(v.out, r) }
