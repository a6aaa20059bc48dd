package openapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// styleCase is a call of styles.json with its request, or one that must not be sent.
type styleCase struct {
	ID, Operation   string
	Arguments       json.RawMessage
	Credentials     map[string]any
	Variables       map[string]string `json:"server_variables"`
	Given           string
	Kind, Why, Rule string
	Request         struct {
		Method, Host, Target string
		Headers              map[string]string
		Body                 *string
		Base64               string `json:"body_base64"`
	}
}

func styleCases(t *testing.T) (cases, refused []styleCase) {
	t.Helper()
	var all struct{ Cases, Refused []styleCase }
	data, err := os.ReadFile("testdata/styles-expected.json")
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Cases) < 61 || len(all.Refused) < 8 {
		t.Fatalf("%d cases, %d refused", len(all.Cases), len(all.Refused))
	}
	return all.Cases, all.Refused
}

// recorder answers every request and keeps the last one.
type recorder struct {
	last   *http.Request
	body   []byte
	status int
	header http.Header
	answer string
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	r.last = q
	r.body = nil
	if q.Body != nil {
		r.body, _ = io.ReadAll(q.Body)
	}
	header := r.header
	if header == nil {
		header = http.Header{}
	}
	if r.status == 0 {
		r.status = 204
	}
	return &http.Response{StatusCode: r.status, Header: header, Body: io.NopCloser(strings.NewReader(r.answer)), Request: q}, nil
}

// options returns the options of a case.
func (c styleCase) options(t *testing.T, ws *workspace.Workspace, r *recorder) Options {
	t.Helper()
	document, err := os.ReadFile("testdata/styles.json")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Name: "styles", Document: document, Transport: r, Workspace: ws, Variables: c.Variables, Auth: map[string]Credential{}}
	given := c.Credentials
	switch {
	case strings.HasPrefix(c.Given, "the document was read from http"):
		o.Base = strings.TrimPrefix(c.Given, "the document was read from ")
	case c.Given == "credential user a:b":
		given = map[string]any{"basic": []any{"a:b", "x"}}
	case strings.HasPrefix(c.Given, "server variable region="):
		o.Variables = map[string]string{"region": strings.TrimPrefix(c.Given, "server variable region=")}
	}
	for id, v := range given {
		one := Credential{}
		secret, _ := v.(string)
		if pair, ok := v.([]any); ok {
			one.User, secret = pair[0].(string), pair[1].(string)
		}
		one.Secret = func(context.Context) (string, error) { return secret, nil }
		o.Auth[id] = one
	}
	return o
}

// call prepares and runs a call with arguments that have the names of the document.
func (c styleCase) call(t *testing.T, o Options) error {
	t.Helper()
	a, err := New(o)
	if err != nil {
		return err
	}
	a.boundary = func() string { return "tenon-boundary" }
	for _, one := range a.Tools() {
		x := one.(*operationTool)
		if x.op.id != c.Operation {
			continue
		}
		call, err := one.Prepare(t.Context(), string(c.translated(t, x.op, o.Workspace)))
		if err != nil {
			return err
		}
		if again, err := one.Prepare(t.Context(), string(call.Arguments)); err != nil || !bytes.Equal(again.Arguments, call.Arguments) {
			t.Errorf("the canonical arguments %s are not a fixed point: %v", call.Arguments, err)
		}
		_, err = call.Run(t.Context(), nil)
		return err
	}
	for _, p := range a.Problems() {
		for _, id := range p.Operations {
			if id == c.Operation {
				return tool.Codef("x", "%s", p.Reason)
			}
		}
	}
	t.Fatalf("%s is neither a tool nor a problem", c.Operation)
	return nil
}

// translated gives the arguments the names of the tool, and writes their files.
func (c styleCase) translated(t *testing.T, o *operation, ws *workspace.Workspace) []byte {
	t.Helper()
	v, err := decodeJSON(c.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	given, out := v.(object), object{}
	for _, p := range o.parameters {
		if one, ok := given[p.name]; ok {
			out[p.field] = one
		}
	}
	if o.body != nil {
		if one, ok := given["body"]; ok {
			out[o.body.field] = writeFiles(t, ws, one)
		}
		if one, ok := given["headers"]; ok {
			out[o.body.headers] = one
		}
	}
	text, err := encode(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// writeFiles writes each {"$file": ...} and puts its path there.
func writeFiles(t *testing.T, ws *workspace.Workspace, v any) any {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = writeFiles(t, ws, v[i])
		}
	case object:
		if f := fields(v["$file"]); f != nil {
			name := word(f["name"])
			if name == "" {
				name = "file"
			}
			data, err := base64.StdEncoding.DecodeString(word(f["base64"]))
			if err == nil {
				err = os.WriteFile(filepath.Join(ws.Dir(), name), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			return name
		}
		for k := range v {
			v[k] = writeFiles(t, ws, v[k])
		}
	}
	return v
}

// differs are the cases in which the standards leave a choice and Tenon chooses otherwise than the table: it sends headers as they are, because
// servers expect dates and entity tags there.
var differs = map[string]map[string]string{"S52": {"X-S": "a b,c"}}

// Each call of the table makes exactly its request.
func TestStyles(t *testing.T) {
	t.Parallel()
	cases, _ := styleCases(t)
	for _, c := range cases {
		t.Run(c.ID+c.Operation, func(t *testing.T) {
			t.Parallel()
			ws, err := workspace.Open(t.TempDir(), workspace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Close()
			r := &recorder{}
			if err := c.call(t, c.options(t, ws, r)); err != nil {
				t.Fatal(err)
			}
			want := c.Request
			if r.last.Method != want.Method || r.last.URL.Host != want.Host || r.last.URL.RequestURI() != want.Target {
				t.Errorf("%s %s %s\nwant %s %s %s", r.last.Method, r.last.URL.Host, r.last.URL.RequestURI(), want.Method, want.Host, want.Target)
			}
			headers := map[string]string{}
			for name := range r.last.Header {
				if name != "User-Agent" && name != "Accept" {
					headers[name] = r.last.Header.Get(name)
				}
			}
			wanted := map[string]string{}
			for name, v := range want.Headers {
				if name != "Content-Length" {
					wanted[http.CanonicalHeaderKey(name)] = v
				}
			}
			if other := differs[c.ID]; other != nil {
				wanted = other
			}
			if !reflect.DeepEqual(headers, wanted) {
				t.Errorf("headers %v\nwant    %v", headers, wanted)
			}
			body := []byte(nil)
			if want.Body != nil {
				body = []byte(*want.Body)
			}
			if want.Base64 != "" {
				if body, err = base64.StdEncoding.DecodeString(want.Base64); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(r.body, body) {
				t.Errorf("body %q\nwant %q", r.body, body)
			}
			if r.last.ContentLength != int64(len(body)) {
				t.Errorf("Content-Length is %d, want %d", r.last.ContentLength, len(body))
			}
		})
	}
}

// Calls without a defined request, or with a dangerous one, are errors, and nothing leaves.
func TestRefused(t *testing.T) {
	t.Parallel()
	_, refused := styleCases(t)
	for _, c := range refused {
		t.Run(c.ID+c.Operation, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			err := c.call(t, c.options(t, nil, r))
			if err == nil {
				t.Fatalf("accepted, although %s", c.Why)
			}
			if r.last != nil {
				t.Errorf("sent %s", r.last.URL)
			}
			t.Log(err)
		})
	}
}
