package openai

import (
	"slices"

	"github.com/tenon-agent/tenon/llm/wire"
)

// maxStrictDepth is the maximum nesting of an enforced schema.
const maxStrictDepth = 10

// strictSchema reports whether the server can enforce a schema token by token: it has only keywords that the server enforces, every
// object is closed, and all properties of every object are required. In that mode the server refuses every other schema.
func strictSchema(schema []byte) bool {
	var root map[string]any
	if wire.Unmarshal(schema, &root) != nil || root["type"] != "object" || root["anyOf"] != nil {
		return false
	}
	return strictNode(root, 0)
}

func strictNode(v any, depth int) bool {
	node, ok := v.(map[string]any)
	if !ok || depth > maxStrictDepth || !strictKind(node) {
		return false
	}
	for name, member := range node {
		if !strictMember(name, member, depth) {
			return false
		}
	}
	if !isObjectSchema(node) {
		return true
	}
	properties, _ := node["properties"].(map[string]any)
	required, _ := node["required"].([]any)
	for name := range properties {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return node["additionalProperties"] == false
}

// strictKind reports whether the node has a type: a node that allows everything cannot be enforced.
func strictKind(node map[string]any) bool {
	for _, name := range []string{"type", "$ref", "anyOf", "enum", "const"} {
		if node[name] != nil {
			return true
		}
	}
	return false
}

func isObjectSchema(node map[string]any) bool {
	if types, ok := node["type"].([]any); ok {
		return slices.Contains(types, any("object"))
	}
	return node["type"] == "object" || node["properties"] != nil
}

// strictMember reports whether the server enforces or ignores a keyword, and whether the schemas in it qualify.
func strictMember(name string, v any, depth int) bool {
	switch name {
	case "properties", "$defs", "definitions":
		all, ok := v.(map[string]any)
		for _, one := range all {
			ok = ok && strictNode(one, depth+1)
		}
		return ok
	case "anyOf":
		all, ok := v.([]any)
		for _, one := range all {
			ok = ok && strictNode(one, depth+1)
		}
		return ok
	case "items":
		return strictNode(v, depth+1)
	case "format":
		return slices.Contains([]any{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}, v)
	case "type", "required", "additionalProperties", "description", "title", "enum", "const", "$ref", "$schema",
		"pattern", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems":
		return true
	default:
		return false
	}
}
