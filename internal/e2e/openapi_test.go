package e2e_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/session"
)

// The tools of real documents have schemas that every provider accepts.
func TestAPIsOfRealDocuments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../tool/openapi/testdata/*-3.*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	for n, w := range ways() {
		if w.like && !w.takes(n, 0) {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			var apis []string
			for i, name := range files {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(name, ".gz") {
					if data, err = unzip(data); err != nil {
						t.Fatal(err)
					}
				}
				file := filepath.Join(p.home, fmt.Sprintf("api%d", i))
				p.write(file, string(data))
				apis = append(apis, fmt.Sprintf(`"d%d": {"file": %q, "server": "https://api.example.com"}`, i, filepath.ToSlash(file)))
			}
			p.config(`{"models": {"` + w.ref() + `": {"context": 2000000}}, "window": {"tools": 1}, "openapi": {` + strings.Join(apis, ",") + `}}`)
			srv := w.serve(p, modelserver.Steps(modelserver.Say("done"), modelserver.Say("done")))
			for range 2 { // the second start uses the remembered tools
				if r := p.tenon("run", "--model", w.ref(), "say done"); r.code != 0 {
					t.Fatalf("exit code %d: %s", r.code, r.stderr)
				}
			}
			for _, v := range srv.Violations() {
				t.Errorf("the server does not accept a request: %v", v)
			}
			all := srv.Requests()
			if len(all) != 2 {
				t.Fatalf("%d requests", len(all))
			}
			n := 0
			for _, tool := range all[0].Tools {
				if strings.HasPrefix(tool.Name, "openapi__") {
					n++
				}
			}
			if n < 1200 {
				t.Errorf("the model has %d tools of APIs", n)
			}
			if len(all[0].Tools) != len(all[1].Tools) {
				t.Errorf("%d tools, then %d", len(all[0].Tools), len(all[1].Tools))
			}
			for i, tool := range all[0].Tools {
				if again := all[1].Tools[i]; again.Name != tool.Name || again.Description != tool.Description || !bytes.Equal(again.Schema, tool.Schema) {
					t.Fatalf("the tool %s is another one at the next start", tool.Name)
				}
			}
		})
	}
}

func unzip(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

const shopDocument = `
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: "SERVER/v1"}]
security: [{key: []}]
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
paths:
  /orders/{id}:
    get:
      operationId: getOrder
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: One., content: {application/json: {schema: {type: object}}}}}
  /orders:
    post:
      operationId: newOrder
      requestBody: {required: true, content: {application/json: {schema: {type: object, properties: {total: {type: integer}}}}}}
      responses: {"201": {description: Made.}}
`

// shop is the server of an API that keeps its requests.
type shop struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
}

func newShop(t *testing.T) *shop {
	s := &shop{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("X-Key"), body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id": 7, "total": 30, "key": "`+r.Header.Get("X-Key")+`"}`)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *shop) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// A model reads through an API whose host is listed. A change needs a rule for the operation. The key of the API appears nowhere.
func TestAModelCallsAnAPI(t *testing.T) {
	t.Parallel()
	const key = "shop-key-0123456789abcdef"
	for _, c := range []struct {
		name, rules string
		want        []string
		denied      string
	}{
		{"reads", ``, []string{"GET /v1/orders/7 " + key + " "}, "openapi__shop__newOrder"},
		{"changes by a rule", `"allow": ["openapi(shop/newOrder)"]`, []string{"GET /v1/orders/7 " + key + " ", `POST /v1/orders ` + key + ` {"total":30}`}, ""},
		{"denied by a rule", `"deny": ["openapi(shop/*)"]`, nil, "openapi__shop__getOrder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, p, w := newShop(t), newProject(t), ways()[0]
			p.env, p.secrets = append(p.env, "SHOP_KEY="+key), append(p.secrets, key)
			file := filepath.Join(p.home, "shop.yaml")
			p.write(file, strings.ReplaceAll(shopDocument, "SERVER", s.URL))
			p.config(fmt.Sprintf(`{"openapi": {"shop": {"file": %q, "auth": {"key": {"secret": "$SHOP_KEY"}}}},
				"sandbox": {"network": [%q]}, "permissions": {%s}}`, filepath.ToSlash(file), strings.TrimPrefix(s.URL, "http://"), c.rules))
			srv := w.serve(p, modelserver.Steps(
				modelserver.Call("openapi__shop__getOrder", `{"id": 7, "select": ["total", "key"]}`),
				modelserver.Call("openapi__shop__newOrder", `{"body": {"total": 30}}`),
				modelserver.Say("done"),
			))
			p.tenon("run", "--model", w.ref(), "copy order 7")
			for _, v := range srv.Violations() {
				t.Errorf("the server does not accept a request: %v", v)
			}
			if got := s.seen(); !slices.Equal(got, c.want) {
				t.Errorf("the API got %q, want %q", got, c.want)
			}
			denied, results := "", ""
			for _, e := range p.journal() {
				if m, ok := e.Body.(session.Message); ok && m.Tool != "" {
					results += m.Text() + "\n"
					if m.Outcome != session.OutcomeOK && denied == "" {
						denied = m.Tool
					}
				}
			}
			if denied != c.denied {
				t.Errorf("denied %q, want %q\n%s", denied, c.denied, results)
			}
			if c.want != nil && !strings.Contains(results, `{"key":"[hidden]","total":30}`) {
				t.Errorf("the results are\n%s", results)
			}
			p.keepsSecretOnDisk()
		})
	}
}

// Operations that take too much of the prompt hide behind two tools. Rules, the journal and the question have the name of the operation.
func TestHiddenOperations(t *testing.T) {
	t.Parallel()
	s, p, w := newShop(t), newProject(t), ways()[0]
	file := filepath.Join(p.home, "shop.yaml")
	text := strings.ReplaceAll(strings.ReplaceAll(shopDocument, "SERVER", s.URL), "security: [{key: []}]", "")
	p.write(file, strings.Replace(text, "paths:\n", "paths:\n  /more:\n    get: {operationId: more, responses: {'200': {description: It.}}}\n", 1))
	p.config(fmt.Sprintf(`{"window": {"tools": 0.000001}, "openapi": {"shop": {"file": %q}}, "sandbox": {"network": [%q]}, "permissions": {"allow": ["openapi(shop/newOrder)"], "deny": ["openapi(shop/more)"]}}`,
		filepath.ToSlash(file), strings.TrimPrefix(s.URL, "http://")))
	call := func(name, arguments string) modelserver.Step {
		return modelserver.Call("call_tool", fmt.Sprintf(`{"tool": %q, "arguments": %s}`, name, arguments))
	}
	srv := w.serve(p, modelserver.Steps(
		modelserver.Call("find_tools", `{"query": "new order"}`), call("openapi__shop__newOrder", `{"body": {"total": 30}}`), call("openapi__shop__getOrder", `{"id": 7}`),
		call("openapi__shop__more", `{}`), modelserver.Say("done")))
	p.tenon("run", "--model", w.ref(), "order it")
	for _, v := range srv.Violations() {
		t.Errorf("the server does not accept a request: %v", v)
	}
	for _, spec := range srv.Requests()[0].Tools {
		if strings.HasPrefix(spec.Name, "openapi__") {
			t.Fatalf("the model gets the tool %s", spec.Name)
		}
	}
	if got, want := s.seen(), []string{`POST /v1/orders  {"total":30}`, "GET /v1/orders/7  "}; !slices.Equal(got, want) {
		t.Errorf("the API got %q, want %q", got, want)
	}
	var outcomes []string
	for _, e := range p.journal() {
		switch b := e.Body.(type) {
		case session.Message:
			if b.Tool != "" {
				outcomes = append(outcomes, b.Tool+" "+string(b.Outcome))
			}
		case session.Decision:
			if b.Verdict == "deny" && b.As != "openapi__shop__more" {
				t.Errorf("a denial is about %+v", b)
			}
		}
	}
	if want := []string{"find_tools ", "openapi__shop__newOrder ", "openapi__shop__getOrder ", "openapi__shop__more denied"}; !slices.Equal(outcomes, want) {
		t.Errorf("the journal has %q, want %q", outcomes, want)
	}
}

// A document may have several files. A change of one of them changes the tools, and a link out of the directory is not followed.
func TestADocumentOfSeveralFiles(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	dir := filepath.Join(p.home, "api")
	p.puts(dir, "api.yaml", "openapi: 3.1.0\ninfo: {title: A, version: '1'}\nservers: [{url: 'https://api.example.com'}]\npaths:\n  /order: {$ref: paths/order.yaml}\n  /out: {$ref: out.yaml}\n")
	p.puts(dir, "paths/order.yaml", "get: {operationId: getOrder, responses: {'200': {description: It.}}}\n")
	p.puts(p.home, "out.yaml", "get: {operationId: getOut, responses: {'200': {description: It.}}}\n")
	if err := os.Symlink(filepath.Join(p.home, "out.yaml"), filepath.Join(dir, "out.yaml")); err != nil {
		t.Skip("no links here:", err)
	}
	p.config(`{"openapi": {"a": {"file": "~/api/api.yaml"}}}`)
	for range 2 {
		if r := p.tenon("openapi", "list", "a"); r.code != 0 || !strings.Contains(r.stdout, "openapi__a__getOrder") || strings.Contains(r.stdout, "getOut") {
			t.Errorf("%+v", r)
		}
	}
	p.puts(dir, "paths/order.yaml", "get: {operationId: getTheOrder, responses: {'200': {description: It.}}}\n")
	if r := p.tenon("openapi", "list", "a"); r.code != 0 || !strings.Contains(r.stdout, "openapi__a__getTheOrder") {
		t.Errorf("after a change: %+v", r)
	}
}

// A host that is not public is not reached only because a document names it, and the model does not get the tools in mode inspect.
func TestAnAPIOfThisMachine(t *testing.T) {
	t.Parallel()
	s, p, w := newShop(t), newProject(t), ways()[0]
	file := filepath.Join(p.home, "shop.yaml")
	p.write(file, strings.ReplaceAll(strings.ReplaceAll(shopDocument, "SERVER", s.URL), "security: [{key: []}]", ""))
	p.config(fmt.Sprintf(`{"openapi": {"shop": {"file": %q}}, "permissions": {"allow": ["openapi(shop/*)"]}}`, filepath.ToSlash(file)))
	srv := w.serve(p, modelserver.Steps(modelserver.Call("openapi__shop__getOrder", `{"id": 7}`), modelserver.Say("done"), modelserver.Say("done")))
	p.tenon("run", "--model", w.ref(), "get order 7")
	if got := s.seen(); len(got) > 0 {
		t.Errorf("the API got %q", got)
	}
	p.tenon("run", "--mode", "inspect", "--model", w.ref(), "get order 7")
	all := srv.Requests()
	for _, tool := range all[len(all)-1].Tools {
		if strings.HasPrefix(tool.Name, "openapi__") {
			t.Errorf("mode inspect has the tool %s", tool.Name)
		}
	}
}

// The document of an address is fetched only by command. Then starts use the copy.
func TestAnAPIWithAnAddress(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	var mu sync.Mutex
	document, fetched := strings.ReplaceAll(shopDocument, "SERVER", ""), 0
	docs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		fetched++
		_, _ = io.WriteString(w, document)
	}))
	defer docs.Close()
	p.config(`{"openapi": {"shop": {"url": "` + docs.URL + `/api/shop.yaml"}}}`)
	r := p.tenon("run", "--model", "offline", "list the files")
	if r.code != 0 || !strings.Contains(r.stderr, "tenon openapi update shop") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if mu.Lock(); fetched != 0 {
		t.Error("a start fetched the document")
	}
	mu.Unlock()
	if r := p.tenon("openapi", "update"); r.code != 0 || !strings.Contains(r.stdout, "2 tools") {
		t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	mu.Lock()
	document = "swagger: '2.0'"
	mu.Unlock()
	if r := p.tenon("openapi", "update", "shop"); r.code == 0 || !strings.Contains(r.stderr, "openapi.document") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	if r := p.tenon("openapi", "list", "shop"); !strings.Contains(r.stdout, "openapi__shop__getOrder") || !strings.Contains(r.stdout, "GET /orders/{id}") {
		t.Errorf("a document that cannot be used replaced the copy: %s%s", r.stdout, r.stderr)
	}
	if r := p.tenon("run", "--model", "offline", "list the files"); r.code != 0 || strings.Contains(r.stderr, "openapi") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
}

// A project has no say in the APIs of a person.
func TestAProjectConfiguresNoAPI(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.config(`{}`)
	p.write(filepath.Join(p.dir, "tenon.json"), `{"openapi": {"shop": {"file": "shop.yaml", "server": "https://evil.example.com"}}}`)
	if r := p.tenon("openapi"); r.code != 0 || !strings.Contains(r.stderr, "no APIs") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := p.tenon("trust", "--yes"); r.code == 0 || !strings.Contains(r.stderr, "a project cannot set this") {
		t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
}
