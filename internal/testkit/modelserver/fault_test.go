package modelserver_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

const said = "one two three four five six seven eight nine ten"

// faulty answers with a fault in an otherwise good answer.
func faulty(t *testing.T, f modelserver.Fault) *modelserver.Server {
	t.Helper()
	return modelserver.New(t, modelserver.Steps(modelserver.Say(said).Call("read", `{"path":"a/long/path/to/a/file.go"}`).Fault(f)))
}

func TestTheConnectionBreaks(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		if _, _, err := ask(t, faulty(t, modelserver.ResetBeforeHeaders), p, stream); err == nil {
			t.Error("there was an answer")
		}
		for _, f := range []modelserver.Fault{
			modelserver.ResetAfterHeaders, modelserver.ResetInText, modelserver.CutInText, modelserver.CutInCall,
		} {
			res, body, err := ask(t, faulty(t, f), p, stream)
			if res == nil && (f == modelserver.ResetAfterHeaders || f == modelserver.ResetInText) {
				continue // the reset may overtake what was sent before it
			}
			if err == nil || res.StatusCode != http.StatusOK {
				t.Errorf("%s: %v, %d: %s", f, err, res.StatusCode, body)
			}
			if f == modelserver.CutInText || f == modelserver.CutInCall {
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s: %v", f, err)
				}
			}
			if f == modelserver.CutInCall && stream && strings.Contains(string(p), "openai") && !strings.Contains(string(body), `"name":"read"`) {
				t.Errorf("the call did not begin: %s", body)
			}
		}
	})
}

func TestAResetIsOne(t *testing.T) {
	_, _, err := ask(t, faulty(t, modelserver.ResetBeforeHeaders), modelserver.Anthropic, true)
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "forcibly closed") {
		t.Error(err)
	}
}

func TestErrorsInTheStream(t *testing.T) {
	want := map[modelserver.Protocol]string{
		modelserver.Anthropic: "overloaded_error", modelserver.AnthropicVertex: "overloaded_error", modelserver.OpenAIChat: "server_error",
		modelserver.OpenAIResponses: "server_error", modelserver.Gemini: "UNAVAILABLE", modelserver.GeminiVertex: "UNAVAILABLE",
		modelserver.Bedrock: "serviceUnavailableException", modelserver.Ollama: "Overloaded",
	}
	for _, p := range modelserver.Protocols() {
		for _, f := range []modelserver.Fault{modelserver.ErrorEvent, modelserver.FailedEvent} {
			_, body, err := ask(t, faulty(t, f), p, true)
			got := read(t, p, true, body)
			if err != nil || got.err != want[p] || got.text == "" || got.text == said || got.stop != "" && got.stop != "failed" {
				t.Errorf("%s %s: %v: %+v", p, f, err, got)
			}
		}
	}
}

func TestWhatAnErrorEventStandsFor(t *testing.T) {
	for status, names := range map[int][3]string{
		400: {"invalid_request_error", "INVALID_ARGUMENT", "validationException"},
		424: {"api_error", "INTERNAL", "modelStreamErrorException"},
		429: {"rate_limit_error", "RESOURCE_EXHAUSTED", "throttlingException"},
		500: {"api_error", "INTERNAL", "internalServerException"},
	} {
		for i, p := range []modelserver.Protocol{modelserver.Anthropic, modelserver.Gemini, modelserver.Bedrock} {
			srv := modelserver.New(t, modelserver.Steps(modelserver.Say(said).Status(status).Fault(modelserver.ErrorEvent)))
			_, body, err := ask(t, srv, p, true)
			if got := read(t, p, true, body); err != nil || got.err != names[i] {
				t.Errorf("%s %d: %v: %+v", p, status, err, got)
			}
		}
	}
	srv := modelserver.New(t, modelserver.Steps(modelserver.Say(said).Fault(modelserver.ErrorEvent)))
	if _, body, _ := ask(t, srv, modelserver.OpenAIChat, false); !strings.HasPrefix(string(body), `{"error":`) {
		t.Errorf("not streamed: %s", body)
	}
}

func TestAnAnswerWithoutItsEnd(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		_, body, err := ask(t, faulty(t, modelserver.NoLastEvent), p, stream)
		if err != nil {
			t.Fatal("the body does not end well:", err)
		}
		if !stream {
			return
		}
		got := read(t, p, stream, body)
		if got.stop != "" || got.text != said || !strings.Contains(got.calls, "file.go") {
			t.Errorf("%+v", got)
		}
	})
}

func TestBrokenBytes(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		_, body, err := ask(t, faulty(t, modelserver.HalfRune), p, stream)
		if err != nil || utf8.Valid(body) && p != modelserver.Bedrock {
			t.Errorf("half a character: %v: %s", err, body)
		}
		if !stream {
			return
		}
		_, body, err = ask(t, faulty(t, modelserver.MalformedLine), p, stream)
		if _, broken := events(p, body); err != nil || broken == nil {
			t.Errorf("no malformed line: %v: %s", err, body)
		}
	})
	_, body, _ := ask(t, faulty(t, modelserver.Corrupt), modelserver.Bedrock, true)
	if _, err := events(modelserver.Bedrock, body); err == nil {
		t.Error("no message has a wrong checksum")
	}
}

