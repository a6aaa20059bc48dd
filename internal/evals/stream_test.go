package main

import (
	"reflect"
	"strings"
	"testing"
)

const streamed = `{"type":"tenon.stream","version":1,"tenon":"v1.2.3","session":"s1","news":true}
{"kind":"epoch","body":{"reason":"start","system":"You are","tools":[{"name":"read"}]}}
{"kind":"waiting","body":{"attempt":1}}
{"kind":"message","body":{"role":"user","content":[{"type":"text","text":"hi"}]}}
{"kind":"message","body":{"role":"assistant","usage":{"input":10,"cache_read":20,"cache_write":30,"output":40,"reasoning":50}}}
{"kind":"decision","body":{"call":"c2","verdict":"deny","code":"permission.rule_denied"}}
{"kind":"message","body":{"role":"tool","tool":"read","call_id":"c1","content":[{"type":"text","text":"1: a"}]}}
{"kind":"message","body":{"role":"tool","tool":"shell","call_id":"c2","outcome":"denied","content":[{"type":"text","text":"\nno\nmore"}]}}
{"kind":"message","body":{"role":"tool","tool":"shell","call_id":"c3","failed":true,"content":[{"type":"text","text":"exit code 3"}]}}
{"kind":"message","body":{"role":"tool","tool":"shell","call_id":"c4","failed":true,"content":[{"type":"text","text":"exit code 4"}]}}
{"kind":"epoch","body":{"reason":"tools","system":"Other"}}
{"kind":"something_new","body":[1]}
`

const streamEnd = `{"type":"tenon.result","version":1,"answer":"Done.","stop_reason":"limit","limit":"turns","session":"s1","model":"a/b","turns":7,` +
	`"usage":{"input":1,"cache_read":2,"cache_write":3,"output":4,"reasoning":5},"cost":0.5,"seconds":2,"errors":[{"kind":"other","message":"m","code":"c"}]}` + "\n"

func TestAStreamIsRead(t *testing.T) {
	f, err := readStream(strings.NewReader(streamed + streamEnd))
	if err != nil {
		t.Fatal(err)
	}
	want := Run{
		Reason: "limit", Limit: "turns", Errors: []RunError{{"other", "m", "c"}}, Turns: 7, Seconds: 2, Cost: 0.5,
		Tokens: Tokens{Fresh: 1, Cached: 2, CacheWrite: 3, Output: 4, Thinking: 5}, Calls: map[string]int{"read": 1, "shell": 3},
		Failures: []Failure{{"shell", "denied permission.rule_denied", 1, "no"}, {"shell", "exit_code", 2, "exit code 3"}},
		Retries:  1, Model: "a/b", Session: "s1", Answer: "Done.", Prompt: f.run.Prompt,
	}
	if !reflect.DeepEqual(f.run, want) || f.version != "v1.2.3" || len(f.run.Prompt) != 12 {
		t.Errorf("%+v, want %+v; version %q", f.run, want, f.version)
	}
	if f.run.End() != "limit: turns" || f.run.Failed() != 3 || f.run.Tokens.Sum() != 15 {
		t.Errorf("end %q, %d failed, %d tokens", f.run.End(), f.run.Failed(), f.run.Tokens.Sum())
	}
}

// A stream that was cut off counts until then.
func TestAStreamWithoutAResult(t *testing.T) {
	f, err := readStream(strings.NewReader(streamed + streamEnd[:100]))
	if err != nil {
		t.Fatal(err)
	}
	if f.run.End() != "crashed" || f.run.Turns != 1 || f.run.Tokens.Sum() != 150 || f.run.Calls["shell"] != 3 {
		t.Errorf("%+v", f.run)
	}
	if _, err := readStream(strings.NewReader("usage: cat\n")); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("not a stream: %v", err)
	}
}

func FuzzReadStream(f *testing.F) {
	f.Add(streamed + streamEnd)
	f.Add(`{"kind":"message","body":3}` + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := readStream(strings.NewReader(text)); (got == nil) == (err == nil) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
