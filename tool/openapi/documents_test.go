package openapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func readDocument(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil && strings.HasSuffix(name, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(data)); err == nil {
			data, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Each document gives this number of tools, or an error that says why. The tools are sound, and small ones.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, server    string
		tools, problems int
		wrong           string
	}{
		{"authentik-3.0.json.gz", "", 0, 0, `none of its 875 operations can be used: admin_apps_list, admin_metrics_retrieve, admin_models_list and 872 more: the URL of its server, "/api/v3/", is relative`},
		{"authentik-3.0.json.gz", "https://auth.example.com/api/v3/", 875, 0, ""},
		{"discord-3.1.json.gz", "", 242, 0, ""},
		{"xero-accounting-3.0.yaml.gz", "", 235, 0, ""},
		{"resend-3.1.yaml.gz", "", 104, 0, ""},
		{"digitalocean-root-3.0.yaml.gz", "", 0, 0, "and 656 more: it refers to another file"},
		{"parameters-style-3.1.json", "", 23, 2, ""},
		{"petstore-3.0.yaml", "https://petstore3.swagger.io/api/v3", 19, 0, ""},
		{"schema-circular-3.0.json", "", 3, 0, ""},
		{"security-3.1.json", "", 14, 1, ""},
		{"server-variables-3.0.json", "", 4, 0, ""},
		{"tictactoe-3.1.yaml", "", 0, 0, "set server"},
		{"tictactoe-3.1.yaml", "https://ttt.example.com", 3, 0, ""},
		{"uber-2.0.json", "", 0, 0, `Swagger "2.0"`},
		{"webhook-only-3.1.yaml", "", 0, 0, ""},
		{"styles.json", "", 48, 2, ""},
		{"corners-3.1.json", "", 38, 26, ""},
		{"corners-yaml-3.0.yaml", "", 3, 0, ""},
	} {
		t.Run(c.name+c.server, func(t *testing.T) {
			t.Parallel()
			a, err := New(Options{Name: "x", Document: readDocument(t, c.name), Server: c.server})
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || len(err.Error()) > 1000 {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			problems := 0
			for _, p := range a.Problems() {
				problems += len(p.Operations)
			}
			if n := len(a.Tools()); n != c.tools || problems != c.problems {
				t.Errorf("%d tools, %d problems: %v", n, problems, a.Problems())
			}
			sound(t, a)
		})
	}
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	property = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

// sound checks that every provider accepts the specs of an API.
func sound(t testing.TB, a *API) {
	t.Helper()
	names := map[string]bool{}
	for _, x := range a.Tools() {
		s := x.Spec()
		if !toolName.MatchString(s.Name) || names[strings.ToLower(s.Name)] {
			t.Errorf("the name %q is odd, or there are two", s.Name)
		}
		names[strings.ToLower(s.Name)] = true
		if s.Description == "" || len(s.Description) > 3000 || strings.ContainsFunc(s.Description, func(r rune) bool { return r < ' ' }) {
			t.Errorf("%s has an odd description: %q", s.Name, s.Description)
		}
		if len(s.Schema) > 20<<10 {
			t.Errorf("the schema of %s has %d bytes", s.Name, len(s.Schema))
		}
		var root object
		if err := json.Unmarshal(s.Schema, &root); err != nil || root["type"] != "object" {
			t.Errorf("the schema of %s is %s", s.Name, s.Schema)
		}
		if err := soundSchema(root, 0); err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, s.Schema)
		}
	}
}

