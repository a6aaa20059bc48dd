package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// respRequest is the body of a request.
type respRequest struct {
	Model           string         `json:"model"`
	Instructions    string         `json:"instructions,omitzero"`
	Tools           []respTool     `json:"tools,omitempty"`
	ToolChoice      string         `json:"tool_choice,omitzero"`
	Text            *respText      `json:"text,omitzero"`
	Reasoning       *respReasoning `json:"reasoning,omitzero"`
	Include         []string       `json:"include,omitempty"`
	Temperature     *float64       `json:"temperature,omitzero"`
	MaxOutputTokens int            `json:"max_output_tokens,omitzero"`
	PromptCacheKey  string         `json:"prompt_cache_key,omitzero"`
	Store           bool           `json:"store"`
	Stream          bool           `json:"stream,omitzero"`
	Input           []any          `json:"input"`
}

type respTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Strict      *bool           `json:"strict,omitzero"`
	Format      *respGrammar    `json:"format,omitzero"` // of a free-form tool

	schema json.RawMessage // of a free-form tool, for servers that have none
}

type respGrammar struct {
	Type       string `json:"type"`
	Syntax     string `json:"syntax"`
	Definition string `json:"definition"`
}

type respText struct {
	Format respFormat `json:"format"`
}

type respFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type respReasoning struct {
	Effort  string `json:"effort,omitzero"`
	Summary string `json:"summary,omitzero"`
}

// encryptedReasoning asks for reasoning in a form that can be sent back although the server keeps nothing.
const encryptedReasoning = "reasoning.encrypted_content"

// request returns the body that asks for an answer.
func (r *Responses) request(req *llm.Request) *respRequest {
	messages := fit.Messages(req.Messages, r.rules())
	body := &respRequest{
		Model:           r.o.Azure.model(r.model.ID),
		Instructions:    req.System,
		Text:            respTextOf(req.Schema),
		MaxOutputTokens: maxTokens(r.model, req, messages),
		PromptCacheKey:  r.cacheKey(req, messages),
		Stream:          !r.o.NoStream,
	}
	if r.model.Has(llm.QuirkNoSystem) && req.System != "" {
		body.Instructions = ""
		messages = systemFirst(req.System, messages)
	}
	body.Input = respInput(messages)
	if !r.model.NoTools {
		body.Tools, body.ToolChoice = respTools(req, freeForm(r.model.ID))
	}
	switch {
	case r.levels != nil:
		body.Reasoning = &respReasoning{Effort: respEffort(r.model.Level(req.Thinking), r.levels), Summary: "auto"}
		body.Include = []string{encryptedReasoning}
	case !r.model.Has(llm.QuirkNoTemperature):
		body.Temperature = req.Temperature
	}
	leaveOut(&r.refused, optionalInResponses(), body)
	return body
}

// rules returns the parts that the protocol and the model accept.
func (r *Responses) rules() fit.Rules {
	own := func(model string) bool { return sameProvider(model, r.model) }
	return fit.Rules{
		Images: r.model.Images, Documents: r.model.Documents, ResultImages: true, NoCalls: r.model.NoTools,
		Opaque: own,
		Thinking: func(model string, t llm.Thinking) (llm.Thinking, bool) {
			return t, r.levels != nil && own(model) && len(t.Opaque) > 0
		},
	}
}

// sameProvider reports whether a message of the model with that name came from the provider of m.
func sameProvider(name string, m llm.Model) bool {
	n := len(m.Provider)
	return len(name) > n && name[:n] == m.Provider && name[n] == '/'
}

// systemFirst returns the messages with the system prompt at the head of the first, for models that take it nowhere else.
func systemFirst(system string, messages []llm.Message) []llm.Message {
	first := messages[0]
	first.Content = append(llm.Content{llm.Text{Text: system}}, first.Content...)
	return append([]llm.Message{first}, messages[1:]...)
}

// freeForm reports whether a model has free-form tools: GPT-5 and later.
func freeForm(id string) bool {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	later, isGPT := strings.CutPrefix(id, "gpt-")
	return isGPT && later != "" && later[0] >= '5' && later[0] <= '9' && !strings.Contains(id, "-chat")
}

func respTools(req *llm.Request, freeForm bool) (tools []respTool, choice string) {
	for _, t := range req.Tools {
		parameters := t.Schema
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		one := respTool{Name: t.Name, Description: t.Description, schema: parameters}
		if freeForm && t.Grammar != "" {
			one.Type, one.Format = "custom", &respGrammar{"grammar", "lark", t.Grammar}
		} else {
			one.beFunction()
		}
		tools = append(tools, one)
	}
	if len(tools) > 0 && req.ToolChoice != llm.ToolAuto {
		choice = string(req.ToolChoice)
	}
	return tools, choice
}

// beFunction makes the tool one with JSON arguments.
func (t *respTool) beFunction() {
	t.Type, t.Parameters, t.Strict, t.Format = "function", t.schema, new(bool), nil
}

func respTextOf(schema json.RawMessage) *respText {
	if len(schema) == 0 {
		return nil
	}
	return &respText{respFormat{Type: "json_schema", Name: "answer", Schema: schema, Strict: strictSchema(schema)}}
}

// cacheKey names a conversation, so that its requests reach the machine whose cache has its beginning. It is made of what stays
// the same from request to request. Azure's dated surfaces do not know it.
func (r *Responses) cacheKey(req *llm.Request, messages []llm.Message) string {
	if req.Cache == llm.CacheOff || r.o.Azure != nil && !r.o.Azure.current() {
		return ""
	}
	h := sha256.New()
	write := func(s string) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	write(r.model.ID)
	write(req.System)
	for _, t := range req.Tools {
		write(t.Name)
		write(t.Description)
		write(string(t.Schema))
	}
	write(messages[0].Text())
	return hex.EncodeToString(h.Sum(nil)[:16])
}
