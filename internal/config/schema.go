package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/redact"
)

// Schema returns the JSON Schema (draft 2020-12) of a user's file. It uses the same structs as the decoder. Load also
// checks conditions that a schema cannot express: that pools and providers exist, and that references are well formed.
func Schema() []byte {
	b := schemaBuilder{defs: map[string]any{}}
	root := b.object(reflect.TypeFor[Settings]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Configuration of Tenon"
	root["$defs"] = b.defs
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(root); err != nil {
		panic(fmt.Sprintf("config: the schema cannot be encoded: %v", err)) // it consists of strings and numbers
	}
	return out.Bytes()
}

type object = map[string]any

// schemaBuilder builds the schemas of types. The schema of a struct is a definition with the name of the type.
type schemaBuilder struct{ defs object }

func (b *schemaBuilder) object(t reflect.Type) object {
	properties := object{}
	for _, f := range fieldsOf(t) {
		s := b.of(f.typ, f)
		s["description"] = f.doc
		properties[f.name] = s
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	switch t {
	case reflect.TypeFor[models.Key]():
		s["required"] = []string{"key"}
	case reflect.TypeFor[models.Provider]():
		s["not"] = object{"required": []string{"api_key", "api_keys"}}
	case reflect.TypeFor[Settings]():
		s["not"] = object{
			"required":   []string{"small_model", "roles"},
			"properties": object{"roles": object{"required": []string{"small"}}},
		}
	}
	return s
}

func (b *schemaBuilder) of(t reflect.Type, f field) object {
	switch t {
	case reflect.TypeFor[redact.Value]():
		return object{"type": "string", "minLength": 1}
	case reflect.TypeFor[time.Duration]():
		return object{"type": "string", "pattern": durationPattern}
	case reflect.TypeFor[Rule]():
		return object{"type": "string", "minLength": 1}
	case reflect.TypeFor[Hooks]():
		return object{"type": "object"} // Tenon skips the hooks of other agents that it cannot run, and reports them
	case reflect.TypeFor[models.Key]():
		return object{"oneOf": []any{object{"type": "string", "minLength": 1}, b.ref(t)}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.of(t.Elem(), f)
	case reflect.Struct:
		return b.ref(t)
	case reflect.Map:
		s := object{"type": "object", "additionalProperties": b.of(t.Elem(), f)}
		if keys, ok := rules(f.keys); ok {
			s["propertyNames"] = object{"pattern": keys.pattern, "maxLength": longestName}
		}
		return s
	case reflect.Slice:
		s := object{"type": "array", "items": b.of(t.Elem(), f)}
		if f.is == "ref" || t.Elem() == reflect.TypeFor[models.Key]() {
			s["minItems"] = 1
		}
		return s
	case reflect.String:
		s := object{"type": "string"}
		if known := words(t); known != nil {
			s["enum"] = known
		} else if r, ok := rules(f.is); ok {
			s["pattern"] = r.pattern
		}
		return s
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return bounds(object{"type": "number"}, f)
	}
	return bounds(object{"type": "integer"}, f)
}

func bounds(s object, f field) object {
	if f.min != nil {
		s["minimum"] = *f.min
	}
	if f.max != nil {
		s["maximum"] = *f.max
	}
	return s
}

func (b *schemaBuilder) ref(t reflect.Type) object {
	if _, ok := b.defs[t.Name()]; !ok {
		b.defs[t.Name()] = nil // this ends the recursion of a struct that contains itself
		b.defs[t.Name()] = b.object(t)
	}
	return object{"$ref": "#/$defs/" + t.Name()}
}
