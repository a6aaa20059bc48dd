package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/redact"
)

var update = flag.Bool("update", false, "write docs/tenon.schema.json")

func TestThePublishedSchemaIsTheOneInUse(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "tenon.schema.json")
	if *update {
		if err := os.WriteFile(file, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got = bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, Schema()) {
		t.Errorf("%s is old; run go test ./internal/config -update", file)
	}
}

// resolved is the schema, ready to validate.
func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// structs yields the structs that the settings are made of.
func structs(t reflect.Type, seen map[reflect.Type]bool) []reflect.Type {
	switch t {
	case reflect.TypeFor[redact.Value](), reflect.TypeFor[time.Duration](), reflect.TypeFor[Rule](), reflect.TypeFor[Hooks]():
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return structs(t.Elem(), seen)
	case reflect.Struct:
		if seen[t] {
			return nil
		}
		seen[t] = true
		out := []reflect.Type{t}
		for f := range t.Fields() {
			out = append(out, structs(f.Type, seen)...)
		}
		return out
	}
	return nil
}

func TestEveryFieldHasItsTags(t *testing.T) {
	all := structs(reflect.TypeFor[Settings](), map[reflect.Type]bool{})
	if len(all) < 9 {
		t.Fatalf("found only %v", all)
	}
	for _, s := range all {
		for _, f := range fieldsOf(s) {
			name := s.Name() + "." + f.name
			if f.name == "" || f.doc == "" || !strings.HasSuffix(f.doc, ".") {
				t.Errorf("%s: the name and the description are %q and %q", name, f.name, f.doc)
			}
			leaf, keyed := f.typ, false
			for leaf.Kind() == reflect.Map || leaf.Kind() == reflect.Slice || leaf.Kind() == reflect.Pointer {
				keyed = keyed || leaf.Kind() == reflect.Map
				leaf = leaf.Elem()
			}
			if _, ok := rules(f.keys); ok != keyed {
				t.Errorf("%s: the keys of the map are %q", name, f.keys)
			}
			_, ruled := rules(f.is)
			switch {
			case leaf == reflect.TypeFor[redact.Value]():
				if !slices.Contains([]string{"secret", "url", "proxy", "text"}, f.is) {
					t.Errorf("%s: the value is %q", name, f.is)
				}
			case leaf.Kind() == reflect.String && words(leaf) == nil && f.name != "$schema" && !ruled:
				t.Errorf("%s: the string is %q", name, f.is)
			}
			if f.layer != "" && f.layer != "user" && f.layer != "narrow" && f.layer != "adds" {
				t.Errorf("%s: the layer is %q", name, f.layer)
			}
		}
	}
}

func TestTheSchemaHasEveryField(t *testing.T) {
	var s struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	for _, typ := range structs(reflect.TypeFor[Settings](), map[reflect.Type]bool{}) {
		properties := s.Properties
		if typ != reflect.TypeFor[Settings]() {
			properties = s.Defs[typ.Name()].Properties
		}
		var want []string
		for _, f := range reflect.VisibleFields(typ) {
			if name := f.Tag.Get("json"); !f.Anonymous && name != "-" {
				want = append(want, name)
			}
		}
		if got := slices.Sorted(maps.Keys(properties)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: got %v, want %v", typ.Name(), got, want)
		}
	}
}

