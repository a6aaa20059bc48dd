package google

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// request is the body of generateContent.
type request struct {
	System   *content    `json:"systemInstruction,omitzero"`
	Contents []content   `json:"contents"`
	Tools    []tools     `json:"tools,omitzero"`
	Choice   *toolConfig `json:"toolConfig,omitzero"`
	Config   *generate   `json:"generationConfig,omitzero"`
}

type tools struct {
	Functions []function `json:"functionDeclarations"`
}

// function declares a tool. Both APIs document parametersJsonSchema, which accepts any JSON Schema. The older field parameters
// accepts a part of OpenAPI's schemas only and rejects a request with an unknown keyword.
type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parametersJsonSchema,omitzero"`
}

type toolConfig struct {
	Calling calling `json:"functionCallingConfig"`
}

type calling struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames,omitzero"`
}

type generate struct {
	MaxTokens   int             `json:"maxOutputTokens,omitzero"`
	Temperature *float64        `json:"temperature,omitzero"`
	Thinking    *thinkingConfig `json:"thinkingConfig,omitzero"`
	MIME        string          `json:"responseMimeType,omitzero"`
	Schema      jsontext.Value  `json:"responseJsonSchema,omitzero"`
}

// request returns the body for req.
func (c *Client) request(req *llm.Request, names names) (*request, error) {
	out := &request{Contents: c.contents(req.Messages)}
	if req.System != "" {
		instruction := content{Parts: []part{textPart(req.System, "")}}
		if c.model.Has(llm.QuirkNoSystem) {
			out.Contents[0].Parts = append(instruction.Parts, out.Contents[0].Parts...)
		} else {
			out.System = &instruction
		}
	}
	if err := c.declare(out, req); err != nil {
		return nil, err
	}
	out.Config = c.generate(req)
	return out, nil
}

// forced reports whether a structured answer is had by a forced call: where the model cannot be held to a schema while it has tools.
func forced(m llm.Model, req *llm.Request) bool {
	return len(req.Schema) > 0 && len(req.Tools) > 0 && !m.NoTools && !m.Has(llm.QuirkNativeSchema)
}

// declare adds the tools.
func (c *Client) declare(out *request, req *llm.Request) error {
	list := req.Tools
	if c.model.NoTools || len(list) == 0 {
		return nil
	}
	mode := calling{Mode: "AUTO"}
	switch req.ToolChoice {
	case llm.ToolRequired:
		mode.Mode = "ANY"
	case llm.ToolNone:
		mode.Mode = "NONE"
	}
	if forced(c.model, req) {
		list = append(list[:len(list):len(list)], fit.SchemaTool(req.Schema))
		if mode.Mode == "NONE" {
			mode.Allowed = []string{fit.SchemaToolName}
		}
		mode.Mode = "ANY"
	}
	functions := make([]function, len(list))
	for i, t := range list {
		schema, err := c.schema(t.Schema, "the tool "+t.Name)
		if err != nil {
			return err
		}
		functions[i] = function{Name: sentName(t.Name), Description: t.Description, Parameters: schema}
	}
	out.Tools = []tools{{Functions: functions}}
	out.Choice = &toolConfig{Calling: mode}
	return nil
}

// schema returns a JSON Schema in the form of the API.
func (c *Client) schema(schema []byte, of string) (jsontext.Value, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	v := jsontext.Value(schema)
	if !v.IsValid() {
		return nil, c.invalid("the schema of " + of + " is no JSON")
	}
	return v, nil
}

// generate returns the settings of the answer; nil leaves all to the model. The limit of the answer is not held against the window:
// Gemini counts what goes in and what comes out apart.
func (c *Client) generate(req *llm.Request) *generate {
	g := generate{MaxTokens: req.MaxTokens}
	if most := c.model.MaxOutput; most > 0 && (g.MaxTokens <= 0 || g.MaxTokens > most) {
		g.MaxTokens = most
	}
	g.Thinking = thinking(c.model, req.Thinking, g.MaxTokens)
	if !c.model.Has(llm.QuirkNoTemperature) {
		g.Temperature = req.Temperature
	}
	if len(req.Schema) > 0 && !forced(c.model, req) {
		g.MIME, g.Schema = "application/json", jsontext.Value(req.Schema)
	}
	if g.MaxTokens <= 0 && g.Temperature == nil && g.Thinking == nil && g.MIME == "" {
		return nil
	}
	return &g
}
