package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tenon-agent/tenon/session"
)

// streamVersion is the version of the output formats json and stream-json. It grows when a program that reads them would
// have to change; further members and further kinds of events do not count.
const streamVersion = 1

// header is what is known before a run begins: the first line of stream-json.
type header struct {
	Type    string            `json:"type"` // "tenon.stream"
	Version int               `json:"version"`
	Tenon   string            `json:"tenon"` // version of the program
	Session session.SessionID `json:"session"`
	Resumed bool              `json:"resumed"` // the session was there before
	Dir     string            `json:"dir"`
	Model   string            `json:"model"`
	Why     string            `json:"why"` // why this model
}

func (h header) words() string {
	text := fmt.Sprintf("model %s (%s)", h.Model, h.Why)
	if h.Resumed {
		text += fmt.Sprintf(", goes on with session %s", h.Session)
	}
	return text
}

// jsonView is --output json: one object when all is over.
type jsonView struct{ out io.Writer }

func (v jsonView) begin(header) error        { return nil }
func (v jsonView) event(session.Event) error { return nil }
func (v jsonView) end(r *report) error       { return writeJSON(v.out, r) }

// streamView is --output stream-json: a header, each event, and the result, one to a line.
type streamView struct{ out io.Writer }

func (v streamView) begin(h header) error {
	h.Type, h.Version = "tenon.stream", streamVersion
	return writeJSON(v.out, h)
}

func (v streamView) event(e session.Event) error { return writeJSON(v.out, e) }
func (v streamView) end(r *report) error         { return writeJSON(v.out, r) }

// writeLines writes a line for each of some values.
func writeLines[T any](w io.Writer, values []T) error {
	for _, v := range values {
		if err := writeJSON(w, v); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON writes one line.
func writeJSON(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}
