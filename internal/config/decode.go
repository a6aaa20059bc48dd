package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/redact"
)

// longestName limits names that the user chooses, and so the keys of all nested values.
const longestName = 256

// decoder merges a file into settings that already hold the weaker layers.
type decoder struct {
	*source
	config  *Config
	env     *environment
	project bool
	errs    *Errors
	fields  map[reflect.Type][]field
	set     map[string]bool // the keys that this file sets
}

// place is the position of a value.
type place struct {
	key   string
	field field
	quiet bool // an element of a list; the decoder records the whole list
}

func (d *decoder) file() {
	object, err := d.parse()
	if err != nil {
		d.errs.add(err)
		return
	}
	d.object(object, reflect.ValueOf(&d.config.Settings).Elem(), place{})
	d.settle()
}

// settle gives the long and the short form of a role the same value.
func (d *decoder) settle() {
	c := d.config
	long, short := d.set["roles.small"], d.set["small_model"]
	switch {
	case long && short:
		d.failAt("small_model", "is the short form of roles.small, and both are set; keep one of them")
	case long:
		c.SmallModel = c.Roles["small"]
		delete(c.origins, "small_model")
	case short:
		if c.Roles == nil {
			c.Roles = map[string]string{}
		}
		c.Roles["small"] = c.SmallModel
		delete(c.origins, "roles.small")
	}
}

func (d *decoder) fail(v *hujson.Value, p place, format string, args ...any) bool {
	if d.errs.full() {
		d.errs.More++
		return false
	}
	d.errs.add(d.errorAt(v.StartOffset, p.key, fmt.Sprintf(format, args...)))
	return false
}

// failAt adds a mistake at a key.
func (d *decoder) failAt(key, message string) bool {
	return d.fail(&hujson.Value{StartOffset: d.config.offsets[key]}, place{key: key}, "%s", message)
}

func (d *decoder) record(v *hujson.Value, p place, shown string) {
	d.set[p.key] = true
	if p.quiet {
		return
	}
	d.config.origins[p.key] = Origin{Key: p.key, Value: shown, Where: fmt.Sprintf("%s:%d", d.source.file, d.line(v.StartOffset)+1)}
}

// value decodes any value and reports whether it is valid.
func (d *decoder) value(v *hujson.Value, dst reflect.Value, p place) bool {
	switch dst.Type() {
	case reflect.TypeFor[redact.Value]():
		return d.reference(v, dst, p)
	case reflect.TypeFor[time.Duration]():
		return d.duration(v, dst, p)
	case reflect.TypeFor[Rule]():
		return d.rule(v, dst, p)
	case reflect.TypeFor[Hooks]():
		return d.hooks(v, dst, p)
	case reflect.TypeFor[models.Key]():
		if v.Value.Kind() == '"' {
			p.field.is = "secret"
			return d.reference(v, dst.FieldByName("Key"), p)
		}
	}
	switch dst.Kind() {
	case reflect.Pointer:
		to := reflect.New(dst.Type().Elem())
		if !d.value(v, to.Elem(), p) {
			return false
		}
		dst.Set(to)
		return true
	case reflect.Struct:
		o, ok := v.Value.(*hujson.Object)
		return d.is(ok, v, p, "an object in braces") && d.object(o, dst, p)
	case reflect.Map:
		o, ok := v.Value.(*hujson.Object)
		return d.is(ok, v, p, "an object in braces") && d.mapping(o, dst, p)
	case reflect.Slice:
		a, ok := v.Value.(*hujson.Array)
		return d.is(ok, v, p, "a list in brackets") && d.list(v, a, dst, p)
	case reflect.String:
		return d.text(v, dst, p)
	case reflect.Bool:
		kind := v.Value.Kind()
		if !d.is(kind == 't' || kind == 'f', v, p, "true or false") {
			return false
		}
		dst.SetBool(kind == 't')
		d.record(v, p, strconv.FormatBool(kind == 't'))
		return true
	}
	return d.number(v, dst, p)
}

func (d *decoder) is(ok bool, v *hujson.Value, p place, expected string) bool {
	return ok || d.fail(v, p, "expected %s, found %s", expected, kindName(v))
}

