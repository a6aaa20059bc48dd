package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
)

// typed is a terminal at which somebody types.
type typed struct {
	*strings.Reader
	hidden string // what is typed where it is not shown
}

func (typed) TerminalWidth() int              { return 80 }
func (t typed) ReadPassword() ([]byte, error) { return []byte(t.hidden), nil }

// command runs a command line in this process, with data and configuration in dir.
func command(t *testing.T, dir string, vars map[string]string, in *typed, args ...string) (code int, out, told string) {
	t.Helper()
	all := isolated(dir)
	for name, value := range vars {
		all[name] = value
	}
	var stdout, stderr bytes.Buffer
	env := Env{Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return all[name] }}
	if in != nil {
		env.Stdin = in
	}
	code = Main(t.Context(), args, env)
	return code, stdout.String(), stderr.String()
}

// An update says what it has changed.
func TestModelsUpdate(t *testing.T) {
	day := catalog.Embedded().Updated()
	known, _ := catalog.Embedded().Entry("anthropic", "claude-haiku-4-5")
	dearer := known
	dearer.Price.Output++
	other, _ := catalog.Embedded().Entry("anthropic", "claude-sonnet-4-6")
	other.Context++
	news := catalog.Entry{Model: llm.Model{Provider: "anthropic", ID: "claude-next", Context: 5_000_000}}
	text, err := json.Marshal(map[string]any{"version": 1, "updated": day, "models": []catalog.Entry{dearer, news, other}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(text)
	}))
	defer srv.Close()
	dir := t.TempDir()
	mkdirs(t, filepath.Join(dir, "config"))
	writeFile(t, filepath.Join(dir, "config", "tenon.json"), `{"catalog_url": "`+srv.URL+`/models.json?key=planted"}`)

	code, out, told := command(t, dir, nil, nil, "models", "update")
	if code != exitDone || !strings.Contains(out, "1 new, 0 gone, 1 with other prices, 1 changed otherwise") || told != "" || leaks(out) {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
	if code, out, _ = command(t, dir, nil, nil, "models", "--all", "claude-next"); code != exitDone || !strings.Contains(out, "  anthropic/claude-next     5M ") {
		t.Errorf("exit code %d, says %q", code, out)
	}
	if code, out, _ = command(t, dir, nil, nil, "models", "update"); code != exitDone || !strings.Contains(out, "is the newest") {
		t.Errorf("exit code %d, says %q", code, out)
	}
	code, out, _ = command(t, dir, nil, nil, "models", "update", "--json")
	var u catalogUpdate
	if err := json.Unmarshal([]byte(out), &u); err != nil || code != exitDone || u.Changed || u.Updated != day {
		t.Errorf("exit code %d, says %q, %v", code, out, err)
	}
	srv.Close()
	if code, _, told = command(t, dir, nil, nil, "models", "update"); code != exitError || leaks(told) {
		t.Errorf("exit code %d, says %q", code, told)
	}
	// A catalog that cannot be used is told of, and the one of the program is used.
	writeFile(t, u.File, "{")
	if code, out, told = command(t, dir, nil, nil, "models", "-a", "claude-haiku-4-5"); code != exitDone || !strings.Contains(told, "cannot be used") || !strings.Contains(out, "1/5") {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
}

// What a server calls its models cannot act on a terminal.
func TestNamesOfModelsAreHarmless(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"object":"list","data":[{"id":"evil\u001b[2J\u0007name\nnext"},{"id":"good"}]}`)
	}))
	defer srv.Close()
	closed := "http://127.0.0.1:1/v1"
	vars := map[string]string{"OLLAMA_HOST": srv.URL, "VLLM_BASE_URL": closed, "LLAMACPP_BASE_URL": closed, "LMSTUDIO_BASE_URL": closed}
	for _, args := range [][]string{{"models", "--discover"}, {"models", "--discover", "--json"}} {
		code, out, told := command(t, t.TempDir(), vars, nil, args...)
		if code != exitDone || strings.ContainsAny(out+told, "\x1b\x07") || !strings.Contains(out, "ollama/good") {
			t.Errorf("%v: exit code %d, says %q and %q", args, code, out, told)
		}
	}
}

// Tables fit 80 columns; only a name that is longer than its column has a line of its own.
func TestModelsFit(t *testing.T) {
	_, out, told := command(t, t.TempDir(), map[string]string{"OPENROUTER_API_KEY": "sk-planted-0123456789"}, nil, "models", "--all")
	for _, line := range strings.Split(out+told, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(out, "\n* openrouter/anthropic/claude-sonnet-4.6") {
		t.Errorf("the default is not marked:\n%s", out)
	}
}

func TestModelWords(t *testing.T) {
	for n, want := range map[int]string{0: "-", 512: "512", 8192: "8k", 131_072: "131k", 1_000_000: "1M", 1_048_576: "1M", 1_500_000: "1.5M"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) = %q, want %q", n, got, want)
		}
	}
	if got := wrapped("label: ", 7, "one two three  four", 14, "  "); got != "label: one two\n  three four" {
		t.Errorf("got %q", got)
	}
	quota := llm.Quota{Limit: 50, Remaining: 49}
	if got := limitWords(&llm.RateLimits{Requests: quota, OutputTokens: quota}); got != "49 of 50 requests left, 49 of 50 tokens out left" {
		t.Errorf("got %q", got)
	}
	if limitWords(nil) != "" {
		t.Error("no limits have words")
	}
}

// Every kind of failure that a person can do something about says what.
func TestAdvice(t *testing.T) {
	p := &program{env: Env{Getenv: func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": "sk-planted-0123456789"}[name]
	}}}
	s, err := p.setUp()
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[llm.Kind]string{
		llm.KindAuth: "run `tenon auth login anthropic`", llm.KindNetwork: "ANTHROPIC_BASE_URL", llm.KindQuota: "billing",
		llm.KindRateLimited: "try again in 30s, or use", llm.KindOverloaded: "has trouble", llm.KindStalled: "timeouts", llm.KindProtocol: "look at the base URL (ANTHROPIC_BASE_URL",
		llm.KindInvalidRequest: "tenon models --provider anthropic", llm.KindRefused: "another model", llm.KindOther: "",
	} {
		got := advice(s, "anthropic/x", &llm.Error{Kind: kind, Status: 400, RetryAfter: 30 * time.Second})
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q", kind, got)
		}
	}
	for want, e := range map[string]*llm.Error{
		"": {Kind: llm.KindInvalidRequest}, // what never was sent: the message says why
		"does a server run at http://127.0.0.1:11434/v1? Start it, or look at the base URL (OLLAMA_BASE_URL, or providers.ollama.base_url)": {Kind: llm.KindNetwork},
		"is the name of the model right? `tenon models --provider ollama` lists those that are known; if it is, look at the base URL (OLLAMA_BASE_URL, or providers.ollama.base_url)": {
			Kind: llm.KindInvalidRequest, Status: 404,
		},
	} {
		if got := advice(s, "ollama/x", e); got != want {
			t.Errorf("%s: got %q", e, got)
		}
	}
	if got := advice(s, "nobody/x", &llm.Error{Kind: llm.KindAuth}); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestCompletionOfModels(t *testing.T) {
	dir := t.TempDir()
	mkdirs(t, filepath.Join(dir, "config"))
	writeFile(t, filepath.Join(dir, "config", "tenon.json"), `{"pools": {"anthology": ["offline/rules"]}}`)
	vars := map[string]string{"ANTHROPIC_API_KEY": "sk-planted-0123456789"}
	for _, c := range []struct{ args, want, not string }{
		{"models test anth", "anthology\ta pool\nanthropic/", "openai/"},
		{"models test openai/gpt-5.4", "openai/gpt-5.4\t", "anthropic/"},
		{"models --provider azure-", "azure-chat\t", "anthropic"},
		{"auth login gro", "groq\tGroq", "anthropic"},
		{"auth logout groq gro", ":4", "groq"},
	} {
		args := append([]string{"__complete"}, strings.Fields(c.args)...)
		code, out, _ := command(t, dir, vars, nil, args...)
		if code != exitDone || !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
			t.Errorf("%s: exit code %d, %q", c.args, code, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "config", "tenon.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := command(t, dir, vars, nil, "__complete", "models", "test", "a"); code != exitDone || strings.Contains(out, "anthropic") {
		t.Errorf("with a mistake in the configuration: exit code %d, %q", code, out)
	}
}

// A trial shows all that a provider tells, whatever it speaks.
func TestATrialTellsAll(t *testing.T) {
	quota := llm.Quota{Limit: 50, Remaining: 49, Reset: time.Now().Add(time.Minute)}
	step := modelserver.Think("Hm.").Say("ready").Usage(llm.Usage{Input: 12, CacheRead: 3, Output: 2, Reasoning: 1}).
		Limits(llm.RateLimits{Requests: quota})
	for ref, protocol := range map[string]string{
		"anthropic/claude-haiku-4-5": "ANTHROPIC", "openai-responses/gpt-5.4": "OPENAI", "openai-chat/gpt-5.4": "OPENAI", "gemini/gemini-3.5-flash": "GEMINI",
	} {
		srv := modelserver.New(t, modelserver.Steps(step, step))
		vars := map[string]string{protocol + "_API_KEY": "sk-planted-0123456789", "ANTHROPIC_BASE_URL": srv.URL, "OPENAI_BASE_URL": srv.URL + "/v1", "GOOGLE_GEMINI_BASE_URL": srv.URL}
		code, out, told := command(t, t.TempDir(), vars, nil, "models", "test", ref)
		if code != exitDone || told != "" || !strings.Contains(out, "✓ "+ref+": ready\n") || !strings.Contains(out, "  tokens  ") || !strings.Contains(out, "  cost    $") {
			t.Errorf("%s: exit code %d, says %q and %q", ref, code, out, told)
		}
		if protocol != "GEMINI" && !strings.Contains(out, "49 of 50 requests left") {
			t.Errorf("%s tells of no limits: %q", ref, out)
		}
		_, out, _ = command(t, t.TempDir(), vars, nil, "models", "test", ref, "--json")
		var got trial
		if err := json.Unmarshal([]byte(out), &got); err != nil || !got.OK || got.Answer != "ready" || got.Usage.CacheRead != 3 || got.FirstByte <= 0 ||
			got.FirstToken < got.FirstByte || got.Seconds < got.FirstToken || got.Cost <= 0 || got.RequestID == "" && protocol != "GEMINI" {
			t.Errorf("%s: %v, %s", ref, err, out)
		}
		for _, v := range srv.Violations() {
			t.Errorf("%s: %v", ref, v)
		}
	}
}
