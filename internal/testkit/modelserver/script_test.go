package modelserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

const script = `
# a bad day
fail 429 "slow down"
retry_after 3s
header X-Extra one two
---
overflow
---
body 200 text/html <<END
	<html>
	text is no line here
	END
turn
body 502 -
---
think Let me see.
call read {"path":"a"}
usage input=7 output=3
---
fault cut_in_text
text It is a
text  library.
---
fail 429
message "later"
fault error_event
text It is
--- the end
text <<END
	fault cut_in_text
	END
delay 1ns
`

func TestParse(t *testing.T) {
	steps, err := modelserver.Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	srv := modelserver.New(t, modelserver.Steps(steps...))
	type got struct {
		status int
		body   string
		err    bool
	}
	for i, want := range []got{
		{429, "slow down", false},
		{400, "prompt is too long", false},
		{200, "<html>\ntext is no line here", false},
		{502, "", false},
		{200, `"id":"call_5_1"`, false},
		{200, "It is", true},
		{200, "rate_limit_error", false},
		{200, "fault cut_i", false},
	} {
		res, body, err := ask(t, srv, modelserver.Anthropic, true)
		if res.StatusCode != want.status || !strings.Contains(string(body), want.body) || (err != nil) != want.err {
			t.Errorf("step %d: %v, %d: %s", i+1, err, res.StatusCode, body)
		}
		if i == 0 && (res.Header.Get("Retry-After") != "3" || res.Header.Get("X-Extra") != "one two") {
			t.Errorf("headers: %v", res.Header)
		}
	}
	if srv.Left() != 0 || len(srv.Violations()) != 0 {
		t.Errorf("%d steps left, %v", srv.Left(), srv.Violations())
	}
}

func TestScriptIsAnOption(t *testing.T) {
	o, err := modelserver.Script("text hi")
	if err != nil {
		t.Fatal(err)
	}
	res, body, err := ask(t, modelserver.New(t, o), modelserver.Gemini, false)
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), `"text":"hi"`) {
		t.Errorf("%v: %s", err, body)
	}
}

func TestMistakesInAScriptAreReported(t *testing.T) {
	for script, want := range map[string]string{
		"text a\nfail x":                      "line 2: fail: \"x\" is no status",
		"fail 999":                            "no status",
		"fail 429 \"x":                        "Go string",
		"fault nonsense":                      "is no fault",
		"fault cut_in_text 5":                 "number of bytes",
		"fault long_line":                     "number of bytes",
		"fault long_line x":                   "invalid syntax",
		"body 200":                            "content type is missing",
		"body x y":                            "no status",
		"body 200 a <<END":                    "no line END",
		"retry_after soon":                    "invalid duration",
		"delay soon":                          "invalid duration",
		"header X":                            "value is missing",
		"message \"x":                         "Go string",
		"text a\n\nhang":                      "line 3: hang says nothing here",
		"text a\n---\ntxet b":                 "line 3",
		"body 200 a/b <<END\nx\nEND\ncall":    "line 4",
		"text <<END\nfail 429":                "no line END",
		"fault cut_in_text\nusage input=lots": "line 2",
	} {
		if _, err := modelserver.Parse(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", script, err, want)
		}
	}
}

func TestAScriptOfNothing(t *testing.T) {
	if steps, err := modelserver.Parse("\n# only this\n"); err != nil || len(steps) != 0 {
		t.Errorf("%v, %d steps", err, len(steps))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(script)
	f.Add("fault long_line 99\ntext x")
	f.Add("---\n---\npieces 2\ntext <<A\nA")
	f.Fuzz(func(t *testing.T, script string) {
		steps, err := modelserver.Parse(script)
		if err != nil && len(steps) > 0 {
			t.Error("steps in spite of", err)
		}
	})
}

func FuzzCheck(f *testing.F) {
	for i, p := range modelserver.Protocols() {
		_, body := request(p, true)
		f.Add(byte(i), []byte(body))
	}
	f.Add(byte(0), []byte(`{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":1}]},null,[]],"tools":{},"thinking":[]}`))
	f.Add(byte(3), []byte(`{"input":[{"type":"reasoning","summary":[{}]},1]}`))
	f.Add(byte(4), []byte(`{"contents":[{"parts":[{"functionCall":{},"text":""}]}],"tools":[{"functionDeclarations":[{"parameters":{"items":{}}}]}]}`))
	f.Add(byte(7), []byte(`{"model":"m","think":"max","options":{"num_ctx":1},"messages":[{"role":"tool","images":[1]},{"tool_calls":[{"function":7}]}]}`))
	f.Fuzz(func(t *testing.T, n byte, body []byte) {
		all := modelserver.Protocols()
		p := all[int(n)%len(all)]
		err := modelserver.Check(p, nil, body)
		path, _ := request(p, true)
		h := modelserver.NewHandler(modelserver.Steps(modelserver.Say("hi")))
		w, r := record(path, body)
		h.ServeHTTP(w, r)
		if err == nil && h.Requests()[0].NumCtx > 0 {
			return // the window of the request may be too small for it
		}
		if (w.Code == http.StatusOK) != (err == nil) {
			t.Errorf("%v, but the answer is %d: %s", err, w.Code, w.Body)
		}
	})
}
