package openapi

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/tool"
)

// maxUpload bounds the bytes of a body.
const maxUpload = 32 << 20

// form is the way to write a body.
type form int

const (
	formJSON form = iota
	formURL
	formParts
	formText // a string as it is
	formFile // the bytes of a file
)

// body is the body of an operation.
type body struct {
	field, headers string // arguments; headers: of the parts, empty if no part has any
	media          string // as in the document
	form           form
	required       bool
	schema         any
	encoding       object
}

// readBody chooses the media type of a body: JSON, else a form, else the first one.
func (d *document) readBody(raw any) (*body, error) {
	o, err := d.resolve(raw)
	if err != nil {
		return nil, fmt.Errorf("its body cannot be read: %w", err)
	}
	content := fields(o["content"])
	if len(content) == 0 {
		return nil, errors.New("its body has no media type")
	}
	best, b := 100, &body{required: truth(o["required"])}
	for _, media := range slices.Sorted(maps.Keys(content)) {
		m, err := d.resolve(content[media])
		if err != nil {
			return nil, fmt.Errorf("its body cannot be read: %w", err)
		}
		if f, rank := d.formOf(media, m["schema"]); rank < best {
			best, b.media, b.form, b.schema, b.encoding = rank, media, f, m["schema"], fields(m["encoding"])
		}
	}
	if b.media == "*/*" {
		b.media = map[form]string{formJSON: "application/json", formText: "text/plain; charset=utf-8", formFile: "application/octet-stream"}[b.form]
	}
	if !strings.Contains(b.media, "/") || strings.ContainsFunc(b.media, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, fmt.Errorf("the media type of its body, %s, is invalid", quote(b.media))
	}
	if err := d.sound(b.schema); err != nil {
		return nil, fmt.Errorf("the schema of its body cannot be read: %w", err)
	}
	return b, nil
}

func (d *document) formOf(media string, schema any) (form, int) {
	s := simplifier{doc: d, nodes: maxNodes}
	f, _, _ := s.flat(schema, 0)
	text := len(kinds(f)) > 0 && kinds(f)[0] == "string" && !binary(f)
	kind, _, _ := strings.Cut(strings.ToLower(media), ";")
	switch kind = strings.TrimSpace(kind); {
	case kind == "application/json":
		return formJSON, 0
	case isJSON(kind):
		return formJSON, 1
	case kind == "multipart/form-data":
		return formParts, 2
	case kind == "application/x-www-form-urlencoded":
		return formURL, 3
	case kind == "*/*" && !text && !binary(f) && schema != nil:
		return formJSON, 6
	case isText(kind), kind == "*/*" && text:
		return formText, 4
	}
	return formFile, 5
}

func isJSON(media string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(media), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json"
}

func isText(media string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(media), ";")
	kind = strings.TrimSpace(kind)
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "xml") || strings.HasSuffix(kind, "yaml") ||
		kind == "application/graphql" || kind == "application/x-ndjson"
}

// shown returns the schema of the argument.
func (b *body) shown(d *document) object {
	switch b.form {
	case formText:
		return described(object{"type": "string"}, "body, as "+line(b.media, 60))
	case formFile:
		return object{"type": "string", "description": "path of a file in the workspace, sent as " + line(b.media, 60)}
	case formParts:
		out := d.shown(b.schema, maxSchema, true)
		if properties := fields(out["properties"]); properties != nil {
			for name := range properties {
				one, many := b.uploads(d, name)
				switch {
				case one:
					properties[name] = described(object{"type": "string"}, "path of a file in the workspace", word(fields(properties[name])["description"]))
				case many:
					properties[name] = object{"type": "array", "items": object{"type": "string"}, "description": "paths of files in the workspace"}
				}
			}
		}
		return out
	}
	return d.shown(b.schema, maxSchema, false)
}

// uploads reports whether a member of a multipart body is a file, or a list of files: bytes, or a schema without a type.
func (b *body) uploads(d *document, name string) (one, many bool) {
	s := simplifier{doc: d, nodes: maxNodes}
	f, _, _ := s.flat(b.schema, 0)
	p, known := fields(f["properties"])[name]
	if !known {
		return false, false
	}
	isFile := func(schema any) bool {
		f, _, err := s.flat(schema, 0)
		return err == nil && (binary(f) || len(kinds(f)) == 0 && f["oneOf"] == nil && f["anyOf"] == nil)
	}
	if p, _, err := s.flat(p, 0); err == nil && slices.Contains(kinds(p), "array") {
		return false, isFile(p["items"])
	}
	return isFile(p), false
}

