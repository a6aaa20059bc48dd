package modelserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// problems gathers what is wrong with a request.
type problems struct {
	rules Rules
	list  []error
}

// maxProblems bounds the reported problems; a provider would report the first.
const maxProblems = 20

func (p *problems) err() error { return errors.Join(p.list...) }

// value is a JSON value and where it stands. A null counts as absent.
type value struct {
	p    *problems
	path string
	v    any
}

// parseBody reads the JSON object that a request is.
func parseBody(p *problems, body []byte) value {
	root := value{p: p}
	if !utf8.Valid(body) {
		root.fail("the body is not valid UTF-8")
		return root
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if err := dec.Decode(&root.v); err != nil {
		root.fail("the body is not valid JSON: %v", err)
		return root
	}
	if _, err := dec.Token(); err != io.EOF {
		root.fail("something follows the JSON of the body")
	}
	if _, ok := root.v.(map[string]any); !ok {
		root.v = nil
		root.fail("the body is not a JSON object")
	}
	return root
}

func (v value) fail(format string, args ...any) {
	if len(v.p.list) >= maxProblems {
		return
	}
	text := fmt.Sprintf(format, args...)
	if v.path != "" {
		text = v.path + ": " + text
	}
	v.p.list = append(v.p.list, errors.New(text))
}

func (v value) set() bool { return v.v != nil }

// get returns a member of an object.
func (v value) get(name string) value {
	path := name
	if v.path != "" {
		path = v.path + "." + name
	}
	object, _ := v.v.(map[string]any)
	return value{v.p, path, object[name]}
}

// need is get for a member that must be there.
func (v value) need(name string) value {
	member := v.get(name)
	if v.set() && !member.set() {
		member.fail("Field required")
	}
	return member
}

// only reports whether v is an object, and refuses the members that are not named.
func (v value) only(names ...string) bool {
	object, ok := v.v.(map[string]any)
	if !ok {
		if v.set() {
			v.fail("Input should be an object")
		}
		return false
	}
	for name := range object {
		if !slices.Contains(names, name) && !slices.Contains(v.p.rules.Extra, name) {
			v.get(name).fail("Extra inputs are not permitted")
		}
	}
	return true
}

// items returns the members of a list.
func (v value) items() []value {
	list, ok := v.v.([]any)
	if !ok && v.set() {
		v.fail("Input should be a list")
	}
	out := make([]value, len(list))
	for i, item := range list {
		out[i] = value{v.p, fmt.Sprintf("%s[%d]", v.path, i), item}
	}
	return out
}

// some is items of a list that must have one.
func (v value) some() []value {
	items := v.items()
	if len(items) == 0 && v.set() {
		v.fail("Input should have at least one item")
	}
	return items
}

func (v value) isString() bool { _, ok := v.v.(string); return ok }
func (v value) isObject() bool { _, ok := v.v.(map[string]any); return ok }
func (v value) isList() bool   { _, ok := v.v.([]any); return ok }

func (v value) str() string {
	s, ok := v.v.(string)
	if !ok && v.set() {
		v.fail("Input should be a string")
	}
	return s
}

// filled is str of a string that must have more than white space.
func (v value) filled() string {
	s := v.str()
	if v.set() && strings.TrimSpace(s) == "" {
		v.fail("text must contain non-whitespace text")
	}
	return s
}

func (v value) oneOf(values ...string) string {
	s := v.str()
	if v.set() && !slices.Contains(values, s) {
		v.fail("Input should be one of %q, not %q", values, s)
	}
	return s
}

func (v value) matches(pattern func() *regexp.Regexp) string {
	s := v.str()
	if v.set() && !pattern().MatchString(s) {
		v.fail("%q should match the pattern %s", s, pattern())
	}
	return s
}

// object is for a member that must be an object of any shape.
func (v value) object() {
	if v.set() && !v.isObject() {
		v.fail("Input should be an object")
	}
}

func (v value) boolean() bool {
	b, ok := v.v.(bool)
	if !ok && v.set() {
		v.fail("Input should be true or false")
	}
	return b
}

// number returns the number that v is, which must be in [low, high].
func (v value) number(low, high float64) float64 {
	n, ok := v.v.(json.Number)
	if !ok {
		if v.set() {
			v.fail("Input should be a number")
		}
		return 0
	}
	f, err := n.Float64()
	if err != nil || f < low || f > high {
		v.fail("Input should be from %v to %v, not %v", low, high, n)
	}
	return f
}

// integer is number for whole numbers.
func (v value) integer(low, high int64) int64 {
	f := v.number(float64(low), float64(high))
	if f != math.Trunc(f) {
		v.fail("Input should be a whole number")
	}
	return int64(f)
}

// strings refuses all but a list of strings.
func (v value) strings() []string {
	var out []string
	for _, item := range v.items() {
		out = append(out, item.str())
	}
	return out
}

// base64 returns what v encodes, which must be something.
func (v value) base64() []byte {
	s := v.str()
	if !v.set() {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		v.fail("invalid base64 data: %v", err)
	} else if len(data) == 0 {
		v.fail("the data is empty")
	}
	return data
}

// picture checks the bytes of an image against the type that they are said to be of. Unknown bytes pass.
func (v value) picture(mime string) {
	data := v.base64()
	found := http.DetectContentType(data)
	if strings.HasPrefix(found, "image/") && found != mime {
		v.fail("image does not match the provided media type %s: it is %s", mime, found)
	}
}

// raw returns v as JSON.
func (v value) raw() json.RawMessage {
	if !v.set() {
		return nil
	}
	data, err := json.Marshal(v.v)
	if err != nil {
		return nil
	}
	return data
}

// quiet returns v for reading without complaints.
func (v value) quiet() value { return value{&problems{rules: v.p.rules}, v.path, v.v} }
