package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzLoad: whatever the bytes of a file are, they are settings or a list of mistakes with their places.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(everything), false)
	f.Add([]byte(`{"model": "p", "pools": {"p": ["a/x"]}, "limits": {"turns": 3}}`), true)
	f.Add([]byte("\ufeff{\"a\": [1, 2.5e9, -0, null], /* x */ \"a\": \"\\ud800\"} // y"), false)
	f.Add([]byte(`{"providers": {"a": {"api_key": "${A:-$(echo ')')}$$", "api_keys": ["x", {}]}}}`), false)
	f.Add([]byte("{\"model\": \"\xff"), false)
	f.Add([]byte(strings.Repeat(`{"roles":[`, 100)), true)
	f.Fuzz(func(t *testing.T, text []byte, project bool) {
		c, errs := decodeText(text, project)
		if len(errs.List) > mostErrorsTold {
			t.Errorf("%d mistakes are kept", len(errs.List))
		}
		for _, e := range errs.List {
			if e.Line < 1 || e.Column < 1 || e.Message == "" || e.File != "tenon.json" {
				t.Errorf("a mistake without its place: %+v", e)
			}
		}
		if project && len(errs.List) == 0 && (c.Providers != nil || c.Models != nil || c.Discover != nil || c.CatalogURL.IsSet()) {
			t.Error("a project added providers")
		}
		if err := errs.orNil(); err != nil {
			if _, ok := errors.AsType[*Errors](err); !ok || err.Error() == "" {
				t.Errorf("got %v", err)
			}
			return
		}
		for _, o := range c.Origins() {
			if o.Key == "" || o.Where == "" {
				t.Errorf("an origin of nothing: %+v", o)
			}
		}
	})
}

// FuzzServers: whatever the bytes of .mcp.json are, they are servers with a command or an address, or warnings.
func FuzzServers(f *testing.F) {
	f.Add([]byte(`{"mcpServers": {"a": {"command": "${X:-x}", "args": ["${Y}"], "env": {"K": "${Z:-}"}}, "b": {"type": "http", "url": "https://${H:-h}/", "headers": {"A": "b"}}}}`))
	f.Add([]byte(`{"mcpServers": {"a/b": {"command": "x"}, "c": [], "d": {"type": "sse", "url": "file:///x"}, "e": {"type": "x"}, "f": {"timeout": 1e300}}}`))
	f.Add([]byte(`{"mcpServers": {"a": {"command": "${A:-}"}}}`))
	f.Add([]byte(`{"mcpServers": null}`))
	file := filepath.Join(f.TempDir(), MCPName)
	f.Fuzz(func(t *testing.T, text []byte) {
		c := &Config{MCPFile: file}
		if err := os.WriteFile(c.MCPFile, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c.readServers(&environment{getenv: func(string) string { return "" }})
		for name, s := range c.MCP {
			if !isName(name) || !s.Project || (s.Command == "") == !s.URL.IsSet() || s.Timeout < 0 {
				t.Errorf("%q is %+v", name, s)
			}
		}
		for _, w := range c.Warnings {
			if !strings.HasPrefix(w, c.MCPFile) {
				t.Errorf("a warning without its file: %q", w)
			}
		}
	})
}

// FuzzReference: whatever a string is, it can be read as one with references or not, and reading what it shows hides nothing less.
func FuzzReference(f *testing.F) {
	for _, s := range []string{"$A", "${A:-${B:-$(x)}}", "$$", "$(echo \"')\\\"\" ')')", "http://u:p@h?x", "}{", "${A:-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		parts, err := parseParts(s)
		if err != nil {
			if strings.Contains(err.Error(), s) && len(s) > 8 {
				t.Errorf("the error holds the text: %v", err)
			}
			return
		}
		again, err := parseParts(strings.ReplaceAll(s, "$", "$$"))
		if err != nil || s != "" && (len(again) != 1 || again[0].text != s) {
			t.Errorf("with doubled dollars it is %v, %v", again, err)
		}
		for _, p := range parts {
			if p.text != "" && show("secret", []part{p}) != hidden {
				t.Errorf("%q is shown", p.text)
			}
		}
	})
}

// decodeText decodes one file.
func decodeText(text []byte, project bool) (*Config, *Errors) {
	c := &Config{origins: map[string]Origin{}, offsets: map[string]int{}}
	c.defaults()
	errs := &Errors{}
	d := &decoder{
		source: newSource("tenon.json", text), config: c, env: &environment{getenv: env()}, project: project, errs: errs,
		fields: map[reflect.Type][]field{}, set: map[string]bool{},
	}
	d.file()
	c.checkNames([]string{"anthropic"}, errs)
	return c, errs
}
