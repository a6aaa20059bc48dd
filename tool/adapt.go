package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// adapt converts a value of the wrong type if it has only one possible meaning.
func adapt(s *jsonschema.Schema, v any) any {
	switch v := v.(type) {
	case string:
		return adaptText(s, v)
	case []any:
		if len(v) != 1 || s.Type == "" {
			return v
		}
		inner, isList := v[0].([]any)
		switch {
		case s.Type != "array":
			if !isList && v[0] != nil {
				return adapt(s, v[0]) // a list of one value for the value
			}
		case isList && s.Items != nil && s.Items.Type != "array" && s.Items.Type != "":
			return inner // a list within a list
		}
	case nil:
	default:
		if s.Type == "array" {
			return []any{v} // a value for a list of one value
		}
	}
	return v
}

func adaptText(s *jsonschema.Schema, v string) any {
	text := unfence(v)
	var inner any
	switch s.Type {
	case "string", "":
		return v
	case "object", "array", "boolean", "number", "integer":
		inner, _ = parse(text)
	}
	switch inner.(type) {
	case map[string]any:
		if s.Type == "object" {
			return inner
		}
		if s.Type == "array" && s.Items != nil && s.Items.Type == "object" {
			return []any{inner}
		}
	case []any:
		if s.Type == "array" {
			return inner
		}
	case bool:
		if s.Type == "boolean" {
			return inner
		}
	case json.Number:
		if s.Type == "number" || s.Type == "integer" {
			return inner
		}
	}
	if s.Type == "array" {
		return []any{v}
	}
	return v
}

// unfence removes white space and a Markdown code fence around a text.
func unfence(text string) string {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	inner, ok = strings.CutSuffix(inner, "```")
	if !ok {
		return text
	}
	if lang, rest, ok := strings.Cut(inner, "\n"); ok && !strings.ContainsAny(lang, "{[\"") {
		inner = rest
	}
	return strings.TrimSpace(inner)
}

// malformed reports where a JSON text ends early or is wrong.
func malformed(text string, err error) string {
	offset := int64(len(text))
	reason := err.Error()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	}
	if trailing, ok := errors.AsType[errTrailing](err); ok {
		offset = int64(trailing)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || offset >= int64(len(text)) && strings.Contains(reason, "unexpected end") {
		return fmt.Sprintf("the text ends within the JSON, after %d bytes (%s); send the complete arguments", len(text), around(text, len(text)))
	}
	offset = min(offset, int64(len(text)))
	line := strings.Count(text[:offset], "\n") + 1
	column := int(offset) - strings.LastIndexByte(text[:offset], '\n') - 1
	return fmt.Sprintf("line %d, column %d (%s): %s; send one JSON object", line, column, around(text, int(offset)), reason)
}

// around quotes the text before and after an offset.
func around(text string, offset int) string {
	from, to := max(0, offset-20), min(len(text), offset+10)
	if offset == len(text) {
		return fmt.Sprintf("after %q", text[from:])
	}
	return fmt.Sprintf("near %q", text[from:to])
}

// encode returns a JSON value without escapes for HTML.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte("null") // unreachable: v came from the decoder
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
