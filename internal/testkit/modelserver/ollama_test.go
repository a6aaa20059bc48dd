package modelserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

func TestCheckOllama(t *testing.T) {
	const (
		begin  = `{'model':'m','messages':[` + hi
		call   = `,{'role':'assistant','content':'','tool_calls':[{'id':'c1','function':{'index':0,'name':'read','arguments':{'a':1}}}]}`
		two    = `,{'role':'assistant','tool_calls':[{'id':'c1','function':{'name':'read','arguments':{}}},{'id':'c2','function':{'name':'list','arguments':{}}}]}`
		result = `,{'role':'tool','tool_name':'read','tool_call_id':'c1','content':'x'}`
	)
	schema := func(properties string) string {
		return begin + `],'tools':[{'type':'function','function':{'name':'a','parameters':{'type':'object','properties':` + properties + `}}}]}`
	}
	noIDs := strings.NewReplacer(`'id':'c1',`, ``, `'tool_call_id':'c1',`, ``).Replace
	judge(t, modelserver.Ollama, modelserver.Rules{}, []verdict{
		{"least", begin + `]}`, ""},
		{"all of it", `{'model':'m','messages':[{'role':'system','content':'s'},{'role':'user','content':'','images':['iVBORw0KGgo=']}` + call + result +
			`,{'role':'assistant','content':'x','thinking':'t'}],'stream':false,'think':'high','format':{'type':'object'},'keep_alive':'5m',
			'truncate':false,'shift':false,'logprobs':true,'top_logprobs':3,
			'options':{'num_ctx':4096,'num_predict':-1,'temperature':0.5,'top_k':3,'stop':['x'],'use_mmap':true,'seed':-1}` + tools + `}`, ""},
		{"thinking off", begin + `],'think':false,'format':'json','keep_alive':-1}`, ""},
		{"no model", `{'messages':[` + hi + `]}`, "model: Field required"},
		{"no messages", `{'model':'m'}`, "messages: Field required"},
		{"empty messages", `{'model':'m','messages':[]}`, "at least one"},
		{"stream of a word", begin + `],'stream':'yes'}`, "stream"},
		{"truncate of a number", begin + `],'truncate':0}`, "truncate"},
		{"unknown level", begin + `],'think':'maximal'}`, "think"},
		{"thinking of a number", begin + `],'think':1}`, "think"},
		{"unknown format", begin + `],'format':'xml'}`, "format"},
		{"format of a list", begin + `],'format':[]}`, "format"},
		{"keep_alive of no unit", begin + `],'keep_alive':'5'}`, "keep_alive"},
		{"keep_alive of a boolean", begin + `],'keep_alive':true}`, "keep_alive"},
		{"num_ctx at the top", begin + `],'num_ctx':4096}`, "num_ctx"},
		{"max_tokens", begin + `],'max_tokens':9}`, "max_tokens"},
		{"options of a list", begin + `],'options':[]}`, "options"},
		{"unknown option", begin + `],'options':{'num_context':1}}`, "num_context"},
		{"num_ctx of a string", begin + `],'options':{'num_ctx':'4096'}}`, "options.num_ctx"},
		{"num_ctx of nothing", begin + `],'options':{'num_ctx':0}}`, "options.num_ctx"},
		{"num_predict of a half", begin + `],'options':{'num_predict':1.5}}`, "options.num_predict"},
		{"stop of a string", begin + `],'options':{'stop':'x'}}`, "options.stop"},

		{"unknown role", begin + `,{'role':'developer','content':'x'}]}`, "role"},
		{"content of a list", begin + `,{'role':'user','content':[{'type':'text','text':'x'}]}]}`, "content: Input should be a string"},
		{"user of nothing", begin + `,{'role':'user'}]}`, "content: Field required"},
		{"assistant of nothing", begin + `,{'role':'assistant'}]}`, "needs content"},
		{"thinking of the user", begin + `,{'role':'user','content':'x','thinking':'t'}]}`, "thinking"},
		{"image by link", begin + `,{'role':'user','content':'x','images':['data:image/png;base64,iVBORw0KGgo=']}]}`, "base64"},
		{"image of an object", begin + `,{'role':'user','content':'x','images':[{'data':'iVBORw0KGgo='}]}]}`, "images[0]"},

		{"call and result", begin + call + result + `]}`, ""},
		{"call and result without ids", begin + noIDs(call+result) + `]}`, ""},
		{"result of a server without ids", begin + noIDs(call) + result + `]}`, ""},
		{"image of a tool", begin + call + strings.Replace(result, `'content'`, `'images':['iVBORw0KGgo='],'content'`, 1) + `]}`, ""},
		{"results in another order", begin + two + `,{'role':'tool','tool_name':'list','tool_call_id':'c2','content':'x'}` + result + `]}`, ""},
		{"one id twice", strings.ReplaceAll(begin+two+result+`]}`, "c2", "c1"), "used twice"},
		{"one result of two", begin + two + result + `]}`, "these have none: list"},
		{"call without result", begin + call + `,` + hi + `]}`, "these have none: read"},
		{"call at the end", begin + call + `]}`, "these have none: read"},
		{"result without call", begin + result + `]}`, "must follow its call"},
		{"result twice", begin + call + result + result + `]}`, "must follow its call"},
		{"result later", begin + call + result + `,` + hi + result + `]}`, "must follow its call"},
		{"result of another id", begin + call + strings.Replace(result, "c1", "c2", 1) + `]}`, "must follow its call"},
		{"result of another name", begin + call + strings.Replace(result, "read", "list", 1) + `]}`, "must follow its call"},
		{"result without name", begin + call + strings.Replace(result, "'tool_name':'read',", "", 1) + `]}`, "tool_name: Field required"},
		{"arguments are a string", begin + strings.Replace(call, "{'a':1}", `'{}'`, 1) + result + `]}`, "arguments: Input should be an object"},
		{"no arguments", begin + strings.Replace(call, ",'arguments':{'a':1}", ``, 1) + result + `]}`, "arguments: Field required"},
		{"arguments of no function", begin + `,{'role':'assistant','tool_calls':[{'name':'read','arguments':{}}]}]}`, "function: Field required"},

		{"tool twice", begin + `],'tools':[{'type':'function','function':{'name':'a'}},{'type':'function','function':{'name':'a'}}]}`, "twice"},
		{"strict tool", begin + `],'tools':[{'type':'function','function':{'name':'a','strict':true}}]}`, "strict"},
		{"schema of a string", begin + `],'tools':[{'type':'function','function':{'name':'a','parameters':{'type':'string'}}}]}`, "type object"},
		{"schema", schema(`{'a':{'type':['string','null'],'enum':['x']},'b':{'anyOf':[{'type':'string'}]},'c':{'type':'object','properties':{'d':{}}}}`), ""},
		{"properties of a list", schema(`[]`), "properties"},
		{"property of true", schema(`{'a':true}`), "properties.a"},
		{"type of an object", schema(`{'a':{'type':{}}}`), "properties.a.type"},
		{"enum of a string", schema(`{'a':{'enum':'x'}}`), "properties.a.enum"},
		{"deep property", schema(`{'a':{'anyOf':[{'properties':{'b':1}}]}}`), "properties.b"},
	})
	judge(t, modelserver.Ollama, modelserver.Rules{NoTemperature: true}, []verdict{
		{"temperature", begin + `],'options':{'temperature':1}}`, "temperature"},
	})
}

