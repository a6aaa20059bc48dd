package llm_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// goldenMessage has every part and every field of an answer.
var goldenMessage = llm.Message{
	Role: llm.RoleAssistant,
	Content: llm.Content{
		llm.Thinking{Text: "hm", Signature: "sig", Opaque: json.RawMessage(`{"a":1}`)},
		llm.Text{Text: "<Hello>\n\"you\" \u2028 日本", Opaque: json.RawMessage(`[1]`)},
		llm.Image{MIME: "image/png", Data: []byte{0, 1, 255}},
		llm.Image{MIME: "image/png", Blob: "b1"},
		llm.Document{MIME: "application/pdf", Name: "a.pdf", Data: []byte("%PDF")},
		llm.UnknownPart{Type: "hologram", JSON: json.RawMessage(`{"type":"hologram","depth":3}`)},
		llm.ToolCall{ID: "c1", Name: "read", Arguments: `{"path":"a"}`, Opaque: json.RawMessage(`"x"`)},
		llm.ToolCall{ID: "c2", Name: "write", Arguments: `{"pa`, Truncated: true},
	},
	Model: "test/model",
	Stop:  llm.StopLength,
	Usage: llm.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, Output: 4, Reasoning: 5, Cost: 0.5},
}

var goldenError = &llm.Error{
	Kind: llm.KindRateLimited, Model: "test/model", Message: "slow down", Status: 429, RequestID: "r1", RetryAfter: 2 * time.Second,
}

// The JSON of every type is in testdata, and stays as it is there.
func TestGoldenJSON(t *testing.T) {
	golden(t, "message", goldenMessage)
	golden(t, "message_empty", llm.Message{})
	golden(t, "message_user", llm.UserText("Hi"))
	golden(t, "message_tool", llm.ToolText(llm.ToolCall{ID: "c1", Name: "read"}, "no such file", true))
	golden(t, "error", *goldenError)
	golden(t, "usage", goldenMessage.Usage)
	golden(t, "model", llm.Model{
		Provider: "test", ID: "model", Context: 200_000, MaxOutput: 32_000, Images: true, Documents: true, NoTools: true,
		Price: llm.Price{Input: 3, CacheRead: 0.3, CacheWrite: 3.75, Output: 15},
	})
	golden(t, "request", llm.Request{
		System:     "Be brief.",
		Messages:   []llm.Message{llm.UserText("Hi")},
		Tools:      []llm.Tool{{Name: "read", Description: "Reads a file.", Schema: json.RawMessage(`{"type":"object"}`)}},
		ToolChoice: llm.ToolRequired,
		Settings:   llm.Settings{Schema: json.RawMessage(`{"type":"string"}`), MaxTokens: 100, Temperature: new(0.0), Thinking: llm.ThinkLow, Cache: llm.CacheOff},
	})
	golden(t, "request_minimal", llm.Request{Messages: []llm.Message{}})
}

func golden[T any](t *testing.T, name string, value T) {
	t.Helper()
	compare(t, name, encode(t, value))
	var back T
	if err := json.Unmarshal(readGolden(t, name), &back); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if !reflect.DeepEqual(compacted(t, back), compacted(t, value)) {
		t.Errorf("%s came back as %+v, not as %+v", name, back, value)
	}
}

// compacted is v without the white space that golden files have for people.
func compacted(t *testing.T, v any) any {
	m, ok := v.(llm.Message)
	if !ok {
		if r, ok := v.(llm.Request); ok {
			return string(encode(t, r))
		}
		return v
	}
	for i, p := range m.Content {
		switch p := p.(type) {
		case llm.UnknownPart:
			p.JSON = squeeze(t, p.JSON)
			m.Content[i] = p
		case llm.Text:
			p.Opaque = squeeze(t, p.Opaque)
			m.Content[i] = p
		case llm.Thinking:
			p.Opaque = squeeze(t, p.Opaque)
			m.Content[i] = p
		}
	}
	return m
}

