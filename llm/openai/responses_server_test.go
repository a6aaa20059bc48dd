package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/openai"
	"github.com/tenon-agent/tenon/llm/wire"
)

// respServed returns a client of a server that plays steps, streamed or not.
func respServed(t *testing.T, noStream bool, c modelserver.Config, steps ...modelserver.Step) (*openai.Responses, *modelserver.Server) {
	t.Helper()
	c.Keys = []string{"sk-secret"}
	srv := modelserver.New(t, modelserver.With(c), modelserver.Steps(steps...))
	transport := wire.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	o := openai.ResponsesOptions{
		NoStream: noStream,
		Endpoint: wire.Endpoint{BaseURL: srv.URL, Key: "sk-secret", HTTP: wire.NewClient(transport)},
	}
	return openai.NewResponses(respModel(), o), srv
}

// respBoth runs a test with answers that are streamed and with such that are not.
func respBoth(t *testing.T, f func(t *testing.T, noStream bool)) {
	t.Run("streamed", func(t *testing.T) { f(t, false) })
	t.Run("whole", func(t *testing.T) { f(t, true) })
}

// A loop of tools works against a server that checks every request as strictly as OpenAI: reasoning comes back untouched, results
// follow their calls, images are seen.
func TestResponsesLoop(t *testing.T) {
	respBoth(t, func(t *testing.T, noStream bool) {
		client, srv := respServed(
			t, noStream, modelserver.Config{ChunkBytes: 7},
			modelserver.Think("I should look — ünd see.").Say("I look.").Call("read", `{"path":"a"}`).Call("read", `{"path":"b"}`),
			modelserver.Think("Now I know.").Say("It is a point.").Usage(llm.Usage{Input: 10, CacheRead: 90, Output: 7, Reasoning: 5}),
			modelserver.Say("You are welcome."),
		)
		req := &llm.Request{System: "Be brief.", Tools: []llm.Tool{respTool("read")}, Messages: []llm.Message{llm.UserText("What is in a and b?")}}
		first, err := llm.Collect(t.Context(), client, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(first.Calls()) != 2 || first.Stop != llm.StopCalls || first.Content[0].(llm.Thinking).Text != "I should look — ünd see." {
			t.Errorf("got %+v", first)
		}
		req.Messages = append(req.Messages, first)
		for _, c := range first.Calls() {
			result := llm.ToolText(c, "an image", false)
			result.Content = append(result.Content, llm.Image{MIME: "image/png", Data: respPNG()})
			req.Messages = append(req.Messages, result)
		}
		second, err := llm.Collect(t.Context(), client, req)
		if err != nil {
			t.Fatal(err)
		}
		want := llm.Usage{Input: 10, CacheRead: 90, Output: 7, Reasoning: 5}
		if second.Text() != "It is a point." || second.Stop != llm.StopEnd || second.Usage != want {
			t.Errorf("got %+v", second)
		}
		req.Messages = append(req.Messages, second, llm.UserText("Thanks."))
		if _, err := llm.Collect(t.Context(), client, req); err != nil {
			t.Fatal(err)
		}
		if v := srv.Violations(); len(v) > 0 {
			t.Error(errors.Join(v...))
		}
		if r := srv.Requests()[1]; r.Images() != 2 || r.Stream == noStream {
			t.Errorf("the second request has %d images and is streamed: %t", r.Images(), r.Stream)
		}
	})
}

// An answer streamed and the same answer whole are the same message.
func TestResponsesServedBothWays(t *testing.T) {
	for name, step := range map[string]modelserver.Step{
		"text":     modelserver.Say("One. Two."),
		"thinking": modelserver.Think("Hm.").Say("One."),
		"calls":    modelserver.Say("I do.").Call("read", `{"path":"a"}`).Call("pwd", `{}`),
		"length":   modelserver.Say("One.").Stop(llm.StopLength),
		"refused":  modelserver.Say("No.").Stop(llm.StopRefused),
		"limits":   modelserver.Say("One.").Header("X-Request-Id", "req_7"),
	} {
		t.Run(name, func(t *testing.T) {
			var got []llm.Message
			for _, noStream := range []bool{false, true} {
				client, _ := respServed(t, noStream, modelserver.Config{}, step)
				m, err := llm.Collect(t.Context(), client, recorded.Ask())
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range m.Content { // the request is part of the IDs
					switch p := p.(type) {
					case llm.ToolCall:
						p.ID = ""
						m.Content[i] = p
					case llm.Thinking:
						p.Opaque = nil
						m.Content[i] = p
					}
				}
				got = append(got, m)
			}
			if !reflect.DeepEqual(got[0], got[1]) {
				t.Errorf("streamed %+v\nwhole %+v", got[0], got[1])
			}
		})
	}
}

// Whatever goes wrong is an error that says so, with the kind that decides what happens next. No cut answer is taken for whole.
func TestResponsesFailures(t *testing.T) {
	say := modelserver.Say("The answer is a long one, in many pieces.")
	call := modelserver.Call("write", `{"path":"a","content":"something long enough"}`)
	for name, c := range map[string]struct {
		step modelserver.Step
		kind llm.Kind
		text string
	}{
		"400":                 {modelserver.Fail(400), llm.KindInvalidRequest, "not valid"},
		"401":                 {modelserver.Fail(401), llm.KindAuth, "key"},
		"403":                 {modelserver.Fail(403), llm.KindAuth, ""},
		"404":                 {modelserver.Fail(404), llm.KindInvalidRequest, "does not exist"},
		"413":                 {modelserver.Fail(413), llm.KindContextOverflow, ""},
		"429":                 {modelserver.Fail(429).RetryAfter(3 * time.Second), llm.KindRateLimited, ""},
		"500":                 {modelserver.Fail(500), llm.KindOverloaded, ""},
		"529":                 {modelserver.Fail(529), llm.KindOverloaded, ""},
		"overflow":            {modelserver.Overflow(), llm.KindContextOverflow, "context window"},
		"page":                {say.Fault(modelserver.HTML), llm.KindProtocol, "web page"},
		"page with 502":       {modelserver.Raw(502, "text/html", "<html><title>Bad</title>"), llm.KindOverloaded, "web page"},
		"no body":             {say.Fault(modelserver.EmptyBody), llm.KindProtocol, ""},
		"reset at once":       {say.Fault(modelserver.ResetBeforeHeaders), llm.KindNetwork, ""},
		"reset after headers": {say.Fault(modelserver.ResetAfterHeaders), llm.KindNetwork, ""},
		"reset in the text":   {say.Fault(modelserver.ResetInText), llm.KindNetwork, ""},
		"cut in the text":     {say.Fault(modelserver.CutInText), llm.KindNetwork, ""},
		"cut in a call":       {call.Fault(modelserver.CutInCall), llm.KindNetwork, ""},
		"half a rune":         {say.Fault(modelserver.HalfRune), llm.KindProtocol, ""},
	} {
		t.Run(name, func(t *testing.T) {
			respBoth(t, func(t *testing.T, noStream bool) { respFails(t, noStream, c.step, c.kind, c.text) })
		})
	}
	for name, c := range map[string]struct {
		step modelserver.Step
		kind llm.Kind
		text string
	}{
		"error event":   {say.Fault(modelserver.ErrorEvent), llm.KindOverloaded, "Overloaded"},
		"429 in stream": {say.Fault(modelserver.ErrorEvent).Status(429), llm.KindRateLimited, ""},
		"failed event":  {say.Fault(modelserver.FailedEvent), llm.KindOverloaded, "Overloaded"},
		"malformed":     {say.Fault(modelserver.MalformedLine), llm.KindProtocol, "malformed"},
		"no last event": {say.Fault(modelserver.NoLastEvent), llm.KindProtocol, "final event"},
		"no call's end": {call.Fault(modelserver.NoLastEvent), llm.KindProtocol, "final event"},
		"a 40 MB line":  {say.LongLine(40 << 20), llm.KindProtocol, "longer than"},
	} {
		t.Run(name, func(t *testing.T) { respFails(t, false, c.step, c.kind, c.text) })
	}
}

func respFails(t *testing.T, noStream bool, step modelserver.Step, kind llm.Kind, text string) {
	t.Helper()
	client, srv := respServed(t, noStream, modelserver.Config{}, step)
	m, err := llm.Collect(t.Context(), client, recorded.Ask())
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		t.Fatalf("got %+v, %v", m, err)
	}
	if e.Kind != kind || !strings.Contains(e.Error(), text) || e.Model != "openai/gpt-5" || strings.Contains(e.Error(), "sk-secret") {
		t.Errorf("got %v, want %s with %q", e, kind, text)
	}
	if n := len(srv.Requests()); n > 1 {
		t.Errorf("%d requests were sent", n)
	}
}

