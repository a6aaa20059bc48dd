package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// The limits of the schemas that models see.
const (
	maxSchema       = 10 << 10 // bytes of a body
	maxSmall        = 2 << 10  // bytes of a parameter
	maxLevels       = 7
	maxNodes        = 2000 // of a document, per attempt
	maxMerges       = 16   // of a schema with its references, on one way down
	maxAlternatives = 8
	maxEnum         = 50
)

// shown returns the schema of a value in the part of JSON Schema that all providers accept: one type per schema, without references, and
// not larger than most. Deep parts of a large schema become values without a schema.
func (d *document) shown(schema any, most int, file bool) (out object) {
	for levels := maxLevels; levels >= 0; levels-- {
		s := simplifier{doc: d, nodes: maxNodes, file: file}
		out = s.schema(schema, levels, nil)
		text, err := json.Marshal(out)
		if err == nil && len(text) <= most && s.nodes > 0 {
			return out
		}
	}
	small := object{"description": "too large to describe; see the documentation of the API"}
	if t := out["type"]; t != nil {
		small["type"] = t
	}
	return small
}

type simplifier struct {
	doc   *document
	nodes int  // left
	file  bool // binary strings are names of files
}

// flat merges a schema with its references and with all of allOf. It also returns the references.
func (s *simplifier) flat(schema any, depth int) (out object, refs []string, err error) {
	if s.nodes--; s.nodes <= 0 || depth > maxMerges {
		return nil, nil, errCycle
	}
	o, ok := schema.(object)
	if !ok {
		return object{}, nil, nil // true, or a mistake: it allows everything
	}
	out = object{}
	add := func(part any) error {
		f, more, err := s.flat(part, depth+1)
		if err == nil {
			refs = append(refs, more...)
			merge(out, f)
		}
		return err
	}
	ref, referring := o["$ref"].(string)
	if referring {
		target, err := s.doc.pointer(ref)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, ref)
		if err := add(target); err != nil {
			return nil, nil, err
		}
	}
	for _, part := range list(o["allOf"]) {
		if err := add(part); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case !referring || s.doc.siblings:
		merge(out, o)
	case word(o["description"]) != "": // ignored by version 3.0, but helpful
		out["description"] = o["description"]
	}
	return out, refs, nil
}

// merge adds the keywords of a schema to another one.
func merge(to, from object) {
	for k, v := range from {
		switch k {
		case "$ref", "allOf":
		case "properties":
			all := maps.Clone(fields(to[k]))
			if all == nil {
				all = object{}
			}
			maps.Copy(all, fields(v))
			to[k] = all
		case "required":
			to[k] = append(slices.Clip(list(to[k])), list(v)...)
		default:
			to[k] = v
		}
	}
}

// schema simplifies a schema with so many levels below it. open are the references that it is within.
func (s *simplifier) schema(schema any, levels int, open []string) object {
	f, refs, err := s.flat(schema, 0)
	if err != nil {
		return object{"description": "any value; its schema cannot be read"}
	}
	for _, r := range refs {
		if slices.Contains(open, r) {
			return described(object{"type": firstOf(kinds(f), "object")}, "like "+line(r[strings.LastIndexByte(r, '/')+1:], 60)+" above")
		}
	}
	open = append(slices.Clip(open), refs...)
	text := []string{word(f["description"])}
	if text[0] == "" {
		text[0] = word(f["title"])
	}
	types, null := kinds(f), slices.Contains(allKinds(f), "null") || truth(f["nullable"])
	out, notes := object{}, []string(nil)
	alternatives := append(slices.Clip(list(f["oneOf"])), list(f["anyOf"])...)
	switch {
	case s.file && binary(f):
		out["type"] = "string"
		notes = append(notes, "path of a file in the workspace")
	case len(types) == 0 && len(alternatives) > 0 || len(types) == 1 && types[0] == "object" && len(alternatives) > 0 && fields(f["properties"]) == nil:
		out = s.either(alternatives, levels, open, &null)
	case len(types) > 1:
		var each []any
		for _, t := range types {
			one := maps.Clone(f)
			one["type"] = t
			delete(one, "description")
			delete(one, "title")
			delete(one, "nullable")
			each = append(each, s.schema(one, levels, open))
		}
		out["anyOf"] = each
	case len(types) == 1:
		out = s.typed(f, types[0], alternatives, levels, open)
	}
	notes = append(notes, remarks(f, out)...)
	if null {
		notes = append(notes, "or null")
	}
	return described(out, append(text, notes...)...)
}

// either simplifies alternatives. If only one remains, it is the schema.
func (s *simplifier) either(alternatives []any, levels int, open []string, null *bool) object {
	var each []any
	seen := map[string]bool{}
	for _, one := range alternatives {
		if f := fields(one); f != nil && slices.Equal(allKinds(f), []string{"null"}) {
			*null = true
			continue
		}
		if len(each) == maxAlternatives || levels == 0 {
			break
		}
		simple := s.schema(one, levels-1, open)
		text, _ := json.Marshal(simple)
		if !seen[string(text)] {
			seen[string(text)] = true
			each = append(each, simple)
		}
	}
	switch {
	case len(each) == 1:
		return each[0].(object)
	case len(each) == 0:
		return object{}
	}
	return object{"anyOf": each}
}

