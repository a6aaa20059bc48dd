package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool"
)

const (
	maxTarget    = 64 << 10 // bytes of a URL
	maxRedirects = 5
	maxTitle     = 400 // characters
)

// operationTool is the tool of an operation.
type operationTool struct {
	api *API
	op  *operation
}

// Spec implements [tool.Tool].
func (t *operationTool) Spec() llm.Tool { return t.op.spec }

// request is a call before its credentials.
type request struct {
	url     *url.URL
	header  http.Header
	payload *payload
	schemes []*scheme
	selects []string
}

// Prepare implements [tool.Tool].
func (t *operationTool) Prepare(_ context.Context, arguments string) (*tool.Call, error) {
	raw, err := t.arguments(arguments)
	if err != nil {
		return nil, err
	}
	values, canonical, problems := t.values(raw)
	r := &request{header: http.Header{}}
	problems = append(problems, t.build(r, values)...)
	if len(problems) > 0 {
		return nil, &tool.ArgumentsError{Tool: t.op.spec.Name, Problems: problems}
	}
	if r.schemes, err = t.api.chosen(t.op); err != nil {
		return nil, err
	}
	effects := tool.Effects{Hosts: append([]string{hostOf(r.url)}, tokenHosts(r.schemes)...), Unknown: !t.op.reads(), Idempotent: t.op.reads()}
	slices.Sort(effects.Hosts)
	effects.Hosts = slices.Compact(effects.Hosts)
	for _, name := range r.payload.files() {
		if t.api.o.Workspace == nil {
			return nil, tool.Codef("tool.denied", "cannot upload %s: there is no workspace", quote(name))
		}
		abs, err := t.api.o.Workspace.Resolve(name)
		if err != nil {
			return nil, err
		}
		effects.Reads = append(effects.Reads, tool.File(abs))
	}
	return &tool.Call{
		Arguments: canonical, Effects: effects, Title: t.op.method + " " + tool.Clip(r.url.String(), maxTitle),
		Run: func(ctx context.Context, _ tool.Report) (tool.Result, error) { return t.run(ctx, r) },
	}, nil
}

// arguments reads the arguments of a model.
func (t *operationTool) arguments(text string) (map[string]json.RawMessage, error) {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		_, is := errors.AsType[*json.UnmarshalTypeError](err)
		return nil, &tool.ArgumentsError{Tool: t.op.spec.Name, Malformed: !is, Problems: []string{tool.Clip(err.Error(), 200)}}
	}
	return raw, nil
}

// values decodes the arguments, and returns them also in canonical form: in the order of the schema.
func (t *operationTool) values(raw map[string]json.RawMessage) (values object, canonical json.RawMessage, problems []string) {
	problems = t.op.unknown(raw)
	values = object{}
	out := []byte{'{'}
	for _, name := range t.op.fields() {
		v, err := decodeJSON(raw[name])
		if raw[name] == nil || err != nil || v == nil && !(t.op.body != nil && name == t.op.body.field) {
			continue
		}
		if b := t.op.body; b != nil && name == b.field {
			v = b.parsed(t.api.doc, v)
		}
		values[name] = v
		text, err := encode(v)
		if err != nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		key, _ := encode(name)
		out = append(append(append(out, key...), ':'), text...)
	}
	return values, append(out, '}'), problems
}

// fields returns the names of the arguments.
func (o *operation) fields() (names []string) {
	for _, p := range o.parameters {
		names = append(names, p.field)
	}
	if b := o.body; b != nil {
		names = append(names, b.field)
		if b.headers != "" {
			names = append(names, b.headers)
		}
	}
	if o.selects != "" {
		names = append(names, o.selects)
	}
	return names
}

// parsed accepts an object or a list that a model wrote as a JSON text.
func (b *body) parsed(d *document, v any) any {
	text, ok := v.(string)
	if !ok || b.form == formText || b.form == formFile {
		return v
	}
	s := simplifier{doc: d, nodes: maxNodes}
	f, _, err := s.flat(b.schema, 0)
	if err != nil || slices.Contains(kinds(f), "string") || len(kinds(f)) == 0 {
		return v
	}
	if inner, err := fromJSON([]byte(text)); err == nil {
		return inner
	}
	return v
}

