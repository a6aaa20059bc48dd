package anthropic

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// request is the body of a request. Its fields follow the order in which the API caches them, messages last: the body of the
// next request of a conversation has this one as its prefix.
type request struct {
	Version     string      `json:"anthropic_version,omitzero"` // on Vertex
	Model       string      `json:"model,omitzero"`             // elsewhere
	MaxTokens   int         `json:"max_tokens"`
	Stream      bool        `json:"stream,omitzero"`
	Temperature *float64    `json:"temperature,omitzero"`
	Thinking    *thinking   `json:"thinking,omitzero"`
	Output      *output     `json:"output_config,omitzero"`
	ToolChoice  *toolChoice `json:"tool_choice,omitzero"`
	Tools       []tool      `json:"tools,omitempty"`
	System      []block     `json:"system,omitempty"`
	Messages    []message   `json:"messages"`

	schemaTool bool // a forced tool call carries the structured answer
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitzero"`
	Display string `json:"display,omitzero"`

	Binding *binding `json:"block_binding,omitzero"`
}

// binding says how the server treats earlier thinking if something before it has changed.
type binding struct {
	Mismatch string `json:"prefix_mismatch_behavior"`
}

type output struct {
	Effort string  `json:"effort,omitzero"`
	Format *format `json:"format,omitzero"`
}

type format struct {
	Type   string         `json:"type"`
	Schema jsontext.Value `json:"schema"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitzero"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"input_schema"`
	Cache       *cacheMark     `json:"cache_control,omitzero"`
}

type cacheMark struct {
	Type string `json:"type"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a part of a message, with the fields of every kind.
type block struct {
	Type      string         `json:"type"`
	Text      string         `json:"text,omitzero"`
	Thinking  *string        `json:"thinking,omitzero"` // there even when it is empty
	Signature string         `json:"signature,omitzero"`
	Redacted  string         `json:"data,omitzero"`
	ID        string         `json:"id,omitzero"`
	Name      string         `json:"name,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
	CallID    string         `json:"tool_use_id,omitzero"`
	Content   []block        `json:"content,omitempty"`
	IsError   bool           `json:"is_error,omitzero"`
	Title     string         `json:"title,omitzero"`
	Source    *source        `json:"source,omitzero"`
	Cache     *cacheMark     `json:"cache_control,omitzero"`
}

type source struct {
	Type string `json:"type"`
	MIME string `json:"media_type"`
	Data []byte `json:"data"`
}

// request makes the body of a request.
func (c *Client) request(req *llm.Request) *request {
	conversation := fit.Messages(req.Messages, c.rules(req))
	r := &request{
		Model:     c.model.ID,
		MaxTokens: c.maxTokens(req, conversation),
		Stream:    !c.o.NoStream,
		Messages:  messages(conversation),
	}
	if c.vertex != nil {
		r.Version, r.Model = vertexVersion, ""
	}
	if !c.model.NoTools {
		for _, t := range req.Tools {
			r.addTool(t)
		}
	}
	r.addText(req.System)
	how := c.schemaMode(req)
	if how == schemaByTool {
		r.schemaTool = true
		r.addTool(fit.SchemaTool(req.Schema))
	}
	c.think(r, req, conversation)
	if !r.thinks(c.model) && req.Temperature != nil && !c.model.Has(llm.QuirkNoTemperature) {
		t := min(max(*req.Temperature, 0), 1) // the API has no more
		r.Temperature = &t
	}
	c.choose(r, req)
	r.instruct(how, req.Schema)
	r.mark(req.Cache)
	if c.model.Has(llm.QuirkNoSystem) {
		r.lowerSystem()
	}
	return r
}

func (r *request) addTool(t llm.Tool) {
	schema := jsontext.Value(t.Schema)
	if len(schema) == 0 {
		schema = jsontext.Value(`{"type":"object"}`)
	}
	r.Tools = append(r.Tools, tool{Name: fit.Name(t.Name), Description: t.Description, Schema: schema})
}

// addText adds to the system prompt.
func (r *request) addText(s string) {
	if !blank(s) {
		r.System = append(r.System, block{Type: "text", Text: s})
	}
}

// lowerSystem moves the system prompt to the beginning of the first message.
func (r *request) lowerSystem() {
	first := &r.Messages[0]
	first.Content = append(r.System, first.Content...)
	r.System = nil
}

// choose sets the tool choice. A call is never demanded of a model that thinks: the API refuses that.
func (c *Client) choose(r *request, req *llm.Request) {
	demanded := r.schemaTool || req.ToolChoice == llm.ToolRequired
	switch {
	case len(r.Tools) == 0:
	case demanded && r.thinks(c.model):
	case r.schemaTool && (len(r.Tools) == 1 || req.ToolChoice == llm.ToolNone):
		r.ToolChoice = &toolChoice{Type: "tool", Name: fit.SchemaToolName}
	case demanded:
		r.ToolChoice = &toolChoice{Type: "any"}
	case req.ToolChoice == llm.ToolNone:
		r.ToolChoice = &toolChoice{Type: "none"}
	}
	if r.ToolChoice != nil && demanded && r.Thinking == nil && c.model.Has(llm.QuirkAdaptiveThinking) {
		r.Thinking = &thinking{Type: "disabled"} // such models may think by default
	}
}

// mark sets the marks for the prompt cache. The API accepts four: after the tools, after the system prompt, and at the
// end of the last two messages of the user. The one before the last is where the request before ended, so that
// its cache is found however much was added since.
func (r *request) mark(policy llm.CachePolicy) {
	ephemeral := &cacheMark{Type: "ephemeral"}
	if n := len(r.Tools); n > 0 && policy.Marks(llm.CacheTools) {
		r.Tools[n-1].Cache = ephemeral
	}
	if n := len(r.System); n > 0 && policy.Marks(llm.CacheSystem) {
		r.System[n-1].Cache = ephemeral
	}
	if !policy.Marks(llm.CacheMessages) {
		return
	}
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		if m := r.Messages[i]; m.Role == "user" {
			m.Content[len(m.Content)-1].Cache = ephemeral
			left--
		}
	}
}

// defaultOutput is the limit of an answer, in tokens, of models of which nothing is known.
const defaultOutput = 8192

// maxTokens is the limit of the answer, without which the API takes no request.
func (c *Client) maxTokens(req *llm.Request, conversation []llm.Message) int {
	usual := defaultOutput
	if c.model.MaxOutput > 0 {
		usual = fit.ClaudeOutput(c.model, req.Thinking)
	}
	return fit.MaxTokens(c.model, req.MaxTokens, usual, fit.Tokens(req, conversation))
}