// partHeaders returns the schema of the headers of parts; nil: no part has any.
func (b *body) partHeaders(d *document) object {
	parts := object{}
	for name := range b.encoding {
		if headers := b.headersOf(d, name); b.form == formParts && len(headers) > 0 && fits(name) {
			properties := object{}
			for _, h := range headers {
				properties[h] = object{"type": "string"}
			}
			parts[name] = object{"type": "object", "properties": properties, "additionalProperties": false}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return object{"type": "object", "properties": parts, "additionalProperties": false, "description": "headers of the parts of the body"}
}

// headersOf returns the names of the headers that a part may have.
func (b *body) headersOf(d *document, name string) (names []string) {
	e, err := d.resolve(b.encoding[name])
	if err != nil {
		return nil
	}
	for _, h := range slices.Sorted(maps.Keys(fields(e["headers"]))) {
		if isToken(h) && fits(h) && !strings.HasPrefix(strings.ToLower(h), "content-") {
			names = append(names, h)
		}
	}
	return names
}

// payload is a body without the contents of its files.
type payload struct {
	media string
	data  []byte
	file  string // instead of data
	parts []part
}

type part struct {
	header textproto.MIMEHeader
	data   []byte
	file   string // instead of data
}

// payload makes the body of a call. v is its argument.
func (d *document) payload(b *body, v any, headers object) (*payload, error) {
	switch b.form {
	case formURL:
		text, err := d.formBody(b, v)
		return &payload{media: b.media, data: []byte(text)}, err
	case formParts:
		return d.multipart(b, v, headers)
	case formText:
		text, ok := v.(string)
		if !ok {
			return nil, errors.New("it must be a text")
		}
		return &payload{media: b.media, data: []byte(text)}, nil
	case formFile:
		name, ok := v.(string)
		if !ok || name == "" {
			return nil, errors.New("it must be the path of a file")
		}
		return &payload{media: mediaOf(b.media, name), file: name}, nil
	}
	text, err := encode(v)
	return &payload{media: b.media, data: text}, err
}

// formBody writes a body as a form in a URL.
func (d *document) formBody(b *body, v any) (string, error) {
	o, ok := v.(object)
	if !ok {
		return "", errors.New("it must be an object")
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		more, err := d.formMember(b, name, o[name])
		if err != nil {
			return "", fmt.Errorf("%s: %w", tool.Clip(name, 40), err)
		}
		parts = append(parts, more...)
	}
	return strings.Join(parts, "&"), nil
}

func (d *document) formMember(b *body, name string, v any) ([]string, error) {
	e, _ := d.resolve(b.encoding[name])
	_, explode := e["explode"]
	if style := word(e["style"]); style != "" || explode || e["allowReserved"] != nil {
		p := parameter{name: name, in: "query", style: style, reserved: truth(e["allowReserved"]), explode: style == "form" || style == ""}
		if explode {
			p.explode = truth(e["explode"])
		}
		if !slices.Contains(styles["query"], style) {
			p.style = "form"
		}
		one, ok, err := valueOf(v)
		if err != nil || !ok {
			return nil, err
		}
		return p.inQuery(one)
	}
	members, repeated := v.([]any)
	if !repeated || isJSON(word(e["contentType"])) {
		members = []any{v}
	}
	var parts []string
	for _, one := range members {
		text, ok, err := memberText(one, word(e["contentType"]))
		if err != nil {
			return nil, err
		}
		if ok {
			parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(text))
		}
	}
	return parts, nil
}

// memberText returns a member of a form as a text: a scalar as it is, other values and those with such a media type as JSON.
func memberText(v any, media string) (text string, ok bool, err error) {
	if text, ok, err = scalarText(v); err == nil && !isJSON(media) {
		return text, ok, nil
	}
	out, err := encode(v)
	return string(out), err == nil, err
}

// multipart makes the parts of a body, in the order of their names.
func (d *document) multipart(b *body, v any, headers object) (*payload, error) {
	o, ok := v.(object)
	if !ok {
		return nil, errors.New("it must be an object")
	}
	p := &payload{media: "multipart/form-data"}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		extra, err := b.extra(d, name, fields(headers[name]))
		if err != nil {
			return nil, err
		}
		one, many := b.uploads(d, name)
		e, _ := d.resolve(b.encoding[name])
		media := word(e["contentType"])
		members, repeated := o[name].([]any)
		if !repeated || isJSON(media) && !many && !allObjects(members) {
			members = []any{o[name]}
		}
		for _, m := range members {
			if m == nil {
				continue
			}
			next, err := partOf(name, m, media, one || many, extra)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", tool.Clip(name, 40), err)
			}
			p.parts = append(p.parts, next)
		}
	}
	return p, nil
}

