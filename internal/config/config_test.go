package config

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/redact"
)

// everything is a user's file that sets every key.
const everything = `{
  // comments and trailing commas are allowed
  "$schema": "https://example.com/tenon.schema.json",
  "model": "fast", /* a pool */
  "small_model": "local/qwen3:8b",
  "roles": {"planner": "anthropic/claude-opus-4-1@deep"},
  "pools": {"fast": ["anthropic/claude-sonnet-4-5", "openrouter/z-ai/glm-4.6",]},
  "thinking": "low", "max_tokens": 8000, "temperature": 0,
  "limits": {"turns": 20, "tokens": 1e6, "duration": "5m", "cost": 2.5, "session_cost": 10, "day_cost": 50},
  "providers": {
    "local": {
      "protocol": "openai-chat", "profile": "vllm", "base_url": "http://127.0.0.1:8000/v1",
      "api_keys": [{"name": "work", "key": "$WORK_KEY"}, "${HOME_KEY}"],
      "headers": {"X-Team": "core"}, "proxy": "socks5://127.0.0.1:1080",
      "project": "p", "region": "r", "location": "l", "api_version": "2024-10-21",
      "timeouts": {"first_byte": "120s", "idle": "0"},
      "retry": {"retries": 0, "delay": "500ms", "max_delay": "1m30s"},
      "models": {"qwen3:8b": {
        "context": 32768, "max_output": 4096, "images": true, "documents": false, "no_tools": false,
        "price": {"input": 0, "output": 1.5, "cache_read": 0.1, "cache_write": 2},
        "thinks": ["off", "high"], "quirks": ["no_system"],
        "variants": {"deep": {"thinking": "high", "max_tokens": 100, "temperature": 1}},
      }},
    },
    "anthropic": {"api_key": "sk-literal"},
  },
  "models": {"openrouter/z-ai/glm-4.6": {"context": 200000}},
  "window": {"threshold": 0.7, "manual": true, "model": "groq/small"},
  "context": {"files": ["AGENTS.md", "NOTES.md"], "max_file": 2048, "max_all": 4096},
  "skills": {"disabled": true, "paths": ["~/skills"], "max_size": 1024}, "titles": false,
  "discover": false, "catalog_url": "https://example.com/models.json",
}`

func TestEveryKeyArrivesInItsField(t *testing.T) {
	c := newHome(t).user(everything).load()

	if c.Model != "fast" || c.SmallModel != "local/qwen3:8b" || c.Thinking != llm.ThinkLow || c.MaxTokens != 8000 || *c.Temperature != 0 {
		t.Errorf("got %+v", c.Settings)
	}
	if want := map[string]string{"small": "local/qwen3:8b", "planner": "anthropic/claude-opus-4-1@deep"}; !reflect.DeepEqual(c.Roles, want) {
		t.Errorf("roles are %v", c.Roles)
	}
	want := Limits{Turns: 20, Tokens: 1e6, Time: 5 * time.Minute, Cost: 2.5, SessionCost: 10, DayCost: 50}
	if c.Limits != want {
		t.Errorf("limits are %+v", c.Limits)
	}
	p := c.Providers["local"]
	if p.Protocol != models.OpenAIChat || p.Profile != "vllm" || p.BaseURL.String() != "http://127.0.0.1:8000/v1" || p.Headers["X-Team"].String() != hidden {
		t.Errorf("provider is %+v", p)
	}
	if *p.Timeouts.FirstByte != 2*time.Minute || *p.Timeouts.Idle != 0 || *p.Retry.Retries != 0 || *p.Retry.MaxDelay != 90*time.Second {
		t.Errorf("provider is %+v", p)
	}
	if k := p.Keys(); len(k) != 2 || k[0].Name != "work" || k[1].Name != "2" || k[1].Key.String() != "${HOME_KEY}" {
		t.Errorf("keys are %v", k)
	}
	if k := c.Providers["anthropic"].Keys(); len(k) != 1 || k[0].Name != "1" {
		t.Errorf("keys are %v", k)
	}
	if k := (models.Provider{}).Keys(); k != nil {
		t.Errorf("keys of nothing are %v", k)
	}
	if c.Discover == nil || *c.Discover {
		t.Error("discover is not false")
	}
	if c.Window != (Window{Threshold: 0.7, Manual: true, Model: "groq/small"}) || c.Titles == nil || *c.Titles {
		t.Errorf("the window is %+v, titles are %v", c.Window, c.Titles)
	}
	if want := (Context{Files: []string{"AGENTS.md", "NOTES.md"}, MaxFile: 2048, MaxAll: 4096}); !reflect.DeepEqual(c.Context, want) {
		t.Errorf("the context is %+v", c.Context)
	}
	if want := (Skills{Disabled: true, Paths: []string{"~/skills"}, MaxSize: 1024}); !reflect.DeepEqual(c.Skills, want) {
		t.Errorf("the skills are %+v", c.Skills)
	}
}

