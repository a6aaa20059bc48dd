package catalog_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a catalog in the form in which a person would write it.
const small = `{
  "version": 1, "updated": "2026-05-01", "comment": "of a newer program",
  "models": [
    {"id": "b", "provider": "y", "context": 1000, "thinks": ["off", "extreme"], "shape": "round"},
    {"provider": "x", "id": "b"},
    {"provider": "y", "id": "a/b:c", "max_output": 5, "variants": {"fast": {"thinking": "extreme", "max_tokens": 9}}},
    {"provider": "x-2", "id": "a"}
  ]
}`

func TestParse(t *testing.T) {
	c, err := catalog.Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for e := range c.All() {
		refs = append(refs, e.Ref())
		again, ok := c.Entry(e.Provider, e.ID)
		if !ok || again.Context != e.Context || again.MaxOutput != e.MaxOutput {
			t.Errorf("%s is not found as it is listed", e.Ref())
		}
	}
	if want := []string{"x/b", "x-2/a", "y/a/b:c", "y/b"}; !slices.Equal(refs, want) {
		t.Errorf("got %v, want %v", refs, want)
	}
	b, _ := c.Model("y", "b")
	if !slices.Equal(b.Thinks, []llm.Thinks{llm.ThinkOff}) {
		t.Errorf("an unknown level stays: %v", b.Thinks)
	}
	e, _ := c.Entry("y", "a/b:c")
	if e.Variants["fast"].MaxTokens != 9 {
		t.Errorf("got %+v", e.Variants)
	}
	if c.Updated() != "2026-05-01" {
		t.Errorf("updated %q", c.Updated())
	}
}

