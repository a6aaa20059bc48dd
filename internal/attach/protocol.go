package attach

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tenon-agent/tenon/session"
)

// protocol is the version of the protocol. Another version cannot be understood.
const protocol = 1

// The limits of what a peer can send.
const (
	maxLine = 64 << 20 // bytes of a line: a prompt with images, or an entry
	maxName = 64       // bytes of the name of a client
)

// call is the first line of a client. After it the client sends at most one line, a cancellation.
type call struct {
	Protocol int             `json:"protocol"`
	Name     string          `json:"name,omitzero"` // of the frontend, for the other frontends
	Op       string          `json:"op"`
	Args     json.RawMessage `json:"args,omitzero"`
}

// cancellation ends the operation.
type cancellation struct {
	Cancel bool `json:"cancel"`
}

// reply is a line of a server: an event, or the end of the operation. An end may have both a result and an error.
type reply struct {
	Event  *session.Event  `json:"event,omitzero"`
	Result json.RawMessage `json:"result,omitzero"`
	Error  *fault          `json:"error,omitzero"`
	Done   bool            `json:"done,omitzero"`
}

// Session is an open session that a process serves.
type Session struct {
	ID    session.SessionID `json:"session"`
	Owner string            `json:"owner"` // the frontend that has it open, such as "tenon run"
	PID   int               `json:"pid"`
	Path  string            `json:"-"` // of the socket
}

// parse reads the first line of a client.
func parse(line []byte) (call, error) {
	var r call
	if err := json.Unmarshal(line, &r); err != nil {
		return r, &coded{"attach.protocol", "cannot read the request: " + err.Error()}
	}
	if r.Protocol != protocol {
		return r, &coded{"attach.protocol", fmt.Sprintf("the versions of the two programs differ: protocol %d, not %d; use the same version of Tenon", r.Protocol, protocol)}
	}
	if r.Name = strings.ToValidUTF8(r.Name, "\uFFFD"); len(r.Name) > maxName {
		r.Name = strings.ToValidUTF8(r.Name[:maxName], "")
	}
	return r, nil
}

var errLong = errors.New("the line is too long")

// readLine reads a line of at most so many bytes.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > most {
			return nil, errLong
		}
		if line = append(line, part...); err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) && len(line) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
}

// encode makes a line of a value.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(data) >= maxLine {
		return nil, errLong
	}
	return append(data, '\n'), nil
}