func TestFactsWinOverTheCatalogWhereTheyAreSet(t *testing.T) {
	c := newHome(t).user(everything).load()
	f, ok := c.Providers["local"].Models["qwen3:8b"]
	if !ok {
		t.Fatal("no facts")
	}
	got := f.Apply(llm.Model{
		Provider: "local", ID: "qwen3:8b", Context: 1, Documents: true,
		Price: llm.Price{Input: 9}, Thinks: []llm.Thinks{llm.ThinkLow},
	})
	want := llm.Model{
		Provider: "local", ID: "qwen3:8b", Context: 32768, MaxOutput: 4096, Images: true,
		Price:  llm.Price{Output: 1.5, CacheRead: 0.1, CacheWrite: 2},
		Thinks: []llm.Thinks{llm.ThinkOff, llm.ThinkHigh}, Quirks: []llm.Quirk{llm.QuirkNoSystem},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := (models.Facts{}).Apply(want); !reflect.DeepEqual(got, want) {
		t.Errorf("no facts made %+v of %+v", got, want)
	}
	if f := c.Models["openrouter/z-ai/glm-4.6"]; f.Context != 200000 {
		t.Errorf("facts by reference are %+v", f)
	}
	if v := f.Variants["deep"]; v.Thinking != llm.ThinkHigh {
		t.Errorf("variant is %+v", v)
	}
}

func TestWithoutFilesThereAreTheDefaults(t *testing.T) {
	c := newHome(t).load()
	want := []Origin{
		{"limits.cost", "20", "default"},
		{"permissions.mode", "ask", "default"},
		{"sandbox.processes", "4096", "default"},
	}
	if got := c.Origins(); !slices.Equal(got, want) {
		t.Errorf("origins are %v", got)
	}
	if c.Inert != "" || c.ProjectFile != "" || c.Discover != nil {
		t.Errorf("got %+v", c)
	}
	if c, err := Load(Options{}); err != nil || c.UserFile != "" || c.Root != "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestTheProjectWinsOverTheUser(t *testing.T) {
	h := newHome(t).user(`{
		"model": "a/x", "thinking": "low", "max_tokens": 10, "roles": {"small": "a/s", "planner": "a/p"},
		"pools": {"one": ["a/x", "a/y", "a/z"], "two": ["a/x"]}, "limits": {"turns": 30, "cost": 2},
	}`).project(`{
		"model": "one", "temperature": 0.5, "small_model": "two", "pools": {"one": ["b/x"], "three": ["b/z"]},
		"limits": {"turns": 10, "cost": 3, "day_cost": 4},
	}`)
	c := h.load()
	if c.Model != "one" || c.Thinking != llm.ThinkLow || c.MaxTokens != 10 || *c.Temperature != 0.5 || c.SmallModel != "two" {
		t.Errorf("got %+v", c.Settings)
	}
	if want := map[string]string{"small": "two", "planner": "a/p"}; !reflect.DeepEqual(c.Roles, want) {
		t.Errorf("roles are %v", c.Roles)
	}
	if want := map[string][]string{"one": {"b/x"}, "two": {"a/x"}, "three": {"b/z"}}; !reflect.DeepEqual(c.Pools, want) {
		t.Errorf("pools are %v", c.Pools)
	}
	if want := (Limits{Turns: 10, Cost: 2, DayCost: 4}); c.Limits != want {
		t.Errorf("limits are %+v: a project makes them narrower, never wider", c.Limits)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "limits.cost: 3 is ignored") {
		t.Errorf("warnings are %q", c.Warnings)
	}
	file := filepath.Join(h.root, FileName)
	if c.ProjectFile != file || c.Inert != "" || c.Root != h.root {
		t.Errorf("the project is %s, %s, %s", c.ProjectFile, c.Inert, c.Root)
	}
	origins := map[string]Origin{}
	for _, o := range c.Origins() {
		origins[o.Key] = o
	}
	for key, want := range map[string]Origin{
		"model":       {"model", "one", file + ":2"},
		"pools.one":   {"pools.one", "[b/x]", file + ":2"},
		"thinking":    {"thinking", "low", c.UserFile + ":2"},
		"limits.cost": {"limits.cost", "2", c.UserFile + ":3"},
		"small_model": {"small_model", "two", file + ":2"},
		"roles.small": {},
	} {
		if origins[key] != want {
			t.Errorf("%s is from %+v", key, origins[key])
		}
	}
}

func TestTheLongFormOfARoleWinsWhenItIsNearer(t *testing.T) {
	c := newHome(t).user(`{"small_model": "a/x"}`).project(`{"roles": {"small": "a/y"}}`).load()
	if c.SmallModel != "a/y" || c.Roles["small"] != "a/y" {
		t.Errorf("small models are %s and %s", c.SmallModel, c.Roles["small"])
	}
	for _, o := range c.Origins() {
		if o.Key == "small_model" {
			t.Errorf("there is still %v", o)
		}
	}
}

func TestAnInertProjectChangesNothing(t *testing.T) {
	for name, text := range map[string]string{
		"right":     `{"model": "evil/x"}`,
		"forbidden": `{"providers": {"a": {"api_key": "$(touch /tmp/x)"}}}`,
		"malformed": `{{{`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t).user(`{"model": "a/x"}`)
			file := filepath.Join(h.root, ".tenon", FileName)
			write(t, file, text)
			c := h.load()
			if c.Model != "a/x" || c.Inert != file || c.ProjectFile != "" {
				t.Errorf("got %s, %s, %s", c.Model, c.Inert, c.ProjectFile)
			}
		})
	}
	t.Run("two files", func(t *testing.T) {
		h := newHome(t)
		write(t, filepath.Join(h.root, FileName), "{")
		write(t, filepath.Join(h.root, ".tenon", FileName), "{")
		if c := h.load(); c.Inert != filepath.Join(h.root, FileName) {
			t.Errorf("inert is %q", c.Inert)
		}
	})
	t.Run("the user has no directory", func(t *testing.T) {
		h := newHome(t).project(`{}`)
		h.Dir = ""
		if c := h.load(); c.Inert == "" {
			t.Error("a project is trusted that no one can have trusted")
		}
	})
}

