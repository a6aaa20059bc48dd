package llmtest_test

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

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
		{"arguments in lines", `
			call write <<END
			{
			"text": "a"}
			END`, `
			{"type":"call","id":"call_1_1","name":"write","arguments":"{\n\"text\": \"a\"}"}
			{"type":"call_ready","call":{"id":"call_1_1","name":"write","arguments":"{\n\"text\": \"a\"}"}}
			{"type":"done","message":{"role":"assistant","content":[{"type":"tool_call","id":"call_1_1","name":"write","arguments":"{\n\"text\": \"a\"}"}],"model":"test/script","stop":"tool_calls"}}`},
		{"two arrows within a text are text", `
			text 1 <<EOF
			opaque 1`, `
			{"type":"text","text":"1 \u003c\u003cEOF"}
			{"type":"done","message":{"role":"assistant","content":[{"type":"text","text":"1 \u003c\u003cEOF","opaque":1}],"model":"test/script","stop":"end"}}`},
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
		{"error other too late", `line 1: error: "too" is not NAME=VALUE; put the message last, in double quotes`},
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
