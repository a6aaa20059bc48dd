package recorded

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

type object = map[string]any

// walk visits every object within v, the outer ones first.
func walk(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		visit(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], visit)
		}
	case []any:
		for _, one := range v {
			walk(one, visit)
		}
	}
}

// pair is two bodies that are to mean the same.
type pair struct {
	dialect
	theirs, ours object
	own          bool // ours has our own reading of the answer before, not what was recorded to go back
}

// compareRequests holds what our client sent against what was recorded. After the allowed differences nothing may differ.
func (c *tally) compareRequests(t *testing.T, d dialect, i *interaction, r reading, own bool) {
	t.Helper()
	if got, want := r.address, addressOf(d, i.Request.URL); got != want {
		t.Errorf("the request goes to %s, not to %s", got, want)
	}
	p := &pair{dialect: d, own: own, theirs: parsed(t, []byte(i.Request.Body)), ours: parsed(t, r.sent)}
	if d.protocol == "converse" {
		p.ours = fromConverse(t, p.ours)
	}
	for _, a := range allowances() {
		if slices.Contains(strings.Fields(a.in), d.protocol) && a.allow(p) {
			c.allowed[a.name]++
		}
	}
	for _, difference := range differences("", p.theirs, p.ours) {
		t.Errorf("%s (our own answer goes back: %t)", difference, own)
	}
}

func parsed(t *testing.T, body []byte) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	return o
}

// addressOf returns the address that ours must be.
func addressOf(d dialect, recorded string) string {
	switch {
	case d.protocol == "converse": // the same model by another operation
		recorded = strings.Replace(recorded, "/invoke-with-response-stream", "/converse-stream", 1)
		return strings.Replace(recorded, "/invoke", "/converse", 1)
	case d.provider == "vertex": // the version that is not beta has all that we use
		return strings.Replace(recorded, "/v1beta1/", "/v1/", 1)
	default:
		return recorded
	}
}

// differences says where two values differ.
func differences(path string, theirs, ours any) []string {
	switch a := theirs.(type) {
	case object:
		b, ok := ours.(object)
		if !ok {
			break
		}
		names := map[string]bool{}
		for _, o := range []object{a, b} {
			for name := range o {
				names[name] = true
			}
		}
		var out []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			below := path + "." + name
			switch x, y := a[name], b[name]; {
			case !has(a, name):
				out = append(out, fmt.Sprintf("%s: only ours: %.200s", below, written(y)))
			case !has(b, name):
				out = append(out, fmt.Sprintf("%s: only theirs: %.200s", below, written(x)))
			default:
				out = append(out, differences(below, x, y)...)
			}
		}
		return out
	case []any:
		b, ok := ours.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		var out []string
		for n := range a {
			out = append(out, differences(fmt.Sprint(path, "[", n, "]"), a[n], b[n])...)
		}
		return out
	}
	if x, y := string(written(theirs)), string(written(ours)); x != y {
		return []string{fmt.Sprintf("%s: theirs %.500s, ours %.500s", path, x, y)}
	}
	return nil
}

func has(o object, name string) bool {
	_, ok := o[name]
	return ok
}

// at returns the value at a path, or nil if there is none.
func at(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			o, _ := v.(object)
			v = o[s]
		case int:
			list, _ := v.([]any)
			if s >= len(list) {
				return nil
			}
			v = list[s]
		}
	}
	return v
}

// objects returns the objects of a list.
func objects(v any) []object {
	list, _ := v.([]any)
	var out []object
	for _, one := range list {
		if o, ok := one.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

// drop deletes a member that has that value.
func drop(o object, name string, value any) bool {
	if !has(o, name) || string(written(o[name])) != string(written(value)) {
		return false
	}
	delete(o, name)
	return true
}
