package modelserver

import (
	"net/http"
	"net/url"

	"github.com/tenon-agent/tenon/llm"
)

// Request is a request that came in, in its own words and in those of package llm.
type Request struct {
	Protocol Protocol
	Azure    bool
	Method   string
	Path     string // as it was escaped
	Query    url.Values
	Header   http.Header
	Body     []byte
	Key      string // the API key, token or access key that it showed

	Model     string
	Stream    bool
	MaxTokens int // limit of the answer; 0: none was given
	System    string
	Messages  []llm.Message // one for each part of the conversation; results of tools are messages of their own
	Tools     []llm.Tool

	NumCtx int    // Ollama: the context window that it asks for; 0: none is given
	Think  string // Ollama: true, false or a level; empty: none is given

	Tokens    int   // by the count of the server, see [Tokens]
	Dropped   int   // blocks of thinking that no longer stand where the server produced them, and that it dropped
	Violation error // the provider's reason to refuse it, or nil; of Ollama also its reason to cut it, see [Config.Window]

	truncates bool // Ollama: it allows the server to drop messages
}

// LastUser returns the text of the user's last message that has one.
func (r *Request) LastUser() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.Role == llm.RoleUser && m.Text() != "" {
			return m.Text()
		}
	}
	return ""
}

// Images returns how many images the request has, those in the results of tools included.
func (r *Request) Images() int {
	n := 0
	for _, m := range r.Messages {
		for _, p := range m.Content {
			if _, ok := p.(llm.Image); ok {
				n++
			}
		}
	}
	return n
}

// Results returns the results of tools, oldest first.
func (r *Request) Results() []llm.Message {
	var out []llm.Message
	for _, m := range r.Messages {
		if m.Role == llm.RoleTool {
			out = append(out, m)
		}
	}
	return out
}

// read fills in what the body says. It takes what it can from a body that is not valid.
func (r *Request) read() {
	v := parseBody(&problems{}, r.Body).quiet()
	switch r.Protocol {
	case Anthropic, AnthropicVertex:
		readAnthropic(r, v)
	case OpenAIChat:
		readChat(r, v)
	case OpenAIResponses:
		readResponses(r, v)
	case Gemini, GeminiVertex:
		readGemini(r, v)
	case Bedrock:
		readBedrock(r, v)
	case Ollama:
		readOllama(r, v)
	}
}

// add appends a message unless it has nothing.
func (r *Request) add(m llm.Message) {
	if len(m.Content) > 0 || m.Role == llm.RoleTool {
		r.Messages = append(r.Messages, m)
	}
}