// soundSchema accepts the part of JSON Schema that all providers have.
func soundSchema(s object, depth int) error {
	if depth > 20 {
		return fmt.Errorf("it is too deep")
	}
	for k, v := range s {
		switch k {
		case "type":
			if !slices.Contains([]any{"object", "array", "string", "number", "integer", "boolean"}, v) {
				return fmt.Errorf("type %v", v)
			}
		case "description":
			if text, ok := v.(string); !ok || text == "" {
				return fmt.Errorf("description %v", v)
			}
		case "properties":
			for name, p := range v.(object) {
				if !property.MatchString(name) {
					return fmt.Errorf("property %q", name)
				}
				if err := soundSchema(p.(object), depth+1); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		case "required":
			for _, name := range v.([]any) {
				if fields(s["properties"])[name.(string)] == nil {
					return fmt.Errorf("required %v", name)
				}
			}
		case "items":
			if s["type"] != "array" {
				return fmt.Errorf("items without an array")
			}
			if err := soundSchema(v.(object), depth+1); err != nil {
				return err
			}
		case "anyOf":
			for _, one := range v.([]any) {
				if err := soundSchema(one.(object), depth+1); err != nil {
					return err
				}
			}
		case "enum":
			for _, one := range v.([]any) {
				if _, ok := one.(string); !ok || s["type"] != "string" {
					return fmt.Errorf("enum %v", v)
				}
			}
		case "additionalProperties":
			if o, ok := v.(object); ok {
				if err := soundSchema(o, depth+1); err != nil {
					return err
				}
			}
		case "minimum", "maximum", "minItems", "maxItems":
		default:
			return fmt.Errorf("keyword %s", k)
		}
	}
	if s["type"] == "array" && s["items"] == nil {
		return fmt.Errorf("array without items")
	}
	return nil
}

// The problems of each sound corner are named, and no others.
func TestCorners(t *testing.T) {
	t.Parallel()
	a, err := New(Options{Name: "x", Document: readDocument(t, "corners-3.1.json")})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range a.Tools() {
		names = append(names, strings.TrimPrefix(x.Spec().Name, "openapi__x__"))
	}
	for _, want := range []string{"ListThings", "get-thing", "get_thing", "sharedPathItem", "mutualCycle", "etc_passwd", "sameNameEverywhere", "reservedHeaders"} {
		if !slices.Contains(names, want) {
			t.Errorf("no tool %s: %v", want, names)
		}
	}
	for _, p := range a.Problems() {
		for _, id := range p.Operations {
			if slices.Contains(names, id) {
				t.Errorf("%s is a tool and a problem: %s", id, p.Reason)
			}
		}
	}
	for _, x := range a.Tools() {
		if o := x.(*operationTool).op; o.id == "sameNameEverywhere" {
			var got []string
			for _, p := range o.parameters {
				got = append(got, p.in+" "+p.field)
			}
			if !slices.Equal(got, []string{"path id", "query query_id", "header header_id", "cookie cookie_id"}) {
				t.Errorf("arguments %v", got)
			}
		} else if o.id == "trailingSlash" {
			call, err := x.Prepare(t.Context(), "")
			if err != nil || call.Title != "GET https://api.example.com/v1/trailing/" {
				t.Errorf("%v: %v", call, err)
			}
		}
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		include, exclude Filter
		want             []string
	}{
		{Filter{Tags: []string{"store"}}, Filter{}, []string{"getInventory", "placeOrder", "getOrderById", "deleteOrder"}},
		{Filter{Paths: []string{"/store"}}, Filter{Operations: []string{"placeOrder", "DELETE /store/order/{orderId}"}}, []string{"getInventory", "getOrderById"}},
		{Filter{Paths: []string{"/use"}}, Filter{}, nil},
		{Filter{Operations: []string{"getPetById"}}, Filter{Tags: []string{"pet"}}, nil},
		{Filter{Operations: []string{"GET /pet/{petId}"}}, Filter{}, []string{"getPetById"}},
	} {
		a, err := New(Options{Name: "x", Document: readDocument(t, "petstore-3.0.yaml"), Server: "https://a.example.com", Include: c.include, Exclude: c.exclude})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range a.Tools() {
			got = append(got, strings.TrimPrefix(x.Spec().Name, "openapi__x__"))
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v without %+v: %v, want %v", c.include, c.exclude, got, c.want)
		}
	}
}

const head = "openapi: 3.1.0\nservers: [{url: 'https://a.example.com'}]\n"

// Hostile documents end soon, with an error or with small tools.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	post := func(schema string) string {
		return head + "paths: {/x: {post: {operationId: x, requestBody: {content: {application/json: {schema: " + schema + "}}}}}}\n"
	}
	bomb := head + "x-a: &a0 {description: boom}\n"
	for i := 1; i < 40; i++ {
		bomb += fmt.Sprintf("x-a%d: &a%d {properties: {a: *a%d, b: *a%d, c: *a%d}, type: object}\n", i, i, i-1, i-1, i-1)
	}
	alls := `{"openapi":"3.1.0","servers":[{"url":"https://a.example.com"}],"paths":{"/x":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}},"components":{"schemas":{`
	for i := range 30 {
		ref := fmt.Sprintf(`{"$ref":"#/components/schemas/S%d"}`, i+1)
		alls += fmt.Sprintf(`"S%d":{"allOf":[%s,%s,%s]},`, i, ref, ref, ref)
	}
	alls += `"S30":{}}}}`
	for _, c := range []struct{ name, text, wrong string }{
		{"empty", "", "empty"},
		{"a list", "[]", "not an object"},
		{"a text", "hello", "not an object"},
		{"two values", "{}{}", "more than one"},
		{"no version", "{}", "version"},
		{"version 4", `{"openapi":"4.0.0"}`, "OpenAPI 3"},
		{"deep JSON", strings.Repeat(`{"a":`, 1e5) + "1" + strings.Repeat("}", 1e5), "not JSON"},
		{"deep YAML", "a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "deep"},
		{"very deep YAML", "a: " + strings.Repeat("[", 1e6), "not YAML"},
		{"alias of itself", head + "a: &a {b: *a}\n", "own anchor"},
		{"odd key", head + "? [a]\n: b\n", "not a text"},
		{"paths are a list", head + "paths: [1]\n", ""},
		{"wrong types", head + "paths: {/x: {get: 7, post: [], put: {parameters: 3, requestBody: 5, servers: x, security: 7, tags: {}}}}\n", "is not an object"},
		{"aliases", bomb + "paths: {/x: {post: {requestBody: {content: {application/json: {schema: *a39}}}}}}\n", ""},
		{"allOf", alls, ""},
		{"reference to all", post(`{$ref: "#"}`), ""},
		{"reference through itself", post(`{properties: {a: {$ref: "#/paths/~1x/post/requestBody/content/application~1json/schema"}}}`), ""},
		{"many properties", post("{properties: {" + manyProperties(20000) + "}}"), ""},
		{"long texts", post(`{description: "` + strings.Repeat("x\\u001b[31m", 1e5) + `", enum: [` + strings.Repeat(`"v", `, 1e5) + `"w"]}`), ""},
		{"too large", head + "#" + strings.Repeat("x", MaxDocument), "larger than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			a, err := New(Options{Name: "x", Document: []byte(c.text)})
			if time.Since(begin) > time.Minute {
				t.Error("it took too long")
			}
			switch {
			case err == nil && c.wrong != "":
				t.Fatalf("accepted: %v", a.Problems())
			case err != nil && (c.wrong == "" || !strings.Contains(err.Error(), c.wrong)):
				t.Fatal(err)
			case err == nil:
				sound(t, a)
			}
		})
	}
}