func TestAFileWithEveryKeyFitsTheSchema(t *testing.T) {
	text, err := hujson.Standardize([]byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if err := resolved(t).Validate(v); err != nil {
		t.Error(err)
	}
}

// valid draws a value of a type that both the decoder and the schema take.
func valid(r *rapid.T, t reflect.Type, f field) any {
	switch t {
	case reflect.TypeFor[redact.Value]():
		if f.is == "url" || f.is == "proxy" {
			return rapid.SampledFrom([]string{"http://h", "https://u:p@h:1/v1?x", "$URL", "http://${HOST:-h}/"}).Draw(r, "url")
		}
		return rapid.SampledFrom([]string{"x", "$KEY", "${KEY:-x}", "$(echo x)", "a$$b", "a b"}).Draw(r, "value")
	case reflect.TypeFor[time.Duration]():
		return rapid.StringMatching(`[1-9][0-9]{0,4}(\.[0-9]{1,3})?(us|µs|ms|s|m|h)([1-9]s)?`).Draw(r, "duration")
	case reflect.TypeFor[Rule]():
		return rapid.SampledFrom([]string{"shell(go test *)", "edit"}).Draw(r, "rule")
	case reflect.TypeFor[Hooks]():
		one := map[string]any{"type": rapid.SampledFrom([]string{"command", "http", "other"}).Draw(r, "type"), "command": "true"}
		return map[string]any{"PreToolUse": []any{map[string]any{"matcher": "Bash", "hooks": []any{one}}}}
	case reflect.TypeFor[models.Key]():
		return map[string]any{"key": "$KEY"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return valid(r, t.Elem(), f)
	case reflect.Struct:
		return validObject(r, t)
	case reflect.Map:
		keys, _ := rules(f.keys)
		out := map[string]any{}
		for range rapid.IntRange(0, 2).Draw(r, "members") {
			if key := rapid.StringMatching(keys.pattern).Filter(keys.ok).Draw(r, "key"); key != "small" {
				out[key] = valid(r, t.Elem(), f)
			}
		}
		return out
	case reflect.Slice:
		out := []any{}
		for range rapid.IntRange(1, 3).Draw(r, "elements") {
			out = append(out, valid(r, t.Elem(), f))
		}
		return out
	case reflect.String:
		if known := words(t); known != nil {
			return rapid.SampledFrom(known).Draw(r, "word")
		}
		if f.is == "model" || f.is == "ref" { // a pool would have to exist
			ref, _ := rules("ref")
			return rapid.StringMatching(ref.pattern).Draw(r, "ref")
		}
		if text, ok := rules(f.is); ok {
			return rapid.StringMatching(text.pattern).Draw(r, "text")
		}
		return rapid.String().Draw(r, "any text")
	case reflect.Bool:
		return rapid.Bool().Draw(r, "bool")
	}
	lo := 0.0
	if f.min != nil {
		lo = *f.min
	}
	hi := lo + 1e6
	if f.max != nil {
		hi = *f.max
	}
	if t.Kind() == reflect.Float64 {
		return rapid.Float64Range(lo, hi).Draw(r, "number")
	}
	return rapid.IntRange(int(lo), int(hi)).Draw(r, "whole number")
}

func validObject(r *rapid.T, t reflect.Type) map[string]any {
	out := map[string]any{}
	for _, f := range fieldsOf(t) {
		if rapid.IntRange(0, 3).Draw(r, f.name) == 0 {
			out[f.name] = valid(r, f.typ, f)
		}
	}
	delete(out, map[reflect.Type]string{reflect.TypeFor[models.Provider](): "api_keys"}[t]) // not together with api_key
	return out
}

// loads returns what Load says about a user's file.
func loads(h *home, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		h.Fatal(err)
	}
	h.user(string(text))
	_, err = Load(h.Options)
	return err
}

func TestWhatFitsTheSchemaLoads(t *testing.T) {
	h, schema := newHome(t), resolved(t)
	rapid.Check(t, func(r *rapid.T) {
		v := asRead(r, validObject(r, reflect.TypeFor[Settings]()))
		if err := schema.Validate(v); err != nil {
			r.Fatalf("the schema refuses it: %v", err)
		}
		if err := loads(h, v); err != nil {
			r.Fatalf("Load refuses it: %v", err)
		}
	})
}

// asRead returns a value as it is after reading it from JSON.
func asRead(r *rapid.T, v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		r.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		r.Fatal(err)
	}
	return out
}

// spots returns functions that put something else in the place of one value each.
func spots(v any, put func(any)) []func(any) {
	out := []func(any){put}
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, spots(v[k], func(x any) { v[k] = x })...)
		}
	case []any:
		for i := range v {
			out = append(out, spots(v[i], func(x any) { v[i] = x })...)
		}
	}
	return out
}