func TestCallersRecordWhatTheySet(t *testing.T) {
	c := newHome(t).user(`{"model": "a/x", "providers": {"a": {"api_key": "sk-planted"}}}`).load()
	c.Record("model", "b/y", "--model")
	c.Record("providers.b.api_key", redact.Literal("sk-planted", "[hidden]"), "B_API_KEY")
	got := c.Origins()
	want := []Origin{
		{"model", "b/y", "--model"},
		{"permissions.mode", "ask", "default"},
		{"providers.a.api_key", hidden, c.UserFile + ":1"},
		{"providers.b.api_key", hidden, "B_API_KEY"},
		{"sandbox.processes", "4096", "default"},
	}
	if !slices.Equal(got[1:], want) {
		t.Errorf("got %v", got)
	}
}

func TestUserDir(t *testing.T) {
	abs := t.TempDir()
	for _, test := range []struct {
		goos string
		env  []string
		want string
	}{
		{"linux", []string{"TENON_CONFIG_DIR", abs, "HOME", "/home/me"}, abs},
		{"linux", []string{"XDG_CONFIG_HOME", abs, "HOME", "/home/me"}, filepath.Join(abs, "tenon")},
		{"linux", []string{"XDG_CONFIG_HOME", "relative", "HOME", abs}, filepath.Join(abs, ".config", "tenon")},
		{"darwin", []string{"HOME", abs}, filepath.Join(abs, ".config", "tenon")},
		{"windows", []string{"AppData", abs, "HOME", "/home/me"}, filepath.Join(abs, "tenon")},
		{"windows", []string{"HOME", "/home/me"}, ""},
		{"linux", nil, ""},
	} {
		got, err := userDirOf(test.goos, env(test.env...))
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s %v: got %q, %v", test.goos, test.env, got, err)
		}
	}
	t.Chdir(abs)
	if got, err := UserDir(env("TENON_CONFIG_DIR", "here")); err != nil || !filepath.IsAbs(got) {
		t.Errorf("a relative directory is %q, %v", got, err)
	}
}

