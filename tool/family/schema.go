package family

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tenon-agent/tenon/llm"
)

// property is an argument in a schema.
type property struct {
	name   string
	schema json.RawMessage
}

// properties returns the arguments of a schema in their order.
func properties(schema json.RawMessage) []property {
	var s struct {
		Properties json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &s) // a schema that is no object has no arguments
	return propertiesIn(s.Properties)
}

func propertiesIn(object json.RawMessage) (all []property) {
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, _ := d.Token() // valid JSON: it has been decoded
		p := property{name: name.(string)}
		_ = d.Decode(&p.schema)
		all = append(all, p)
	}
	return all
}

// argumentsOf returns the names of the arguments of a schema, by their plain spelling.
func argumentsOf(schema json.RawMessage) map[string]string {
	all := make(map[string]string)
	for _, p := range properties(schema) {
		all[plain(p.name)] = p.name
	}
	return all
}

// offered returns the definition of a tool in a form.
func (f *Dialect) offered(o form) llm.Tool {
	t := f.known[o.tool]
	t.Name, t.Grammar = o.name, o.grammar
	if o.text != "" {
		t.Description = o.text
	} else {
		t.Description = f.words(t.Description, o)
	}
	if o.schema != "" {
		t.Schema = json.RawMessage(o.schema)
	} else {
		t.Schema = f.reshape(t.Schema, renames(o.arguments, " "), o.only)
	}
	return t
}

// reshape returns a schema of an object with other names for its properties.
func (f *Dialect) reshape(schema json.RawMessage, by []rename, only string) json.RawMessage {
	var s map[string]json.RawMessage
	if len(by) == 0 && only == "" && !bytes.ContainsRune(schema, '`') || json.Unmarshal(schema, &s) != nil {
		return schema
	}
	all := propertiesIn(s["properties"])
	var required []string
	_ = json.Unmarshal(s["required"], &required)
	out := []byte{'{'}
	for _, p := range all {
		r := renameOf(by, p.name)
		if r.theirs == "" || only != "" && !slices.Contains(strings.Fields(only), p.name) {
			required = slices.DeleteFunc(required, func(n string) bool { return n == p.name })
			continue
		}
		if i := slices.Index(required, p.name); i >= 0 {
			required[i] = r.theirs
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, encode(r.theirs)...), ':'), f.property(p, r, by)...)
	}
	s["properties"] = append(out, '}')
	if delete(s, "required"); len(required) > 0 {
		s["required"] = json.RawMessage(encode(required))
	}
	return ordered(s)
}

// property returns the schema of one argument in the words of the family.
func (f *Dialect) property(p property, r rename, by []rename) json.RawMessage {
	var s map[string]json.RawMessage
	special := r.theirs == "sandbox_permissions" || r.theirs == "end_line" || r.times > 1 || r.members != nil
	if !special && !bytes.ContainsRune(p.schema, '`') || json.Unmarshal(p.schema, &s) != nil {
		return p.schema
	}
	if r.theirs == "sandbox_permissions" {
		s["type"], s["enum"] = json.RawMessage(`"string"`), json.RawMessage(`["use_default","require_escalated"]`)
	}
	if items := s["items"]; r.members != nil && items != nil {
		s["items"] = f.reshape(items, r.members, "")
	}
	var text string
	if json.Unmarshal(s["description"], &text) == nil {
		text = backticked().ReplaceAllStringFunc(f.words(text, form{}), func(word string) string {
			return "`" + cmp.Or(renameOf(by, strings.Trim(word, "`")).theirs, strings.Trim(word, "`")) + "`"
		})
	}
	if r.times > 1 {
		text = number().ReplaceAllStringFunc(strings.ReplaceAll(strings.ReplaceAll(text, "seconds", "milliseconds"), "Seconds", "Milliseconds"), func(n string) string { return n + "000" })
		for _, limit := range []string{"minimum", "maximum"} {
			if n, err := strconv.ParseInt(string(s[limit]), 10, 64); err == nil {
				s[limit] = json.RawMessage(strconv.FormatInt(n*r.times, 10))
			}
		}
		delete(s, "minimum")
	}
	if r.theirs == "end_line" {
		text = "last line, from 1"
	}
	if text != "" {
		s["description"] = json.RawMessage(encode(text))
	}
	return ordered(s)
}

// The patterns are compiled when they are needed, because a compilation takes longer than the rest of [New].
var (
	backticked = pattern("`[a-z_]+`")
	number     = pattern(`\b[1-9][0-9]*\b`)
	sentence   = pattern(`(?s).+?(?:[.!?](?: |\n+|$)|\n+|$)`)
)

func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// words returns a description in the words of the family. It drops sentences about tools that the family is not offered. Names are between
// backticks.
func (f *Dialect) words(text string, o form) string {
	if f.family == "" || !strings.Contains(text, "`") {
		return text
	}
	by := renames(o.arguments, " ")
	text = sentence().ReplaceAllStringFunc(text, func(one string) string {
		for _, word := range backticked().FindAllString(one, -1) {
			word = strings.Trim(word, "`")
			if _, tool := f.known[word]; tool && f.Name(word) == "" || !tool && renameOf(by, word).theirs == "" {
				return ""
			}
		}
		return one
	})
	return strings.TrimSpace(backticked().ReplaceAllStringFunc(text, func(word string) string {
		word = strings.Trim(word, "`")
		if _, tool := f.known[word]; tool {
			return "`" + f.Name(word) + "`"
		}
		return "`" + renameOf(by, word).theirs + "`"
	}))
}

// renameOf returns the rename of an argument; without one, its own name.
func renameOf(by []rename, own string) rename {
	if i := slices.IndexFunc(by, func(r rename) bool { return r.own == own }); i >= 0 {
		return by[i]
	}
	return rename{own: own, theirs: own, times: 1}
}

// ordered encodes a schema with its members in the usual order.
func ordered(s map[string]json.RawMessage) json.RawMessage {
	usual := []string{"type", "properties", "items", "description", "enum"}
	out := []byte{'{'}
	for _, name := range append(usual, slices.Sorted(maps.Keys(s))...) {
		value, ok := s[name]
		if !ok {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, encode(name)...), ':'), value...)
		delete(s, name)
	}
	return append(out, '}')
}

// plain returns a name without its style: oldstring for old_string and oldString. An option such as -A stays as it is.
func plain(name string) string {
	if strings.HasPrefix(name, "-") {
		return name
	}
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