// native posts a body, in which ' stands for ", to /api/chat.
func native(t *testing.T, srv *modelserver.Server, body string) (res *http.Response, answer string) {
	t.Helper()
	res, err := post(t.Context(), srv.URL+"/api/chat", strings.ReplaceAll(body, "'", `"`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(data)
}

func TestOllamaStreamsUnlessItIsAskedNotTo(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Think("Hm.").Say("Yes."), modelserver.Say("Yes.")))
	res, answer := native(t, srv, `{'model':'m','think':true,'messages':[`+hi+`]}`)
	if kind := res.Header.Get("Content-Type"); kind != "application/x-ndjson" || strings.Count(answer, "\n") != 3 || !strings.Contains(answer, `"thinking":"Hm."`) {
		t.Errorf("%s: %s", kind, answer)
	}
	res, answer = native(t, srv, `{'model':'m','think':'low','stream':false,'messages':[`+hi+`]}`)
	if kind := res.Header.Get("Content-Type"); kind != "application/json" || !strings.Contains(answer, `"content":"Yes."`) || strings.Contains(answer, "\n") {
		t.Errorf("%s: %s", kind, answer)
	}
	if r := srv.Requests(); !r[0].Stream || r[0].Think != "true" || r[1].Stream || r[1].Think != "low" || r[1].NumCtx != 0 {
		t.Errorf("%+v, %+v", r[0], r[1])
	}
}

func TestWhatARequestOfOllamaThought(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Say("Yes.")))
	native(t, srv, `{'model':'m','messages':[`+hi+`,{'role':'assistant','thinking':'Hm.','content':'x'},`+hi+`]}`)
	content := srv.Requests()[0].Messages[1].Content
	if thought, ok := content[0].(llm.Thinking); !ok || thought.Text != "Hm." || content.Text() != "x" {
		t.Errorf("%+v", content)
	}
}

func TestACallOfOllamaIsOneLine(t *testing.T) {
	srv := modelserver.New(t, modelserver.With(modelserver.Config{DeltaBytes: 1}), modelserver.Steps(modelserver.Call("read", `{"path":"a.go"}`).Call("list", `{}`)))
	_, answer := native(t, srv, `{'model':'m','messages':[`+hi+`]}`)
	all := strings.Split(answer, "\n")
	for i, want := range []string{`"arguments":{"path":"a.go"},"index":0,"name":"read"`, `"arguments":{},"index":1,"name":"list"`, `"done":true,"done_reason":"stop"`} {
		if len(all) != 4 || !strings.Contains(all[i], want) || i < 2 && !strings.Contains(all[i], `"id":"call_`) {
			t.Errorf("no %s in %s", want, answer)
		}
	}
}

