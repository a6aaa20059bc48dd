package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// value is a scalar, a list or an object of scalars, as texts. Null is no value: it leaves no trace.
type value struct {
	kind  byte // 's', 'l' or 'o'
	text  string
	items []string
	pairs [][2]string // sorted by name
}

// valueOf makes a value of JSON. ok is false for null.
func valueOf(v any) (out value, ok bool, err error) {
	switch v := v.(type) {
	case nil:
		return value{}, false, nil
	case []any:
		out.kind = 'l'
		for _, one := range v {
			text, ok, err := scalarText(one)
			if err != nil {
				return value{}, false, err
			}
			if ok {
				out.items = append(out.items, text)
			}
		}
		return out, true, nil
	case object:
		out.kind = 'o'
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, ok, err := scalarText(v[name])
			if err != nil {
				return value{}, false, err
			}
			if ok {
				out.pairs = append(out.pairs, [2]string{name, text})
			}
		}
		return out, true, nil
	}
	out.kind = 's'
	out.text, _, err = scalarText(v)
	return out, true, err
}

// scalarText returns the text of a scalar: that of JSON, without the quotes of a string. ok is false for null.
func scalarText(v any) (text string, ok bool, err error) {
	switch v := v.(type) {
	case nil:
		return "", false, nil
	case string:
		return v, true, nil
	case json.Number:
		return v.String(), true, nil
	case bool:
		return fmt.Sprint(v), true, nil
	}
	return "", false, errors.New("a list or an object within it has no defined form")
}

// escape percent-encodes a text after RFC 6570.
func escape(text string, reserved bool) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case unreserved(c), reserved && strings.IndexByte(":/?@!$'()*+,;=", c) >= 0:
			b.WriteByte(c)
		case reserved && c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}

func unreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// list joins the parts of a list or an object: a,b or name=value,name=value for an object that explodes, else name,value.
func (v value) list(separator string, explode bool, encode func(string) string) string {
	var parts []string
	for _, one := range v.items {
		parts = append(parts, encode(one))
	}
	for _, p := range v.pairs {
		if explode {
			parts = append(parts, encode(p[0])+"="+encode(p[1]))
		} else {
			parts = append(parts, encode(p[0]), encode(p[1]))
		}
	}
	return strings.Join(parts, separator)
}

// inPath returns the text of a parameter in a path.
func (p *parameter) inPath(v value) (string, error) {
	encode := func(s string) string { return escape(s, p.reserved) }
	if v.kind != 's' && len(v.items)+len(v.pairs) == 0 {
		return "", errors.New("it is empty, which leaves a gap in the path")
	}
	text := encode(v.text)
	switch p.style {
	case "label":
		if v.kind == 's' {
			return "." + text, nil
		}
		separator := ","
		if p.explode {
			separator = "."
		}
		return "." + v.list(separator, p.explode, encode), nil
	case "matrix":
		name := escape(p.name, false)
		if v.kind == 's' {
			return ";" + name + assigned(text), nil
		}
		if !p.explode {
			return ";" + name + assigned(v.list(",", false, encode)), nil
		}
		var b strings.Builder
		for _, one := range v.items {
			b.WriteString(";" + name + assigned(encode(one)))
		}
		for _, pair := range v.pairs {
			b.WriteString(";" + encode(pair[0]) + assigned(encode(pair[1])))
		}
		return b.String(), nil
	}
	if v.kind == 's' {
		return text, nil
	}
	return v.list(",", p.explode, encode), nil
}

// assigned returns =text, or nothing for an empty text, as the style matrix has it.
func assigned(text string) string {
	if text == "" {
		return ""
	}
	return "=" + text
}

// inQuery returns the parts of a query, which ampersands join.
func (p *parameter) inQuery(v value) ([]string, error) {
	encode := func(s string) string { return escape(s, p.reserved) }
	name := escape(p.name, false)
	one := func(text string) []string { return []string{name + "=" + text} }
	if v.kind == 's' {
		if p.style == "deepObject" {
			return nil, errors.New("it must be an object")
		}
		return one(encode(v.text)), nil
	}
	if len(v.items)+len(v.pairs) == 0 {
		return nil, nil
	}
	delimiter := map[string]string{"spaceDelimited": " ", "pipeDelimited": "|"}[p.style]
	switch {
	case p.style == "deepObject" && v.kind == 'l':
		return nil, errors.New("it must be an object")
	case p.style == "deepObject":
		var out []string
		for _, pair := range v.pairs {
			out = append(out, name+escape("["+pair[0]+"]", false)+"="+encode(pair[1]))
		}
		return out, nil
	case p.explode:
		var out []string
		for _, item := range v.items {
			out = append(out, name+"="+encode(item))
		}
		for _, pair := range v.pairs {
			out = append(out, escape(pair[0], false)+"="+encode(pair[1]))
		}
		return out, nil
	case delimiter != "":
		if strings.Contains(v.list("", false, func(s string) string { return s }), delimiter) {
			return nil, fmt.Errorf("a member has %q, which separates members here", delimiter)
		}
		return one(v.list(escape(delimiter, false), false, encode)), nil
	}
	return one(v.list(",", false, encode)), nil
}

// inHeader returns the value of a header, as it is: the appendix D of the specification warns of percent-encoding there.
func (p *parameter) inHeader(v value) (string, error) {
	text := v.text
	if v.kind != 's' {
		text = v.list(",", p.explode, func(s string) string { return s })
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "", errors.New("a header cannot have line breaks and control characters")
	}
	return strings.TrimSpace(text), nil
}

// inCookie returns the value of a cookie.
func (p *parameter) inCookie(v value) (string, error) {
	encode := func(s string) string { return escape(s, false) }
	switch {
	case v.kind == 's':
		return encode(v.text), nil
	case p.explode:
		return "", errors.New("a list or an object has no defined form in a cookie of this API")
	}
	return v.list(",", false, encode), nil
}