func TestProjectRoot(t *testing.T) {
	top := t.TempDir()
	dir := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	for _, d := range []string{"repo/.git", "repo/a/b", "repo/has/.tenon", "repo/has/below", "loose/a", "both/.git"} {
		mkdir(t, dir(filepath.FromSlash(d)))
	}
	write(t, dir(FileName), "{}") // above everything: must never be found
	write(t, dir("repo", "has", ".tenon", FileName), "{}")
	write(t, dir("loose", FileName), "{}")
	write(t, dir("both", FileName), "{}")
	for from, want := range map[string]string{
		"repo/a/b": "repo", "repo/has/below": "repo/has", "repo/has": "repo/has", "repo": "repo",
		"loose/a": "loose/a", "loose": "loose", "both": "both",
	} {
		if got := ProjectRoot(dir(filepath.FromSlash(from))); got != dir(filepath.FromSlash(want)) {
			t.Errorf("the root of %s is %s", from, got)
		}
	}
}

func TestTheUsersFileIsNoProject(t *testing.T) {
	h := newHome(t).user(`{"discover": true}`)
	h.WorkDir = h.Dir
	if c := h.load(); c.Inert != "" || !*c.Discover {
		t.Errorf("got %+v", c)
	}
}

func TestFilesThatAreNone(t *testing.T) {
	long := `{"model": "` + strings.Repeat("x", mostBytes) + `"}`
	for name, test := range map[string]struct {
		make func(t testing.TB, file string)
		want string
	}{
		"directory": {mkdir, "is a directory"},
		"too large": {func(t testing.TB, file string) { write(t, file, long) }, "larger than 1024 KiB"},
		"dangling link": {func(t testing.TB, file string) {
			if err := os.Symlink("nowhere", file); err != nil {
				t.Skip(err)
			}
		}, "symbolic link to a file that does not exist"},
		"unreadable": {func(t testing.TB, file string) {
			write(t, file, "{}")
			if err := os.Chmod(file, 0); err != nil {
				t.Fatal(err)
			}
			if f, err := os.Open(file); err == nil {
				f.Close()
				t.Skip("modes close no file here")
			}
		}, "permission denied; check its permissions"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "unreadable" && !unprivileged.Is(t) {
				return
			}
			h := newHome(t)
			test.make(t, filepath.Join(h.Dir, FileName))
			got := h.mistakes()
			if len(got) != 1 || !strings.HasPrefix(got[0], "USER/tenon.json: ") || !strings.Contains(got[0], test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestALinkedFileIsRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	h := newHome(t)
	real := filepath.Join(t.TempDir(), "dotfile")
	write(t, real, `{"model": "a/x"}`)
	if err := os.Symlink(real, filepath.Join(h.Dir, FileName)); err != nil {
		t.Fatal(err)
	}
	if c := h.load(); c.Model != "a/x" {
		t.Errorf("got %q", c.Model)
	}
}
