package recording_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/llm/recording"
)

const recordScript = `
	think hm
	text a
	delay 1500ms
	text b
	call ls
	usage input=3 output=4
	---
	text c
	error overloaded status=529 retry_after=3s "later"
	---
	text d
	end
`

// undent returns lines without their indentation.
func undent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(s, "\n")) {
		b.WriteString(strings.TrimSpace(line) + "\n")
	}
	return b.String()
}

// trace returns the events of an answer in lines.
func trace(ctx context.Context, c llm.Client, req *llm.Request) string {
	var b strings.Builder
	for e, err := range c.Stream(ctx, req) {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n", err)
			continue
		}
		data, err := llm.MarshalEvent(e)
		fmt.Fprintf(&b, "%s %v\n", data, err)
	}
	return b.String()
}

func ask(text string) *llm.Request {
	return &llm.Request{Messages: []llm.Message{llm.UserText(text)}}
}

func TestRecordFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		model := llm.Model{Provider: "test", ID: "m"}
		c := recording.Record(llmtest.New(t, "text a\ndelay 20ms\ntext b\n---\nerror auth \"no\"\n---\nend\n---\ntext x", llmtest.WithModel(model)), &b)
		for range 3 {
			_, _ = llm.Collect(t.Context(), c, ask("hi"))
		}
		for range c.Stream(t.Context(), ask("hi")) {
			break
		}
		const request = `"time":"2000-01-01T00:00:00.02Z","model":{"provider":"test","id":"m"},"request":{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}}`
		want := undent(`
			{"version":1,"n":1,` + strings.Replace(request, "00.02Z", "00Z", 1) + `
			{"n":1,"event":{"type":"text","text":"a"}}
			{"n":1,"ms":20,"event":{"type":"text","text":"b"}}
			{"n":1,"ms":20,"event":{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"ab"}],"model":"test/m","stop":"end"}}}
			{"version":1,"n":2,` + request + `
			{"n":2,"error":{"kind":"auth","model":"test/m","message":"no"}}
			{"version":1,"n":3,` + request + `
			{"n":3,"end":"cut"}
			{"version":1,"n":4,` + request + `
			{"n":4,"event":{"type":"text","text":"x"}}
			{"n":4,"end":"left"}`)
		if b.String() != want {
			t.Errorf("got\n%swant\n%s", b.String(), want)
		}
		if c.Err() != nil {
			t.Error(c.Err())
		}
	})
}

// A replay yields the recorded events. It keeps their times if the recording has them, and yields them at once otherwise.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		rec := recording.Record(llmtest.New(t, recordScript), &b)
		var want []string
		for _, q := range []string{"1", "2", "3"} {
			want = append(want, trace(t.Context(), rec, ask(q)))
		}
		kept := replay(t, b.String(), recording.KeepTimes())
		quick := replay(t, b.String())
		for i, q := range []string{"1", "2", "3"} {
			if got := trace(t.Context(), kept, ask(q)); got != want[i] {
				t.Errorf("with times: got\n%swant\n%s", got, want[i])
			}
			if got := trace(t.Context(), quick, ask(q)); got != strings.ReplaceAll(want[i], "1.5s ", "0s ") {
				t.Errorf("without times: got\n%swant\n%s", got, want[i])
			}
		}
		if !reflect.DeepEqual(kept.Model(), rec.Model()) {
			t.Errorf("the model became %+v", kept.Model())
		}
		_, err := llm.Collect(t.Context(), kept, ask("4"))
		if e := llm.AsError(err); e.Kind != llm.KindOther || !strings.Contains(e.Message, "ran out") {
			t.Errorf("beyond the recording: %v", err)
		}
	})
}

