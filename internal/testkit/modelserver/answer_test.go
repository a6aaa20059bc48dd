package modelserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

// rich has everything that an answer can have.
func rich() modelserver.Step {
	return modelserver.Think("Let me think: ½ of it.").Say("Hällo, wörld – 漢字!").
		Call("read", `{"path":"a.go"}`).Call("list", `{"dir":"ü"}`).
		Usage(llm.Usage{Input: 100, Output: 20, Reasoning: 7})
}

func TestUsage(t *testing.T) {
	u := llm.Usage{Input: 1, CacheRead: 20, CacheWrite: 300, Output: 4000, Reasoning: 50000, Cost: 0.5}
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		_, body, err := ask(t, modelserver.New(t, modelserver.Steps(modelserver.Say("x").Usage(u))), p, stream)
		if err != nil {
			t.Fatal(err)
		}
		wants := map[modelserver.Protocol][]string{ // disjoint, or one count within the other, as each provider has it
			modelserver.Anthropic:       {`"input_tokens":1`, `"cache_read_input_tokens":20`, `"cache_creation_input_tokens":300`, `"output_tokens":54000`},
			modelserver.OpenAIChat:      {`"prompt_tokens":321`, `"cached_tokens":20`, `"completion_tokens":54000`, `"reasoning_tokens":50000`, `"cost":0.5`},
			modelserver.OpenAIResponses: {`"input_tokens":321`, `"cached_tokens":20`, `"output_tokens":54000`, `"reasoning_tokens":50000`},
			modelserver.Gemini:          {`"promptTokenCount":321`, `"cachedContentTokenCount":20`, `"candidatesTokenCount":4000`, `"thoughtsTokenCount":50000`},
			modelserver.Bedrock:         {`"inputTokens":1`, `"cacheReadInputTokens":20`, `"cacheWriteInputTokens":300`, `"outputTokens":54000`},
			modelserver.Ollama:          {`"prompt_eval_count":321`, `"eval_count":54000`},
		}
		for _, want := range wants[p] {
			if !strings.Contains(string(body), want) {
				t.Errorf("no %s in %s", want, body)
			}
		}
	})
}

func TestAnAnswerSaysTheSameInEveryProtocol(t *testing.T) {
	stops := map[modelserver.Protocol]string{
		modelserver.Anthropic: "tool_use", modelserver.AnthropicVertex: "tool_use", modelserver.OpenAIChat: "tool_calls",
		modelserver.OpenAIResponses: "completed", modelserver.Gemini: "STOP", modelserver.GeminiVertex: "STOP", modelserver.Bedrock: "tool_use",
		modelserver.Ollama: "stop",
	}
	for _, config := range []modelserver.Config{{}, {ChunkBytes: 1, DeltaBytes: 1}, {ChunkBytes: 7, DeltaBytes: 1000}} {
		each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
			srv := modelserver.New(t, modelserver.With(config), modelserver.Steps(rich()))
			res, body, err := ask(t, srv, p, stream)
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatal(err, res, string(body))
			}
			got := read(t, p, stream, body)
			if p != modelserver.OpenAIChat && p != modelserver.Ollama && got.signature == "" {
				t.Error("the reasoning has no signature")
			}
			got.signature = ""
			want := answer{
				thought: "Let me think: ½ of it.", text: "Hällo, wörld – 漢字!", calls: `read|{"path":"a.go"}list|{"dir":"ü"}`,
				input: 100, output: 27, stop: stops[p],
			}
			if got != want {
				t.Errorf("got  %+v\nwant %+v\n%s", got, want, body)
			}
			if v := srv.Violations(); len(v) != 0 {
				t.Error(v)
			}
		})
	}
}