func manyProperties(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "p%d: {type: string, description: \"%s\"}, ", i, strings.Repeat("x", 20))
	}
	return b.String()
}

// Documents of any bytes give sound tools or an error, and calls with any arguments do not panic.
func FuzzDocument(f *testing.F) {
	for _, data := range [][]byte{ // small ones: the fuzzer tries to make large ones smaller for a long time
		readDocument(f, "corners-yaml-3.0.yaml"), []byte(thingsDocument), []byte(head + "paths: {/x/{a}: {parameters: [{name: a, in: path, style: matrix, schema: {}}], put: &p {}, get: *p}}\n"),
		[]byte(`{"openapi":"3.1.0","paths":{"/x":{"post":{"requestBody":{"content":{"text/json":{"schema":{"$ref":"#/paths"}}}}}}}}`),
	} {
		f.Add(data, []byte(`{"a": [1], "q": {"x": null}, "body": {"a": [{}]}}`))
	}
	f.Fuzz(func(t *testing.T, data, arguments []byte) {
		if len(data) > 1<<20 {
			return
		}
		a, err := New(Options{Name: "x", Document: data, Server: "https://a.example.com"})
		if err != nil {
			return
		}
		sound(t, a)
		for _, x := range a.Tools() {
			call, err := x.Prepare(t.Context(), string(arguments))
			if err != nil {
				continue
			}
			if len(call.Effects.Hosts) == 0 || call.Effects.Hosts[0] != "a.example.com:443" {
				t.Errorf("%s would reach %v", x.Spec().Name, call.Effects.Hosts)
			}
		}
	})
}
