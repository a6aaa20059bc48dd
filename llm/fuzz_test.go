package llm_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// seed adds the golden files whose names begin so.
func seed(f *testing.F, prefix string) {
	paths, err := filepath.Glob(filepath.Join("testdata", prefix+"*.json"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no golden files %s*: %v", prefix, err)
	}
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

// fixedPoint checks that what can be read can be written, and that writing, reading and writing again changes nothing.
func fixedPoint[T any](t *testing.T, data []byte) {
	var v, again T
	if json.Unmarshal(data, &v) != nil {
		return
	}
	first, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s was read, but cannot be written: %v", data, err)
	}
	if err := json.Unmarshal(first, &again); err != nil {
		t.Fatalf("%s was written, but cannot be read: %v", first, err)
	}
	if second := encode(t, again); !bytes.Equal(first, second) {
		t.Fatalf("it changes:\n%s\n%s", first, second)
	}
}

func FuzzMessage(f *testing.F) {
	seed(f, "message")
	f.Add([]byte(`{"content":[{"TYPE":"x"},{"type":"text","opaque":null},{"type":"later","text":{}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fixedPoint[llm.Message](t, data)
		var m llm.Message
		if json.Unmarshal(data, &m) == nil {
			encode(t, m.Valid())
		}
	})
}

func FuzzRequest(f *testing.F) {
	seed(f, "request")
	f.Fuzz(func(t *testing.T, data []byte) { fixedPoint[llm.Request](t, data) })
}

func FuzzError(f *testing.F) {
	seed(f, "error")
	f.Fuzz(func(t *testing.T, data []byte) {
		fixedPoint[llm.Error](t, data)
		var e llm.Error
		if json.Unmarshal(data, &e) == nil {
			_ = e.Error()
		}
	})
}

func FuzzEvent(f *testing.F) {
	seed(f, "event")
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := llm.UnmarshalEvent(data)
		if err != nil {
			return
		}
		first, err := llm.MarshalEvent(e)
		if err != nil {
			t.Fatalf("%s was read, but cannot be written: %v", data, err)
		}
		again, err := llm.UnmarshalEvent(first)
		if err != nil {
			t.Fatalf("%s was written, but cannot be read: %v", first, err)
		}
		second, err := llm.MarshalEvent(again)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("it changes (%v):\n%s\n%s", err, first, second)
		}
	})
}

// Whatever strings a message has, what Valid returns is written and read without a change.
func FuzzValid(f *testing.F) {
	f.Add("a\xffb", []byte(`{"a":"\xff"}`))
	f.Add("ok", []byte(`{`))
	f.Fuzz(func(t *testing.T, s string, raw []byte) {
		m := llm.Message{Role: llm.Role(s), Model: s, Tool: s, CallID: s, Stop: llm.StopReason(s), Content: llm.Content{
			llm.Text{Text: s, Opaque: raw},
			llm.Thinking{Text: s, Signature: s, Opaque: raw},
			llm.ToolCall{ID: s, Name: s, Arguments: s, Opaque: raw},
			llm.Image{MIME: s, Blob: s, Data: raw},
			llm.Document{MIME: s, Name: s, Blob: s, Data: raw},
			llm.UnknownPart{Type: s, JSON: raw},
			nil,
		}}.Valid()
		data := encode(t, m)
		var back llm.Message
		if err := json.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		if back.Text() != m.Text() || back.Model != m.Model {
			t.Errorf("%q became %q", m.Text(), back.Text())
		}
		if strings.Contains(s, "\xff") && strings.Contains(m.Text(), "\xff") {
			t.Errorf("%q is not valid", m.Text())
		}
	})
}