func (d *decoder) object(o *hujson.Object, dst reflect.Value, p place) bool {
	t := dst.Type()
	known, ok := d.fields[t]
	if !ok {
		known = fieldsOf(t)
		d.fields[t] = known
	}
	ok = true
	for m, name := range d.members(o, p) {
		i := slices.IndexFunc(known, func(f field) bool { return f.name == name })
		below := place{key: join(p.key, name)}
		if i < 0 {
			ok = d.unknown(m, name, known, p)
			continue
		}
		below.field = known[i]
		switch {
		case below.field.layer == "user" && d.project:
			ok = d.fail(&m.Name, below, "a project cannot set this; it belongs in your own configuration, %s", d.config.UserFile)
		default:
			ok = d.value(&m.Value, dst.FieldByIndex(below.field.index), below) && ok
		}
	}
	return d.together(dst, p) && ok
}

func (d *decoder) unknown(m *hujson.ObjectMember, name string, known []field, p place) bool {
	if d.errs.full() {
		d.errs.More++
		return false
	}
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	hint := meant(name, names)
	if hint == "" {
		hint = "; known here: " + strings.Join(names, ", ")
	}
	return d.fail(&m.Name, p, "unknown key %s%s", clip(name), hint)
}

// together checks the conditions that involve several fields of a struct.
func (d *decoder) together(dst reflect.Value, p place) bool {
	switch v := dst.Addr().Interface().(type) {
	case *models.Provider:
		if v.APIKey.IsSet() && v.APIKeys != nil {
			key := p.key + ".api_keys"
			return d.failAt(key, "api_key is also set; keep one of them")
		}
	case *models.Key:
		if _, there := d.config.offsets[p.key+".key"]; !there {
			return d.failAt(p.key, `has no "key"`)
		}
	}
	return true
}

// members yields the members of an object with their names. A repeated name is a mistake.
func (d *decoder) members(o *hujson.Object, p place) func(func(*hujson.ObjectMember, string) bool) {
	return func(yield func(*hujson.ObjectMember, string) bool) {
		seen := make(map[string]bool, len(o.Members))
		for i := range o.Members {
			m := &o.Members[i]
			name := m.Name.Value.(hujson.Literal).String()
			switch {
			case len(name) > longestName:
				d.fail(&m.Name, p, "a key is longer than %d bytes", longestName)
				continue
			case seen[name]:
				d.fail(&m.Name, place{key: join(p.key, name)}, "the key occurs twice")
				continue
			}
			seen[name] = true
			d.config.offsets[join(p.key, name)] = m.Name.StartOffset
			if !yield(m, name) {
				return
			}
		}
	}
}

// mapping decodes an object with keys that the user chooses.
func (d *decoder) mapping(o *hujson.Object, dst reflect.Value, p place) bool {
	if dst.IsNil() {
		dst.Set(reflect.MakeMap(dst.Type()))
	}
	ok := true
	keys, _ := rules(p.field.keys)
	for m, name := range d.members(o, p) {
		below := place{key: join(p.key, name), field: p.field}
		if !keys.ok(name) {
			ok = d.fail(&m.Name, below, "expected %s as a key", keys.expect)
			continue
		}
		if is := p.field.keys; is == "provider" || is == "plainref" {
			d.config.named = append(d.config.named, named{is, name, spot{d.source, m.Name.StartOffset, below.key}})
		}
		elem := reflect.New(dst.Type().Elem()).Elem()
		if before := dst.MapIndex(reflect.ValueOf(name)); before.IsValid() {
			elem.Set(before) // the value of a weaker layer
		}
		if d.value(&m.Value, elem, below) {
			dst.SetMapIndex(reflect.ValueOf(name), elem)
		} else {
			ok = false
		}
	}
	return ok
}

