package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const thingsDocument = `
openapi: 3.0.3
servers: [{url: "http://127.0.0.1:1"}]
components:
  securitySchemes:
    oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: "http://127.0.0.1:1/token", scopes: {}}}}
paths:
  /things:
    get:
      operationId: list
      parameters: [{name: q, in: query, schema: {type: string}}]
      responses: {"200": {description: All., content: {application/json: {schema: {type: object, properties: {items: {type: array}}}}}}}
    post:
      operationId: new
      security: [{oauth: []}]
      requestBody: {content: {multipart/form-data: {schema: {type: object, properties: {file: {type: string, format: binary}, name: {type: string}}}}}}
      responses: {"201": {description: Made.}}
`

// things makes an API whose requests go to a local server.
func things(t *testing.T, o Options, serve http.HandlerFunc) map[string]tool.Tool {
	t.Helper()
	srv := httptest.NewServer(serve)
	t.Cleanup(srv.Close)
	o.Name, o.Document = "things", []byte(strings.ReplaceAll(thingsDocument, "http://127.0.0.1:1", srv.URL))
	transport := &http.Transport{DisableKeepAlives: true}
	o.Transport = transport
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]tool.Tool{}
	for _, x := range a.Tools() {
		all[strings.TrimPrefix(x.Spec().Name, "openapi__things__")] = x
	}
	return all
}

func run(t *testing.T, x tool.Tool, arguments string) (tool.Result, error) {
	t.Helper()
	call, err := x.Prepare(t.Context(), arguments)
	if err != nil {
		return tool.Result{}, err
	}
	return call.Run(t.Context(), nil)
}

