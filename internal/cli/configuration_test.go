package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/models"
)

func configurationText(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The table of docs/configuration.md is what the program does.
func TestTheDocumentsNameEveryVariable(t *testing.T) {
	_, rest, _ := strings.Cut(configurationText(t), "| provider | key | base URL |\n|---|---|---|\n")
	got, _, _ := strings.Cut(rest, "\n\n")
	if want := providerTable(); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("the table in docs/configuration.md must be\n%s", want)
	}
}

// providerTable is the providers with their variables, in Markdown.
func providerTable() string {
	var b strings.Builder
	code := func(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }
	for _, p := range providers() {
		fmt.Fprintf(&b, "| `%s` %s | %s | %s |\n", p.Name, p.Title, code(p.KeyVars), code(p.URLVars))
	}
	return b.String()
}

// The example of docs/configuration.md is right, and has every key that there is.
func TestTheDocumentsNameEveryKey(t *testing.T) {
	text := configurationText(t)
	_, rest, found := strings.Cut(text, "```jsonc\n")
	example, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatal("docs/configuration.md has no example")
	}
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "tenon.json"), example)
	if _, err := config.Load(config.Options{Dir: dir, Providers: models.Names()}); err != nil {
		t.Error(err)
	}
	var schema any
	if err := json.Unmarshal(config.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for name := range propertiesOf(schema) {
		if !strings.Contains(example, `"`+name+`":`) {
			t.Errorf("the example in docs/configuration.md does not have %q", name)
		}
	}
	for _, word := range regexp.MustCompile("`tenon ([a-z]+)( [a-z]+)?").FindAllStringSubmatch(text, -1) {
		root := newRoot(&command.Env{}, "")
		if c, _, err := root.Find(strings.Fields(word[1] + word[2])); err != nil || c == root {
			t.Errorf("docs/configuration.md speaks of %q, which is no command", word[0])
		}
	}
}

// propertiesOf returns the names of all properties in a schema.
func propertiesOf(schema any) map[string]bool {
	names := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if p, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] == false {
				for name := range p {
					names[name] = true
				}
			}
			for _, below := range v {
				walk(below)
			}
		case []any:
			for _, below := range v {
				walk(below)
			}
		}
	}
	walk(schema)
	return names
}
