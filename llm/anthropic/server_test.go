package anthropic

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/internal/testkit/recorded"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/wire"
)

// clients returns a client of each kind of a server.
func clients(model llm.Model, o Options) map[string]*Client {
	whole := o
	whole.NoStream = true
	return map[string]*Client{
		"streamed": New(model, o), "whole": New(model, whole),
		"vertex": NewVertex(model, "p", "global", o), "vertex whole": NewVertex(model, "p", "global", whole),
	}
}

func at(srv *modelserver.Server) Options {
	return Options{Endpoint: wire.Endpoint{BaseURL: srv.URL, Key: "sk-secret"}}
}

// The next request returns the server's answer unchanged: the thinking has its signature and its position.
func TestRoundTrip(t *testing.T) {
	srv := modelserver.New(t, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		if len(r.Results()) > 0 {
			return modelserver.Say("It is a library.")
		}
		return modelserver.Think("I should look.").Call("look", `{}`).Call("read", `{"path":"go.mod"}`)
	}))
	for name, c := range clients(testModel(), at(srv)) {
		req := &llm.Request{System: "s", Messages: recorded.Ask().Messages, Tools: tools(), Settings: llm.Settings{Thinking: llm.ThinkLow}}
		first, err := llm.Collect(t.Context(), c, req)
		if err != nil || len(first.Calls()) != 2 || first.Usage.Total() == 0 {
			t.Fatalf("%s: got %+v, %v", name, first, err)
		}
		req.Messages = append(req.Messages, first)
		for _, call := range first.Calls() {
			req.Messages = append(req.Messages, llm.ToolText(call, "result of "+call.Name, false))
		}
		second, err := llm.Collect(t.Context(), c, req)
		if err != nil || second.Text() != "It is a library." {
			t.Errorf("%s: got %+v, %v", name, second, err)
		}
	}
	if v := srv.Violations(); len(v) > 0 {
		t.Error(v)
	}
}

// A cut or broken answer is never handed over as whole, and the error says whether another try makes sense.
func TestFaults(t *testing.T) {
	want := map[modelserver.Fault]llm.Kind{
		modelserver.ResetBeforeHeaders:   llm.KindNetwork,
		modelserver.ResetAfterHeaders:    llm.KindNetwork,
		modelserver.ResetInText:          llm.KindNetwork,
		modelserver.CutInText:            llm.KindNetwork,
		modelserver.CutInCall:            llm.KindNetwork,
		modelserver.ErrorEvent:           llm.KindOverloaded,
		modelserver.FailedEvent:          llm.KindOverloaded,
		modelserver.MalformedLine:        llm.KindProtocol,
		modelserver.HalfRune:             llm.KindProtocol,
		modelserver.NoLastEvent:          llm.KindProtocol,
		modelserver.StallBeforeHeaders:   llm.KindStalled,
		modelserver.StallBeforeFirstByte: llm.KindStalled,
		modelserver.StallInStream:        llm.KindStalled,
		modelserver.EmptyBody:            llm.KindProtocol,
		modelserver.HTML:                 llm.KindProtocol,
		modelserver.LongLine:             llm.KindProtocol,
	}
	for fault, kind := range want {
		synctest.Test(t, func(t *testing.T) {
			step := modelserver.Say("The whole answer.").Call("read", `{"path":"go.mod"}`).Fault(fault)
			if fault == modelserver.LongLine {
				step = step.LongLine(40 << 20)
			}
			o, stop := inMemory(t, modelserver.Func(func(*modelserver.Request) modelserver.Step { return step }))
			defer stop()
			for name, c := range clients(testModel(), o) {
				if strings.Contains(name, "whole") && !slices.Contains([]llm.Kind{llm.KindNetwork, llm.KindStalled}, kind) {
					continue // these are of streams
				}
				m, err := llm.Collect(t.Context(), c, recorded.Ask())
				if e := llm.AsError(err); e == nil || e.Kind != kind || !e.Retryable() {
					t.Errorf("%s, %s: got %+v, %v, want %s", fault, name, m, err, kind)
				}
			}
		})
	}
}

