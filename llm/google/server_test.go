package google_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/wire"
)

// reach returns a client of a server that listens.
func reach(t *testing.T, srv *modelserver.Server, isVertex, whole bool) *google.Client {
	t.Helper()
	transport := wire.NewTransport(nil)
	t.Cleanup(transport.CloseIdleConnections)
	o := google.Options{Endpoint: wire.Endpoint{BaseURL: srv.URL, Key: key, HTTP: wire.NewClient(transport)}, NoStream: whole}
	m := pro3()
	if isVertex {
		m.Provider = "vertex"
		return google.NewVertex(m, "p", "global", o)
	}
	return google.New(m, o)
}

// A conversation with thinking and calls goes to and fro, and its signatures come back.
func TestConversation(t *testing.T) {
	for _, isVertex := range []bool{false, true} {
		for _, whole := range []bool{false, true} {
			srv := modelserver.New(t, modelserver.With(modelserver.Config{
				Rules: modelserver.Rules{ThoughtSignatures: true}, Keys: []string{key}, ChunkBytes: 7, CallIDs: isVertex, Comments: true,
			}), modelserver.Steps(
				modelserver.Think("I should look, 世界.").Say("I look.").Call("look", `{"path":"a"}`).Call("9lives", `{}`),
				modelserver.Call("look", `{"path":"b"}`),
				modelserver.Think("Enough.").Say("It is a library."),
			))
			c := reach(t, srv, isVertex, whole)
			req := everything("gemini/x")
			req.Messages = []llm.Message{llm.UserText("What is this?")}
			for range 3 {
				m, err := llm.Collect(t.Context(), c, req)
				if err != nil {
					t.Fatal(err)
				}
				req.Messages = append(req.Messages, m)
				for _, call := range m.Calls() {
					req.Messages = append(req.Messages, llm.ToolText(call, "done", false))
				}
			}
			if last := req.Messages[len(req.Messages)-1]; last.Text() != "It is a library." || last.Stop != llm.StopEnd {
				t.Errorf("got %+v", last)
			}
			if v := srv.Violations(); len(v) > 0 {
				t.Error(v)
			}
		}
	}
}

func TestFailuresOfAServer(t *testing.T) {
	say := modelserver.Say("It is a library of many words.")
	for _, test := range []struct {
		name string
		step modelserver.Step
		kind llm.Kind
	}{
		{"429", modelserver.Fail(429).RetryAfter(2 * time.Second), llm.KindRateLimited},
		{"500", modelserver.Fail(500), llm.KindOverloaded},
		{"503", modelserver.Fail(503), llm.KindOverloaded},
		{"401", modelserver.Fail(401), llm.KindAuth},
		{"403", modelserver.Fail(403), llm.KindAuth},
		{"overflow", modelserver.Overflow(), llm.KindContextOverflow},
		{"refused", modelserver.Answer(llm.Message{Stop: llm.StopRefused}), llm.KindRefused},
		{"reset before headers", say.Fault(modelserver.ResetBeforeHeaders), llm.KindNetwork},
		{"reset after headers", say.Fault(modelserver.ResetAfterHeaders), llm.KindNetwork},
		{"reset in text", say.Fault(modelserver.ResetInText), llm.KindNetwork},
		{"cut in text", say.Fault(modelserver.CutInText), llm.KindNetwork},
		{"cut in a call", modelserver.Call("look", `{"path":"a"}`).Fault(modelserver.CutInCall), llm.KindNetwork},
		{"error event", say.Fault(modelserver.ErrorEvent), llm.KindOverloaded},
		{"malformed line", say.Fault(modelserver.MalformedLine), llm.KindProtocol},
		{"half a rune", say.Fault(modelserver.HalfRune), llm.KindProtocol},
		{"no last event", say.Fault(modelserver.NoLastEvent), llm.KindProtocol},
		{"empty body", say.Fault(modelserver.EmptyBody), llm.KindProtocol},
		{"HTML", say.Fault(modelserver.HTML), llm.KindProtocol},
	} {
		t.Run(test.name, func(t *testing.T) {
			srv := modelserver.New(t, modelserver.Steps(test.step))
			_, err := llm.Collect(t.Context(), reach(t, srv, false, false), hi())
			e := llm.AsError(err)
			if e == nil || e.Kind != test.kind || e.Model != pro3().Ref() || strings.Contains(e.Error(), key) {
				t.Fatalf("got %v, want %s", err, test.kind)
			}
			if test.kind == llm.KindRateLimited && e.RetryAfter != 2*time.Second {
				t.Errorf("after %v", e.RetryAfter)
			}
		})
	}
}