func TestTheReasonOfTheEnd(t *testing.T) {
	want := map[modelserver.Protocol][2]string{
		modelserver.Anthropic: {"max_tokens", "refusal"}, modelserver.AnthropicVertex: {"max_tokens", "refusal"},
		modelserver.OpenAIChat: {"length", "content_filter"}, modelserver.OpenAIResponses: {"incomplete", "completed"},
		modelserver.Gemini: {"MAX_TOKENS", "SAFETY"}, modelserver.GeminiVertex: {"MAX_TOKENS", "SAFETY"},
		modelserver.Bedrock: {"max_tokens", "content_filtered"}, modelserver.Ollama: {"length", "stop"},
	}
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		srv := modelserver.New(t, modelserver.Steps(
			modelserver.Say("so far").Stop(llm.StopLength), modelserver.Say("no").Stop(llm.StopRefused),
		))
		for i, text := range []string{"so far", "no"} {
			_, body, err := ask(t, srv, p, stream)
			got := read(t, p, stream, body)
			if err != nil || got.stop != want[p][i] || got.text != text {
				t.Errorf("%v: got %+v, want %s", err, got, want[p][i])
			}
		}
	})
}

func TestPlacesOfReasoningInChat(t *testing.T) {
	for style, mark := range map[modelserver.Reasoning]string{
		modelserver.ReasoningContent: `"reasoning_content":"Hm."`, modelserver.ReasoningField: `"reasoning":"Hm."`,
		modelserver.ReasoningDetails: `"type":"reasoning.text"`, modelserver.ReasoningTags: `<think>\nHm.\n</think>\n\n`,
	} {
		srv := modelserver.New(t, modelserver.With(modelserver.Config{Reasoning: style, DeltaBytes: 99}),
			modelserver.Steps(modelserver.Think("Hm.").Say("Yes."), modelserver.Think("Hm.").Say("Yes.")))
		for _, stream := range []bool{true, false} {
			_, body, err := ask(t, srv, modelserver.OpenAIChat, stream)
			if err != nil || !strings.Contains(string(body), mark) {
				t.Errorf("%s: %v: %s", style, err, body)
			}
		}
	}
}

func TestManners(t *testing.T) {
	config := modelserver.Config{NoDone: true, NoUsage: true, NoEventLines: true, Comments: true, CallIDs: true}
	srv := modelserver.New(t, modelserver.With(config), modelserver.Func(func(*modelserver.Request) modelserver.Step { return rich() }))
	for p, lacks := range map[modelserver.Protocol]string{
		modelserver.OpenAIChat: "[DONE]", modelserver.Anthropic: "event:", modelserver.OpenAIResponses: "event:",
	} {
		if _, body, err := ask(t, srv, p, true); err != nil || strings.Contains(string(body), lacks) {
			t.Errorf("%s has %s: %v", p, lacks, err)
		}
	}
	if _, body, err := ask(t, srv, modelserver.Gemini, true); err != nil || !strings.Contains(string(body), `"id":"call_`) {
		t.Errorf("%v: %s", err, body)
	}
	for _, p := range modelserver.Protocols() {
		_, body, err := ask(t, srv, p, true)
		if err != nil || strings.HasPrefix(string(body), ": PROCESSING\n\n") == (p == modelserver.Bedrock || p == modelserver.Ollama) {
			t.Errorf("%s: %v: %.60s", p, err, body)
		}
	}
}

func TestHeadersOfAnAnswer(t *testing.T) {
	reset := time.Now().Add(time.Minute)
	limits := llm.RateLimits{Requests: llm.Quota{Limit: 50, Remaining: 49, Reset: reset}, InputTokens: llm.Quota{Limit: 9}}
	for p, want := range map[modelserver.Protocol]map[string]string{
		modelserver.Anthropic: {
			"Anthropic-Ratelimit-Requests-Remaining": "49", "Anthropic-Ratelimit-Requests-Reset": reset.UTC().Format(time.RFC3339),
			"Anthropic-Ratelimit-Input-Tokens-Limit": "9", "Request-Id": "req_011CTestModelServer", "X-Extra": "yes",
		},
		modelserver.OpenAIChat: {"X-Ratelimit-Limit-Requests": "50", "X-Request-Id": "req_011CTestModelServer"},
		modelserver.Bedrock:    {"X-Amzn-Requestid": "req_011CTestModelServer"},
	} {
		srv := modelserver.New(t, modelserver.Steps(modelserver.Say("hi").Limits(limits).Header("X-Extra", "yes")))
		res, _, err := ask(t, srv, p, true)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if got := res.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", p, name, got, value)
			}
		}
	}
}