// typed simplifies a schema of one type.
func (s *simplifier) typed(f object, kind string, alternatives []any, levels int, open []string) object {
	out := object{"type": kind}
	switch kind {
	case "object":
		s.members(out, f, alternatives, levels, open)
	case "array":
		items := object{}
		if levels > 0 {
			items = s.schema(f["items"], levels-1, open)
		}
		out["items"] = items
		copyNumbers(out, f, "minItems", "maxItems")
	case "string":
		var names []any
		for _, v := range enumOf(f) {
			if text, ok := v.(string); ok {
				names = append(names, text)
			}
		}
		if n := len(names); n > 0 && n <= maxEnum && n == len(enumOf(f))-nulls(enumOf(f)) {
			out["enum"] = names
		}
	case "integer", "number":
		copyNumbers(out, f, "minimum", "maximum")
	}
	return out
}

// members simplifies the properties of an object.
func (s *simplifier) members(out, f object, alternatives []any, levels int, open []string) {
	properties := maps.Clone(fields(f["properties"]))
	for _, one := range alternatives { // of parts of the object
		if part, _, err := s.flat(one, 0); err == nil && properties != nil {
			for name, p := range fields(part["properties"]) {
				if properties[name] == nil {
					properties[name] = p
				}
			}
		}
	}
	shown, odd := object{}, []string(nil)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name]
		o := fields(p)
		switch {
		case levels == 0 || s.nodes <= 0, p == false, truth(o["readOnly"]):
		case !fits(name):
			odd = append(odd, quote(name))
		default:
			shown[name] = s.schema(p, levels-1, open)
		}
	}
	if len(shown) > 0 {
		out["properties"] = shown
	}
	var required []any
	for _, r := range list(f["required"]) {
		if name := word(r); shown[name] != nil && !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	if required != nil {
		out["required"] = required
	}
	switch more := f["additionalProperties"].(type) {
	case object:
		if levels > 0 && len(shown) == 0 {
			out["additionalProperties"] = s.schema(more, levels-1, open)
		}
	case bool:
		if !more && len(odd) == 0 && levels > 0 && s.nodes > 0 {
			out["additionalProperties"] = false
		}
	}
	if len(odd) > 0 {
		described(out, "also has the members "+strings.Join(odd[:min(len(odd), 20)], ", "))
	}
}

// described adds sentences to the description of a schema, as one line.
func described(out object, texts ...string) object {
	if own := word(out["description"]); own != "" {
		texts = append(texts, own)
	}
	var parts []string
	for i, t := range texts {
		if t = line(t, 300); t != "" && !slices.Contains(texts[:i], t) {
			parts = append(parts, strings.TrimSuffix(t, "."))
		}
	}
	if len(parts) > 0 {
		out["description"] = tool.Clip(strings.Join(parts, "; "), 400)
	}
	return out
}

// remarks are the constraints that a description has, because providers differ on their keywords.
func remarks(f, out object) (notes []string) {
	if format := word(f["format"]); format != "" && format != "binary" && out["anyOf"] == nil {
		notes = append(notes, "format "+line(format, 40))
	}
	if values := enumOf(f); len(values) > 0 && out["enum"] == nil {
		notes = append(notes, "one of "+texts(values, maxEnum))
	}
	if p := word(f["pattern"]); p != "" && len(p) <= 80 {
		notes = append(notes, "pattern "+line(p, 80))
	}
	if v, set := f["default"]; set && v != nil {
		if text := texts([]any{v}, 1); len(text) <= 60 {
			notes = append(notes, "default "+text)
		}
	}
	return notes
}

func texts(values []any, most int) string {
	var out []string
	for _, v := range values[:min(len(values), most)] {
		if text, err := json.Marshal(v); err == nil {
			out = append(out, tool.Clip(string(text), 60))
		}
	}
	if len(values) > most {
		out = append(out, fmt.Sprintf("and %d more", len(values)-most))
	}
	return line(strings.Join(out, ", "), 600)
}

// enumOf returns the allowed values.
func enumOf(f object) []any {
	if c, ok := f["const"]; ok {
		return []any{c}
	}
	return list(f["enum"])
}

func nulls(values []any) (n int) {
	for _, v := range values {
		if v == nil {
			n++
		}
	}
	return n
}

func copyNumbers(to, from object, names ...string) {
	for _, n := range names {
		if v, ok := from[n].(json.Number); ok {
			if _, err := v.Float64(); err == nil {
				to[n] = v
			}
		}
	}
}

// allKinds returns the types that a schema names.
func allKinds(f object) (out []string) {
	switch t := f["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, one := range t {
			if w := word(one); !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// kinds returns the types of a schema that JSON has, without null, or what its other keywords imply.
func kinds(f object) []string {
	var out []string
	for _, t := range allKinds(f) {
		if slices.Contains([]string{"object", "array", "string", "number", "integer", "boolean"}, t) {
			out = append(out, t)
		}
	}
	if out != nil || len(allKinds(f)) > 0 {
		return out
	}
	texts := func(v any) bool { _, is := v.(string); return !is && v != nil }
	switch values := enumOf(f); {
	case f["properties"] != nil:
		return []string{"object"}
	case f["items"] != nil:
		return []string{"array"}
	case len(values) > 0 && !slices.ContainsFunc(values, texts):
		return []string{"string"}
	}
	return nil
}

// binary reports whether a schema is of bytes.
func binary(f object) bool {
	if word(f["format"]) == "binary" {
		return true
	}
	media := word(f["contentMediaType"])
	return media != "" && f["contentEncoding"] == nil && !isText(media) && !isJSON(media)
}

func firstOf(values []string, otherwise string) string {
	if len(values) > 0 {
		return values[0]
	}
	return otherwise
}
