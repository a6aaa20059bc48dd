package llmtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trace writes what a client answers, one event a line.
func trace(ctx context.Context, c llm.Client, req *llm.Request) string {
	var b strings.Builder
	for e, err := range c.Stream(ctx, req) {
		var e2 *llm.Error
		switch {
		case errors.As(err, &e2):
			fmt.Fprintf(&b, "error %v\n", err)
		case err != nil:
			fmt.Fprintf(&b, "foreign error %v\n", err)
		default:
			data, err := llm.MarshalEvent(e)
			if err != nil {
				fmt.Fprintf(&b, "unmarshallable %v\n", err)
			}
			fmt.Fprintf(&b, "%s\n", data)
		}
	}
	return b.String()
}

func undent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(s, "\n")) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func TestNewFailsTheTestOfABadScript(t *testing.T) {
	tb := &failing{TB: t}
	func() {
		defer func() { _ = recover() }()
		llmtest.New(tb, "nonsense")
	}()
	if !strings.Contains(tb.said, "script line 1") {
		t.Errorf("the failure says %q", tb.said)
	}
}

type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatal(args ...any) {
	f.said = fmt.Sprint(args...)
	panic("FailNow")
}

func TestMustPanics(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("no panic")
		}
	}()
	llmtest.Must("nonsense")
}

func TestTurnsByRequest(t *testing.T) {
	c := llmtest.New(t, "turn the first\ntext one\n---\ntext two")
	for _, want := range []string{"one", "two"} {
		m, err := llm.Collect(t.Context(), c, &llm.Request{})
		if err != nil || m.Text() != want {
			t.Errorf("got %q, %v; want %q", m.Text(), err, want)
		}
	}
	if _, err := llm.Collect(t.Context(), c, &llm.Request{}); llm.AsError(err).Kind != llm.KindOther {
		t.Errorf("beyond the script: %v", err)
	}
}

func TestTurnsByHistory(t *testing.T) {
	c := llmtest.New(t, "text one\n---\ntext two", llmtest.ByHistory())
	history := []llm.Message{llm.UserText("hi"), llm.AssistantText("one"), llm.UserText("and?")}
	for range 2 {
		if m, err := llm.Collect(t.Context(), c, &llm.Request{Messages: history}); err != nil || m.Text() != "two" {
			t.Errorf("got %q, %v", m.Text(), err)
		}
	}
	history = append(history, llm.AssistantText("two"))
	_, err := llm.Collect(t.Context(), c, &llm.Request{Messages: history})
	if want := "it has 2 turns and this is turn 3"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestConcurrentRequestsGetDifferentTurns(t *testing.T) {
	const n = 50
	c := llmtest.New(t, strings.Repeat("turn\ntext x\n", n))
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if _, err := llm.Collect(t.Context(), c, &llm.Request{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := len(c.Requests()); got != n {
		t.Errorf("%d requests, want %d", got, n)
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := llmtest.New(t, "text a\ndelay 200ms\ntext b\n---\ndelay 1h")
		start := time.Now()
		if _, err := llm.Collect(t.Context(), c, &llm.Request{}); err != nil {
			t.Error(err)
		}
		if got := time.Since(start); got != 200*time.Millisecond {
			t.Errorf("it took %v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := llm.Collect(ctx, c, &llm.Request{}); llm.AsError(err).Kind != llm.KindCancelled {
			t.Errorf("a delay beyond the context: %v", err)
		}
	})
}

func TestHangEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		cause := errors.New("the user left")
		time.AfterFunc(time.Minute, func() { cancel(cause) })
		got := trace(ctx, llmtest.New(t, "text a\nhang"), &llm.Request{})
		want := `{"type":"text","text":"a"}` + "\nerror test/script: cancelled: the user left\n"
		if got != want {
			t.Errorf("got %s", got)
		}
	})
}

func TestAnEndedContextEndsTheAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range llmtest.New(t, "repeat 10 text x").Stream(ctx, &llm.Request{}) {
		n++
		cancel()
		if n == 2 && llm.AsError(err).Kind != llm.KindCancelled {
			t.Errorf("got %v", err)
		}
	}
	if n != 2 {
		t.Errorf("%d events", n)
	}
	if _, err := llm.Collect(ctx, llmtest.New(t, "text x"), &llm.Request{}); llm.AsError(err).Kind != llm.KindCancelled {
		t.Errorf("got %v", err)
	}
}

func TestLeavingTheIteration(t *testing.T) {
	for _, script := range []string{"text a\ntext b", "call a {}", "reset", ""} {
		for range llmtest.New(t, script).Stream(t.Context(), &llm.Request{}) {
			break
		}
	}
	for range llmtest.Stream(llm.AssistantText("abc"), 1) {
		break
	}
}

func TestPanic(t *testing.T) {
	defer func() {
		if r := recover(); r != "oh no" {
			t.Errorf("recovered %v", r)
		}
	}()
	_, _ = llm.Collect(t.Context(), llmtest.New(t, "panic oh no"), &llm.Request{})
	t.Error("no panic")
}

