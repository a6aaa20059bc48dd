package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// The limits of a document.
const (
	MaxDocument   = 16 << 20 // bytes
	maxOperations = 5000
	maxReferences = 32 // in a row
)

type object = map[string]any

// document is a parsed document. Its values are those of encoding/json with numbers as json.Number; no code changes them.
type document struct {
	root     object
	siblings bool // of $ref count: since version 3.1

	elsewhere map[string]error // references that lead out of the document
}

// parse reads a document as JSON if it begins with a brace, else as YAML.
func parse(data []byte) (*document, error) {
	if len(data) > MaxDocument {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxDocument>>20)
	}
	root, err := tree(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		return nil, err
	}
	d := &document{root: root}
	if v := word(root["swagger"]); v != "" {
		return nil, fmt.Errorf("it is a Swagger %s document; convert it to OpenAPI 3", quote(v))
	}
	version := word(root["openapi"])
	switch {
	case version == "":
		return nil, errors.New(`it has no member "openapi" with a version`)
	case version != "3" && !strings.HasPrefix(version, "3."):
		return nil, fmt.Errorf("its version is %s; only OpenAPI 3 is supported", quote(version))
	}
	d.siblings = version != "3" && !strings.HasPrefix(version, "3.0")
	return d, nil
}

func tree(data []byte) (object, error) {
	text := bytes.TrimSpace(data)
	var v any
	var err error
	switch {
	case len(text) == 0:
		return nil, errors.New("it is empty")
	case text[0] == '{' || text[0] == '[':
		v, err = fromJSON(text)
	default:
		v, err = fromYAML(text)
	}
	if err != nil {
		return nil, err
	}
	root, ok := v.(object)
	if !ok {
		return nil, errors.New("it is not an object")
	}
	return root, nil
}

// fromJSON decodes one value and preserves its numbers.
func fromJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("it is not JSON: it ends too early")
		}
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("it is not JSON: there is more than one value")
	}
	return v, nil
}

// errors of references.
var (
	errElsewhere = errors.New("it refers to another file or host, and Tenon reads only the document itself")
	errCycle     = errors.New("a reference leads to itself")
	errDangling  = errors.New("a reference leads nowhere")
)

// pointer returns the value to which a reference within the document leads.
func (d *document) pointer(ref string) (any, error) {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local {
		if err := d.elsewhere[ref]; err != nil {
			return nil, err
		}
		return nil, errElsewhere
	}
	var v any = d.root
	if fragment == "" {
		return v, nil
	}
	rest, ok := strings.CutPrefix(fragment, "/")
	if !ok {
		return nil, errDangling // an anchor
	}
	for part := range strings.SplitSeq(rest, "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch at := v.(type) {
		case object:
			if v, ok = at[part]; !ok {
				return nil, errDangling
			}
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(at) {
				return nil, errDangling
			}
			v = at[i]
		default:
			return nil, errDangling
		}
	}
	return v, nil
}

// resolve returns an object of the document, after its references.
func (d *document) resolve(v any) (object, error) {
	for range maxReferences {
		o, ok := v.(object)
		if !ok {
			return nil, errors.New("a value is not an object")
		}
		ref, ok := o["$ref"].(string)
		if !ok {
			return o, nil
		}
		var err error
		if v, err = d.pointer(ref); err != nil {
			return nil, err
		}
	}
	return nil, errCycle
}

// word returns a string, or the text of a number: YAML reads the version 3.0 as one.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func truth(v any) bool { b, _ := v.(bool); return b }

func list(v any) []any { l, _ := v.([]any); return l }

func fields(v any) object { o, _ := v.(object); return o }

// quote shows a text of the document in an error or a description.
func quote(text string) string { return strconv.Quote(tool.Clip(text, 60)) }

// line makes a text of the document one line of printable characters.
func line(text string, most int) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\ufffd"), func(r rune) bool { return r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 }), " ")
	return tool.Clip(text, most)
}
