package wire

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// maxRetryAfter bounds the wait that a server may ask for, against nonsense such as a time in milliseconds.
const maxRetryAfter = 7 * 24 * time.Hour

// delays finds a delay within the text of an error: "Please try again in 1.5s", "retryDelay": "34s".
var delays = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:retrydelay"\s*:\s*"|(?:try again|retry|reset) (?:in|after) )((?:\d+(?:\.\d+)?(?:ms|s|m|h))+|\d+(?:\.\d+)? seconds?)`)
})

// retryAfter is how long a server wants us to wait, by its headers or else by the text of its error; 0 when it does not say.
func retryAfter(h http.Header, body []byte) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil && ms >= 0 {
		return bounded(ms * float64(time.Millisecond))
	}
	if v := h.Get("retry-after"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
			return bounded(s * float64(time.Second))
		}
		if at, err := http.ParseTime(v); err == nil {
			return bounded(float64(time.Until(at)))
		}
	}
	if len(body) > maxErrorBody {
		body = body[:maxErrorBody]
	}
	m := delays().FindSubmatch(body)
	if m == nil {
		return 0
	}
	text := string(m[1])
	if number, _, ok := strings.Cut(text, " second"); ok {
		text = number + "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return bounded(float64(d))
}

func bounded(d float64) time.Duration {
	return time.Duration(min(max(d, 0), float64(maxRetryAfter)))
}

// Limits returns the provider's limits in the headers, and whether the headers have any.
func (r *Response) Limits() (llm.RateLimits, bool) {
	l := llm.RateLimits{Model: r.model, Key: r.keyName}
	found := false
	for _, q := range []struct {
		to    *llm.Quota
		names []string
	}{
		{&l.Requests, []string{"anthropic-ratelimit-requests-", "x-ratelimit-*-requests"}},
		{&l.Tokens, []string{"anthropic-ratelimit-tokens-", "x-ratelimit-*-tokens"}},
		{&l.InputTokens, []string{"anthropic-ratelimit-input-tokens-", "x-ratelimit-*-input-tokens"}},
		{&l.OutputTokens, []string{"anthropic-ratelimit-output-tokens-", "x-ratelimit-*-output-tokens"}},
	} {
		for _, name := range q.names {
			found = readQuota(r.Header, name, q.to) || found
		}
	}
	return l, found
}

// readQuota reads the three headers of one limit. A star in name marks the position of the field; without one it is at the end.
func readQuota(h http.Header, name string, q *llm.Quota) bool {
	get := func(field string) string {
		if before, after, ok := strings.Cut(name, "*"); ok {
			return h.Get(before + field + after)
		}
		return h.Get(name + field)
	}
	limit, err := strconv.ParseInt(get("limit"), 10, 64)
	if err != nil {
		return false
	}
	remaining, err := strconv.ParseInt(get("remaining"), 10, 64)
	if err != nil { // which is not the same as none
		return false
	}
	*q = llm.Quota{Limit: limit, Remaining: remaining, Reset: resetTime(get("reset"))}
	return true
}

// resetTime reads a time as the providers write it: RFC 3339, "6m0s", or seconds.
func resetTime(s string) time.Time {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at
	}
	if d, err := time.ParseDuration(s); err == nil {
		return time.Now().Add(d).Round(time.Millisecond)
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil && n >= 0 && n < 1e6 {
		return time.Now().Add(time.Duration(n * float64(time.Second))).Round(time.Millisecond)
	}
	return time.Time{}
}