// A wrong content type does not matter when the content is right.
func TestAWrongTypeIsForgiven(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Say("Hello.").Fault(modelserver.WrongType)))
	m, err := llm.Collect(t.Context(), reach(t, srv, false, false), hi())
	if err != nil || m.Text() != "Hello." {
		t.Errorf("got %+v, %v", m, err)
	}
}

// Errors as Google writes them.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		status     int
		body, want string
		kind       llm.Kind
		after      time.Duration
	}{
		{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, "API key not valid", llm.KindAuth, 0},
		{400, `[{"error":{"code":400,"message":"Request contains an invalid argument.","status":"INVALID_ARGUMENT"}}]`, "invalid argument", llm.KindInvalidRequest, 0},
		{404, `{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}`, "not found", llm.KindInvalidRequest, 0},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17.5s"}]}}`, "current quota", llm.KindRateLimited, 17500 * time.Millisecond},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}`, "current quota", llm.KindQuota, 0},
		{403, `{"error":{"code":403,"message":"Permission 'aiplatform.endpoints.predict' denied on resource","status":"PERMISSION_DENIED"}}`, "denied", llm.KindAuth, 0},
		{503, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`, "overloaded", llm.KindOverloaded, 0},
		{400, `{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, "input token count", llm.KindContextOverflow, 0},
	} {
		_, err := llm.Collect(t.Context(), google.New(flash(), on(reply(test.status, "application/json", strings.NewReader(test.body)))), hi())
		e := llm.AsError(err)
		if e == nil || e.Kind != test.kind || e.Status != test.status || e.RetryAfter != test.after || !strings.Contains(e.Message, test.want) {
			t.Errorf("%s: got %v (after %v)", test.body, err, e.RetryAfter)
		}
	}
}

// An answer that is not streamed fails in the same ways.
func TestWholeAnswersThatFail(t *testing.T) {
	for body, want := range map[string]llm.Kind{
		`{"candidates":[{"content":{"parts":[{"text":"Hel`:          llm.KindProtocol,
		`{"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}`: llm.KindProtocol,
		`{}`:                  llm.KindProtocol,
		``:                    llm.KindProtocol,
		`[{"candidates":[]},`: llm.KindProtocol,
		`{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}`:   llm.KindOverloaded,
		`[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]`: llm.KindOverloaded,
		`{"promptFeedback":{"blockReason":"SAFETY"}}`:                      llm.KindRefused,
	} {
		o := on(reply(200, "application/json", strings.NewReader(body)))
		o.NoStream = true
		_, err := llm.Collect(t.Context(), google.New(flash(), o), hi())
		if e := llm.AsError(err); e == nil || e.Kind != want {
			t.Errorf("%s: got %v", body, err)
		}
	}
	o := on(reply(200, "application/json", io.MultiReader(strings.NewReader(`{"candidates":`), broken{})))
	if _, err := llm.Collect(t.Context(), google.New(flash(), o), hi()); llm.AsError(err) == nil || llm.AsError(err).Kind != llm.KindNetwork {
		t.Errorf("got %v", err)
	}
	o = on(server(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }))
	if _, err := llm.Collect(t.Context(), google.New(flash(), o), hi()); llm.AsError(err) == nil || llm.AsError(err).Kind != llm.KindNetwork {
		t.Errorf("got %v", err)
	}
}
