package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
	"github.com/tenon-agent/tenon/llm/wire"
)

// schemaMode is the way to get a structured answer.
type schemaMode int

const (
	noSchema         schemaMode = iota
	schemaByProvider            // the provider lets the model write nothing else
	schemaByTool                // as the arguments of a tool
	schemaByWords               // the prompt describes it
)

func (c *Client) schemaMode(req *llm.Request) schemaMode {
	switch {
	case len(req.Schema) == 0:
		return noSchema
	case c.model.Has(llm.QuirkNativeSchema) && enforceable(req.Schema):
		return schemaByProvider
	case !c.model.NoTools && isObject(req.Schema):
		return schemaByTool
	default:
		return schemaByWords
	}
}

// instruct describes the schema in the prompt if neither the provider nor a forced call enforces it.
func (r *request) instruct(how schemaMode, schema json.RawMessage) {
	switch {
	case how == schemaByProvider:
		if r.Output == nil {
			r.Output = &output{}
		}
		r.Output.Format = &format{Type: "json_schema", Schema: jsontext.Value(schema)}
	case how == schemaByTool && r.ToolChoice == nil:
		r.addText("Give the final answer by calling the tool " + fit.SchemaToolName + ", not as text.")
	case how == schemaByWords:
		r.addText("Give the final answer as nothing but JSON that satisfies this JSON Schema:\n" + string(schema))
	}
}

// schemaNode has the keywords of a JSON Schema that matter here.
type schemaNode struct {
	Type       jsontext.Value            `json:"type"`
	Properties map[string]jsontext.Value `json:"properties"`
	Additional jsontext.Value            `json:"additionalProperties"`
	Defs       map[string]jsontext.Value `json:"$defs"`
	OldDefs    map[string]jsontext.Value `json:"definitions"`
	Items      jsontext.Value            `json:"items"`
	AnyOf      []jsontext.Value          `json:"anyOf"`
	AllOf      []jsontext.Value          `json:"allOf"`
	MinItems   int                       `json:"minItems"`
	Others     map[string]jsontext.Value `json:",embed"`
}

// isObject reports whether the values that a schema describes are objects, as the arguments of a tool must be.
func isObject(schema []byte) bool {
	var n schemaNode
	return wire.Unmarshal(schema, &n) == nil && string(n.Type) == `"object"`
}

// enforceable reports whether the API can enforce a schema: it refuses objects that allow further properties, limits of numbers
// and lengths, and schemas that contain themselves.
func enforceable(schema []byte) bool { return isObject(schema) && enforceableNode(schema, 0) }

func enforceableNode(schema []byte, depth int) bool {
	const deepest = 32
	if len(schema) == 0 || string(schema) == "true" {
		return true
	}
	var n schemaNode
	if depth > deepest || wire.Unmarshal(schema, &n) != nil || n.MinItems > 1 {
		return false
	}
	if (string(n.Type) == `"object"` || n.Properties != nil) && string(n.Additional) != "false" {
		return false
	}
	for name := range n.Others {
		if !slices.Contains([]string{"description", "title", "enum", "const", "required", "default", "$schema", "$id", "format", "examples", "$comment"}, name) {
			return false
		}
	}
	for _, all := range []map[string]jsontext.Value{n.Properties, n.Defs, n.OldDefs} {
		for _, below := range all {
			if !enforceableNode(below, depth+1) {
				return false
			}
		}
	}
	return enforceableNode(n.Items, depth+1) && allEnforceable(n.AnyOf, depth) && allEnforceable(n.AllOf, depth)
}

func allEnforceable(schemas []jsontext.Value, depth int) bool {
	return !slices.ContainsFunc(schemas, func(s jsontext.Value) bool { return !enforceableNode(s, depth+1) })
}
