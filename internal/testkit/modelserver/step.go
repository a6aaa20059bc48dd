package modelserver

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/tenon-agent/tenon/llm"
)

// Step is what happens to one request: an answer or a failure. Its methods return changed copies, so that steps are built in
// one line: Say("hi").Usage(u).Fault(CutInText).
type Step struct {
	message llm.Message
	header  http.Header
	limits  llm.RateLimits

	status  int    // of a failure; 0: an answer
	text    string // of a failure; empty: the provider's own text
	retry   time.Duration
	raw     string // body instead of the provider's own
	rawType string // its content type
	isRaw   bool

	fault Fault
	size  int64 // of LongLine, in bytes
	pings bool
	delay time.Duration
}

// Answer is the step that gives m. What m leaves empty is filled in: ids of calls, stop reason, signatures, usage.
func Answer(m llm.Message) Step { return Step{message: m} }

// Say answers with a text.
func Say(text string) Step { return Step{}.Say(text) }

// Call answers with a tool call. The arguments are JSON as the model writes it, well formed or not.
func Call(name, arguments string) Step { return Step{}.Call(name, arguments) }

// Think answers with reasoning; mostly Say or Call follows.
func Think(text string) Step { return Step{}.Think(text) }

// Fail answers with an HTTP status and the body that the provider has for it.
func Fail(status int) Step { return Step{status: status} }

// Overflow refuses the request as longer than the model's window, in the provider's words.
func Overflow() Step { return Step{status: http.StatusBadRequest, text: overflow} }

// Raw answers with a status, a content type and a body, whatever the protocol: the page of a proxy, an empty body.
func Raw(status int, contentType, body string) Step {
	return Step{status: status, rawType: contentType, raw: body, isRaw: true}
}

func (s Step) with(p llm.Part) Step {
	s.message.Content = append(slices.Clone(s.message.Content), p)
	return s
}

// Say adds a text.
func (s Step) Say(text string) Step { return s.with(llm.Text{Text: text}) }

// Think adds reasoning.
func (s Step) Think(text string) Step { return s.with(llm.Thinking{Text: text}) }

// Call adds a tool call.
func (s Step) Call(name, arguments string) Step {
	return s.with(llm.ToolCall{Name: name, Arguments: arguments})
}

// Usage sets what the answer says to have consumed. The default is a few tokens.
func (s Step) Usage(u llm.Usage) Step {
	s.message.Usage = u
	return s
}

// Stop sets why the answer ends. The default follows from its content.
func (s Step) Stop(reason llm.StopReason) Step {
	s.message.Stop = reason
	return s
}

// Fault lets the answer go wrong.
func (s Step) Fault(f Fault) Step {
	s.fault = f
	return s
}

// LongLine puts a text of n bytes into one line of the answer. It is made while it is sent.
func (s Step) LongLine(n int64) Step {
	s.fault, s.size = LongLine, n
	return s
}

// Pings lets the server show life while it stalls, as often as [Config.PingEvery] says.
func (s Step) Pings() Step {
	s.pings = true
	return s
}

// Message sets the text of a failure, also of [ErrorEvent].
func (s Step) Message(text string) Step {
	s.text = text
	return s
}

// Status sets the status that an [ErrorEvent] stands for, 529 by default.
func (s Step) Status(status int) Step {
	s.status = status
	return s
}

// Header adds a header to the answer.
func (s Step) Header(name, value string) Step {
	s.header = s.header.Clone()
	if s.header == nil {
		s.header = http.Header{}
	}
	s.header.Add(name, value)
	return s
}

// RetryAfter says when to try again in the provider's form: in a header, or in the body for Gemini. It is rounded up to seconds
// in the header.
func (s Step) RetryAfter(d time.Duration) Step {
	s.retry = d
	return s
}

// Limits adds the headers with rate limits, for the protocols that have them.
func (s Step) Limits(l llm.RateLimits) Step {
	s.limits = l
	return s
}

// Delay waits before the headers of the answer.
func (s Step) Delay(d time.Duration) Step {
	s.delay = d
	return s
}

// answers reports whether the step is an answer and no failure.
func (s Step) answers() bool { return s.status == 0 || s.fault != "" && !s.isRaw }

// setHeaders writes the headers that the step asks for.
func (s Step) setHeaders(h http.Header, p Protocol) {
	if s.retry > 0 && p != Gemini && p != GeminiVertex {
		seconds := int64((s.retry + time.Second - 1) / time.Second)
		h.Set("Retry-After", strconv.FormatInt(seconds, 10))
		if p == OpenAIChat || p == OpenAIResponses {
			h.Set("Retry-After-Ms", strconv.FormatInt(s.retry.Milliseconds(), 10))
		}
	}
	setLimits(h, p, s.limits)
	for name, values := range s.header {
		h[name] = values
	}
}

// setLimits writes the rate-limit headers of a protocol.
func setLimits(h http.Header, p Protocol, l llm.RateLimits) {
	quota := func(q llm.Quota, limit, remaining, reset string) {
		if q == (llm.Quota{}) {
			return
		}
		h.Set(limit, strconv.FormatInt(q.Limit, 10))
		h.Set(remaining, strconv.FormatInt(q.Remaining, 10))
		switch {
		case q.Reset.IsZero():
		case p == Anthropic:
			h.Set(reset, q.Reset.UTC().Format(time.RFC3339))
		default:
			h.Set(reset, max(0, time.Until(q.Reset)).Round(time.Millisecond).String())
		}
	}
	switch p {
	case Anthropic:
		for name, q := range map[string]llm.Quota{
			"requests": l.Requests, "tokens": l.Tokens, "input-tokens": l.InputTokens, "output-tokens": l.OutputTokens,
		} {
			prefix := "Anthropic-Ratelimit-" + name
			quota(q, prefix+"-Limit", prefix+"-Remaining", prefix+"-Reset")
		}
	case OpenAIChat, OpenAIResponses:
		for name, q := range map[string]llm.Quota{"requests": l.Requests, "tokens": l.Tokens} {
			quota(q, "X-Ratelimit-Limit-"+name, "X-Ratelimit-Remaining-"+name, "X-Ratelimit-Reset-"+name)
		}
	}
}
