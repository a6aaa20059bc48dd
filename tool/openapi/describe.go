package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// describe sets what the model sees of an operation, but for its name.
func (a *API) describe(o *operation, raw object) error {
	taken := map[string]bool{}
	properties, required := object{}, []string{}
	for _, p := range o.parameters {
		p.field = fieldName(p.name, p.in, taken)
		s := a.doc.shown(p.schema, maxSmall, false)
		note := ""
		if p.field != p.name {
			note = fmt.Sprintf("%s parameter %s", p.in, quote(p.name))
		}
		properties[p.field] = described(maps.Clone(s), p.text, note)
		if p.required {
			required = append(required, p.field)
		}
	}
	if b := o.body; b != nil {
		b.field = fieldName("body", "request", taken)
		properties[b.field] = b.shown(a.doc)
		if b.required {
			required = append(required, b.field)
		}
		if headers := b.partHeaders(a.doc); headers != nil {
			b.headers = fieldName("part_headers", "body", taken)
			properties[b.headers] = headers
		}
	}
	answer, isJSON := a.doc.answer(raw)
	if isJSON {
		o.selects = fieldName("select", "answer", taken)
		properties[o.selects] = object{
			"type": "array", "items": object{"type": "string"},
			"description": "Members of a JSON answer to return, such as items.id; default: all",
		}
	}
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	text, err := encode(schema)
	if err != nil {
		return err
	}
	if len(text) > 4*maxSchema {
		return errors.New("the schema of its arguments is too large")
	}
	o.spec.Schema = text
	o.spec.Description = a.description(o, raw, answer)
	return nil
}

// description describes an operation: its summary, its request and its answer.
func (a *API) description(o *operation, raw object, answer string) string {
	var parts []string
	summary, more := line(word(raw["summary"]), 200), line(word(raw["description"]), 800)
	if summary != "" && !strings.HasPrefix(more, strings.TrimSuffix(summary, ".")) {
		parts = append(parts, strings.TrimSuffix(summary, ".")+".")
	}
	if more != "" {
		parts = append(parts, more)
	}
	if truth(raw["deprecated"]) {
		parts = append(parts, "Deprecated.")
	}
	parts = append(parts, fmt.Sprintf("[%s %s of the API %s]", o.method, line(o.path, 200), a.o.Name))
	if answer != "" {
		parts = append(parts, answer)
	}
	return strings.Join(parts, " ")
}

// answer describes the members of a successful answer, and reports whether an answer may be JSON.
func (d *document) answer(raw object) (text string, isJSONAnswer bool) {
	responses := fields(raw["responses"])
	for _, code := range slices.Sorted(maps.Keys(responses)) {
		if !strings.HasPrefix(code, "2") && code != "default" {
			continue
		}
		r, err := d.resolve(responses[code])
		if err != nil {
			continue
		}
		for _, media := range slices.Sorted(maps.Keys(fields(r["content"]))) {
			if !isJSON(media) {
				continue
			}
			m, err := d.resolve(fields(r["content"])[media])
			if err != nil {
				return "", true
			}
			s := simplifier{doc: d, nodes: maxNodes}
			f, _, err := s.flat(m["schema"], 0)
			if err != nil {
				return "", true
			}
			if names := membersOf(f); names != "" {
				return "Answer: {" + names + "}", true
			}
			if f, _, err = s.flat(f["items"], 0); err == nil && membersOf(f) != "" {
				return "Answer: [{" + membersOf(f) + "}]", true
			}
			return "", true
		}
	}
	return "", false
}

// membersOf lists the properties of a schema.
func membersOf(f object) string {
	const most = 20
	names := slices.Sorted(maps.Keys(fields(f["properties"])))
	for i := range names {
		names[i] = line(names[i], 40)
	}
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return strings.Join(names, ", ")
}

// encode returns the JSON of a value, without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// unknown lists the fields of arguments that an operation does not have.
func (o *operation) unknown(arguments map[string]json.RawMessage) (problems []string) {
	var known []string
	for _, p := range o.parameters {
		known = append(known, p.field)
	}
	if o.body != nil {
		known = append(known, o.body.field)
		if o.body.headers != "" {
			known = append(known, o.body.headers)
		}
	}
	if o.selects != "" {
		known = append(known, o.selects)
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if !slices.Contains(known, name) {
			problems = append(problems, fmt.Sprintf("unknown field %q; the fields are %s", tool.Clip(name, 40), strings.Join(known, ", ")))
		}
	}
	return problems
}
