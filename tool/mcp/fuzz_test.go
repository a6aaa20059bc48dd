package mcp

import (
	"encoding/json"
	"testing"
)

// FuzzSchema: whatever a server says of its arguments, the model gets the schema of an object, without references and not too large.
func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}},"required":["a","b"]}`))
	f.Add([]byte(`{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}},"allOf":[{"$ref":"#/$defs/n"},{"$ref":"#"}]}`))
	f.Add([]byte(`{"properties":{"a":true,"b":{"items":[1,{}],"oneOf":[false]}},"if":{},"const":1,"$ref":"#/properties/~0/b"}`))
	f.Add([]byte(`[{"type":"object"}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var value any
		if json.Unmarshal(text, &value) != nil {
			return
		}
		data := schemaOf(value)
		var s map[string]any
		if err := json.Unmarshal(data, &s); err != nil || len(data) > maxSchema {
			t.Fatalf("%d bytes: %v", len(data), err)
		}
		if _, ok := s["properties"].(map[string]any); !ok || s["type"] != "object" {
			t.Errorf("not the schema of an object: %s", data)
		}
		for _, key := range []string{"$ref", "$defs", "anyOf", "oneOf", "allOf", "not", "enum", "const", "if"} {
			if _, there := s[key]; there {
				t.Errorf("%s on the top level: %s", key, data)
			}
		}
		if again := schemaOf(s); len(again) == 0 {
			t.Error("the schema of a schema is empty")
		}
	})
}

// FuzzQuestion: whatever a server asks for, a question has texts, and empty answers fit or are refused.
func FuzzQuestion(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"type":"array","items":{"anyOf":[{"const":{},"title":"x"}]},"default":[{}]},"b":{"enum":[[1]],"default":[1]}},"required":["a"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		fields := fieldsOf(json.RawMessage(text))
		var answers [][]string
		for _, field := range fields {
			if len(field.Options) != len(field.values) {
				t.Errorf("%d options and %d values", len(field.Options), len(field.values))
			}
			answers = append(answers, []string{field.Default})
		}
		_, _ = contentOf(fields, answers)
		_, _ = contentOf(fields, nil)
	})
}