// The client understands a server that omits the media type, and one that does not stream its answer.
func TestResponsesOddServers(t *testing.T) {
	for name, step := range map[string]modelserver.Step{
		"wrong type": modelserver.Say("Hello.").Fault(modelserver.WrongType),
		"whole": modelserver.Raw(200, "application/json", `{"id":"r","status":"completed",
			"output":[{"type":"message","content":[{"type":"output_text","text":"Hello."}]}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := respServed(t, false, modelserver.Config{NoEventLines: true, Comments: true}, step)
			if m, err := llm.Collect(t.Context(), client, recorded.Ask()); err != nil || m.Text() != "Hello." {
				t.Errorf("got %+v, %v", m, err)
			}
		})
	}
}

// Silence ends a request after the endpoint's limits, before the answer and within it. Signs of life that are no content count.
func TestResponsesStall(t *testing.T) {
	const text = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"So\"}\n\n"
	for name, c := range map[string]struct {
		pieces []string // a minute less a second lies between them
		after  time.Duration
		kind   llm.Kind
	}{
		"before the first byte": {nil, wire.DefaultFirstByte, llm.KindStalled},
		"within the text":       {[]string{text}, 59*time.Second + wire.DefaultIdle, llm.KindStalled},
		"keepalives are life": {
			[]string{text, "data: {\"type\":\"keepalive\"}\n\n", ": ping\n\n", "data: {\"type\":\"response.completed\"}\n\n"}, 4 * 59 * time.Second, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				server := recorded.Server(func(r *http.Request, _ []byte) *http.Response {
					return recorded.Reply(200, respSSE, &slow{ctx: r.Context(), pieces: c.pieces, ends: c.kind == ""})
				})
				client := openai.NewResponses(respModel(), openai.ResponsesOptions{Endpoint: respAt(server)})
				_, err := llm.Collect(t.Context(), client, recorded.Ask())
				if e := llm.AsError(err); c.kind != "" && (e == nil || e.Kind != c.kind) || c.kind == "" && err != nil {
					t.Errorf("got %v, want %q", err, c.kind)
				}
				if took := time.Since(start); took != c.after {
					t.Errorf("it took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// slow is a body whose pieces come one by one.
type slow struct {
	ctx    context.Context // of the request, ends the wait
	pieces []string
	ends   bool // the body ends after the last piece
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		if s.ends {
			return 0, io.EOF
		}
		<-s.ctx.Done()
		return 0, io.ErrClosedPipe
	}
	select {
	case <-s.ctx.Done():
		return 0, io.ErrClosedPipe
	case <-time.After(59 * time.Second):
	}
	n := copy(p, s.pieces[0])
	s.pieces = s.pieces[1:]
	return n, nil
}