// list decodes a list, which replaces or extends the list of a weaker layer.
func (d *decoder) list(v *hujson.Value, a *hujson.Array, dst reflect.Value, p place) bool {
	out := reflect.MakeSlice(dst.Type(), len(a.Elements), len(a.Elements))
	words := dst.Type().Elem().Kind() == reflect.String
	adds := p.field.layer == "adds" && d.project
	first := 0
	if adds {
		first = dst.Len()
	}
	ok := true
	for i := range a.Elements {
		key := fmt.Sprintf("%s[%d]", p.key, first+i)
		d.config.offsets[key] = a.Elements[i].StartOffset
		ok = d.value(&a.Elements[i], out.Index(i), place{key: key, field: p.field, quiet: words}) && ok
	}
	if !ok {
		return false
	}
	if p.field.is == "ref" && len(a.Elements) == 0 {
		return d.fail(v, p, "is empty; name at least one model")
	}
	if keys, are := out.Interface().([]models.Key); are && !d.nameKeys(keys, v, p) {
		return false
	}
	if adds {
		if d.config.Own == nil {
			d.config.Own = map[string]int{}
		}
		d.config.Own[p.key] = first
		out = reflect.AppendSlice(dst, out)
	}
	dst.Set(out)
	if words {
		d.record(v, p, fmt.Sprint(out.Interface()))
	}
	return true
}

// rule decodes a permission rule. The decoder does not parse its text.
func (d *decoder) rule(v *hujson.Value, dst reflect.Value, p place) bool {
	if !d.is(v.Value.Kind() == '"', v, p, "a rule in quotes, such as \"shell(go test *)\"") {
		return false
	}
	text := strings.TrimSpace(v.Value.(hujson.Literal).String())
	if text == "" {
		return d.fail(v, p, "the rule is empty")
	}
	where := fmt.Sprintf("%s:%d", d.source.file, d.line(v.StartOffset)+1)
	dst.Set(reflect.ValueOf(Rule{Text: text, Project: d.project, Where: where}))
	d.record(v, p, text)
	return true
}

// hooks adds the hooks of the file. Their reader reports the mistakes in them.
func (d *decoder) hooks(v *hujson.Value, dst reflect.Value, p place) bool {
	o, ok := v.Value.(*hujson.Object)
	if !d.is(ok, v, p, "an object in braces") {
		return false
	}
	plain := v.Clone()
	plain.Standardize()
	plain.Minimize()
	dst.Set(reflect.Append(dst, reflect.ValueOf(HookLayer{File: d.source.file, Project: d.project, JSON: plain.Pack()})))
	d.record(v, p, fmt.Sprintf("of %d events", len(o.Members)))
	return true
}

// nameKeys gives each unnamed key its position as a name.
func (d *decoder) nameKeys(keys []models.Key, v *hujson.Value, p place) bool {
	if len(keys) == 0 {
		return d.fail(v, p, "is empty; add a key, or remove the setting")
	}
	seen := map[string]bool{}
	for i := range keys {
		if keys[i].Name == "" {
			keys[i].Name = strconv.Itoa(i + 1)
		}
		if seen[keys[i].Name] {
			return d.fail(v, p, "has two keys with the name %q; rename one of them", keys[i].Name)
		}
		seen[keys[i].Name] = true
	}
	return true
}

// text decodes a string without references.
func (d *decoder) text(v *hujson.Value, dst reflect.Value, p place) bool {
	if !d.is(v.Value.Kind() == '"', v, p, "a string") {
		return false
	}
	s := v.Value.(hujson.Literal).String()
	if known := words(dst.Type()); known != nil {
		if !slices.Contains(known, s) {
			return d.fail(v, p, "unknown value %s%s; expected one of %s", clip(s), meant(s, known), strings.Join(known, ", "))
		}
		if d.wider(dst, p, s, known) {
			at := d.errorAt(v.StartOffset, p.key, fmt.Sprintf("%s is ignored: a project can only make %s narrower; to widen it, change your own configuration, %s",
				s, dst.String(), d.config.UserFile))
			d.config.Warnings = append(d.config.Warnings, at.Error())
			return true
		}
	} else if r, ok := rules(p.field.is); ok && !r.ok(s) {
		switch {
		case strings.Contains(s, "$") && d.project:
			return d.fail(v, p, "a project cannot refer to variables or commands; such a value belongs in your own configuration, %s",
				d.config.UserFile)
		case strings.Contains(s, "$"):
			return d.fail(v, p, "expected %s; references with $ are not supported here", r.expect)
		}
		return d.fail(v, p, "expected %s, found %s", r.expect, clip(s))
	}
	if is := p.field.is; is == "model" || is == "ref" || is == "profile" {
		d.config.named = append(d.config.named, named{is, s, spot{d.source, v.StartOffset, p.key}})
	}
	set := s
	if p.field.is == "cache" && s == "auto" {
		set = string(llm.CacheAuto)
	}
	dst.SetString(set)
	d.record(v, p, s)
	return true
}