// The effects of GET are its host. Other methods may change anything there.
func TestEffects(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open(root, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	secret := func(context.Context) (string, error) { return "s", nil }
	all := things(t, Options{Workspace: ws, Auth: map[string]Credential{"oauth": {User: "me", Secret: secret, TokenURL: "https://auth.example.com/token"}}}, nil)
	get, err := all["list"].Prepare(t.Context(), `{"q": "a b"}`)
	if err != nil || get.Effects.Unknown || !get.Effects.Declared() || len(get.Effects.Hosts) != 1 || !strings.HasSuffix(get.Title, "/things?q=a%20b") {
		t.Errorf("%+v, %v", get, err)
	}
	post, err := all["new"].Prepare(t.Context(), `{"body": {"file": "a.txt"}}`)
	if err != nil || !post.Effects.Unknown || len(post.Effects.Hosts) != 2 || post.Effects.Hosts[1] != "auth.example.com:443" ||
		len(post.Effects.Reads) != 1 || filepath.Base(post.Effects.Reads[0].Name) != "a.txt" {
		t.Errorf("%+v, %v", post.Effects, err)
	}
	for arguments, want := range map[string]string{
		`{"body": 5}`:              "must be an object",
		`{"body": {"file": 5}}`:    "path of a file",
		`{"x": 1}`:                 `unknown field "x"; the fields are body`,
		`{"body": {"file": "a.`:    "not valid JSON",
		`[]`:                       "array",
		`{"body":{"file":"../x"}}`: "",
	} {
		_, err := all["new"].Prepare(t.Context(), arguments)
		if err == nil && want == "" {
			continue // the gate and the workspace decide
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

// A token is fetched once, with the credentials of the client, and again after the API refused it. Nothing but the API gets it.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var log []string
	issued, status := 0, http.StatusOK
	var obtained []string
	secret := func(context.Context) (string, error) { return "client&secret", nil }
	o := Options{
		Auth:     map[string]Credential{"oauth": {User: "me", Secret: secret, Scopes: []string{"a", "b"}}},
		Obtained: func(s string) { obtained = append(obtained, s) },
	}
	all := things(t, o, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path == "/token" {
			_ = r.ParseForm()
			user, password, _ := r.BasicAuth()
			log = append(log, fmt.Sprintf("token %s %s %s %s", r.Form.Get("grant_type"), r.Form.Get("scope"), user, password))
			issued++
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"access_token": "token-%d", "token_type": "bearer", "expires_in": 3600}`, issued)
			return
		}
		log = append(log, r.Method+" "+r.Header.Get("Authorization"))
		w.WriteHeader(status)
	})
	for _, s := range []int{200, 200, 401, 200} {
		mu.Lock()
		status = s
		mu.Unlock()
		if r, err := run(t, all["new"], `{"body": {"name": "x"}}`); err != nil || r.IsError != (s == 401) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if _, err := run(t, all["list"], ""); err != nil { // it needs no credentials
		t.Fatal(err)
	}
	user := url.QueryEscape("client&secret")
	want := "token client_credentials a b me " + user + ", POST Bearer token-1, POST Bearer token-1, POST Bearer token-1, token client_credentials a b me " + user + ", POST Bearer token-2, GET "
	if got := strings.Join(log, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if strings.Join(obtained, " ") != "token-1 token-2" {
		t.Errorf("obtained %v", obtained)
	}
}

// A credential goes to no other server, also by a redirect, and is in no error.
func TestCredentialsStay(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	stolen := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { mu.Lock(); stolen++; mu.Unlock() }))
	defer other.Close()
	secret := func(context.Context) (string, error) { return "very-secret", nil }
	o := Options{Auth: map[string]Credential{"own": {Kind: Query, Name: "key", Secret: secret}}}
	all := things(t, o, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("q") {
		case "away":
			http.Redirect(w, r, other.URL, http.StatusFound)
		case "here":
			http.Redirect(w, r, "/things?q=done", http.StatusFound)
		case "die":
			panic(http.ErrAbortHandler)
		default:
			_, _ = io.WriteString(w, "done")
		}
	})
	r, err := run(t, all["list"], `{"q": "away"}`)
	if err != nil || !strings.Contains(r.Content.Text(), "does not follow") || strings.Contains(r.Content.Text(), "very-secret") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := run(t, all["list"], `{"q": "here"}`); err != nil || !strings.HasPrefix(r.Content.Text(), "done\n") {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := run(t, all["list"], `{"q": "die"}`); err == nil || strings.Contains(err.Error(), "very-secret") {
		t.Errorf("error %v", err)
	}
	if mu.Lock(); stolen > 0 {
		t.Error("another server got a request")
	}
	mu.Unlock()

	// The server of a document without encryption gets no credentials, unless the person named it.
	for _, server := range []string{"", "http://a.example.com"} {
		sent := &recorder{}
		a, err := New(Options{
			Name: "x", Server: server, Transport: sent, Auth: o.Auth,
			Document: []byte(`{"openapi":"3.0.0","servers":[{"url":"http://a.example.com"}],"paths":{"/x":{"get":{}}}}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = run(t, a.Tools()[0], ""); (err == nil) != (server != "") || (sent.last != nil) != (server != "") {
			t.Errorf("server %q: %v", server, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, body, selects, link string
		status                          int
		want                            []string
		not                             string
		isError                         bool
	}{
		{name: "text", kind: "text/plain", body: "hello", status: 200, want: []string{"hello\n[GET http://", "200 OK]"}},
		{name: "none", status: 204, want: []string{"204 No Content; no content"}},
		{name: "binary", kind: "application/zip", body: "PK\x00\x01", status: 200, want: []string{"binary, application/zip, 4 bytes"}, not: "PK"},
		{name: "failure", kind: "application/json", body: `{"error": "no"}`, status: 422, want: []string{`{"error": "no"}`, "422 Unprocessable Entity"}, isError: true},
		{name: "long", kind: "text/plain", body: strings.Repeat("x", 5000), status: 200, want: []string{"only the first 4096 bytes were read"}},
		{name: "all", kind: "application/json", body: `{"items": [{"id": 9007199254740993, "a.b": 1, "s": {"t": 1, "u": 2}}], "n": 2}`, status: 200, want: []string{`9007199254740993`}},
		{
			name: "selected", kind: "application/vnd.x+json; charset=utf-8", body: `{"items": [{"id": 9007199254740993, "s": {"t": 1, "u": 2}}, {}], "n": 2}`, status: 200,
			selects: `["items.id", "$.items[*].s.t", "no"]`, want: []string{`{"items":[{"id":9007199254740993,"s":{"t":1}},{}]}` + "\n", "selected"},
		},
		{name: "selected from a list", kind: "application/json", body: `[{"a": {"b": 1, "c": 2}, "x.y": 3}]`, status: 200, selects: `["a", "a.b", "x.y"]`, want: []string{`[{"a":{"b":1,"c":2},"x.y":3}]`}},
		{name: "link", kind: "application/json", body: `[]`, status: 200, link: `<https://a.example.com/x?page=1>; rel="prev", <https://a.example.com/x?page=3&per=10>; rel="next"`, want: []string{"there is a next page: page = 3, per = 10"}},
		{name: "cursor", kind: "application/json", body: `{"meta": {"next_cursor": "abc", "other": 1}, "has_more": true}`, status: 200, want: []string{"there may be a next page: has_more = true, next_cursor = abc"}},
		{name: "last page", kind: "application/json", body: `{"next_cursor": null, "has_more": false, "next": ""}`, status: 200, not: "next page"},
		{name: "escapes", kind: "text/plain", body: "a\x1b[31mb", status: 500, want: []string{"500 Internal Server Error"}, isError: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := things(t, Options{MaxAnswer: 4096}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				if c.link != "" {
					w.Header().Set("Link", c.link)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			arguments := "{}"
			if c.selects != "" {
				arguments = `{"select": ` + c.selects + `}`
			}
			r, err := run(t, all["list"], arguments)
			if err != nil || r.IsError != c.isError {
				t.Fatalf("%+v, %v", r, err)
			}
			text := r.Content.Text()
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in %q", w, tool.Clip(text, 500))
				}
			}
			if c.not != "" && strings.Contains(text, c.not) {
				t.Errorf("%q in %q", c.not, text)
			}
			if _, err := json.Marshal(r.Details); err != nil {
				t.Error(err)
			}
		})
	}
}

// A server that does not answer ends the call in time.
func TestDeadline(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	all := things(t, Options{Timeout: 1}, func(_ http.ResponseWriter, r *http.Request) { <-held })
	defer close(held)
	_, err := run(t, all["list"], "")
	coded, ok := errors.AsType[interface {
		error
		Code() string
	}](err)
	if !ok || coded.Code() != "tool.timeout" {
		t.Errorf("error %v", err)
	}
}

// Options that do not fit are errors.
func TestOptions(t *testing.T) {
	t.Parallel()
	secret := func(context.Context) (string, error) { return "s", nil }
	for want, o := range map[string]Options{
		"a name has":                   {Name: "a__b"},
		"http or https":                {Name: "a", Server: "ftp://a.example.com"},
		"has a user":                   {Name: "a", Server: "https://u:p@a.example.com"},
		"plain ASCII":                  {Name: "a", Server: "https://ä.example.com"},
		"needs a type":                 {Name: "a", Auth: map[string]Credential{"x": {Secret: secret}}},
		"needs the name of a header":   {Name: "a", Auth: map[string]Credential{"x": {Kind: Header, Secret: secret}}},
		"needs the https address":      {Name: "a", Auth: map[string]Credential{"x": {Kind: OAuth, User: "u", TokenURL: "http://a.example.com/t", Secret: secret}}},
		"needs the name of a paramete": {Name: "a", Auth: map[string]Credential{"x": {Kind: Query, Secret: secret}}},
	} {
		o.Document = []byte(thingsDocument)
		_, err := New(o)
		if d, ok := errors.AsType[*DocumentError](err); !ok || !strings.Contains(d.Error(), want) || d.Code() != "openapi.document" {
			t.Errorf("%s: %v", want, err)
		}
	}
}
