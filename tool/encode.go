package tool

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaText is the part of a schema that most types need, in the order in which jsonschema writes it.
type schemaText struct {
	Type        string          `json:"type,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Items       json.RawMessage `json:"items,omitempty"`
	Description string          `json:"description,omitempty"`
	Enum        []any           `json:"enum,omitempty"`
	Minimum     *float64        `json:"minimum,omitempty"`
	Maximum     *float64        `json:"maximum,omitempty"`
	MinLength   *int            `json:"minLength,omitempty"`
	MaxLength   *int            `json:"maxLength,omitempty"`
	MinItems    *int            `json:"minItems,omitempty"`
	MaxItems    *int            `json:"maxItems,omitempty"`
	Required    []string        `json:"required,omitempty"`
	Additional  json.RawMessage `json:"additionalProperties,omitempty"`
}

// encodeSchema is json.Marshal for a schema that was made of a type, several times as fast: jsonschema goes through all sixty fields of
// a schema, once more for each level above, and would do so for every tool at every start.
func encodeSchema(s *jsonschema.Schema) ([]byte, error) {
	rest := *s
	rest.Type, rest.Properties, rest.PropertyOrder, rest.Items, rest.Description, rest.Enum = "", nil, nil, nil, "", nil
	rest.Minimum, rest.Maximum, rest.MinLength, rest.MaxLength, rest.MinItems, rest.MaxItems = nil, nil, nil, nil, nil, nil
	rest.Required, rest.AdditionalProperties = nil, nil
	if s.Type == "" || len(s.PropertyOrder) != len(s.Properties) || !reflect.ValueOf(&rest).Elem().IsZero() {
		return json.Marshal(s)
	}
	p := schemaText{
		Type: s.Type, Description: s.Description, Enum: s.Enum, Minimum: s.Minimum, Maximum: s.Maximum, MinLength: s.MinLength,
		MaxLength: s.MaxLength, MinItems: s.MinItems, MaxItems: s.MaxItems, Required: s.Required,
	}
	var err error
	if s.Items != nil {
		p.Items, err = encodeSchema(s.Items)
	}
	if s.AdditionalProperties != nil && err == nil {
		p.Additional, err = encodeSchema(s.AdditionalProperties)
	}
	if s.Properties != nil && err == nil {
		p.Properties, err = encodeProperties(s)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(p)
}

func encodeProperties(s *jsonschema.Schema) ([]byte, error) {
	text := []byte{'{'}
	for i, name := range s.PropertyOrder {
		if i > 0 {
			text = append(text, ',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		one, err := encodeSchema(s.Properties[name])
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, quoted...), ':'), one...)
	}
	return append(text, '}'), nil
}
