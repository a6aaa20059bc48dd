package config

import (
	"reflect"
	"strconv"
)

type field struct {
	name     string
	index    []int
	typ      reflect.Type
	doc      string
	is, keys string
	layer    string
	min, max *float64
}

// fieldsOf returns the keys of a struct and of its embedded structs, in order.
func fieldsOf(t reflect.Type) []field {
	var out []field
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || f.Tag.Get("json") == "-" {
			continue
		}
		out = append(out, field{
			name: f.Tag.Get("json"), index: f.Index, typ: f.Type, doc: f.Tag.Get("doc"),
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
