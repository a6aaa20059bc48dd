package config

import (
	"reflect"
	"strconv"
)

// field is a key of a struct, by its tags.
type field struct {
	name     string
	index    int
	typ      reflect.Type
	doc      string
	is, keys string
	layer    string
	min, max *float64
}

// fieldsOf returns the keys of a struct in their order.
func fieldsOf(t reflect.Type) []field {
	out := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		out = append(out, field{
			name: f.Tag.Get("json"), index: i, typ: f.Type, doc: f.Tag.Get("doc"),
			is: f.Tag.Get("is"), keys: f.Tag.Get("keys"), layer: f.Tag.Get("layer"),
			min: bound(f.Tag.Get("min")), max: bound(f.Tag.Get("max")),
		})
	}
	return out
}

func bound(tag string) *float64 {
	v, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		return nil
	}
	return &v
}