func squeeze(t *testing.T, data json.RawMessage) json.RawMessage {
	t.Helper()
	if data == nil {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func compare(t *testing.T, name string, data []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	if *update {
		if err := os.WriteFile(goldenPath(name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := b.String(), string(readGolden(t, name)); got != want {
		t.Errorf("%s: got\n%swant\n%s", name, got, want)
	}
}

func goldenPath(name string) string { return filepath.Join("testdata", name+".json") }

func readGolden(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(goldenPath(name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

func TestGoldenEvents(t *testing.T) {
	call := llm.ToolCall{ID: "c1", Name: "read", Arguments: "{}"}
	events := map[string]llm.Event{
		"event_text":       llm.TextDelta{Part: 1, Text: "Hello"},
		"event_thinking":   llm.ThinkingDelta{Text: "hm"},
		"event_call":       llm.CallDelta{Part: 2, ID: "c1", Name: "read", Arguments: "{}"},
		"event_call_bare":  llm.CallDelta{},
		"event_call_ready": llm.CallReady{Part: 2, Call: call},
		"event_waiting":    llm.Waiting{Attempt: 2, Of: 4, Delay: time.Second, Cause: goldenError},
		"event_reset":      llm.Reset{},
		"event_routed":     llm.Routed{Model: "openai/gpt", Key: "work", Cause: &llm.Error{Kind: llm.KindAuth}},
		"event_rate_limits": llm.RateLimits{
			Model: "openai/gpt", Key: "work", Requests: llm.Quota{Limit: 50, Remaining: 49, Reset: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		},
		"event_done": llm.Done{Message: llm.AssistantText("Hello"), RequestID: "r1"},
	}
	for name, e := range events {
		data, err := llm.MarshalEvent(e)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compare(t, name, data)
		back, err := llm.UnmarshalEvent(readGolden(t, name))
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("%s came back as %#v, %v", name, back, err)
		}
	}
}

func TestEventJSONErrors(t *testing.T) {
	if _, err := llm.MarshalEvent(nil); err == nil {
		t.Error("a nil event was encoded")
	}
	if _, err := llm.MarshalEvent(llm.Done{Message: llm.Message{Content: llm.Content{nil}}}); err == nil {
		t.Error("a nil part was encoded")
	}
	for _, bad := range []string{``, `{`, `[]`, `{"type":"later"}`, `{"type":"text","text":1}`} {
		if e, err := llm.UnmarshalEvent([]byte(bad)); err == nil {
			t.Errorf("%s was read as %#v", bad, e)
		}
	}
}

func TestContentNullAndEmptyAreNil(t *testing.T) {
	for _, in := range []string{`{"content":null}`, `{"content":[]}`, `{}`} {
		m := llm.Message{}
		if err := json.Unmarshal([]byte(in), &m); err != nil || m.Content != nil {
			t.Errorf("%s: %#v, %v", in, m.Content, err)
		}
	}
}

func TestContentErrors(t *testing.T) {
	encoding := map[string]llm.Content{
		"part 1: it is nil":          {llm.Text{}, nil},
		"part 0 (text): ":            {llm.Text{Opaque: json.RawMessage(`{`)}},
		`cannot be of the type ""`:   {llm.UnknownPart{}},
		`cannot be of the type "te`:  {llm.UnknownPart{Type: "text", JSON: json.RawMessage(`{"type":"text"}`)}},
		`unknown part "x": unexpect`: {llm.UnknownPart{Type: "x"}},
		`its JSON is of the type "y`: {llm.UnknownPart{Type: "x", JSON: json.RawMessage(`{"type":"y"}`)}},
		"*llm.Text is no part":       {&llm.Text{}},
	}
	for want, c := range encoding {
		if _, err := json.Marshal(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	decoding := map[string]string{
		`[{"text":"a"}]`:             "part 0: it has no type",
		`[{"type":"text","text":1}]`: "part 0: json",
		`[null]`:                     "part 0: it has no type",
		`{}`:                         "cannot unmarshal object",
		`[{"type":"x"},1]`:           "part 1: json",
	}
	for in, want := range decoding {
		var c llm.Content
		if err := json.Unmarshal([]byte(in), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}

// Unknown parts do not disturb known ones: a part of a newer kind may use any names of fields.
func TestUnknownPartsStayAsTheyAre(t *testing.T) {
	unknown := `{ "type": "later", "text": {"deep": [1, 2.50]}, "data": 7 }`
	in := `[{"type":"text","text":"a","data":5},` + unknown + `]`
	var c llm.Content
	if err := json.Unmarshal([]byte(in), &c); err != nil {
		t.Fatal(err)
	}
	want := llm.Content{llm.Text{Text: "a"}, llm.UnknownPart{Type: "later", JSON: json.RawMessage(unknown)}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v", c)
	}
}

func TestEmptyRawFieldsAreLeftOut(t *testing.T) {
	c := llm.Content{llm.Text{Text: "a", Opaque: json.RawMessage{}}, llm.Image{MIME: "image/png", Data: []byte{}, Blob: "b"}}
	if got, want := string(encode(t, c)), `[{"type":"text","text":"a"},{"type":"image","mime":"image/png","blob":"b"}]`; got != want {
		t.Errorf("got %s", got)
	}
}