func replay(t *testing.T, text string, opts ...recording.ReplayOption) llm.Client {
	t.Helper()
	c, err := recording.Replay(strings.NewReader(text), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestReplayFindsTheRequest(t *testing.T) {
	var b bytes.Buffer
	rec := recording.Record(llmtest.New(t, "text to 1\n---\ntext to 2\n---\ntext to 2 again"), &b)
	for _, q := range []string{"1", "2", "2"} {
		if _, err := llm.Collect(t.Context(), rec, ask(q)); err != nil {
			t.Fatal(err)
		}
	}
	answers := func(c llm.Client, questions ...string) string {
		var out []string
		for _, q := range questions {
			m, err := llm.Collect(t.Context(), c, ask(q))
			if err != nil {
				out = append(out, string(llm.AsError(err).Kind))
			}
			out = append(out, m.Text())
		}
		return strings.Join(out, ",")
	}
	if got, want := answers(replay(t, b.String()), "2", "3", "2"), "to 2,to 1,to 2 again"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	strict := replay(t, b.String(), recording.MatchRequests())
	if got, want := answers(strict, "2", "3", "1"), "to 2,other,,to 1"; got != want {
		t.Errorf("strictly: got %s, want %s", got, want)
	}
	bad := &llm.Request{Messages: []llm.Message{{Content: llm.Content{nil}}}}
	if _, err := llm.Collect(t.Context(), strict, bad); llm.AsError(err).Kind != llm.KindInvalidRequest {
		t.Errorf("a request that has no JSON: %v", err)
	}
}

func TestReplayOfWhatBrokeOff(t *testing.T) {
	const begin = `{"version":1,"n":7,"model":{"provider":"a","id":"b"},"request":{"messages":[]}}` + "\n\n" + `{"n":7,"event":{"type":"text","text":"x"}}` + "\n"
	for _, end := range []string{"", `{"n":7,"end":"left"}`} {
		_, err := llm.Collect(t.Context(), replay(t, begin+end), &llm.Request{})
		if want := "a/b: other: the recording of exchange 7 ends here, before its answer did"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestReplayEndsWithTheContext(t *testing.T) {
	const text = `{"version":1,"n":1,"model":{"provider":"a","id":"b"},"request":{"messages":[]}}
{"n":1,"ms":60000,"event":{"type":"text","text":"x"}}`
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := llm.Collect(ctx, replay(t, text, recording.KeepTimes()), &llm.Request{})
		if err == nil || !strings.HasPrefix(err.Error(), "a/b: cancelled") || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		for range replay(t, text).Stream(t.Context(), &llm.Request{}) {
			break
		}
	})
}

func TestReplayErrors(t *testing.T) {
	const begin = `{"version":1,"n":1,"request":{"messages":[]}}` + "\n"
	tests := map[string]string{
		"":                            "it has no exchange",
		"{":                           "line 1: unexpected end",
		begin + "nonsense":            "line 2: invalid character",
		begin + begin:                 "line 2: exchange 1 is running already",
		begin + `{"n":2,"end":"cut"}`: "line 2: no exchange 2 is running",
		begin + `{"n":1}`:             "line 2: it has neither request nor event nor error nor end",
		begin + `{"n":1,"end":"x"}`:   "line 2: it has neither",
		begin + `{"n":1,"event":{"type":"later"}}`:                               `line 2: llm: unknown event type "later"`,
		begin + `{"n":1,"error":{"kind":"auth"}}` + "\n" + `{"n":1,"end":"cut"}`: "line 3: no exchange 1 is running",
		`{"version":2,"n":1,"request":{"messages":[]}}`:                          "line 1: its format has version 2; this program reads version 1",
		begin + strings.Repeat("x", 64<<20+1):                                    "line 2: it is longer than 67108864 bytes",
	}
	for text, want := range tests {
		_, err := recording.Replay(strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), "recording: "+want) {
			t.Errorf("%.80s: got %v, want %s", text, err, want)
		}
	}
	_, err := recording.Replay(io.MultiReader(strings.NewReader(begin), iotest.ErrReader(errors.New("bad disk"))))
	if err == nil || err.Error() != "recording: after line 1: bad disk" {
		t.Errorf("got %v", err)
	}
}

func TestAFailingWriterDoesNotBreakAnAnswer(t *testing.T) {
	w := &failingWriter{after: 2}
	c := recording.Record(llmtest.New(t, "text a\ntext b\n---\ntext c"), w)
	for _, want := range []string{"ab", "c"} {
		if m, err := llm.Collect(t.Context(), c, ask("hi")); err != nil || m.Text() != want {
			t.Errorf("got %q, %v", m.Text(), err)
		}
	}
	if want := "the recording stopped: disk full, try 1"; c.Err() == nil || c.Err().Error() != want {
		t.Errorf("got %v, want %s", c.Err(), want)
	}
}

type failingWriter struct{ after, failed int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.after--; w.after >= 0 {
		return len(p), nil
	}
	w.failed++
	return 0, errors.New("disk full, try " + string(rune('0'+w.failed)))
}

func TestWhatCannotBeEncodedStopsTheRecording(t *testing.T) {
	nilPart := llm.Message{Content: llm.Content{nil}}
	event := clientFunc(func(yield func(llm.Event, error) bool) { yield(llm.Done{Message: nilPart}, nil) })
	tests := map[string]struct {
		client llm.Client
		req    *llm.Request
	}{
		"request": {llmtest.New(t, "text a"), &llm.Request{Messages: []llm.Message{nilPart}}},
		"event":   {event, ask("hi")},
	}
	for name, tt := range tests {
		c := recording.Record(tt.client, io.Discard)
		if _, err := llm.Collect(t.Context(), c, tt.req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.Err() == nil || !strings.Contains(c.Err().Error(), "part 0: it is nil") {
			t.Errorf("%s: got %v", name, c.Err())
		}
	}
}

// Each line of concurrent exchanges is whole, and each exchange can be played.
func TestRecordConcurrently(t *testing.T) {
	const n = 20
	var b bytes.Buffer
	rec := recording.Record(llmtest.Func(func(_ context.Context, r *llm.Request) (llm.Message, error) {
		return llm.AssistantText("to " + r.Messages[0].Text()), nil
	}), &b)
	everyone := func(c llm.Client) {
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				q := strings.Repeat("x", i+1)
				if m, err := llm.Collect(t.Context(), c, ask(q)); err != nil || m.Text() != "to "+q {
					t.Errorf("got %q, %v", m.Text(), err)
				}
			})
		}
		wg.Wait()
	}
	everyone(rec)
	for line := range bytes.Lines(b.Bytes()) {
		if !json.Valid(line) {
			t.Errorf("broken line %s", line)
		}
	}
	everyone(replay(t, b.String(), recording.MatchRequests()))
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"version":1,"n":1,"model":{"provider":"a","id":"b"},"request":{"messages":null}}
{"n":1,"ms":3,"event":{"type":"text","text":"Hello"}}
{"n":1,"ms":4,"error":{"kind":"network"}}
{"version":1,"n":2,"request":{"messages":null}}
{"n":2,"end":"left"}
`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := recording.Replay(bytes.NewReader(data))
		if err != nil {
			return
		}
		_, _ = llm.Collect(t.Context(), c, &llm.Request{})
	})
}

// clientFunc is a client that yields any events.
type clientFunc iter.Seq2[llm.Event, error]

func (c clientFunc) Model() llm.Model { return llm.Model{Provider: "test", ID: "func"} }

func (c clientFunc) Stream(context.Context, *llm.Request) iter.Seq2[llm.Event, error] {
	return iter.Seq2[llm.Event, error](c)
}
