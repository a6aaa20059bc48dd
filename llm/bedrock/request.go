package bedrock

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// request is the body of a request. Messages come last, so that the body of the next request of a conversation begins as this
// one does.
type request struct {
	Inference *inference     `json:"inferenceConfig,omitzero"`
	Fields    map[string]any `json:"additionalModelRequestFields,omitempty"`
	Tools     *toolConfig    `json:"toolConfig,omitzero"`
	System    []block        `json:"system,omitempty"`
	Messages  []message      `json:"messages"`
}

type inference struct {
	MaxTokens   int      `json:"maxTokens,omitzero"`
	Temperature *float64 `json:"temperature,omitzero"`
}

type toolConfig struct {
	Tools  []tool      `json:"tools"`
	Choice *toolChoice `json:"toolChoice,omitzero"`
}

type tool struct {
	Spec  *toolSpec  `json:"toolSpec,omitzero"`
	Cache *cacheMark `json:"cachePoint,omitzero"`
}

type toolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Schema      schema `json:"inputSchema"`
}

type schema struct {
	JSON jsontext.Value `json:"json"`
}

type toolChoice struct {
	Any  *struct{} `json:"any,omitzero"`
	Tool *named    `json:"tool,omitzero"`
}

type named struct {
	Name string `json:"name"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a part of a message, of a system prompt or of a result: exactly one field is set.
type block struct {
	Text      string     `json:"text,omitzero"`
	Image     *media     `json:"image,omitzero"`
	Document  *media     `json:"document,omitzero"`
	Use       *toolUse   `json:"toolUse,omitzero"`
	Result    *result    `json:"toolResult,omitzero"`
	Reasoning *reasoning `json:"reasoningContent,omitzero"`
	Cache     *cacheMark `json:"cachePoint,omitzero"`
}

type media struct {
	Format string `json:"format"`
	Name   string `json:"name,omitzero"`
	Source source `json:"source"`
}

type source struct {
	Bytes []byte `json:"bytes"`
}

type toolUse struct {
	ID    string         `json:"toolUseId"`
	Name  string         `json:"name"`
	Input jsontext.Value `json:"input"`
}

type result struct {
	ID      string  `json:"toolUseId"`
	Content []block `json:"content"`
	Status  string  `json:"status,omitzero"`
}

type reasoning struct {
	Text     *reasoningText `json:"reasoningText,omitzero"`
	Redacted []byte         `json:"redactedContent,omitempty"`
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitzero"`
}

type cacheMark struct {
	Type string `json:"type"`
}

// request makes the body of a request.
func (c *Client) request(req *llm.Request) *request {
	tools := c.tools(req)
	conversation := fit.Messages(req.Messages, c.rules(len(tools) == 0))
	r := &request{Messages: c.messages(conversation)}
	r.addText(req.System)
	c.limit(r, req, conversation)
	c.think(r, req, conversation)
	if *r.Inference == (inference{}) {
		r.Inference = nil
	}
	if len(tools) > 0 {
		r.Tools = &toolConfig{Tools: tools}
		c.choose(r, req)
	}
	c.instruct(r, req)
	c.mark(r, req.Cache)
	if c.model.Has(llm.QuirkNoSystem) {
		r.lowerSystem()
	}
	return r
}

// byTool reports whether a structured answer is had as the arguments of a tool.
func (c *Client) byTool(req *llm.Request) bool { return len(req.Schema) > 0 && !c.model.NoTools }

// tools returns the tools that the model may call. The protocol has no word for "none", so then there are none.
func (c *Client) tools(req *llm.Request) []tool {
	if c.model.NoTools {
		return nil
	}
	var out []tool
	if req.ToolChoice != llm.ToolNone {
		for _, t := range req.Tools {
			out = append(out, spec(t))
		}
	}
	if c.byTool(req) {
		out = append(out, spec(fit.SchemaTool(req.Schema)))
	}
	return out
}

func spec(t llm.Tool) tool {
	s := &toolSpec{Name: fit.Name(t.Name), Description: t.Description, Schema: schema{jsontext.Value(t.Schema)}}
	if len(t.Schema) == 0 {
		s.Schema.JSON = jsontext.Value(`{"type":"object"}`)
	}
	if strings.TrimSpace(s.Description) == "" {
		s.Description = s.Name // an empty one is refused
	}
	return tool{Spec: s}
}

// choose demands a call where the request does. A call cannot be demanded of a Claude that thinks.
func (c *Client) choose(r *request, req *llm.Request) {
	demanded := c.byTool(req) || req.ToolChoice == llm.ToolRequired
	if demanded && c.family.anyTool && !(c.family.maker == claude && r.Fields["thinking"] != nil) {
		r.Tools.Choice = &toolChoice{Any: &struct{}{}}
	}
}

// instruct describes the schema in the prompt if a forced call does not enforce it.
func (c *Client) instruct(r *request, req *llm.Request) {
	switch {
	case len(req.Schema) == 0:
	case !c.byTool(req):
		r.addText("Give the final answer as nothing but JSON that satisfies this JSON Schema:\n" + string(req.Schema))
	case r.Tools.Choice == nil:
		r.addText("Give the final answer by calling the tool " + fit.SchemaToolName + ", not as text.")
	}
}

// addText adds to the system prompt.
func (r *request) addText(s string) {
	if strings.TrimSpace(s) != "" {
		r.System = append(r.System, block{Text: s})
	}
}

// lowerSystem moves the system prompt to the beginning of the first message.
func (r *request) lowerSystem() {
	var texts []block
	for _, b := range r.System {
		if b.Cache == nil {
			texts = append(texts, b)
		}
	}
	r.Messages[0].Content = append(texts, r.Messages[0].Content...)
	r.System = nil
}

// mark sets the cache points, at most four: after the tools, after the system prompt, and at the end of the
// last two messages of the user. The one before the last is where the request before ended, so that its cache is found.
func (c *Client) mark(r *request, policy llm.CachePolicy) {
	if c.family.cache == noCache {
		return
	}
	point := &cacheMark{Type: "default"}
	if r.Tools != nil && c.family.cache == cacheAll && policy.Marks(llm.CacheTools) {
		r.Tools.Tools = append(r.Tools.Tools, tool{Cache: point})
	}
	if len(r.System) > 0 && policy.Marks(llm.CacheSystem) {
		r.System = append(r.System, block{Cache: point})
	}
	if !policy.Marks(llm.CacheMessages) {
		return
	}
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		m := &r.Messages[i]
		if m.Role != "user" {
			continue
		}
		left--
		if c.family.cache == cacheAll || m.Content[len(m.Content)-1].Text != "" {
			m.Content = append(m.Content, block{Cache: point})
		}
	}
}
