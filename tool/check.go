package tool

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// ArgumentsError lists all problems of the arguments of a call, so that a model can fix them at once.
type ArgumentsError struct {
	Tool      string   // the name of the tool
	Malformed bool     // the arguments are not JSON, most often because the answer was cut
	Problems  []string // at least one; each names the place, such as "edits[0].path", and the expected value
}

// Code returns "tool.arguments".
func (e *ArgumentsError) Code() string { return "tool.arguments" }

func (e *ArgumentsError) Error() string {
	what := "the arguments do not fit"
	if e.Malformed {
		what = "the arguments are not valid JSON"
	}
	if len(e.Problems) == 1 {
		return fmt.Sprintf("%s: %s: %s", e.Tool, what, e.Problems[0])
	}
	return fmt.Sprintf("%s: %s:\n- %s", e.Tool, what, strings.Join(e.Problems, "\n- "))
}

// maxProblems bounds the error. The next call reports the remaining problems.
const maxProblems = 20

// check returns the canonical form of arguments that satisfy the schema: compact, with members in the order of the schema and values
// of its types. The canonical form of a canonical form is the same.
func check(tool string, s *jsonschema.Schema, arguments string) (json.RawMessage, error) {
	text := unfence(arguments)
	if text == "" {
		text = "{}"
	}
	value, err := parse(text)
	if err != nil {
		return nil, &ArgumentsError{Tool: tool, Malformed: true, Problems: []string{malformed(text, err)}}
	}
	if value == nil {
		value = map[string]any{}
	}
	var c checker
	out := c.value(nil, s, "", value)
	if len(c.problems) > 0 {
		return nil, &ArgumentsError{Tool: tool, Problems: c.problems}
	}
	return out, nil
}

// checker compares a value with a schema and writes the canonical form.
type checker struct{ problems []string }

func (c *checker) problem(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + ": " + text
	}
	switch {
	case len(c.problems) < maxProblems:
		c.problems = append(c.problems, text)
	case len(c.problems) == maxProblems:
		c.problems = append(c.problems, "and more")
	}
}

func (c *checker) value(out []byte, s *jsonschema.Schema, path string, v any) []byte {
	v = adapt(s, v)
	switch v := v.(type) {
	case map[string]any:
		if s.Type == "object" {
			return c.object(out, s, path, v)
		}
	case []any:
		if s.Type == "array" {
			return c.list(out, s, path, v)
		}
	case string:
		if s.Type == "string" {
			return c.text(out, s, path, v)
		}
	case json.Number:
		if s.Type == "number" || s.Type == "integer" {
			return c.number(out, s, path, v)
		}
	case bool:
		if s.Type == "boolean" {
			return strconv.AppendBool(out, v)
		}
	}
	if s.Type == "" {
		return append(out, encode(v)...)
	}
	c.problem(path, "must be %s, not %s", wanted(s), given(v))
	return out
}

func (c *checker) object(out []byte, s *jsonschema.Schema, path string, v map[string]any) []byte {
	out = append(out, '{')
	first := true
	member := func(name string, field *jsonschema.Schema, value any) {
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(out, encode(name)...), ':')
		out = c.value(out, field, join(path, name), value)
	}
	for _, name := range s.PropertyOrder {
		switch value, ok := v[name]; {
		case ok && value != nil:
			member(name, s.Properties[name], value)
		case slices.Contains(s.Required, name):
			c.problem(join(path, name), "missing, must be %s", wanted(s.Properties[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch _, known := s.Properties[name]; {
		case known:
		case s.AdditionalProperties == nil || closed(s.AdditionalProperties):
			c.problem(path, "%s", unknownField(name, s.PropertyOrder))
		case v[name] != nil || s.AdditionalProperties.Type == "":
			member(name, s.AdditionalProperties, v[name])
		}
	}
	return append(out, '}')
}

// closed reports whether a schema allows no value.
func closed(s *jsonschema.Schema) bool { return s.Not != nil }

func (c *checker) list(out []byte, s *jsonschema.Schema, path string, v []any) []byte {
	if s.MinItems != nil && len(v) < *s.MinItems {
		c.problem(path, "must have at least %s, not %d", Count(*s.MinItems, "entry"), len(v))
	}
	if s.MaxItems != nil && len(v) > *s.MaxItems {
		c.problem(path, "must have at most %s, not %d", Count(*s.MaxItems, "entry"), len(v))
	}
	items := s.Items
	if items == nil {
		items = &jsonschema.Schema{}
	}
	out = append(out, '[')
	for i, one := range v {
		if i > 0 {
			out = append(out, ',')
		}
		out = c.value(out, items, fmt.Sprintf("%s[%d]", path, i), one)
	}
	return append(out, ']')
}

func (c *checker) text(out []byte, s *jsonschema.Schema, path, v string) []byte {
	n := utf8.RuneCountInString(v)
	switch {
	case len(s.Enum) > 0:
		return c.enum(out, s, path, v)
	case s.MinLength != nil && n == 0 && *s.MinLength > 0:
		c.problem(path, "must not be empty")
	case s.MinLength != nil && n < *s.MinLength:
		c.problem(path, "must have at least %s, not %d", Count(*s.MinLength, "character"), n)
	case s.MaxLength != nil && n > *s.MaxLength:
		c.problem(path, "must have at most %s, not %d", Count(*s.MaxLength, "character"), n)
	}
	return append(out, encode(v)...)
}

func (c *checker) enum(out []byte, s *jsonschema.Schema, path, v string) []byte {
	var names []string
	for _, one := range s.Enum {
		if name, ok := one.(string); ok {
			names = append(names, name)
		}
	}
	if slices.Contains(names, v) {
		return append(out, encode(v)...)
	}
	same := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return !strings.EqualFold(name, strings.TrimSpace(v))
	})
	if len(same) == 1 {
		return append(out, encode(same[0])...)
	}
	hint := ""
	if near := nearest(v, names); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	c.problem(path, "must be one of %s, not %s%s", quoted(names), given(v), hint)
	return out
}

func (c *checker) number(out []byte, s *jsonschema.Schema, path string, v json.Number) []byte {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		c.problem(path, "%s is too large", clip(string(v)))
		return out
	}
	text := string(v)
	if s.Type == "integer" {
		var ok bool
		if text, ok = integer(text, f); !ok {
			c.problem(path, "must be %s, not %s", wanted(s), clip(string(v)))
			return out
		}
	}
	if s.Minimum != nil && f < *s.Minimum {
		c.problem(path, "must be at least %v, not %s", *s.Minimum, clip(text))
	}
	if s.Maximum != nil && f > *s.Maximum {
		c.problem(path, "must be at most %v, not %s", *s.Maximum, clip(text))
	}
	return append(out, text...)
}

// integer returns the decimal form of an integral number: 3 for 3.0 and 3e0. It reports whether the number is integral and fits 64 bits.
func integer(text string, f float64) (string, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), true
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return strconv.FormatUint(n, 10), true
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// parse reads exactly one JSON value. Numbers keep their text.
func parse(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing(d.InputOffset())
	}
	return v, nil
}

// errTrailing is the offset of text after a complete value.
type errTrailing int64

func (errTrailing) Error() string { return "text after the end of the value" }
