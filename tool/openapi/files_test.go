package openapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool/openapi"
)

// A document may have several files: references lead to files of its directory, also in circles, and nowhere else.
func TestFilesOfADocument(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"paths/orders.yaml":   "get:\n  operationId: getOrder\n  parameters: [{$ref: '../parts/common.json#/id'}]\n  responses: {'200': {description: It.}}\n",
		"parts/common.json":   `{"id": {"name": "id", "in": "query", "schema": {"$ref": "#/order"}}, "order": {"type": "object", "properties": {"note": {"type": "string"}, "next": {"$ref": "#/order"}, "kind": {"$ref": "../api.yaml#/components/schemas/Kind"}}}}`,
		".secret/hidden.yaml": "type: string\n", "list.yaml": "- one\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "out.yaml"), []byte("type: string\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := []string{"../" + filepath.Base(outside) + "/out.yaml", filepath.ToSlash(filepath.Join(outside, "out.yaml")), "https://example.com/x.yaml", "file:///x.yaml", ".secret/hidden.yaml", "missing.yaml", "list.yaml", "a.txt", "%2e%2e/x.yaml"}
	if err := os.Symlink(filepath.Join(outside, "out.yaml"), filepath.Join(dir, "link.yaml")); err == nil {
		bad = append(bad, "link.yaml")
	}
	text := "openapi: 3.1.0\ninfo: {title: A, version: '1'}\nservers: [{url: 'https://api.example.com'}]\ncomponents: {schemas: {Kind: {type: string, enum: [a, b]}}}\npaths:\n  /order:\n    $ref: paths/orders.yaml\n"
	for i, ref := range bad {
		text += "  /bad" + string(rune('a'+i)) + ":\n    $ref: '" + ref + "'\n"
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	api, err := openapi.New(openapi.Options{Name: "a", Document: []byte(text), Files: root.FS(), File: "api.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	tools := api.Tools()
	if len(tools) != 1 || tools[0].Spec().Name != "openapi__a__getOrder" {
		t.Fatalf("%d tools, problems %+v", len(tools), api.Problems())
	}
	schema := string(tools[0].Spec().Schema)
	for _, want := range []string{`"note"`, `"next"`, `"kind"`, `"enum":["a","b"]`} {
		if !strings.Contains(schema, want) {
			t.Errorf("the schema lacks %s: %s", want, schema)
		}
	}
	n := 0
	for _, p := range api.Problems() {
		n += len(p.Operations)
	}
	if n != len(bad) {
		t.Errorf("%d problems of %d: %+v", n, len(bad), api.Problems())
	}
}
