package sdkconformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// reading is what an answer says, in a form that each SDK and each client of ours can be asked for.
type reading struct {
	Text       string
	Thinking   string
	Signatures []string // and whatever else must come back as it is, in the order of the answer
	Calls      []call
	Usage      llm.Usage
	Stop       llm.StopReason
}

// call is a tool call with its arguments in one spelling, see canonical.
type call struct{ ID, Name, Arguments string }

func (r *reading) sign(s string) {
	if s != "" {
		r.Signatures = append(r.Signatures, s)
	}
}

func (r *reading) call(id, name, arguments string) {
	if arguments == "" {
		arguments = "{}" // as every model means it that says nothing
	}
	r.Calls = append(r.Calls, call{id, name, canonical(arguments)})
}

// String returns the reading for people.
func (r reading) String() string {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (r reading) equal(s reading) bool { return reflect.DeepEqual(r, s) }

// canonical returns JSON with its members in order and without white space. It returns other text unchanged.
func canonical(text string) string {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	data, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(data)
}

// squeezed returns text without line breaks: those between the paragraphs of reasoning are the reader's.
func squeezed(s string) string { return strings.ReplaceAll(s, "\n", "") }

// readMessage reads a message of ours.
func readMessage(m llm.Message) reading {
	r := reading{Text: m.Text(), Usage: m.Usage, Stop: m.Stop}
	r.Usage.Cost = 0
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			r.sign(kept(p.Opaque))
		case llm.Thinking:
			r.Thinking += p.Text
			r.sign(p.Signature)
			r.sign(kept(p.Opaque))
		case llm.ToolCall:
			r.sign(kept(p.Opaque))
			r.call(p.ID, p.Name, p.Arguments)
		}
	}
	return r
}

// kept returns the signature within opaque data, in the words of any protocol.
func kept(opaque json.RawMessage) string {
	var members map[string]any
	if json.Unmarshal(opaque, &members) != nil {
		return ""
	}
	for _, name := range []string{"thoughtSignature", "encrypted_content", "data", "redactedContent"} {
		if s, ok := members[name].(string); ok {
			return s
		}
	}
	return ""
}

// answering is a server in memory.
type answering func(r *http.Request, body []byte) (contentType string, answer []byte)

// RoundTrip implements http.RoundTripper.
func (s answering) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	contentType, answer := s(r, body)
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}, "X-Amzn-Requestid": {"req_1"}},
		Body:   io.NopCloser(bytes.NewReader(answer)), ContentLength: int64(len(answer)), Request: r,
	}, nil
}

// saying returns an HTTP client whose server gives one answer to all.
func saying(contentType string, answer []byte) *http.Client {
	return &http.Client{Transport: answering(func(*http.Request, []byte) (string, []byte) { return contentType, answer })}
}

// sent returns the body that a request has which ask makes with the client.
func sent(t *testing.T, ask func(h *http.Client) error) []byte {
	t.Helper()
	var got []byte
	h := &http.Client{Transport: answering(func(_ *http.Request, body []byte) (string, []byte) {
		got = body
		return "application/json", []byte("{}")
	})}
	err := ask(h)
	if got == nil {
		t.Fatalf("nothing was sent: %v", err)
	}
	return got
}

// sentByUs returns the body that a client of ours sends.
func sentByUs(t *testing.T, p protocol, stream bool, req *llm.Request) []byte {
	t.Helper()
	return sent(t, func(h *http.Client) error {
		_, err := llm.Collect(t.Context(), p.ours("http://127.0.0.1", h, stream), req)
		return err
	})
}

var errNoEnd = errors.New("the stream ended without its final event")