func TestFailuresAreTheProvidersOwn(t *testing.T) {
	want := map[modelserver.Protocol]string{
		modelserver.Anthropic: `"type":"rate_limit_error"`, modelserver.AnthropicVertex: `"status":"RESOURCE_EXHAUSTED"`,
		modelserver.OpenAIChat: `"code":"rate_limit_exceeded"`, modelserver.OpenAIResponses: `"code":"rate_limit_exceeded"`,
		modelserver.Gemini: `"retryDelay":"2s"`, modelserver.GeminiVertex: `"retryDelay":"2s"`, modelserver.Bedrock: `{"message":"slow down"}`,
		modelserver.Ollama: `{"error":"slow down"}`,
	}
	overflows := map[modelserver.Protocol]string{
		modelserver.Anthropic: "prompt is too long", modelserver.AnthropicVertex: "prompt is too long",
		modelserver.OpenAIChat: "context_length_exceeded", modelserver.OpenAIResponses: "context_length_exceeded",
		modelserver.Gemini: "input token count", modelserver.GeminiVertex: "input token count", modelserver.Bedrock: "Input is too long",
		modelserver.Ollama: `{"error":"the input length exceeds the context length"}`,
	}
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		srv := modelserver.New(t, modelserver.Steps(
			modelserver.Fail(429).RetryAfter(2*time.Second).Message("slow down"), modelserver.Overflow(),
			modelserver.Raw(200, "text/html", "<html>"), modelserver.Raw(502, "", ""),
		))
		res, body, err := ask(t, srv, p, stream)
		if err != nil || res.StatusCode != 429 || !strings.Contains(string(body), want[p]) || !strings.Contains(string(body), "slow down") {
			t.Errorf("%v %d: %s", err, res.StatusCode, body)
		}
		if after := res.Header.Get("Retry-After"); (after == "2") == strings.HasPrefix(string(p), "gemini") {
			t.Errorf("retry-after is %q", after)
		}
		if res, body, _ = ask(t, srv, p, stream); res.StatusCode != 400 || !strings.Contains(string(body), overflows[p]) {
			t.Errorf("%d: %s", res.StatusCode, body)
		}
		if res, body, _ = ask(t, srv, p, stream); res.Header.Get("Content-Type") != "text/html" || string(body) != "<html>" {
			t.Errorf("%v: %s", res.Header, body)
		}
		if res, body, _ = ask(t, srv, p, stream); res.StatusCode != 502 || len(body) != 0 || res.Header.Get("Content-Type") != "" {
			t.Errorf("%d %v: %s", res.StatusCode, res.Header, body)
		}
	})
}

func TestEveryStatusHasABody(t *testing.T) {
	each(t, func(t *testing.T, p modelserver.Protocol, stream bool) {
		member := `"message":"`
		if p == modelserver.Ollama {
			member = `{"error":"`
		}
		for _, status := range []int{400, 401, 402, 403, 404, 408, 413, 424, 429, 500, 503, 504, 529} {
			srv := modelserver.New(t, modelserver.Steps(modelserver.Fail(status)))
			res, body, err := ask(t, srv, p, stream)
			if err != nil || res.StatusCode != status || !strings.Contains(string(body), member) {
				t.Errorf("%v %d: %s", err, status, body)
			}
			if p == modelserver.Bedrock && !strings.Contains(res.Header.Get("X-Amzn-Errortype"), "Exception") {
				t.Errorf("%d: %v", status, res.Header)
			}
		}
	})
}

func ExampleParse() {
	steps, err := modelserver.Parse(`
		fail 529
		retry_after 1s
		---
		think I should look.
		call read {"path":"go.mod"}
		---
		fault cut_in_text
		text It is a library.
		---
		text It is a library.
	`)
	fmt.Println(len(steps), err)
	// Output: 4 <nil>
}

func ExampleServer() {
	srv, err := modelserver.Start(modelserver.Steps(modelserver.Fail(429), modelserver.Say("hello")))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	for range 2 {
		res, err := http.Post(srv.URL+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"any","messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = res.Body.Close()
		fmt.Println(res.StatusCode)
	}
	fmt.Println(srv.Requests()[1].LastUser(), srv.Violations())
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// 429
	// 200
	// hi []
}
