package tool

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaFor returns the schema of A, a struct, with the limits of its tags.
func schemaFor[A any](name string) *jsonschema.Schema {
	typ := reflect.TypeFor[A]()
	if typ.Kind() != reflect.Struct {
		panic(fmt.Sprintf("tool: the arguments of %s are %s, not a struct", name, typ))
	}
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		panic(fmt.Sprintf("tool: the arguments of %s: %v", name, err))
	}
	if err := limit(schema, typ, reflect.StructTag("")); err != nil {
		panic(fmt.Sprintf("tool: the arguments of %s: %v", name, err))
	}
	return schema
}

// limit adds the limits of tags to a schema. It removes null: a model omits an optional field.
func limit(s *jsonschema.Schema, typ reflect.Type, tag reflect.StructTag) error {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if rest := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" }); len(rest) == 1 {
		s.Type, s.Types = rest[0], nil
	}
	if err := limitValue(s, tag); err != nil {
		return err
	}
	switch typ.Kind() {
	case reflect.Slice, reflect.Array:
		if s.Items != nil {
			return limit(s.Items, typ.Elem(), "")
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			return limit(s.AdditionalProperties, typ.Elem(), "")
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(typ) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			field, ok := s.Properties[name]
			if !ok || !f.IsExported() || f.Anonymous && f.Tag.Get("json") == "" {
				continue
			}
			if err := limit(field, f.Type, f.Tag); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func limitValue(s *jsonschema.Schema, tag reflect.StructTag) error {
	if values := tag.Get("enum"); values != "" {
		if s.Type != "string" {
			return fmt.Errorf("enum is for strings, not for %s", s.Type)
		}
		for v := range strings.SplitSeq(values, ",") {
			s.Enum = append(s.Enum, v)
		}
	}
	least, err := tagNumber(tag, "min")
	if err != nil {
		return err
	}
	most, err := tagNumber(tag, "max")
	if err != nil {
		return err
	}
	if least == nil && most == nil {
		return nil
	}
	switch s.Type {
	case "integer", "number":
		s.Minimum, s.Maximum = orElse(least, s.Minimum), orElse(most, s.Maximum)
	case "string":
		s.MinLength, s.MaxLength = length(least), length(most)
	case "array":
		s.MinItems, s.MaxItems = length(least), length(most)
	default:
		return fmt.Errorf("min and max are for numbers, strings and lists, not for %s", s.Type)
	}
	return nil
}

func tagNumber(tag reflect.StructTag, key string) (*float64, error) {
	text, ok := tag.Lookup(key)
	if !ok {
		return nil, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, fmt.Errorf("%s:%q is not a number", key, text)
	}
	return &n, nil
}

func orElse(a, b *float64) *float64 {
	if a != nil {
		return a
	}
	return b
}

func length(n *float64) *int {
	if n == nil {
		return nil
	}
	return new(int(*n))
}