// wider reports whether a project would widen a setting with ordered values.
func (d *decoder) wider(dst reflect.Value, p place, s string, known []string) bool {
	return d.project && p.field.layer == "narrow" && slices.Index(known, s) > slices.Index(known, dst.String())
}

func (d *decoder) reference(v *hujson.Value, dst reflect.Value, p place) bool {
	if !d.is(v.Value.Kind() == '"', v, p, "a string") {
		return false
	}
	value, err := d.env.value(p.field.is, v.Value.(hujson.Literal).String(), spot{d.source, v.StartOffset, p.key})
	if err != nil {
		return d.fail(v, p, "%s", err)
	}
	dst.Set(reflect.ValueOf(value))
	d.record(v, p, value.String())
	return true
}

func (d *decoder) duration(v *hujson.Value, dst reflect.Value, p place) bool {
	if !d.is(v.Value.Kind() == '"', v, p, `a duration in quotes, such as "120s" or "10m"`) {
		return false
	}
	s := v.Value.(hujson.Literal).String()
	x, ok := parseDuration(s)
	if !ok {
		return d.fail(v, p, `expected a duration such as "120s" or "10m", found %s`, clip(s))
	}
	return d.put(v, dst, p, float64(x), s, reflect.ValueOf(x))
}

func (d *decoder) number(v *hujson.Value, dst reflect.Value, p place) bool {
	whole := dst.Kind() != reflect.Float64
	expected := "a number"
	if whole {
		expected = "a whole number"
	}
	if !d.is(v.Value.Kind() == '0', v, p, expected) {
		return false
	}
	s := string(v.Value.(hujson.Literal))
	x, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || whole && math.Abs(x) > 1<<53:
		return d.fail(v, p, "the number is too large")
	case whole && x != math.Trunc(x):
		return d.fail(v, p, "expected a whole number, found %s", clip(s))
	case whole && dst.OverflowInt(int64(x)):
		return d.fail(v, p, "the number is too large")
	}
	return d.put(v, dst, p, x, s, reflect.ValueOf(x).Convert(dst.Type()))
}

// decimal formats a number without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// put sets a number that is within its bounds and not wider than the user's value.
func (d *decoder) put(v *hujson.Value, dst reflect.Value, p place, x float64, shown string, to reflect.Value) bool {
	duration := dst.Type() == reflect.TypeFor[time.Duration]()
	switch lo, hi := p.field.min, p.field.max; {
	case lo != nil && x < *lo && duration:
		return d.fail(v, p, "expected a duration longer than 0")
	case lo != nil && x < *lo && *lo < 1 && *lo > 0:
		return d.fail(v, p, "expected more than 0, found %s", clip(shown))
	case lo != nil && x < *lo:
		return d.fail(v, p, "expected at least %s, found %s", decimal(*lo), clip(shown))
	case hi != nil && x > *hi:
		return d.fail(v, p, "expected at most %s, found %s", decimal(*hi), clip(shown))
	case d.project && p.field.layer == "narrow" && !dst.IsZero() && dst.Convert(reflect.TypeFor[float64]()).Float() < x:
		at := d.errorAt(v.StartOffset, p.key, fmt.Sprintf("%s is ignored: a project can only make the limit of %v narrower; to widen it, change your own configuration, %s",
			shown, dst.Interface(), d.config.UserFile))
		d.config.Warnings = append(d.config.Warnings, at.Error())
		return true
	}
	dst.Set(to)
	d.record(v, p, shown)
	return true
}

// join appends a name to a key. If the name is not a plain word, join quotes it in brackets.
func join(key, name string) string {
	switch {
	case !isName(name) && name != "$schema" || strings.Contains(name, "."):
		return key + "[" + strconv.Quote(name) + "]"
	case key == "":
		return name
	}
	return key + "." + name
}
