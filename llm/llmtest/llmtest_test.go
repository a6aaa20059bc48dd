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

func TestScript(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"a text", `
			text Hello`, `
			{"type":"text","text":"Hello"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"Hello"}],"model":"test/script","stop":"end"}}`},
		{"neighbouring texts are one part", `
			text "Hello,\n"
			text world`, `
			{"type":"text","text":"Hello,\n"}
			{"type":"text","text":"world"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"Hello,\nworld"}],"model":"test/script","stop":"end"}}`},
		{"lines up to a word, less its indentation", `
			text <<END
			one
			  "two" END
			END`, `
			{"type":"text","text":"one\n  \"two\" END"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"one\n  \"two\" END"}],"model":"test/script","stop":"end"}}`},
		{"reasoning with what belongs to it", `
			# a comment
			think Hm
			signature s1
			opaque {"a": 1}
			text so`, `
			{"type":"thinking","text":"Hm"}
			{"type":"text","part":1,"text":"so"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"thinking","text":"Hm","signature":"s1","opaque":{"a":1}},{"type":"text","text":"so"}],"model":"test/script","stop":"end"}}`},
		{"a call", `
			call read {"path":"go.mod"}`, `
			{"type":"call","id":"call_1_1","name":"read","arguments":"{\"path\":\"go.mod\"}"}
			{"type":"call_ready","call":{"id":"call_1_1","name":"read","arguments":"{\"path\":\"go.mod\"}"}}
			{"type":"done","message":{"role":"assistant","content":[{"type":"tool_call","id":"call_1_1","name":"read","arguments":"{\"path\":\"go.mod\"}"}],"model":"test/script","stop":"tool_calls"}}`},
		{"a call in pieces, with its own id", `
			pieces 3
			call#c7 ls`, `
			{"type":"call","id":"c7","name":"ls","arguments":"{"}
			{"type":"call","arguments":"}"}
			{"type":"call_ready","call":{"id":"c7","name":"ls","arguments":"{}"}}
			{"type":"done","message":{"role":"assistant","content":[{"type":"tool_call","id":"c7","name":"ls","arguments":"{}"}],"model":"test/script","stop":"tool_calls"}}`},
		{"malformed arguments", `
			raw read {"path":`, `
			{"type":"call","id":"call_1_1","name":"read","arguments":"{\"path\":"}
			{"type":"call_ready","call":{"id":"call_1_1","name":"read","arguments":"{\"path\":"}}
			{"type":"done","message":{"role":"assistant","content":[{"type":"tool_call","id":"call_1_1","name":"read","arguments":"{\"path\":"}],"model":"test/script","stop":"tool_calls"}}`},
		{"no arguments", `
			raw read`, `
			{"type":"call","id":"call_1_1","name":"read"}
			{"type":"call_ready","call":{"id":"call_1_1","name":"read","arguments":""}}
			{"type":"done","message":{"role":"assistant","content":[{"type":"tool_call","id":"call_1_1","name":"read","arguments":""}],"model":"test/script","stop":"tool_calls"}}`},
		{"a call that was cut is never ready", `
			truncated write {"text":"ab`, `
			{"type":"call","id":"call_1_1","name":"write","arguments":"{\"text\":\"ab"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"tool_call","id":"call_1_1","name":"write","arguments":"{\"text\":\"ab","truncated":true}],"model":"test/script","stop":"length"}}`},
		{"pieces never cut a character", `
			pieces 4
			text añb`, `
			{"type":"text","text":"a"}
			{"type":"text","text":"ñ"}
			{"type":"text","text":"b"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"añb"}],"model":"test/script","stop":"end"}}`},
		{"repetition", `
			repeat 3 text ab`, `
			{"type":"text","text":"ab"}
			{"type":"text","text":"ab"}
			{"type":"text","text":"ab"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"ababab"}],"model":"test/script","stop":"end"}}`},
		{"usage and the reason of the end", `
			usage input=10 output=5 cache_read=3 cost=0.01
			usage cache_write=2 reasoning=1
			stop refused`, `
			{"type":"done","message":{"role":"assistant","content":[],"model":"test/script","stop":"refused","usage":{"input":10,"cache_read":3,"cache_write":2,"output":5,"reasoning":1,"cost":0.01}}}`},
		{"an error after a text", `
			text He
			error overloaded status=529 retry_after=2s request_id=r1 "try later"`, `
			{"type":"text","text":"He"}
			error test/script: overloaded (HTTP 529): try later [request r1]`},
		{"a cut connection", `
			text He
			cut`, `
			{"type":"text","text":"He"}
			error test/script: protocol: the connection was cut before the answer's final event`},
		{"an end that is none", `
			text He
			end`, `
			{"type":"text","text":"He"}`},
		{"a new beginning", `
			text He
			reset stalled "nothing came"
			text Ho
			reset
			text Hu`, `
			{"type":"text","text":"He"}
			{"type":"reset","cause":{"kind":"stalled","model":"test/script","message":"nothing came"}}
			{"type":"text","text":"Ho"}
			{"type":"reset"}
			{"type":"text","text":"Hu"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"Hu"}],"model":"test/script","stop":"end"}}`},
		{"an empty answer", `
			turn`, `
			{"type":"done","message":{"role":"assistant","content":[],"model":"test/script","stop":"end"}}`},
		{"no answer", ``, `
			error test/script: other: the script of this test ran out: it has 0 turns and this is request 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := trace(t.Context(), llmtest.New(t, tt.script), &llm.Request{})
			if want := undent(tt.want); got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			without := trace(t.Context(), llmtest.New(t, tt.script, llmtest.NoStream()), &llm.Request{})
			if last := got[strings.LastIndex("\n"+strings.TrimSuffix(got, "\n"), "\n"):]; without != last && !strings.Contains(tt.script, "end") {
				t.Errorf("without deltas:\n%swant only:\n%s", without, last)
			}
		})
	}
}

func undent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(s, "\n")) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

func TestScriptErrors(t *testing.T) {
	tests := []struct{ script, want string }{
		{"\n\ntxt Hello", `llmtest: script line 3: unknown directive "txt"; did you mean text?`},
		{"xylophone", `llmtest: script line 1: unknown directive "xylophone"; known are [turn `},
		{"text \"Hello", `line 1: text: "Hello is not a Go string`},
		{"text <<END\nHello", `line 1: there is no line END that would end <<END`},
		{"text#x Hello", `line 1: text takes no id; only calls do`},
		{"call# read", `line 1: call# needs an id after the #`},
		{"call", `line 1: call: the name of the tool is missing`},
		{`call read {"a"`, `line 1: call: the JSON {"a" is malformed: unexpected end of JSON input; write raw instead of call`},
		{"signature x", `line 1: signature: there is no reasoning before it`},
		{"opaque {}", `line 1: opaque: there is no part before it`},
		{"text a\nopaque {", `line 2: opaque: the JSON { is malformed`},
		{"call a\nopaque {}", `line 2: opaque: the call before it was yielded already`},
		{"pieces none", `line 1: pieces: "none" is no number from 1 up`},
		{"repeat many text x", `line 1: repeat: "many" is no number from 0 to 1000000`},
		{"repeat 2 call x", `line 1: repeat: only text and think can be repeated, not "call"`},
		{"repeat 2 text \"", `line 1: repeat: " is not a Go string`},
		{"repeat 1000000 text " + strings.Repeat("x", 1000), `line 1: repeat: the texts of the script are longer than 64 MiB`},
		{"usage 10", `line 1: usage: "10" is no NAME=NUMBER`},
		{"usage inputs=10", `line 1: usage: unknown field of usage "inputs"; did you mean input?`},
		{"usage input=ten", `line 1: usage: input: strconv.ParseInt: parsing "ten"`},
		{"stop lenght", `line 1: stop: unknown reason "lenght"; did you mean length?`},
		{"delay 5", `line 1: delay: time: missing unit in duration "5"`},
		{"error overlaoded", `line 1: error: unknown kind of error "overlaoded"; did you mean overloaded?`},
		{"error other state=1", `line 1: error: unknown field of an error "state"; did you mean status?`},
		{"error other status=x", `line 1: error: status: strconv.Atoi`},
		{"error other too late", `line 1: error: "too" is no NAME=VALUE; the message stands last, in double quotes`},
		{"error other \"too late", `line 1: error: "too late is not a Go string`},
		{"reset what", `line 1: reset: unknown kind of error "what"`},
		{"panic \"x", `line 1: panic: "x is not a Go string`},
		{"hang on", `line 1: hang: nothing may follow it, but "on" does`},
		{"cut\ntext x", `line 2: text is never reached: cut ends the answer; begin a new one with turn`},
	}
	for _, tt := range tests {
		_, err := llmtest.Parse(tt.script)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("script %.60q:\n got %v\nwant %s", tt.script, err, tt.want)
		}
	}
}

func TestNewFailsTheTestOfABadScript(t *testing.T) {
	tb := &failing{TB: t}
	func() {
		defer func() { _ = recover() }()
		llmtest.New(tb, "nonsense")
	}()
	if !strings.Contains(tb.said, "script line 1") {
		t.Errorf("the test was told %q", tb.said)
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
		Tools:       []llm.Tool{{Name: "t", Schema: json.RawMessage(`{"type":"object"}`)}},
		Schema:      json.RawMessage(`{"type":"object"}`),
		Temperature: new(0.5),
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
				t.Errorf("an error that tells no line: %v", err)
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