func TestAnUnknownModelOfOllama(t *testing.T) {
	srv := modelserver.New(t, modelserver.Steps(modelserver.Fail(404)))
	if res, answer := native(t, srv, `{'model':'x','messages':[`+hi+`]}`); res.StatusCode != 404 || answer != `{"error":"model 'x' not found"}` {
		t.Errorf("%d: %s", res.StatusCode, answer)
	}
}

// The request sets the context window. A longer one is refused only if the request forbids the server to drop messages.
func TestTheWindowOfOllama(t *testing.T) {
	for _, c := range []struct {
		name, more string
		window     int
		status     int
		violation  string
	}{
		{"too small", `'truncate':false,'options':{'num_ctx':2}`, 0, 400, "context window of 2"},
		{"smaller than that of the server", `'truncate':false,'options':{'num_ctx':2}`, 1000, 400, "context window of 2"},
		{"larger than that of the server", `'truncate':false,'options':{'num_ctx':1000,'num_predict':1000}`, 2, 200, ""},
		{"that of the server", `'truncate':false`, 2, 400, "context window of 2"},
		{"too small, and cut", `'options':{'num_ctx':2}`, 0, 200, "set truncate to false"},
		{"large enough", `'options':{'num_ctx':1000}`, 0, 200, ""},
	} {
		srv := modelserver.New(t, modelserver.With(modelserver.Config{Window: c.window}), modelserver.Steps(modelserver.Say("Yes.")))
		res, answer := native(t, srv, `{'model':'m','messages':[`+hi+`],`+c.more+`}`)
		violations := srv.Violations()
		if res.StatusCode != c.status || (len(violations) == 0) != (c.violation == "") || len(violations) > 0 && !strings.Contains(violations[0].Error(), c.violation) {
			t.Errorf("%s: %d: %s, %v", c.name, res.StatusCode, answer, violations)
		}
		if c.status == 400 && answer != `{"error":"the input length exceeds the context length"}` {
			t.Errorf("%s: %s", c.name, answer)
		}
		if r := srv.Requests()[0]; strings.Contains(c.more, "num_ctx") != (r.NumCtx > 0) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestModelsThatOllamaRuns(t *testing.T) {
	srv := modelserver.New(t, modelserver.With(modelserver.Config{Models: []string{"a", "b:8b"}, Window: 9000}),
		modelserver.Func(func(*modelserver.Request) modelserver.Step { return modelserver.Say("hi") }))
	running := func() (status int, body string) {
		w, r := record("/api/ps", nil)
		r.Method = http.MethodGet
		srv.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	native(t, srv, `{'model':'a','messages':7}`)
	if status, body := running(); status != http.StatusOK || windows(t, body) != "" {
		t.Errorf("before the first request: %d: %s", status, body)
	}
	for _, body := range []string{
		`{'model':'a','messages':[` + hi + `]}`,
		`{'model':'b:8b','options':{'num_ctx':20000},'messages':[` + hi + `]}`,
	} {
		native(t, srv, body)
	}
	status, body := running()
	if got := windows(t, body); status != http.StatusOK || got != "b:8b=20000 a:latest=9000" {
		t.Errorf("%d: %s", status, got)
	}
	native(t, srv, `{'model':'a','options':{'num_ctx':30000},'messages':[`+hi+`]}`)
	if _, body = running(); windows(t, body) != "a:latest=30000 b:8b=20000" {
		t.Error(body)
	}
}

// windows returns name=window of each model.
func windows(t *testing.T, body string) string {
	t.Helper()
	all, err := lines([]byte(body))
	if err != nil || len(all) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	var out []string
	for _, m := range all[0].at("models").list() {
		out = append(out, m.at("name").str()+"="+m.at("context_length").json())
	}
	return strings.Join(out, " ")
}

func TestFactsOfAModelOfOllama(t *testing.T) {
	srv := modelserver.New(t, modelserver.With(modelserver.Config{Models: []string{"a"}, Window: 9000}))
	for body, want := range map[string]struct {
		status int
		text   string
	}{
		`{"model":"a"}`: {200, `"test.context_length":9000`},
		`{"model":"x"}`: {404, `{"error":"model 'x' not found"}`},
		`{}`:            {400, "Field required"},
		`{`:             {400, "valid JSON"},
	} {
		w, r := record("/api/show", []byte(body))
		srv.ServeHTTP(w, r)
		if w.Code != want.status || !strings.Contains(w.Body.String(), want.text) {
			t.Errorf("%s: %d: %s", body, w.Code, w.Body)
		}
	}
}

func TestACutInACallOfOllama(t *testing.T) {
	_, body, err := ask(t, modelserver.New(t, modelserver.Steps(modelserver.Say("first").Call("read", `{"path":"a.go"}`).Fault(modelserver.CutInCall))),
		modelserver.Ollama, true)
	all, broken := lines(body)
	if err == nil || broken == nil || len(all) != 1 || all[0].at("message", "content").str() != "first" {
		t.Errorf("%v: %s", err, body)
	}
}
