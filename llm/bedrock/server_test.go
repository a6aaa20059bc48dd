package bedrock_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/wire"
)

// haiku is a model of which all is known.
var haiku = llm.Model{
	Provider: "bedrock", ID: "us.anthropic.claude-haiku-4-5-20251001-v1:0", Context: 200_000, MaxOutput: 64_000,
	Images: true, Documents: true, Price: llm.Price{Input: 1, CacheRead: 0.1, CacheWrite: 1.25, Output: 5},
}

func ask(text string) *llm.Request { return &llm.Request{Messages: []llm.Message{llm.UserText(text)}} }

// roundTrip is a server in memory.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	return f(r)
}

// at returns an endpoint whose requests f answers.
func at(f roundTrip) wire.Endpoint {
	return wire.Endpoint{BaseURL: "https://bedrock.test", Key: "test-key-of-bedrock", HTTP: wire.NewClient(f)}
}

func answer(status int, media string, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {media}, "X-Amzn-Requestid": {"req-1"}}, Body: io.NopCloser(body),
	}
}

const eventStream = "application/vnd.amazon.eventstream"

// saying returns a client that gets one answer.
func saying(m llm.Model, media string, body io.Reader) *bedrock.Client {
	return bedrock.New(m, bedrock.Options{Endpoint: at(func(*http.Request) (*http.Response, error) {
		return answer(http.StatusOK, media, body), nil
	})})
}

// binary writes an event stream from a readable text. Each line is one message:
//
//	contentBlockDelta {"delta":{"text":"an event and its payload"}}
//	! throttlingException {"message":"an exception"}
//	!! InternalError an error, which has no payload
func binary(tb testing.TB, text string) []byte {
	tb.Helper()
	var out bytes.Buffer
	encoder := eventstream.NewEncoder()
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		var m eventstream.Message
		kind, rest, _ := strings.Cut(line, " ")
		name, payload, _ := strings.Cut(rest, " ")
		switch kind {
		case "!":
			m.Headers.Set(":message-type", eventstream.StringValue("exception"))
			m.Headers.Set(":exception-type", eventstream.StringValue(name))
			m.Payload = []byte(payload)
		case "!!":
			m.Headers.Set(":message-type", eventstream.StringValue("error"))
			m.Headers.Set(":error-code", eventstream.StringValue(name))
			m.Headers.Set(":error-message", eventstream.StringValue(payload))
		default:
			m.Headers.Set(":event-type", eventstream.StringValue(kind))
			m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
			m.Headers.Set(":message-type", eventstream.StringValue("event"))
			m.Payload = []byte(rest)
		}
		if err := encoder.Encode(&out, m); err != nil {
			tb.Fatal(err)
		}
	}
	return out.Bytes()
}

// trace prints the events of an answer, one per line.
func trace(ctx context.Context, c llm.Client, req *llm.Request) string {
	var b strings.Builder
	for e, err := range c.Stream(ctx, req) {
		switch e := e.(type) {
		case nil:
			fmt.Fprintf(&b, "error %v\n", err)
		case llm.TextDelta:
			fmt.Fprintf(&b, "%d text %q\n", e.Part, e.Text)
		case llm.ThinkingDelta:
			fmt.Fprintf(&b, "%d thinking %q\n", e.Part, e.Text)
		case llm.CallDelta:
			fmt.Fprintf(&b, "%d call %s %s %q\n", e.Part, e.ID, e.Name, e.Arguments)
		case llm.CallReady:
			fmt.Fprintf(&b, "%d ready %s %s %s\n", e.Part, e.Call.ID, e.Call.Name, e.Call.Arguments)
		case llm.Done:
			b.WriteString(done(e))
		default:
			fmt.Fprintf(&b, "%T\n", e)
		}
	}
	return b.String()
}

func done(d llm.Done) string {
	var b strings.Builder
	fmt.Fprintf(&b, "done %s %s %s\n", d.Message.Stop, d.Message.Model, d.RequestID)
	for _, p := range d.Message.Content {
		switch p := p.(type) {
		case llm.Text:
			fmt.Fprintf(&b, "  text %q\n", p.Text)
		case llm.Thinking:
			fmt.Fprintf(&b, "  thinking %q %q %s\n", p.Text, p.Signature, p.Opaque)
		case llm.ToolCall:
			fmt.Fprintf(&b, "  call %s %s %s truncated=%v\n", p.ID, p.Name, p.Arguments, p.Truncated)
		default:
			fmt.Fprintf(&b, "  %T\n", p)
		}
	}
	u := d.Message.Usage
	fmt.Fprintf(&b, "  usage input=%d read=%d write=%d output=%d cost=%.6f\n", u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Cost)
	return b.String()
}