func TestParseRefuses(t *testing.T) {
	one := func(fields string) string {
		return `{"version":1,"updated":"2026-01-01","models":[{"provider":"p","id":"m"` + fields + `}]}`
	}
	for name, c := range map[string]struct{ doc, want string }{
		"nothing":          {``, "not a catalog"},
		"a page":           {`<html>`, "not a catalog"},
		"half":             {small[:200], "not a catalog"},
		"another version":  {`{"version":2,"updated":"2026-01-01","models":[{}]}`, "version is 2"},
		"no day":           {`{"version":1,"models":[{}]}`, "not a day"},
		"no models":        {`{"version":1,"updated":"2026-01-01","models":[]}`, "0 models"},
		"twice":            {strings.Replace(small, `"x-2", "id": "a"`, `"x", "id": "b"`, 1), "x/b is there twice"},
		"no ID":            {`{"version":1,"updated":"2026-01-01","models":[{"provider":"p"}]}`, "ID"},
		"a quote":          {`{"version":1,"updated":"2026-01-01","models":[{"provider":"p","id":"a\"b"}]}`, "ID"},
		"slash":            {`{"version":1,"updated":"2026-01-01","models":[{"provider":"p/q","id":"a"}]}`, "provider"},
		"context":          {one(`,"context":-1`), "p/m: context"},
		"huge":             {one(`,"context":1000000001`), "p/m: context"},
		"fraction":         {one(`,"context":1.5`), "not a catalog"},
		"output":           {one(`,"context":10,"max_output":11`), "more than context"},
		"price":            {one(`,"price":{"input":-1}`), "prices"},
		"dear":             {one(`,"price":{"output":10001}`), "prices"},
		"cache":            {one(`,"price":{"input":1,"cache_read":2}`), "from the cache"},
		"day":              {one(`,"released":"May"`), "released"},
		"no such day":      {one(`,"released":"2026-02-30"`), "released"},
		"name of lines":    {one(`,"name":"a\nb"`), "a line"},
		"long name":        {one(`,"name":"` + strings.Repeat("n", 300) + `"`), "a line"},
		"quirk":            {one(`,"quirks":["No System"]`), "quirk"},
		"variant":          {one(`,"variants":{"a b":{}}`), "variant"},
		"variant's tokens": {one(`,"variants":{"a":{"max_tokens":-1}}`), "variant"},
		"variant's heat":   {one(`,"variants":{"a":{"temperature":3}}`), "variant"},
		"many":             {one(`,"quirks":["a"` + strings.Repeat(`,"a"`, 40) + `]`), "more than"},
		"heavy":            {strings.Repeat(" ", 8<<20+1), "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := catalog.Parse([]byte(c.doc))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestModelThatIsNotThere(t *testing.T) {
	for _, ref := range [][2]string{{"", ""}, {"anthropic", ""}, {"", "x"}, {"zzz", "zzz"}, {"anthropic", "claude"}, {"a", `"`}} {
		m, ok := catalog.Embedded().Model(ref[0], ref[1])
		if ok || m.Provider != ref[0] || m.ID != ref[1] || m.Context != 0 {
			t.Errorf("%q: got %+v, %v", ref, m, ok)
		}
	}
}

func TestEveryModelIsFound(t *testing.T) {
	c, n := catalog.Embedded(), 0
	for e := range c.All() {
		n++
		if m, ok := c.Model(e.Provider, e.ID); !ok || m.Ref() != e.Ref() {
			t.Errorf("%s is not found", e.Ref())
		}
	}
	if n < 150 {
		t.Errorf("only %d models", n)
	}
	for range c.All() { // leaving early is allowed
		break
	}
}

func TestWith(t *testing.T) {
	base := catalog.Embedded()
	sonnet, _ := base.Entry("anthropic", "claude-sonnet-4-5")
	sonnet.Context = 1_000_000
	own := catalog.Entry{
		Model:    llm.Model{Provider: "ollama", ID: "mine", Context: 10},
		Variants: map[string]llm.Settings{"odd": {Thinking: "extreme"}},
	}
	c, err := base.With(sonnet, own)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := c.Model("anthropic", "claude-sonnet-4-5"); m.Context != 1_000_000 || m.MaxOutput != 64_000 {
		t.Errorf("got %+v", m)
	}
	if m, ok := c.Model("ollama", "mine"); !ok || m.Context != 10 {
		t.Errorf("got %+v", m)
	}
	if m, _ := base.Model("anthropic", "claude-sonnet-4-5"); m.Context != 200_000 {
		t.Error("the catalog that was extended has changed")
	}
	if own.Variants["odd"].Thinking != "extreme" {
		t.Error("the caller's entry has changed")
	}
	if a, b := count(c), count(base); a != b+1 {
		t.Errorf("%d models after %d and a new one", a, b)
	}
	if c.Updated() != base.Updated() || c.Updated() == "" {
		t.Errorf("updated %q and %q", c.Updated(), base.Updated())
	}
	if _, err := base.With(catalog.Entry{}); err == nil {
		t.Error("an entry without a name is taken")
	}
	if same, err := base.With(); same != base || err != nil {
		t.Error("nothing makes a difference")
	}
}

func count(c *catalog.Catalog) (n int) {
	for range c.All() {
		n++
	}
	return n
}

// kept writes a catalog as Update does, and returns the file.
func kept(t *testing.T, day string) string {
	t.Helper()
	doc := strings.Replace(small, "2026-05-01", day, 1)
	doc = strings.Replace(doc, `"models": [`, `"models": [{"provider":"openai","id":"gpt-5","context":7},`, 1)
	c, err := catalog.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "models.json")
	if err := os.WriteFile(file, []byte(catalog.Text(c)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOpen(t *testing.T) {
	for name, c := range map[string]struct {
		file    string
		context int
	}{
		"no file":     {filepath.Join(t.TempDir(), "none"), 400_000},
		"newer file":  {kept(t, "2999-01-01"), 7},
		"older file":  {kept(t, "2020-01-01"), 400_000},
		"same day":    {kept(t, catalog.Embedded().Updated()), 7},
		"no dir":      {filepath.Join(t.TempDir(), "none", "none"), 400_000},
		"older knows": {kept(t, "2020-01-02"), 400_000},
	} {
		t.Run(name, func(t *testing.T) {
			cat, err := catalog.Open(c.file)
			if err != nil {
				t.Fatal(err)
			}
			if m, _ := cat.Model("openai", "gpt-5"); m.Context != c.context {
				t.Errorf("context %d, want %d", m.Context, c.context)
			}
			if _, ok := cat.Model("openai", "gpt-5-mini"); !ok {
				t.Error("what the file lacks is gone")
			}
			_, has := cat.Model("x-2", "a")
			if exists := strings.HasSuffix(c.file, ".json"); has != exists {
				t.Errorf("what only the file has: %v", has)
			}
		})
	}
}

func TestOpenWhatCannotBeUsed(t *testing.T) {
	whole, err := os.ReadFile(kept(t, "2999-01-01"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":           "",
		"cut":             string(whole[:len(whole)-20]),
		"no JSON":         "hello",
		"another version": strings.Replace(string(whole), `"version":1`, `"version":9`, 1),
		"bad header":      strings.Replace(string(whole), `"version":1`, `"version":`, 1),
		"heavy":           strings.Repeat("x", 8<<20+1),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "models.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := catalog.Open(file)
			if err == nil || !strings.Contains(err.Error(), "remove it") {
				t.Errorf("got %v, want an error that says what to do", err)
			}
			if _, ok := c.Model("openai", "gpt-5"); !ok {
				t.Error("the embedded catalog is not there instead")
			}
		})
	}
	if c, err := catalog.Open(t.TempDir()); err == nil || c == nil {
		t.Error("a directory is taken for a catalog")
	}
}

// A damaged line loses only its own model. The catalog returns the embedded model instead.
func TestDamagedLine(t *testing.T) {
	file := kept(t, "2999-01-01")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`"id":"gpt-5","context":`, `"id":"gpt-5","context":-`} {
		text := bytes.Replace(whole, []byte(`"id":"gpt-5","context":7`), []byte(bad), 1)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if m, _ := c.Model("openai", "gpt-5"); m.Context != 400_000 {
			t.Errorf("got %+v", m)
		}
		if _, ok := c.Model("x-2", "a"); !ok {
			t.Error("another model is gone")
		}
		count(c)
	}
}

func TestGuess(t *testing.T) {
	c := catalog.Embedded()
	for _, g := range []struct {
		provider, id string
		like         string // the entry whose limits it has; empty: none
		price        bool
	}{
		{"anthropic", "claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", true},
		{"anthropic", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5", true},
		{"anthropic", "Claude-Sonnet-4.5", "anthropic/claude-sonnet-4-5", true},
		{"anthropic", "claude-haiku-4-5-latest", "anthropic/claude-haiku-4-5", true},
		{"anthropic", "claude-opus-4-20250514", "anthropic/claude-opus-4-0", true},
		{"openai", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini", true},
		{"openai", "gpt-4o-2024-05-13", "openai/gpt-4o-2024-05-13", true},
		{"openai", "gpt-4-0613", "", false},
		{"azure", "gpt-4o-2024-11-20", "azure/gpt-4o", true},
		{"vertex", "claude-sonnet-4-5", "vertex/claude-sonnet-4-5@20250929", true},
		{"vertex", "claude-sonnet-4-5@default", "vertex/claude-sonnet-4-5@20250929", true},
		{"vertex", "publishers/anthropic/models/claude-opus-4-1@20250805", "vertex/claude-opus-4-1@20250805", false},
		{"bedrock", "apac.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4-5", false},
		{"bedrock", "anthropic.claude-3-5-sonnet-20241022-v2:0", "anthropic/claude-3-5-sonnet-20241022", false},
		{"openrouter", "anthropic/claude-sonnet-4.5:thinking", "openrouter/anthropic/claude-sonnet-4.5", false},
		{"openrouter", "anthropic/claude-opus-4.1", "anthropic/claude-opus-4-1", false},
		{"openrouter", "google/gemini-2.5-pro-preview", "openrouter/google/gemini-2.5-pro", false},
		{"litellm", "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", false},
		{"gemini", "models/gemini-2.5-pro", "gemini/gemini-2.5-pro", false},
		{"gemini", "gemini-2.0-flash-001", "gemini/gemini-2.0-flash", false},
		{"vercel", "openai/gpt-5-nano", "openai/gpt-5-nano", false},
		{"together", "moonshotai/Kimi-K2.5", "moonshot/kimi-k2.5", false},
		{"fireworks", "accounts/fireworks/models/kimi-k2p5", "moonshot/kimi-k2.5", false},
		{"vllm", "openai/gpt-oss-120b", "cerebras/gpt-oss-120b", false},
		{"ollama", "my-own-model", "", false},
		{"openai", "", "", false},
		{"openai", "gpt", "", false},
		{"", "gpt-5", "openai/gpt-5", false},
		{"x", strings.Repeat("a", 5000), "", false},
	} {
		t.Run(g.provider+"/"+g.id[:min(60, len(g.id))], func(t *testing.T) {
			got, ok := c.Guess(g.provider, g.id)
			if got.Provider != g.provider || got.ID != g.id {
				t.Errorf("it has the names %s", got.Ref())
			}
			if g.like == "" {
				if ok {
					t.Errorf("got %+v", got)
				}
				return
			}
			provider, id, _ := strings.Cut(g.like, "/")
			want, there := c.Model(provider, id)
			if !ok || !there || got.Context != want.Context || got.MaxOutput != want.MaxOutput || !slices.Equal(got.Quirks, want.Quirks) {
				t.Errorf("got %+v, want one like %+v", got, want)
			}
			if price := got.Price != (llm.Price{}); price != g.price || price && got.Price != want.Price {
				t.Errorf("price %+v, that of the other is %+v", got.Price, want.Price)
			}
		})
	}
}

// Whatever bytes a server sends, what is taken from them can be kept, found and read again as it was.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small), "x", "b")
	f.Add([]byte(`{"version":1,"updated":"2026-01-01","models":[{"provider":"p","id":"m","name":"<&>"}]}`), "p", "us.m-v1:0")
	f.Add([]byte("{"), "", "@")
	f.Fuzz(func(t *testing.T, data []byte, provider, id string) {
		c, err := catalog.Parse(data)
		if err != nil {
			return
		}
		c.Guess(provider, id)
		again, err := catalog.Parse([]byte(catalog.Text(c)))
		if err != nil || catalog.Text(again) != catalog.Text(c) {
			t.Fatalf("it is read otherwise the second time: %v", err)
		}
		for e := range c.All() {
			found, ok := c.Entry(e.Provider, e.ID)
			a, _ := json.Marshal(e)
			b, _ := json.Marshal(found)
			if !ok || !bytes.Equal(a, b) {
				t.Fatalf("%s is found as %s", a, b)
			}
		}
	})
}

func BenchmarkModel(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := catalog.Embedded().Model("openai", "gpt-5-mini"); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkModelNotThere(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		catalog.Embedded().Model("ollama", "my-own-model")
	}
}

func BenchmarkGuess(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		catalog.Embedded().Guess("bedrock", "apac.anthropic.claude-sonnet-4-5-20250929-v1:0")
	}
}

func BenchmarkOpen(b *testing.B) {
	file := filepath.Join(b.TempDir(), "models.json")
	if err := os.WriteFile(file, []byte(catalog.Text(catalog.Embedded())), 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := catalog.Open(file)
		if err != nil {
			b.Fatal(err)
		}
		c.Model("openai", "gpt-5-mini")
	}
}