func TestWhatDoesNotFitTheSchemaDoesNotLoad(t *testing.T) {
	h, schema := newHome(t), resolved(t)
	rapid.Check(t, func(r *rapid.T) {
		v := asRead(r, validObject(r, reflect.TypeFor[Settings]()))
		at := rapid.SampledFrom(spots(v, func(x any) { v = x })).Draw(r, "where")
		at(rapid.SampledFrom([]any{
			nil, -1.0, -0.5, 1e7 + 0.5, "\x00", "",
			map[string]any{"nonsense": 1.0},
			[]any{nil},
			[]any{[]any{}},
			map[string]any{"$": map[string]any{}},
			true, 3.0, "text", "a/b",
			[]any{},
			map[string]any{},
		}).Draw(r, "what"))
		schemaErr, loadErr := schema.Validate(v), loads(h, v)
		if loadErr == nil && schemaErr != nil {
			r.Fatalf("Load takes what the schema refuses: %v", schemaErr)
		}
		if schemaErr == nil && loadErr != nil && !onlyLoadKnows(loadErr) {
			r.Fatalf("Load refuses what the schema takes: %v", loadErr)
		}
	})
}

// onlyLoadKnows reports whether every mistake is of a kind that a schema cannot say.
func onlyLoadKnows(err error) bool {
	for line := range strings.Lines(err.Error()) {
		known := slices.ContainsFunc([]string{
			"there is no pool", "two keys with the name", "a $ begins no reference", "expected an address", "control character",
		}, func(s string) bool { return strings.Contains(line, s) })
		if !known {
			return false
		}
	}
	return true
}

func TestPatternsSayWhatTheRulesCheck(t *testing.T) {
	schema := resolved(t)
	patterns := map[string]*jsonschema.Resolved{}
	for _, name := range []string{"name", "provider", "model", "ref", "id", "header", "path", "host", "command", "verdict"} {
		text, _ := rules(name)
		one, err := (&jsonschema.Schema{Type: "string", Pattern: text.pattern}).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		patterns[name] = one
	}
	rapid.Check(t, func(r *rapid.T) {
		s := rapid.StringMatching(`[a-cA-B0-1./@$ _:#é*\[\]\n-]{0,8}`).Draw(r, "text")
		for name, pattern := range patterns {
			text, _ := rules(name)
			if fits := pattern.Validate(s) == nil; fits != text.ok(s) {
				r.Fatalf("%s: %q fits the pattern: %v, the rule: %v", name, s, fits, text.ok(s))
			}
		}
		d := rapid.StringMatching(`[0-2]{0,2}\.?[0-2]{0,2}(|s|ms|µs|μs|m|d)([0-9]?(s|h))?`).Draw(r, "duration")
		_, ok := parseDuration(d)
		if fits := schema.Validate(map[string]any{"providers": map[string]any{"a": map[string]any{"timeouts": map[string]any{"idle": d}}}}) == nil; fits != ok {
			r.Fatalf("the duration %q fits the pattern: %v, the parser: %v", d, fits, ok)
		}
	})
}

func TestEveryPatternIsUnderstood(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a/b": true, "": false, " ": false, "a/": false, "/a": false, "a/b c": false, "A/b": false, "a.b": true, "a/b@c": true,
	} {
		text, _ := rules("model")
		if text.ok(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if _, ok := rules("nonsense"); ok {
		t.Error("there is a rule that is not there")
	}
}

func TestEveryConstantIsAKnownWord(t *testing.T) {
	for typ, dir := range map[reflect.Type]string{
		reflect.TypeFor[llm.Thinks]():      filepath.Join("..", "..", "llm"),
		reflect.TypeFor[llm.Quirk]():       filepath.Join("..", "..", "llm"),
		reflect.TypeFor[models.Protocol](): filepath.Join("..", "..", "models"),
		reflect.TypeFor[permission.Mode](): "../../permission",

		reflect.TypeFor[SearchBackend](): ".",
	} {
		known := append(words(typ), "") // llm.ThinkDefault is what is not set
		for _, value := range constants(t, dir, typ.Name()) {
			if !slices.Contains(known, value) {
				t.Errorf("%s: %q is not in words", typ, value)
			}
		}
	}
}

// constants returns the values of the constants of a type, from the source.
func constants(t *testing.T, dir, typ string) (values []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := spec.Type.(*ast.Ident); ok && of.Name == typ {
				for _, v := range spec.Values {
					value, err := strconv.Unquote(v.(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					values = append(values, value)
				}
			}
			return true
		})
	}
	if len(values) < 4 {
		t.Fatalf("found only %q of %s", values, typ)
	}
	return values
}