func allObjects(members []any) bool {
	return !slices.ContainsFunc(members, func(m any) bool { return fields(m) == nil })
}

// extra returns the headers of a part.
func (b *body) extra(d *document, name string, given object) (map[string]string, error) {
	out, known := map[string]string{}, b.headersOf(d, name)
	for h, v := range given {
		text, ok, err := scalarText(v)
		switch {
		case err != nil || strings.ContainsAny(text, "\r\n\x00"):
			return nil, fmt.Errorf("the header %s of the part %s is not one line of text", quote(h), quote(name))
		case !slices.Contains(known, h):
			return nil, fmt.Errorf("the part %s has no header %s", quote(name), quote(h))
		case ok:
			out[h] = text
		}
	}
	return out, nil
}

func partOf(name string, v any, media string, isFile bool, extra map[string]string) (part, error) {
	p := part{header: textproto.MIMEHeader{}}
	for h, text := range extra {
		p.header.Set(h, text)
	}
	if isFile {
		file, ok := v.(string)
		if !ok || file == "" {
			return p, errors.New("it must be the path of a file")
		}
		p.file = file
		p.header.Set("Content-Disposition", multipart.FileContentDisposition(name, filepath.Base(filepath.FromSlash(file))))
		p.header.Set("Content-Type", mediaOf(media, file))
		return p, nil
	}
	text, _, err := memberText(v, media)
	if err != nil {
		return p, err
	}
	p.data = []byte(text)
	p.header.Set("Content-Disposition", strings.TrimSuffix(multipart.FileContentDisposition(name, ""), `; filename=""`))
	switch _, scalar, err := scalarText(v); {
	case media != "" && !strings.ContainsAny(media, ",*\r\n"):
		p.header.Set("Content-Type", media)
	case err != nil || !scalar:
		p.header.Set("Content-Type", "application/json")
	}
	return p, nil
}

// mediaOf returns the media type of a file: that of its name if the list of the document allows it, else the first concrete one of the list.
func mediaOf(list, name string) string {
	own := map[string]string{
		".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".svg": "image/svg+xml",
		".pdf": "application/pdf", ".json": "application/json", ".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".xml": "application/xml",
		".html": "text/html", ".zip": "application/zip", ".gz": "application/gzip", ".mp3": "audio/mpeg", ".wav": "audio/wav", ".mp4": "video/mp4",
	}[strings.ToLower(path.Ext(name))]
	first := ""
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimSpace(one)
		pattern, _, _ := strings.Cut(one, ";")
		if ok, _ := path.Match(strings.ToLower(pattern), own); ok && own != "" {
			return own
		}
		if first == "" && one != "" && !strings.ContainsAny(one, "*\r\n") {
			if _, _, err := mime.ParseMediaType(one); err == nil {
				first = one
			}
		}
	}
	switch {
	case first != "":
		return first
	case own != "" && list == "":
		return own
	}
	return "application/octet-stream"
}

// bytes returns a body with the contents of its files, and its Content-Type.
func (a *API) bytes(p *payload) ([]byte, string, error) {
	if p.file != "" {
		data, err := a.upload(p.file, maxUpload)
		return data, p.media, err
	}
	if p.parts == nil && p.media != "multipart/form-data" {
		return p.data, p.media, nil
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(a.boundary()); err != nil {
		return nil, "", err
	}
	for _, one := range p.parts {
		data := one.data
		if one.file != "" {
			var err error
			if data, err = a.upload(one.file, maxUpload-int64(b.Len())); err != nil {
				return nil, "", err
			}
		}
		to, err := w.CreatePart(one.header)
		if err == nil {
			_, err = to.Write(data)
		}
		if err != nil {
			return nil, "", err
		}
	}
	err := w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}

// upload reads a file of the workspace.
func (a *API) upload(name string, most int64) ([]byte, error) {
	if a.o.Workspace == nil {
		return nil, tool.Codef("tool.denied", "cannot upload %s: there is no workspace", quote(name))
	}
	return a.o.Workspace.ReadFile(name, max(most, 1))
}

// files returns the files of a body.
func (p *payload) files() (names []string) {
	if p == nil {
		return nil
	}
	if p.file != "" {
		names = append(names, p.file)
	}
	for _, one := range p.parts {
		if one.file != "" {
			names = append(names, one.file)
		}
	}
	return names
}

func newBoundary() string { return "tenon-" + rand.Text() }

// decodeJSON reads the value of an argument and preserves its numbers.
func decodeJSON(raw json.RawMessage) (any, error) { return fromJSON(raw) }