func TestSuccessWithoutAnAnswer(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		_, body, err := ask(t, faulty(t, modelserver.Empty), p, stream)
		if got := read(t, p, stream, body); err != nil || got.text+got.calls != "" || got.stop == "" {
			t.Errorf("%v: %+v", err, got)
		}
		res, body, err := ask(t, faulty(t, modelserver.EmptyBody), p, stream)
		if err != nil || len(body) != 0 || res.StatusCode != http.StatusOK {
			t.Errorf("%v: %s", err, body)
		}
		res, body, _ = ask(t, faulty(t, modelserver.HTML), p, stream)
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), "<!DOCTYPE html>") {
			t.Errorf("%d: %s", res.StatusCode, body)
		}
		res, body, _ = ask(t, faulty(t, modelserver.WrongType), p, stream)
		if got := read(t, p, stream, body); got.text != said || res.Header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%v: %+v", res.Header, got)
		}
	})
}

// leave asks and leaves once it has what it wants.
func leave(t *testing.T, srv *modelserver.Server, p modelserver.Protocol, enough func(*bufio.Reader) bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path, body := request(p, true)
	res, err := post(ctx, srv.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if !enough(bufio.NewReader(res.Body)) {
		t.Error("the stream ended before that")
	}
}

func TestStalls(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		if !stream {
			return
		}
		leave(t, faulty(t, modelserver.StallBeforeFirstByte), p, func(*bufio.Reader) bool { return true })
		leave(t, faulty(t, modelserver.StallInStream), p, func(r *bufio.Reader) bool {
			got, err := r.ReadString('t') // of "one two", or of any name before
			return err == nil && got != ""
		})
	})
}

func TestAStallBeforeTheHeadersEndsWithTheServer(t *testing.T) {
	asked := make(chan struct{})
	srv := modelserver.New(t, modelserver.Func(func(*modelserver.Request) modelserver.Step {
		close(asked)
		return modelserver.Say("never").Fault(modelserver.StallBeforeHeaders)
	}))
	path, body := request(modelserver.Gemini, true)
	failed := make(chan error, 1)
	go func() {
		res, err := post(context.WithoutCancel(t.Context()), srv.URL+path, body)
		if err == nil {
			_ = res.Body.Close()
		}
		failed <- err
	}()
	<-asked
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if err := <-failed; err == nil {
		t.Error("there was an answer")
	}
}

func TestPingsDuringAStall(t *testing.T) {
	for p, ping := range map[modelserver.Protocol]string{
		modelserver.Anthropic: "event: ping", modelserver.OpenAIChat: ": keep-alive", modelserver.OpenAIResponses: "event: keepalive",
		modelserver.Gemini: ": keep-alive",
	} {
		srv := modelserver.New(t, modelserver.With(modelserver.Config{PingEvery: 1}),
			modelserver.Steps(modelserver.Say(said).Fault(modelserver.StallInStream).Pings()))
		leave(t, srv, p, func(r *bufio.Reader) bool {
			for n := 0; n < 3; {
				line, err := r.ReadString('\n')
				if err != nil {
					return false
				}
				if strings.TrimSpace(line) == ping {
					n++
				}
			}
			return true
		})
	}
}

func TestWithoutEnd(t *testing.T) {
	for _, p := range modelserver.Protocols() {
		leave(t, faulty(t, modelserver.Endless), p, func(r *bufio.Reader) bool {
			n, _ := io.CopyN(io.Discard, r, 1<<20)
			return n == 1<<20
		})
		leave(t, modelserver.New(t, modelserver.Steps(modelserver.Say("a").LongLine(1<<30))), p, func(r *bufio.Reader) bool {
			n, _ := io.CopyN(io.Discard, r, 8<<20)
			return n == 8<<20
		})
	}
}

func TestALongLineHasItsLength(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		if p == modelserver.Bedrock && stream {
			return // only the head of the message is right
		}
		srv := modelserver.New(t, modelserver.Steps(modelserver.Say("short").LongLine(300_000)))
		_, body, err := ask(t, srv, p, stream)
		if got := read(t, p, stream, body); err != nil || len(got.text) < 300_000 || len(got.text) > 300_010 {
			t.Errorf("%v: %d bytes", err, len(got.text))
		}
	})
}

func TestEveryFaultIsPlayed(t *testing.T) {
	for _, f := range modelserver.Faults() {
		if strings.HasPrefix(string(f), "stall") || f == modelserver.Endless || f == modelserver.LongLine {
			continue
		}
		each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
			srv := faulty(t, f)
			if _, _, err := ask(t, srv, p, stream); err != nil && !slices.Contains([]modelserver.Fault{
				modelserver.ResetBeforeHeaders, modelserver.ResetAfterHeaders, modelserver.ResetInText, modelserver.CutInText, modelserver.CutInCall,
			}, f) {
				t.Errorf("%s: %v", f, err)
			}
			if srv.Left() != 0 || len(srv.Violations()) != 0 {
				t.Errorf("%s: %d steps left, %v", f, srv.Left(), srv.Violations())
			}
		})
	}
}
