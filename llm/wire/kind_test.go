package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

func TestKinds(t *testing.T) {
	const (
		rate, quota, busy, auth = llm.KindRateLimited, llm.KindQuota, llm.KindOverloaded, llm.KindAuth
		long, bad, refused      = llm.KindContextOverflow, llm.KindInvalidRequest, llm.KindRefused
	)
	for _, test := range []struct {
		status int
		body   string
		want   llm.Kind
	}{
		// Anthropic
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, busy},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed the rate limit of 40,000 input tokens per minute"}}`, rate},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200001 tokens > 200000 maximum"}}`, long},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000"}}`, long},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, quota},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: text content blocks must be non-empty"}}`, bad},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"image exceeds the maximum size of 5 MB"}}`, bad},
		{400, `{"error":{"message":"max_tokens (200000) exceeds the maximum number of output tokens","type":"invalid_request_error"}}`, bad},
		{400, `{"error":{"message":"prompt token count of 70000 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}`, long},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, long},
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, auth},
		{403, `{"type":"error","error":{"type":"permission_error","message":"no"}}`, auth},
		{404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}`, bad},
		{500, `{"type":"error","error":{"type":"api_error","message":"Internal server error"}}`, busy},
		{0, `{"type":"overloaded_error","message":"Overloaded"}`, busy},
		{0, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`, rate},
		{0, `{"type":"invalid_request_error","message":"prompt is too long"}`, long},
		// OpenAI
		{429, `{"error":{"message":"Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 1.5s.","type":"tokens","code":"rate_limit_exceeded"}}`, rate},
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, quota},
		{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`, long},
		{400, `{"error":{"message":"Unsupported parameter: 'max_tokens'","type":"invalid_request_error","code":"unsupported_parameter"}}`, bad},
		{400, `{"error":{"message":"Invalid prompt: flagged","type":"invalid_request_error","code":"invalid_prompt"}}`, refused},
		{401, `{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`, auth},
		{404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, bad},
		{503, `{"error":{"message":"slow down","code":"slow_down"}}`, busy},
		{0, `{"code":"server_error","message":"An error occurred"}`, busy},
		{0, `{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}`, long},
		{0, `{"code":"insufficient_quota","message":"x"}`, quota},
		// Azure
		{400, `{"error":{"message":"The response was filtered","code":"content_filter","status":400}}`, refused},
		{401, `{"statusCode":401,"message":"Access denied due to invalid subscription key."}`, auth},
		// Google
		{400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, auth},
		{400, `[{"error":{"code":400,"message":"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, long},
		{429, `{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`, rate},
		{503, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, busy},
		{403, `{"error":{"code":403,"message":"denied","status":"PERMISSION_DENIED"}}`, auth},
		{400, `{"error":{"code":400,"message":"Unknown name \"x\"","status":"INVALID_ARGUMENT"}}`, bad},
		{0, `{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}`, busy},
		// Bedrock
		{400, `{"message":"Input is too long for requested model."}`, long},
		{400, `{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, long},
		{422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 1000 `max_new_tokens`\",\"error_type\":\"validation\"}", long},
		{400, `{"__type":"com.amazon.coral.service#ValidationException","message":"bad"}`, bad},
		{429, `{"message":"Too many tokens, please wait before trying again."}`, rate},
		{403, `{"message":"The security token included in the request is expired"}`, auth},
		{424, `{"message":"The model returned an error"}`, busy},
		{0, `{"code":"throttlingException","message":"Too many tokens, please wait"}`, rate},
		{0, `{"code":"modelStreamErrorException","message":"x"}`, busy},
		// gateways and local servers
		{0, `{"error":{"code":502,"message":"Upstream error"}}`, busy},
		{0, `{"error":{"code":429,"message":"Rate limited"}}`, rate},
		{402, `{"error":{"code":402,"message":"Insufficient credits"}}`, quota},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}`, long},
		{500, `{"error":{"code":500,"message":"context size exceeded","type":"server_error"}}`, long},
		{503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, busy},
		{404, `{"error":"model \"x\" not found, try pulling it first"}`, bad},
		{422, `{"detail":[{"msg":"field required"}]}`, bad},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, long},
		{408, ``, busy},
		{418, `I am a teapot`, bad},
		{0, `{"what":"ever"}`, busy},
		{0, `not even JSON`, busy},
		{0, `{"message":"too many tokens per minute"}`, rate},
		{400, `{"message":"Please reduce your prompt; or completion length, too many requests per minute"}`, rate},
	} {
		code, message := errorBody([]byte(test.body))
		if got := kindOf(test.status, code, message); got != test.want {
			t.Errorf("%d %s: got %s (%q, %q), want %s", test.status, test.body, got, code, message, test.want)
		}
	}
}

func TestTheTextOfAnError(t *testing.T) {
	for body, want := range map[string][2]string{
		``:                        {"", ""},
		`plain`:                   {"", "plain"},
		`{"error":"x"}`:           {"", "x"},
		`{"error":{}}`:            {"", "{}"},
		`{"error":null}`:          {"", `{"error":null}`},
		`{"Message":"x"}`:         {"", "x"},
		`{"detail":"x"}`:          {"", "x"},
		`[]`:                      {"", "[]"},
		`[1,2]`:                   {"", "1"},
		`{"error":`:               {"", `{"error":`},
		`{"error":{"code":7}}`:    {"7", ""},
		"\xff":                    {"", "\ufffd"},
		`{"error":[{"a":1}]}`:     {"", `[{"a":1}]`},
		`{"error":{"error":"x"}}`: {"", "x"},
		strings.Repeat(`{"error":`, 9) + `"x"` + strings.Repeat("}", 9): {"", strings.Repeat(`{"error":`, 4) + `"x"` + strings.Repeat("}", 4)},
	} {
		if code, message := errorBody([]byte(body)); code != want[0] || message != want[1] {
			t.Errorf("%s: got %q, %q, want %q", body, code, message, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		name, value, body string
		want              time.Duration
	}{
		{"Retry-After", "3", "", 3 * time.Second},
		{"Retry-After", "0.5", "", 500 * time.Millisecond},
		{"Retry-After-Ms", "250", "", 250 * time.Millisecond},
		{"Retry-After", "-1", "", 0},
		{"Retry-After", "soon", "", 0},
		{"Retry-After", "1e300", "", maxRetryAfter},
		{"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT", "", 0},
		{"", "", `Please try again in 1.5s.`, 1500 * time.Millisecond},
		{"", "", `try again in 6m0s`, 6 * time.Minute},
		{"", "", `retry after 20 seconds`, 20 * time.Second},
		{"", "", `{"@type":"RetryInfo","retryDelay":"34s"}`, 34 * time.Second},
		{"", "", `{"retryDelay": "34.07s"}`, 34070 * time.Millisecond},
		{"", "", `try again in a while`, 0},
	} {
		h := http.Header{}
		h.Set(test.name, test.value)
		if got := retryAfter(h, []byte(test.body)); got != test.want {
			t.Errorf("%s: %s, body %q: got %s, want %s", test.name, test.value, test.body, got, test.want)
		}
	}
	h := http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}
	if got := retryAfter(h, nil); got < 59*time.Minute || got > time.Hour {
		t.Errorf("a date: %s", got)
	}
}

func TestLimits(t *testing.T) {
	r := Response{model: "p/m", keyName: "work", Header: http.Header{}}
	if _, ok := r.Limits(); ok {
		t.Error("no headers, and yet limits")
	}
	set := func(pairs ...string) {
		r.Header = http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			r.Header.Set(pairs[i], pairs[i+1])
		}
	}
	set("anthropic-ratelimit-requests-limit", "50", "anthropic-ratelimit-requests-remaining", "49",
		"anthropic-ratelimit-requests-reset", "2026-01-02T03:04:05Z", "anthropic-ratelimit-output-tokens-limit", "7")
	l, ok := r.Limits()
	if want := (llm.Quota{Limit: 50, Remaining: 49, Reset: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}); !ok || l.Requests != want ||
		l.OutputTokens != (llm.Quota{}) || l.Model != "p/m" || l.Key != "work" {
		t.Errorf("got %+v", l)
	}
	set("x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "900", "x-ratelimit-reset-tokens", "6m0s")
	if l, ok = r.Limits(); !ok || l.Tokens.Limit != 1000 || l.Tokens.Remaining != 900 || time.Until(l.Tokens.Reset) < 5*time.Minute {
		t.Errorf("got %+v", l)
	}
	for _, pairs := range [][]string{
		{"x-ratelimit-limit-tokens", "many", "x-ratelimit-remaining-tokens", "900"},
		{"x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "some"}, // which is not the same as none
		{"x-ratelimit-limit-tokens", "1000"},
	} {
		set(pairs...)
		if l, ok = r.Limits(); ok || l.Tokens != (llm.Quota{}) {
			t.Errorf("no number, and yet limits: %+v", l)
		}
	}
}

func FuzzErrorBody(f *testing.F) {
	f.Add(400, "application/json", []byte(`[{"error":{"code":1,"message":"x","details":[{"retryDelay":"1s"}]}}]`))
	f.Add(502, "text/html", []byte("<title>x</title>"))
	f.Add(0, "", []byte(`{"error":{"error":{"error":"x"}}}`))
	f.Fuzz(func(t *testing.T, status int, media string, body []byte) {
		e := httpFailure(&http.Response{StatusCode: status, Header: http.Header{}}, media, body)
		if e.Kind == "" || e.RetryAfter < 0 || len(e.Message) > maxMessage+100 {
			t.Errorf("%+v", e)
		}
	})
}

// A quota that is there again at a time is a limit, and no matter of money.
func TestAQuotaWithATime(t *testing.T) {
	body := []byte(`{"error":{"code":"insufficient_quota","message":"x"}}`)
	for after, want := range map[string]llm.Kind{"": llm.KindQuota, "30": llm.KindRateLimited} {
		resp := &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {after}}}
		if e := httpFailure(resp, "application/json", body); e.Kind != want {
			t.Errorf("after %q: %s", after, e.Kind)
		}
	}
}

// The figures of a text about a request that is too long are those of the request and of the model.
func TestFigures(t *testing.T) {
	for text, want := range map[string][2]int{
		"prompt is too long: 200001 tokens > 200000 maximum":                                                                                                         {200001, 200000},
		"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length":                                                         {190000, 200000},
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.":                                                    {130000, 128000},
		"This model's maximum context length is 8192 tokens. However, you requested 9500 tokens (8500 in the messages, 1000 in the completion).":                     {8500, 8192},
		"This endpoint's maximum context length is 200000 tokens. However, you requested about 300000 tokens (290000 of text input, 10000 in the output).":           {290000, 200000},
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).":                                                                    {1200000, 1048576},
		"The input token count exceeds the maximum number of tokens allowed 1048576.":                                                                                {0, 1048576},
		"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it":                                                                  {5000, 4096},
		`{"error":{"code":400,"message":"the request exceeds the available context size","n_prompt_tokens":5000,"n_ctx":4096}}`:                                      {5000, 4096},
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens.":                                                                       {537812, 131072},
		"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length":                                                     {40000, 32768},
		"Your request exceeded model token limit: 131072 (requested: 140000)":                                                                                        {140000, 131072},
		"prompt token count of 140000 exceeds the limit of 128000":                                                                                                   {140000, 128000},
		"Current length is 140000 while limit is 131072":                                                                                                             {140000, 131072},
		"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough": {5000, 4096},
		"`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9000 `inputs` tokens and 1000 `max_new_tokens`":                                                  {9000, 8192},
		"invalid params, context window exceeds limit (2013)":                                                                                                        {0, 0},
		"99999999999999 > 88888888888888888888":                                                                                                                      {0, 0},
		"":                                                                                                                                                           {0, 0},
	} {
		if sent, window := figures(text); sent != want[0] || window != want[1] {
			t.Errorf("%q: %d, %d", text, sent, window)
		}
	}
	e := httpFailure(&http.Response{StatusCode: 400, Header: http.Header{}}, "application/json", []byte(`{"error":{"message":"prompt is too long: 14885 tokens \u003e 12000 maximum"}}`))
	if e.Kind != llm.KindContextOverflow || e.Tokens != 14885 || e.Window != 12000 {
		t.Errorf("got %+v", e)
	}
}
