package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tenon-agent/tenon/internal/spelling"
)

func join(path, name string) string {
	if !validName(name) {
		return fmt.Sprintf("%s[%q]", path, clip(name))
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

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

// nearest returns the most similar known name, or "". A name that ends in a known one, such as file_path for path, or abbreviates it is
// similar to it.
func nearest(name string, known []string) string {
	word, best, least := plain(name), "", len(name)/3+2
	for _, k := range known {
		d := spelling.Distance(word, plain(k))
		if strings.HasSuffix(word, plain(k)) || abbreviates(word, plain(k)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// plain returns a name without its style: replaceall for replace_all and replaceAll.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
}

// abbreviates reports whether a is b without some letters, such as cmd for command.
func abbreviates(a, b string) bool {
	if len(a) < 3 || b == "" || a[0] != b[0] {
		return false
	}
	for i := range len(b) {
		if a != "" && a[0] == b[i] {
			a = a[1:]
		}
	}
	return a == ""
}
