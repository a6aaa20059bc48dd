package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/tenon-agent/tenon/llm"
)

// answer is a message on its way into a protocol.
type answer struct {
	req     *Request
	config  Config
	seed    string // what its ids are made of
	content llm.Content
	usage   llm.Usage
	stop    llm.StopReason
}

// id returns an id of the answer.
func (a *answer) id(prefix string, n int) string { return fmt.Sprintf("%s%s%02d", prefix, a.seed, n) }

// written is the tokens of output, reasoning included.
func (a *answer) written() int64 { return a.usage.Output + a.usage.Reasoning }

// arguments returns the arguments of a call as JSON, or an empty object when they are malformed.
func arguments(c llm.ToolCall) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &members) != nil || members == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(c.Arguments)
}

// wire is how a protocol writes answers.
type wire struct {
	mime   string // of a stream
	stream func(a *answer) []frame
	whole  func(a *answer) any
	delta  func(a *answer, text string) []byte // one more piece of text, for the faults
	half   func() []byte                       // half a JSON in an event of its own
	ping   func() []byte                       // a sign of life; none: nil
	fail   func(status int, message string, failed bool) []byte
}

func wireOf(p Protocol, c Config) wire {
	comment := func() []byte { return []byte(": keep-alive\n\n") }
	halfLine := func() []byte { return []byte("data: {\"type\":\"content_block_delta\",\"choi\n\n") }
	const events = "text/event-stream; charset=utf-8"
	switch p {
	case Anthropic, AnthropicVertex:
		return wire{
			events, (*answer).anthropicStream, (*answer).anthropicWhole, (*answer).anthropicDelta, halfLine,
			func() []byte { return anthropicEvent(c, object{"type": "ping"}) },
			func(status int, message string, _ bool) []byte {
				return anthropicEvent(c, anthropicError(status, message))
			},
		}
	case OpenAIChat:
		return wire{
			events, (*answer).chatStream, (*answer).chatWhole, (*answer).chatDelta, halfLine, comment,
			func(status int, message string, _ bool) []byte { return sse("", openAIError(status, message, false)) },
		}
	case OpenAIResponses:
		return wire{
			events, (*answer).responsesStream, (*answer).responsesWhole, (*answer).responsesDelta, halfLine,
			func() []byte { return responsesEvent(c, object{"type": "keepalive"}) },
			func(status int, message string, failed bool) []byte {
				return responsesEvent(c, responsesError(status, message, failed))
			},
		}
	case Bedrock:
		return wire{
			"application/vnd.amazon.eventstream", (*answer).bedrockStream, (*answer).bedrockWhole, (*answer).bedrockDelta,
			bedrockHalf, nil, func(status int, message string, _ bool) []byte { return bedrockException(status, message) },
		}
	case Ollama:
		return wire{
			"application/x-ndjson", (*answer).ollamaStream, (*answer).ollamaWhole, (*answer).ollamaDelta,
			ollamaHalf, nil, func(_ int, message string, _ bool) []byte { return ollamaLine(ollamaError(message)) },
		}
	default:
		return wire{
			"text/event-stream", (*answer).geminiStream, (*answer).geminiWhole, (*answer).geminiDelta, halfLine, comment,
			func(status int, message string, _ bool) []byte { return geminiEvent(googleError(status, message, 0)) },
		}
	}
}

// reason returns the words of a failure that has none of its own.
func reason(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "The request is not valid."
	case http.StatusUnauthorized:
		return "The API key is not valid."
	case http.StatusForbidden:
		return "Your account may not use this model."
	case http.StatusNotFound:
		return "The model does not exist."
	case http.StatusRequestEntityTooLarge:
		return "Request exceeds the maximum size"
	case http.StatusTooManyRequests:
		return "This request would exceed your rate limit."
	case 529, http.StatusServiceUnavailable:
		return "Overloaded"
	default:
		return "Internal server error"
	}
}

// overflowText is how a provider says that a request is longer than the window.
func overflowText(p Protocol) string {
	switch p {
	case Anthropic, AnthropicVertex:
		return "prompt is too long: 213462 tokens > 200000 maximum"
	case OpenAIChat:
		return "This model's maximum context length is 128000 tokens. However, your messages resulted in 140112 tokens. " +
			"Please reduce the length of the messages."
	case OpenAIResponses:
		return "Your input exceeds the context window of this model. Please adjust your input and try again."
	case Bedrock:
		return "Input is too long for requested model."
	case Ollama:
		return "the input length exceeds the context length"
	default:
		return "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
	}
}
