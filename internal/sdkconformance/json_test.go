package sdkconformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
)

type object = map[string]any

func parsed(t *testing.T, data []byte) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatalf("%v: %.200s", err, data)
	}
	return o
}

// differences returns the paths at which two values differ.
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
			x, inTheirs := a[name]
			y, inOurs := b[name]
			switch below := path + "." + name; {
			case !inTheirs:
				out = append(out, "only ours: "+below)
			case !inOurs:
				out = append(out, "only theirs: "+below)
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
	if x, y := fmt.Sprint(theirs), fmt.Sprint(ours); x != y {
		return []string{fmt.Sprintf("%s: %.200s is not ours: %.200s", path, x, y)}
	}
	return nil
}
