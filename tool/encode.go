package tool

import (
	"encoding/json"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// encodeSchema appends the JSON of a schema of [schemaFor]. json.Marshal returns the same bytes, but it visits all sixty fields of a schema
// and rewrites the result for each level above: too slow for every tool at every start.
func encodeSchema(out []byte, s *jsonschema.Schema) []byte {
	if s.Not != nil {
		return append(out, "false"...) // no value is valid
	}
	begin := len(out)
	member := func(name string, set bool, value func(out []byte) []byte) {
		if set {
			out = value(append(strconv.AppendQuote(append(out, ','), name), ':'))
		}
	}
	plain := func(name string, set bool, v any) {
		member(name, set, func(out []byte) []byte {
			data, err := json.Marshal(v)
			if err != nil {
				panic("tool: a schema has a value that is not JSON: " + err.Error())
			}
			return append(out, data...)
		})
	}
	schema := func(name string, inner *jsonschema.Schema) {
		member(name, inner != nil, func(out []byte) []byte { return encodeSchema(out, inner) })
	}
	plain("type", s.Type != "", s.Type)
	plain("type", len(s.Types) > 0, s.Types)
	member("properties", s.Properties != nil, func(out []byte) []byte {
		out = append(out, '{')
		for i, name := range s.PropertyOrder {
			if i > 0 {
				out = append(out, ',')
			}
			out = encodeSchema(append(strconv.AppendQuote(out, name), ':'), s.Properties[name])
		}
		return append(out, '}')
	})
	schema("items", s.Items)
	plain("description", s.Description != "", s.Description)
	plain("enum", len(s.Enum) > 0, s.Enum)
	plain("minimum", s.Minimum != nil, s.Minimum)
	plain("maximum", s.Maximum != nil, s.Maximum)
	plain("minLength", s.MinLength != nil, s.MinLength)
	plain("maxLength", s.MaxLength != nil, s.MaxLength)
	plain("minItems", s.MinItems != nil, s.MinItems)
	plain("maxItems", s.MaxItems != nil, s.MaxItems)
	plain("required", len(s.Required) > 0, s.Required)
	schema("additionalProperties", s.AdditionalProperties)
	if len(out) == begin {
		return append(out, "true"...) // every value is valid
	}
	out[begin] = '{'
	return append(out, '}')
}
