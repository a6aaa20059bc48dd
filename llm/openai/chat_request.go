package openai

import (
	"encoding/json"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// chatRequest is the body of a request. A [Profile] enables the fields that OpenAI's own protocol lacks.
type chatRequest struct {
	Model               string          `json:"model"`
	Tools               []chatTool      `json:"tools,omitempty"`
	ToolChoice          any             `json:"tool_choice,omitzero"`
	ParallelCalls       bool            `json:"parallel_tool_calls,omitzero"`
	ResponseFormat      *chatFormat     `json:"response_format,omitzero"`
	MaxTokens           int             `json:"max_tokens,omitzero"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitzero"`
	Temperature         *float64        `json:"temperature,omitzero"`
	ReasoningEffort     string          `json:"reasoning_effort,omitzero"`
	Reasoning           *chatReasoning  `json:"reasoning,omitzero"`
	Thinking            *chatSwitch     `json:"thinking,omitzero"`
	TemplateArgs        *chatTemplate   `json:"chat_template_kwargs,omitzero"`
	Stream              bool            `json:"stream,omitzero"`
	StreamOptions       *chatStreamOpts `json:"stream_options,omitzero"`
	Usage               *chatAskUsage   `json:"usage,omitzero"`
	Messages            []chatMessage   `json:"messages"`

	schemaTool string // name of the tool that gives a structured answer
	renamed    bool   // the limit has its other name already
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type chatForce struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFormat struct {
	Type   string      `json:"type"`
	Schema *chatSchema `json:"json_schema,omitzero"`
}

type chatSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict,omitzero"`
}

type (
	chatStreamOpts struct {
		IncludeUsage bool `json:"include_usage"`
	}
	chatAskUsage struct {
		Include bool `json:"include"`
	}
	chatReasoning struct {
		Effort  string `json:"effort,omitzero"`
		Enabled *bool  `json:"enabled,omitzero"`
	}
	chatSwitch struct {
		Type string `json:"type"`
	}
	chatTemplate struct {
		EnableThinking bool `json:"enable_thinking"`
	}
)

// request returns the body that asks for an answer.
func (c *Chat) request(req *llm.Request) *chatRequest {
	p := &c.o.Profile
	messages := fit.Messages(req.Messages, c.rules())
	limit := maxTokens(c.model, req, messages)
	body := &chatRequest{Model: c.o.Azure.model(c.model.ID)}
	if p.MaxCompletionTokens {
		body.MaxCompletionTokens = limit
	} else {
		body.MaxTokens = limit
	}
	if !c.model.Has(llm.QuirkNoTemperature) {
		body.Temperature = req.Temperature
	}
	if body.Stream = !c.o.NoStream; body.Stream && p.StreamUsage {
		body.StreamOptions = &chatStreamOpts{IncludeUsage: true}
	}
	if p.AskUsage {
		body.Usage = &chatAskUsage{Include: true}
	}
	c.think(body, c.level(req.Thinking))
	c.tools(body, req)
	system := req.System + c.structured(body, req)
	if system != "" && c.model.Has(llm.QuirkNoSystem) {
		messages, system = systemFirst(system, messages), ""
	}
	body.Messages = c.messages(system, messages)
	if p.CacheMarks && isClaude(c.model.ID) {
		mark(body.Messages, req.Cache)
	}
	leaveOut(&c.refused, optionalInChat(), body)
	return body
}

// tools adds the tools, and whether they must or must not be called.
func (c *Chat) tools(body *chatRequest, req *llm.Request) {
	if c.model.NoTools || len(req.Tools) == 0 {
		return
	}
	for _, t := range req.Tools {
		body.Tools = append(body.Tools, chatToolOf(t))
	}
	switch {
	case req.ToolChoice == llm.ToolNone, req.ToolChoice == llm.ToolRequired && !c.o.Profile.NoForce:
		body.ToolChoice = string(req.ToolChoice)
	}
	body.ParallelCalls = c.o.Profile.ParallelCalls
}

func chatToolOf(t llm.Tool) chatTool {
	parameters := t.Schema
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return chatTool{"function", chatFunction{t.Name, t.Description, parameters}}
}

// structured asks for a structured answer. It returns an addition to the system prompt.
func (c *Chat) structured(body *chatRequest, req *llm.Request) string {
	p := &c.o.Profile
	native := p.Schema
	if c.model.Has(llm.QuirkNativeSchema) {
		native = SchemaNative
	}
	alone := p.SchemaAlone && len(body.Tools) > 0
	switch {
	case len(req.Schema) == 0:
		return ""
	case native == SchemaNative && !alone:
		strict := p.Strict && strictSchema(req.Schema)
		body.ResponseFormat = &chatFormat{"json_schema", &chatSchema{"answer", req.Schema, strict}}
		return ""
	case native == SchemaObject && !alone:
		body.ResponseFormat = &chatFormat{Type: "json_object"}
		return inWords(req.Schema)
	case c.model.NoTools:
		return inWords(req.Schema)
	default:
		c.forceSchema(body, req)
		return ""
	}
}

// inWords describes a structured answer for a model without a mode for it.
func inWords(schema json.RawMessage) string {
	return "\n\nThe final answer must be one JSON value and nothing else, no code fence around it. It must satisfy this JSON Schema:\n" + string(schema)
}

// forceSchema makes the model give the answer as the arguments of a tool.
func (c *Chat) forceSchema(body *chatRequest, req *llm.Request) {
	tool := fit.SchemaTool(req.Schema)
	body.schemaTool = tool.Name
	if req.ToolChoice == llm.ToolNone {
		body.Tools = nil
	}
	only := len(body.Tools) == 0
	body.Tools = append(body.Tools, chatToolOf(tool))
	switch {
	case c.o.Profile.NoForce:
		body.ToolChoice = nil
	case only:
		body.ToolChoice = chatForce{"function", chatFunction{Name: tool.Name}}
	default:
		body.ToolChoice = string(llm.ToolRequired)
	}
}