// build writes the arguments into a request.
func (t *operationTool) build(r *request, values object) (problems []string) {
	problem := func(field string, err error) { problems = append(problems, field+": "+err.Error()) }
	path := t.op.path
	var query []string
	done := map[string]string{} // parameters of the path
	for _, p := range t.op.parameters {
		v, given := values[p.field]
		if !given {
			if p.required {
				problem(p.field, errors.New("missing"))
			}
			continue
		}
		one, err := p.value(v)
		if err != nil {
			problem(p.field, err)
			continue
		}
		var text string
		switch p.in {
		case "path":
			if text, err = p.inPath(one); err == nil {
				done[p.name] = text
			}
		case "query":
			var parts []string
			if parts, err = p.inQuery(one); err == nil {
				query = append(query, parts...)
			}
		case "header":
			if text, err = p.inHeader(one); err == nil {
				r.header.Set(p.name, text)
			}
		case "cookie":
			if text, err = p.inCookie(one); err == nil {
				addCookie(r.header, p.name+"="+text)
			}
		}
		if err != nil {
			problem(p.field, err)
		}
	}
	if b := t.op.body; b != nil {
		switch v, given := values[b.field]; {
		case given:
			var err error
			if r.payload, err = t.api.doc.payload(b, v, fields(values[b.headers])); err != nil {
				problem(b.field, err)
			}
		case b.required:
			problem(b.field, errors.New("missing"))
		}
	}
	if t.op.selects != "" {
		var err error
		if r.selects, err = paths(values[t.op.selects]); err != nil {
			problem(t.op.selects, err)
		}
	}
	if len(problems) > 0 {
		return problems
	}
	if path, problems = fill(path, done); len(problems) > 0 {
		return problems
	}
	target := t.op.server.Path + path
	if len(query) > 0 {
		target += "?" + strings.Join(query, "&")
	}
	u, err := url.Parse(t.op.server.Scheme + "://" + t.op.server.Host + target)
	switch {
	case err != nil:
		return []string{"the URL is invalid"}
	case len(target) > maxTarget:
		return []string{fmt.Sprintf("the URL has %d bytes, more than %d", len(target), maxTarget)}
	}
	r.url = u
	return nil
}

// value returns the value of a parameter.
func (p *parameter) value(v any) (value, error) {
	if p.media != "" && isJSON(p.media) {
		text, err := encode(v)
		return value{kind: 's', text: string(text)}, err
	}
	out, _, err := valueOf(v)
	return out, err
}

// fill puts the parameters into a path and encodes its other characters.
func fill(path string, done map[string]string) (string, []string) {
	segments := strings.Split(path[1:], "/")
	var b strings.Builder
	for _, s := range segments {
		out := ""
		for rest := s; rest != ""; {
			before, after, open := strings.Cut(rest, "{")
			name, more, closed := strings.Cut(after, "}")
			out += literal(before)
			if !open || !closed {
				break
			}
			out, rest = out+done[name], more
		}
		// A server or a proxy would read another path.
		if out == "." || out == ".." || out == "" && s != "" {
			return "", []string{fmt.Sprintf("the part %s of the path would be %q, which changes the path; give another value", s, out)}
		}
		b.WriteString("/" + out)
	}
	return b.String(), nil
}

// literal encodes the characters of a path that URLs cannot have.
func literal(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || strings.IndexByte("\"<>\\^`{}|", c) >= 0 || c == '%' && (i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2])) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// run sends a request.
func (t *operationTool) run(ctx context.Context, r *request) (tool.Result, error) {
	ctx, cancel := t.api.within(ctx)
	defer cancel()
	var data []byte
	header := r.header.Clone()
	if r.payload != nil {
		var media string
		var err error
		if data, media, err = t.api.bytes(r.payload); err != nil {
			return tool.Result{}, err
		}
		header.Set("Content-Type", media)
	}
	shown := r.url.String()
	q, err := http.NewRequestWithContext(ctx, t.op.method, shown, bytes.NewReader(data))
	if err != nil {
		return tool.Result{}, err
	}
	if r.payload == nil {
		q.Body, q.ContentLength, q.GetBody = http.NoBody, 0, nil
	}
	q.Header = header
	q.Header.Set("User-Agent", "tenon")
	q.Header.Set("Accept", "application/json, */*;q=0.8")
	if err := t.api.authorize(ctx, q, r.schemes); err != nil {
		return tool.Result{}, err
	}
	answer, err := t.api.client.Do(q)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%s %s: %w", t.op.method, shown, cause(ctx, err))
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusUnauthorized {
		t.api.forget(r.schemes)
	}
	return t.api.result(ctx, t.op.method+" "+shown, answer, r.selects)
}

// redirect follows redirects of reading requests to the same server. Other ones are answers.
func redirect(r *http.Request, via []*http.Request) error {
	first := via[0]
	if r.Method != http.MethodGet && r.Method != http.MethodHead || len(via) > maxRedirects || first.Method != r.Method ||
		r.URL.Scheme != first.URL.Scheme || hostOf(r.URL) != hostOf(first.URL) {
		return http.ErrUseLastResponse
	}
	r.Header.Del("Referer") // the URL may have a key
	return nil
}

// cause returns an error of the transport without the URL, which may have a key.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
