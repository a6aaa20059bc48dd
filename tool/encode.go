package tool

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// encodeSchema is json.Marshal for a schema that was made of a type, byte for byte and several times as fast. That one goes through all
// sixty fields, once more for each level above, and it would do so for every tool at every start.
func encodeSchema(s *jsonschema.Schema) ([]byte, error) {
	var w schemaWriter
	w.schema(s)
	return w.out, w.err
}

type schemaWriter struct {
	out []byte
	err error
}

func (w *schemaWriter) schema(s *jsonschema.Schema) {
	switch {
	case isBlank(s):
		w.out = append(w.out, "true"...)
	case s.Not != nil && isBlank(s.Not) && isBlank(without(s, func(rest *jsonschema.Schema) { rest.Not = nil })):
		w.out = append(w.out, "false"...)
	case !isBlank(without(s, forget)) || len(s.PropertyOrder) != len(s.Properties):
		w.value(s)
	default:
		w.out = append(w.out, '{')
		w.members(s)
		w.out = append(w.out, '}')
	}
}

// members writes the fields that [forget] names.
func (w *schemaWriter) members(s *jsonschema.Schema) {
	if s.Type != "" {
		w.member("type", s.Type)
	}
	if s.Properties != nil {
		w.name("properties")
		w.properties(s)
	}
	if s.Items != nil {
		w.name("items")
		w.schema(s.Items)
	}
	if s.Description != "" {
		w.member("description", s.Description)
	}
	if len(s.Enum) > 0 {
		w.member("enum", s.Enum)
	}
	number(w, "minimum", s.Minimum)
	number(w, "maximum", s.Maximum)
	number(w, "minLength", s.MinLength)
	number(w, "maxLength", s.MaxLength)
	number(w, "minItems", s.MinItems)
	number(w, "maxItems", s.MaxItems)
	if len(s.Required) > 0 {
		w.member("required", s.Required)
	}
	if s.AdditionalProperties != nil {
		w.name("additionalProperties")
		w.schema(s.AdditionalProperties)
	}
}

// forget takes from a schema what members writes.
func forget(s *jsonschema.Schema) {
	s.Type, s.Properties, s.PropertyOrder, s.Items, s.Description, s.Enum = "", nil, nil, nil, "", nil
	s.Minimum, s.Maximum, s.MinLength, s.MaxLength, s.MinItems, s.MaxItems = nil, nil, nil, nil, nil, nil
	s.Required, s.AdditionalProperties = nil, nil
}

func without(s *jsonschema.Schema, forget func(*jsonschema.Schema)) *jsonschema.Schema {
	rest := *s
	forget(&rest)
	return &rest
}

func isBlank(s *jsonschema.Schema) bool { return reflect.ValueOf(s).Elem().IsZero() }

// properties writes the fields of a struct, in their order.
func (w *schemaWriter) properties(s *jsonschema.Schema) {
	w.out = append(w.out, '{')
	for _, name := range s.PropertyOrder {
		w.name(name)
		w.schema(s.Properties[name])
	}
	w.out = append(w.out, '}')
}

// name begins a member of an object.
func (w *schemaWriter) name(name string) {
	if w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
	w.value(name)
	w.out = append(w.out, ':')
}

func (w *schemaWriter) member(name string, value any) {
	w.name(name)
	w.value(value)
}

func number[N int | float64](w *schemaWriter, name string, n *N) {
	if n != nil {
		w.member(name, *n)
	}
}

func (w *schemaWriter) value(v any) {
	data, err := json.Marshal(v)
	w.out, w.err = append(w.out, data...), errors.Join(w.err, err)
}
