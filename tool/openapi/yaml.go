package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds the nesting of a document in YAML. JSON has the limit of encoding/json.
const maxDepth = 1000

// maxMerged bounds the members that merge keys copy.
const maxMerged = 1 << 18

// fromYAML decodes the first document of a text. Aliases share the value of their anchor, so that a small text cannot become a large value.
func fromYAML(text []byte) (_ any, err error) {
	defer func() { // the parser of foreign code must not end the program
		if p := recover(); p != nil {
			err = fmt.Errorf("it is not YAML: %v", p)
		}
	}()
	var n yaml.Node
	if err := yaml.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("it is not YAML: %s", line(strings.TrimPrefix(err.Error(), "yaml: "), 200))
	}
	y := yamlReader{values: map[*yaml.Node]any{}, open: map[*yaml.Node]bool{}}
	return y.value(&n, 0)
}

type yamlReader struct {
	values map[*yaml.Node]any // of anchors
	open   map[*yaml.Node]bool
	merged int // members
}

func (y *yamlReader) value(n *yaml.Node, depth int) (v any, err error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Anchor != "" {
		if v, known := y.values[n]; known {
			return v, nil
		}
		if y.open[n] {
			return nil, errors.New("an alias is within its own anchor")
		}
		y.open[n] = true
		defer func() { y.values[n] = v }()
	}
	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil
		}
		return y.value(n.Content[0], depth+1)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, one := range n.Content {
			if out[i], err = y.value(one, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case yaml.MappingNode:
		return y.mapping(n, depth)
	}
	return scalar(n), nil
}

func (y *yamlReader) mapping(n *yaml.Node, depth int) (any, error) {
	out := make(object, len(n.Content)/2)
	var merged []any
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		v, err := y.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.Tag == "!!merge":
			if l, ok := v.([]any); ok {
				merged = append(merged, l...)
			} else {
				merged = append(merged, v)
			}
		case key.Kind == yaml.ScalarNode:
			out[key.Value] = v
		default:
			return nil, fmt.Errorf("line %d: a key is not a text", key.Line)
		}
	}
	for _, m := range merged {
		if y.merged += len(fields(m)); y.merged > maxMerged {
			return nil, fmt.Errorf("its merge keys copy more than %d members", maxMerged)
		}
		for k, v := range fields(m) {
			if _, set := out[k]; !set {
				out[k] = v
			}
		}
	}
	return out, nil
}

// scalar returns a value as JSON would have it. A number that JSON does not know, such as 0x1F, is a text.
func scalar(n *yaml.Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value)
		}
	}
	return n.Value
}
