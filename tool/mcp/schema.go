package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The limits of a schema of arguments.
const (
	maxSchema  = 64 << 10 // bytes for the model
	maxDepth   = 24
	maxInlined = 2000 // values, so that references cannot multiply
)

// anything is a schema that accepts every object.
const anything = `{"type":"object","properties":{}}`

// schemaOf makes a schema that every provider accepts out of any value of a server: an object without references, cycles and keywords on its
// top level that combine schemas. It accepts at least what the schema of the server accepts; the server checks the rest.
func schemaOf(value any) json.RawMessage {
	root, ok := value.(map[string]any)
	if !ok {
		return json.RawMessage(anything)
	}
	r := &refiner{root: root, left: maxInlined}
	out, ok := r.schema(root, 0, nil).(map[string]any)
	if !ok {
		return json.RawMessage(anything)
	}
	for _, combining := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"} {
		delete(out, combining)
	}
	out["type"] = "object"
	if _, ok := out["properties"].(map[string]any); !ok {
		out["properties"] = map[string]any{}
		delete(out, "required")
	}
	data, err := json.Marshal(out)
	if err != nil || len(data) > maxSchema {
		return json.RawMessage(anything)
	}
	return data
}

// refiner copies a schema.
type refiner struct {
	root map[string]any
	left int // values that the copy may still have
}

// schema copies a schema. refs are the references that led to it, of which none may come again.
func (r *refiner) schema(value any, depth int, refs []string) any {
	in, ok := value.(map[string]any)
	if r.left--; !ok || depth > maxDepth || r.left < 0 {
		return map[string]any{}
	}
	if ref, ok := in["$ref"].(string); ok {
		to := r.resolve(ref)
		if to == nil || slices.Contains(refs, ref) {
			return describe(map[string]any{}, in)
		}
		out, _ := r.schema(to, depth+1, append(slices.Clip(refs), ref)).(map[string]any)
		return describe(out, in)
	}
	out := make(map[string]any, len(in))
	for key, v := range in {
		switch key {
		case "properties":
			out[key] = r.properties(v, depth, refs)
		case "items", "additionalProperties", "not":
			if _, yes := v.(bool); yes {
				if key == "additionalProperties" {
					out[key] = v
				}
				continue
			}
			if list, many := v.([]any); many { // of an old draft
				v = map[string]any{}
				if len(list) > 0 {
					v = list[0]
				}
			}
			out[key] = r.schema(v, depth+1, refs)
		case "anyOf", "oneOf", "allOf":
			if list := r.schemas(v, depth, refs); len(list) > 0 {
				out[key] = list
			}
		case "enum":
			if list, ok := v.([]any); ok && len(list) > 0 {
				out[key] = list
			}
		case "description", "title":
			if text, ok := v.(string); ok {
				out[key] = clean(text, maxDescription)
			}
		case "required", "$ref": // below
		case "type", "const", "default", "format", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems":
			out[key] = v
		}
	}
	if out["type"] == "array" && out["items"] == nil {
		out["items"] = map[string]any{}
	}
	if known, ok := out["properties"].(map[string]any); ok {
		if list := required(in["required"], known); len(list) > 0 {
			out["required"] = list
		}
	}
	return out
}

func (r *refiner) schemas(value any, depth int, refs []string) (out []any) {
	list, _ := value.([]any)
	for _, v := range list {
		if r.left > 0 {
			out = append(out, r.schema(v, depth+1, refs))
		}
	}
	return out
}

// properties copies properties with names that every provider accepts.
func (r *refiner) properties(value any, depth int, refs []string) map[string]any {
	in, _ := value.(map[string]any)
	out := make(map[string]any, len(in))
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if name != "" && len(name) <= longestName && strings.Trim(plain(name), "_") != "" && plain(strings.ReplaceAll(name, ".", "_")) == strings.ReplaceAll(name, ".", "_") && r.left > 0 {
			out[name] = r.schema(in[name], depth+1, refs)
		}
	}
	return out
}

// describe adds the description of a reference.
func describe(out, in map[string]any) map[string]any {
	if text, ok := in["description"].(string); ok {
		out["description"] = clean(text, maxDescription)
	}
	return out
}

// required returns the names that the properties have.
func required(value any, known map[string]any) (out []any) {
	list, _ := value.([]any)
	for _, v := range list {
		if name, ok := v.(string); ok && known[name] != nil && !slices.Contains(out, v) {
			out = append(out, name)
		}
	}
	return out
}

// resolve returns the schema at a reference within the same document; nil: there is none.
func (r *refiner) resolve(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	var at any = r.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// missing returns the required properties of a schema of [schemaOf] that arguments lack, each as a problem.
func missing(schema json.RawMessage, arguments map[string]json.RawMessage) (problems []string) {
	var s struct{ Required []string }
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	for _, name := range s.Required {
		if _, there := arguments[name]; !there {
			problems = append(problems, fmt.Sprintf("the required field %q is missing", name))
		}
	}
	return problems
}
