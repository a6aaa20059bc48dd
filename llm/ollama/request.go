package ollama

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// request is the body of /api/chat.
type request struct {
	Model    string          `json:"model"`
	Messages []message       `json:"messages"`
	Tools    []tool          `json:"tools,omitempty"`
	Stream   bool            `json:"stream"`
	Think    any             `json:"think,omitzero"` // a bool, or a level
	Format   json.RawMessage `json:"format,omitempty"`
	Options  settings        `json:"options,omitzero"`
	Truncate bool            `json:"truncate"` // false: a request that is too long is an error
	Shift    bool            `json:"shift"`    // false: an answer that fills the window ends, and the beginning of the request stays

	schemaTool bool // a call carries the structured answer
}

type settings struct {
	Window      int      `json:"num_ctx,omitzero"`
	MaxTokens   int      `json:"num_predict,omitzero"`
	Temperature *float64 `json:"temperature,omitzero"`
}

type message struct {
	Role     string   `json:"role"`
	Content  string   `json:"content"`
	Thinking string   `json:"thinking,omitzero"`
	Images   [][]byte `json:"images,omitempty"` // base64
	Calls    []call   `json:"tool_calls,omitempty"`
	Tool     string   `json:"tool_name,omitzero"`
	CallID   string   `json:"tool_call_id,omitzero"`
}

type call struct {
	ID       string `json:"id,omitzero"`
	Function called `json:"function"`
}

type called struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// request returns the body for a request.
func (c *Client) request(req *llm.Request) *request {
	body := &request{Model: c.model.ID, Stream: !c.o.NoStream, Think: c.think(req.Thinking)}
	body.Options.Window, body.Options.MaxTokens = c.o.Window, req.MaxTokens
	if !c.model.Has(llm.QuirkNoTemperature) {
		body.Options.Temperature = req.Temperature
	}
	if !c.model.NoTools && req.ToolChoice != llm.ToolNone { // Ollama cannot demand a call
		for _, t := range req.Tools {
			body.Tools = append(body.Tools, toolOf(t))
		}
	}
	if system := req.System + body.structured(c.model, req); system != "" {
		body.Messages = append(body.Messages, message{Role: "system", Content: system})
	}
	for _, m := range fit.Messages(req.Messages, c.rules()) {
		body.Messages = append(body.Messages, messageOf(m))
	}
	return body
}

// think asks for a level of thinking. The models of OpenAI have levels, others only think or do not; nil leaves it to the model.
func (c *Client) think(asked llm.Thinks) any {
	level := c.model.Level(asked)
	switch {
	case level == llm.ThinkDefault, c.thoughtless.Load(), !c.model.MayThink():
		return nil
	case !strings.Contains(c.model.ID, "gpt-oss"):
		return level != llm.ThinkOff
	case level == llm.ThinkOff, level == llm.ThinkMinimal, level == llm.ThinkLow: // these models always think
		return "low"
	case level == llm.ThinkMedium:
		return "medium"
	default:
		return "high"
	}
}

// structured asks for a structured answer. It returns an addition to the system prompt. The format rules all that a model writes, so a model
// with tools gives the answer as the arguments of another one.
func (body *request) structured(m llm.Model, req *llm.Request) string {
	switch {
	case len(req.Schema) == 0:
		return ""
	case len(body.Tools) == 0:
		body.Format = req.Schema
		return ""
	default:
		body.schemaTool = true
		body.Tools = append(body.Tools, toolOf(fit.SchemaTool(req.Schema)))
		return "\n\nGive the final answer by calling the tool " + fit.SchemaToolName + ", not as text."
	}
}

func toolOf(t llm.Tool) tool {
	parameters := t.Schema
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return tool{"function", function{t.Name, t.Description, parameters}}
}

// rules returns the parts that the model accepts. A model reads its own thinking again: between its calls it needs it.
func (c *Client) rules() fit.Rules {
	return fit.Rules{
		Images: c.model.Images, NoCalls: c.model.NoTools, ImageTypes: []string{"image/png", "image/jpeg", "image/webp"},
		Thinking: func(author string, t llm.Thinking) (llm.Thinking, bool) {
			return t, t.Text != "" && author == c.model.Ref()
		},
	}
}

// messageOf returns a message as it is sent.
func messageOf(m llm.Message) message {
	out := message{Role: string(m.Role)}
	if m.Role == llm.RoleTool {
		out.Tool, out.CallID = m.Tool, m.CallID
	}
	var texts, thoughts []string
	for _, p := range m.Content {
		switch p := p.(type) {
		case llm.Text:
			texts = append(texts, p.Text)
		case llm.Thinking:
			thoughts = append(thoughts, p.Text)
		case llm.Image:
			out.Images = append(out.Images, p.Data)
		case llm.ToolCall:
			out.Calls = append(out.Calls, call{p.ID, called{p.Name, jsontext.Value(cmp.Or(p.Arguments, "{}"))}})
		}
	}
	out.Content, out.Thinking = strings.Join(texts, "\n\n"), strings.Join(thoughts, "\n\n")
	return out
}
