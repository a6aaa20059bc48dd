package tool

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestSchemasAreEncodedAsByEncodingJSON(t *testing.T) {
	of := func(s *jsonschema.Schema, err error) *jsonschema.Schema {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	type inner struct {
		Text  string   `json:"text" jsonschema:"a <b> & \"c\""`
		Lists [][]bool `json:"lists,omitempty"`
	}
	type outer struct {
		inner
		One   *inner           `json:"one,omitempty"`
		Many  []inner          `json:"many"`
		Any   any              `json:"any,omitempty"`
		Map   map[string]inner `json:"map,omitempty"`
		Array [3]uint8         `json:"array"`
		Float float64          `json:"float,omitempty"`
		Time  time.Time        `json:"time,omitzero"`
		Bytes []byte           `json:"bytes,omitempty"`
	}
	limited := schemaFor[struct {
		Mode string   `json:"mode" enum:"a,b" min:"1" max:"2"`
		N    float64  `json:"n" min:"0.5" max:"1e300"`
		List []string `json:"list" min:"0" max:"3"`
	}]("limited")
	for name, s := range map[string]*jsonschema.Schema{
		"everything is right": {},
		"nothing is right":    {Not: &jsonschema.Schema{}},
		"not a text":          {Not: &jsonschema.Schema{Type: "string"}},
		"not, and more":       {Not: &jsonschema.Schema{}, Type: "string"},
		"no fields":           of(jsonschema.For[struct{}](nil)),
		"as For makes it":     of(jsonschema.For[outer](nil)),
		"with our limits":     schemaFor[outer]("outer"),
		"limited":             limited,
		"what no type has":    {Type: "object", Pattern: "x", Extra: map[string]any{"extra": 1}},
		"within what we have": {Type: "array", Items: &jsonschema.Schema{Format: "date", AnyOf: []*jsonschema.Schema{{Type: "null"}}}},
		"fields in no order":  {Type: "object", Properties: map[string]*jsonschema.Schema{"b": {}, "a": {Type: "null"}}},
		"fields in half an order": {
			Properties: map[string]*jsonschema.Schema{"b": {}, "a": {}}, PropertyOrder: []string{"b"}, Required: []string{"a"},
		},
	} {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encodeSchema(s); err != nil || string(got) != string(want) {
			t.Errorf("%s:\n got %s, %v\nwant %s", name, got, err, want)
		}
	}
	for name, s := range map[string]*jsonschema.Schema{
		"two types":           {Type: "string", Types: []string{"null"}},
		"what is not in JSON": {Type: "object", Items: &jsonschema.Schema{Enum: []any{func() {}}}},
	} {
		if got, err := encodeSchema(s); err == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}
