package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tenon-agent/tenon/internal/spelling"
)

// join returns the path of a member.
func join(path, name string) string {
	if !validName(name) {
		return fmt.Sprintf("%s[%q]", path, clip(name))
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// wanted describes the values of a schema.
func wanted(s *jsonschema.Schema) string {
	switch s.Type {
	case "":
		return "a value"
	case "array":
		if s.Items != nil && s.Items.Type != "" {
			return "a list of " + s.Items.Type + "s"
		}
		return "a list"
	case "object":
		return "an object"
	case "integer":
		return "an integer"
	case "string":
		if len(s.Enum) > 0 {
			return fmt.Sprintf("one of %v", s.Enum)
		}
	}
	return "a " + s.Type
}

// given describes a value.
func given(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "a list of " + Count(len(v), "entry")
	case string:
		return "the string " + fmt.Sprintf("%q", clip(v))
	case json.Number:
		return "the number " + clip(v.String())
	case bool:
		return fmt.Sprintf("%t", v)
	}
	return fmt.Sprintf("%T", v)
}

func clip(text string) string { return Clip(text, 40) }

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(out, ", ")
}

func unknownField(name string, known []string) string {
	switch near := nearest(name, known); {
	case near != "":
		return fmt.Sprintf("unknown field %q; did you mean %q?", clip(name), near)
	case len(known) == 0:
		return fmt.Sprintf("unknown field %q; there are no fields", clip(name))
	default:
		return fmt.Sprintf("unknown field %q; the fields are %s", clip(name), quoted(known))
	}
}

// nearest returns the most similar known name, or "".
func nearest(name string, known []string) string {
	best, score := "", 0.0
	for _, k := range known {
		if s := likeness(name, k); s > score {
			best, score = k, s
		}
	}
	if score < 0.5 {
		return ""
	}
	return best
}

// likeness is 1 for names of the same words, and 0 for names without anything in common.
func likeness(a, b string) float64 {
	a = a[:min(len(a), 64)]
	wa, wb := words(a), words(b)
	shared := 0
	for _, w := range wa {
		if slices.Contains(wb, w) {
			shared++
		}
	}
	byWord := float64(shared)/float64(max(1, min(len(wa), len(wb)))) - 0.01*float64(max(len(wa), len(wb))-shared)
	ja, jb := strings.Join(wa, ""), strings.Join(wb, "")
	ra, rb := []rune(ja), []rune(jb)
	byLetter := 1 - float64(spelling.Distance(ja, jb))/float64(max(1, len(ra), len(rb)))
	if abbreviates(ra, rb) {
		byLetter = max(byLetter, 0.6)
	}
	return max(byWord, byLetter)
}

// words splits a name at underscores, hyphens and capitals.
func words(name string) []string {
	var b strings.Builder
	low := false
	for _, r := range name {
		if unicode.IsUpper(r) && low {
			b.WriteByte(' ')
		}
		low = unicode.IsLower(r)
		if r == '_' || r == '-' || r == '.' {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// abbreviates reports whether a is b without some letters, such as cmd for command.
func abbreviates(a, b []rune) bool {
	if len(a) < 3 || len(b) == 0 || a[0] != b[0] {
		return false
	}
	for _, r := range b {
		if len(a) > 0 && a[0] == r {
			a = a[1:]
		}
	}
	return len(a) == 0
}