// inMemory starts a server to which connections are pipes, for tests with a clock of their own.
func inMemory(t *testing.T, opts ...modelserver.Option) (o Options, stop func()) {
	t.Helper()
	handler := modelserver.NewHandler(opts...)
	connections := make(chan net.Conn)
	l := &pipes{connections, make(chan struct{})}
	srv := &http.Server{Handler: handler}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		select {
		case connections <- far:
			return near, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	o = Options{Endpoint: wire.Endpoint{BaseURL: "http://models.test", Key: "sk-secret", HTTP: wire.NewClient(transport)}}
	return o, func() {
		_ = handler.Close()
		_ = srv.Close()
		transport.CloseIdleConnections()
		<-done
	}
}

// pipes is a listener of connections in memory.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.connections:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { close(l.closed); return nil }
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestFailuresThatPass(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(
		modelserver.Fail(529), modelserver.Fail(429).RetryAfter(2*time.Second), modelserver.Overflow(), modelserver.Say("well"),
	))
	c := New(testModel(), at(srv))
	for _, want := range []llm.Error{
		{Kind: llm.KindOverloaded, Status: 529},
		{Kind: llm.KindRateLimited, Status: 429, RetryAfter: 2 * time.Second},
		{Kind: llm.KindContextOverflow, Status: 400},
	} {
		_, err := llm.Collect(t.Context(), c, recorded.Ask())
		e := llm.AsError(err)
		if e == nil || e.Kind != want.Kind || e.Status != want.Status || e.RetryAfter != want.RetryAfter || strings.Contains(err.Error(), "sk-secret") {
			t.Errorf("got %v, want %v", err, &want)
		}
	}
	if m, err := llm.Collect(t.Context(), c, recorded.Ask()); err != nil || m.Text() != "well" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// Any conversation, however broken, becomes a request that the API accepts.
func TestAnyConversationCanBeSent(t *testing.T) {
	data := picture(t)
	rapid.Check(t, func(rt *rapid.T) {
		model := testModel()
		model.NoTools, model.Images, model.Documents = rapid.Bool().Draw(rt, "no tools"), rapid.Bool().Draw(rt, "images"), rapid.Bool().Draw(rt, "documents")
		for _, q := range []llm.Quirk{llm.QuirkAdaptiveThinking, llm.QuirkNoSystem, llm.QuirkNoTemperature, llm.QuirkNativeSchema} {
			if rapid.Bool().Draw(rt, string(q)) {
				model.Quirks = append(model.Quirks, q)
			}
		}
		req := anyRequest(rt, data)
		client := New(model, Options{})
		p := modelserver.Anthropic
		if rapid.Bool().Draw(rt, "vertex") {
			client, p = NewVertex(model, "p", "global", Options{}), modelserver.AnthropicVertex
		}
		body, err := wire.Marshal(client.request(req))
		if err != nil {
			rt.Fatal(err)
		}
		rules := modelserver.Rules{
			NoPrefill: true, NoTemperature: model.Has(llm.QuirkNoTemperature), AdaptiveThinking: model.Has(llm.QuirkAdaptiveThinking),
		}
		if err := rules.Check(p, nil, body); err != nil {
			rt.Fatalf("%v\n%s", err, body)
		}
	})
}

func anyRequest(rt *rapid.T, picture []byte) *llm.Request {
	warm := 1.3
	req := &llm.Request{
		System:     rapid.SampledFrom([]string{"", "Be brief.", " ", "\xff"}).Draw(rt, "system"),
		ToolChoice: rapid.SampledFrom([]llm.ToolChoice{llm.ToolAuto, llm.ToolRequired, llm.ToolNone}).Draw(rt, "choice"),
		Settings: llm.Settings{Thinking: rapid.SampledFrom([]llm.Thinks{llm.ThinkDefault, llm.ThinkOff, llm.ThinkMinimal, llm.ThinkMedium, llm.ThinkHigh}).
			Draw(rt, "thinking"), MaxTokens: rapid.SampledFrom([]int{0, 1, 1025, 9000}).Draw(rt, "max"), Cache: rapid.SampledFrom([]llm.CachePolicy{llm.CacheAuto, llm.CacheOff}).Draw(rt, "cache")},

		Messages: rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) llm.Message { return anyMessage(rt, picture) }), 0, 12).Draw(rt, "messages"),
	}
	if rapid.Bool().Draw(rt, "tools") {
		req.Tools = tools()
	}
	if rapid.Bool().Draw(rt, "warm") {
		req.Temperature = &warm
	}
	if s := rapid.SampledFrom([]string{
		"", `{"type":"object"}`, `{"type":"array"}`, `{"type":"object","properties":{},"additionalProperties":false}`,
	}).Draw(rt, "schema"); s != "" {
		req.Schema = json.RawMessage(s)
	}
	return req
}

func anyMessage(rt *rapid.T, picture []byte) llm.Message {
	ids := rapid.SampledFrom([]string{"toolu_1", "toolu_2", "call:0/x", "", strings.Repeat("long", 40), "\xff"})
	m := llm.Message{
		Role:    rapid.SampledFrom([]llm.Role{llm.RoleUser, llm.RoleAssistant, llm.RoleAssistant, llm.RoleTool, "system"}).Draw(rt, "role"),
		Model:   rapid.SampledFrom([]string{"anthropic/claude-test", "anthropic/claude-older", "openai/gpt", ""}).Draw(rt, "model"),
		CallID:  ids.Draw(rt, "result of"),
		IsError: rapid.Bool().Draw(rt, "error"),
	}
	text := rapid.SampledFrom([]string{"text", "", " \n", "\xc3(", "trailing "})
	for range rapid.IntRange(0, 4).Draw(rt, "parts") {
		var p llm.Part
		switch rapid.IntRange(0, 7).Draw(rt, "part") {
		case 0, 1:
			p = llm.Text{Text: text.Draw(rt, "text")}
		case 2:
			p = llm.Thinking{Text: text.Draw(rt, "thought"), Signature: rapid.SampledFrom([]string{"", "c2ln"}).Draw(rt, "signature")}
		case 3:
			p = llm.Thinking{Opaque: json.RawMessage(rapid.SampledFrom([]string{
				`{"type":"redacted_thinking","data":"eA=="}`, `{"type":"redacted_thinking"}`, `{}`, `7`, `{`,
			}).Draw(rt, "opaque"))}
		case 4, 5:
			p = llm.ToolCall{
				ID: ids.Draw(rt, "id"), Name: rapid.SampledFrom([]string{"read", "no such!", ""}).Draw(rt, "name"),
				Arguments: rapid.SampledFrom([]string{`{}`, ``, `{"a":`, `[1]`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}"}).Draw(rt, "arguments"),
			}
		case 6:
			p = llm.Image{MIME: "image/jpeg", Data: rapid.SampledFrom([][]byte{picture, nil, []byte("no picture")}).Draw(rt, "image")}
		default:
			p = rapid.SampledFrom([]llm.Part{
				llm.Document{MIME: "application/pdf", Name: "a.pdf", Data: []byte("%PDF-1.4")},
				llm.Document{MIME: "application/pdf"},
				llm.Document{MIME: "text/plain", Data: []byte("t\xff")},
				llm.UnknownPart{Type: "later", JSON: []byte(`{"type":"later"}`)},
			}).Draw(rt, "other")
		}
		m.Content = append(m.Content, p)
	}
	return m
}