func TestRequestsAreCopies(t *testing.T) {
	c := llmtest.New(t, "text a")
	req := &llm.Request{
		System: "s",
		Messages: []llm.Message{{Role: llm.RoleUser, Content: llm.Content{
			llm.Text{Text: "hi", Opaque: json.RawMessage(`{"a":1}`)},
			llm.Thinking{Text: "hm", Opaque: json.RawMessage(`{"a":1}`)},
			llm.ToolCall{ID: "c", Opaque: json.RawMessage(`{"a":1}`)},
			llm.Image{Data: []byte("data")},
			llm.Document{Data: []byte("data")},
			llm.UnknownPart{Type: "x", JSON: json.RawMessage(`{"type":"x"}`)},
		}}},
		Tools:    []llm.Tool{{Name: "t", Schema: json.RawMessage(`{"type":"object"}`)}},
		Settings: llm.Settings{Schema: json.RawMessage(`{"type":"object"}`), Temperature: new(0.5)},
	}
	before := encode(t, req)
	if _, err := llm.Collect(t.Context(), c, req); err != nil {
		t.Fatal(err)
	}
	scribble(req)
	if got := encode(t, c.Requests()[0]); got != before {
		t.Errorf("the kept request changed:\n%s\n%s", before, got)
	}
	scribble(c.Requests()[0])
	if got := encode(t, c.Requests()[0]); got != before {
		t.Errorf("the kept request changed through a copy:\n%s\n%s", before, got)
	}
}

// scribble changes all that can be changed through a request of [TestRequestsAreCopies].
func scribble(r *llm.Request) {
	content := r.Messages[0].Content
	for _, b := range [][]byte{
		content[0].(llm.Text).Opaque, content[1].(llm.Thinking).Opaque, content[2].(llm.ToolCall).Opaque,
		content[3].(llm.Image).Data, content[4].(llm.Document).Data, content[5].(llm.UnknownPart).JSON,
		r.Tools[0].Schema, r.Schema,
	} {
		b[len(b)-2] = '#'
	}
	*r.Temperature = 1
	content[0] = llm.Text{Text: "changed"}
	r.Messages[0] = llm.UserText("changed")
	r.Tools[0].Name = "changed"
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFunc(t *testing.T) {
	answer := func(_ context.Context, req *llm.Request) (llm.Message, error) {
		switch req.System {
		case "call":
			return llm.Message{Content: llm.Content{llm.Text{Text: "hm"}, llm.ToolCall{Name: "ls", Arguments: "{}"}}}, nil
		case "fail":
			return llm.Message{}, &llm.Error{Kind: llm.KindAuth, Message: "no key"}
		default:
			return llm.Message{}, errors.New("no rule for this")
		}
	}
	model := llm.Model{Provider: "test", ID: "rules"}
	tests := []struct{ system, want string }{
		{"call", `
			{"type":"text","text":"hm"}
			{"type":"call","part":1,"id":"call_1_2","name":"ls","arguments":"{}"}
			{"type":"call_ready","part":1,"call":{"id":"call_1_2","name":"ls","arguments":"{}"}}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"tool_call","id":"call_1_2","name":"ls","arguments":"{}"}],"model":"test/rules","stop":"tool_calls"}}`},
		{"fail", `error auth: no key`},
		{"", `error other: no rule for this`},
	}
	for _, tt := range tests {
		c := llmtest.Func(answer, llmtest.WithModel(model))
		if got, want := trace(t.Context(), c, &llm.Request{System: tt.system}), undent(tt.want); got != want {
			t.Errorf("system %q:\n%swant:\n%s", tt.system, got, want)
		}
		if len(c.Requests()) != 1 {
			t.Errorf("%d requests were kept", len(c.Requests()))
		}
	}
	c := llmtest.Func(answer, llmtest.NoStream())
	if got := trace(t.Context(), c, &llm.Request{System: "call"}); strings.Count(got, "\n") != 1 {
		t.Errorf("with NoStream:\n%s", got)
	}
}

func TestStream(t *testing.T) {
	m := llm.Message{Role: llm.RoleAssistant, Content: llm.Content{llm.Thinking{Text: "abcd"}, llm.Text{Text: "日本"}}}
	for chunk, want := range map[int]int{0: 3, 1: 7, 2: 5, 100: 3} {
		got := 0
		for range llmtest.Stream(m, chunk) {
			got++
		}
		if got != want {
			t.Errorf("in pieces of %d bytes: %d events, want %d", chunk, got, want)
		}
	}
}

// The deltas of an answer add up to its message, whatever the script.
func FuzzParse(f *testing.F) {
	f.Add("text Hello\n---\ncall#c1 read {\"a\":1}\npieces 3\ntruncated x {\"")
	f.Add("think a\nsignature b\nopaque {}\nrepeat 3 text \"\\n\"\nusage input=1 cost=0.5\nstop length")
	f.Add("text <<END\n  a\n  END\nreset other \"x\"\nraw ls <<A\nx\nA\nerror other status=1 retry_after=1s \"m\"")
	f.Fuzz(func(t *testing.T, script string) {
		if strings.Contains(script, "hang") || strings.Contains(script, "panic") || strings.Contains(script, "delay") ||
			strings.Contains(script, "repeat") && len(script) > 100 {
			return
		}
		c, err := llmtest.Parse(script)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "llmtest: script line ") {
				t.Errorf("an error without a line: %v", err)
			}
			return
		}
		for range 3 {
			var all strings.Builder
			for e, err := range c.Stream(t.Context(), &llm.Request{}) {
				switch e := e.(type) {
				case llm.TextDelta:
					all.WriteString(e.Text)
				case llm.Reset:
					all.Reset()
				case llm.Done:
					if got := e.Message.Text(); got != all.String() {
						t.Errorf("deltas %q, message %q", all.String(), got)
					}
				case nil:
					if err == nil {
						t.Error("neither event nor error")
					}
				}
			}
		}
	})
}

func BenchmarkStream(b *testing.B) {
	script := "repeat 20000 text word "
	b.ReportAllocs()
	c := llmtest.New(b, "turn\n"+script, llmtest.ByHistory())
	req := &llm.Request{Messages: []llm.Message{llm.UserText("go")}}
	for b.Loop() {
		n := 0
		for range c.Stream(b.Context(), req) {
			n++
		}
		if n != 20001 {
			b.Fatal(n)
		}
	}
}
