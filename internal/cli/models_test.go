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

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/cli/models"
	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/catalog"
)

// typed is a terminal with input.
type typed struct {
	*strings.Reader
	hidden string // input that the terminal does not echo
}

func (typed) TerminalWidth() int { return 80 }

func (t typed) ReadPassword() ([]byte, error) { return []byte(t.hidden), nil }

// tenonIn runs a command line in this process, with data and configuration in dir.
func tenonIn(t *testing.T, dir string, vars map[string]string, in *typed, args ...string) (code int, out, told string) {
	t.Helper()
	all := isolated(dir)
	for name, value := range vars {
		all[name] = value
	}
	var stdout, stderr bytes.Buffer
	env := command.Env{Stdout: &stdout, Stderr: &stderr, Getenv: func(name string) string { return all[name] }}
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

	code, out, told := tenonIn(t, dir, nil, nil, "models", "update")
	if code != command.ExitDone || !strings.Contains(out, "1 new, 0 gone, 1 with other prices, 1 changed otherwise") || told != "" || Leaks(out) {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
	if code, out, _ = tenonIn(t, dir, nil, nil, "models", "--all", "claude-next"); code != command.ExitDone || !strings.Contains(out, "  anthropic/claude-next     5M ") {
		t.Errorf("exit code %d, says %q", code, out)
	}
	if code, out, _ = tenonIn(t, dir, nil, nil, "models", "update"); code != command.ExitDone || !strings.Contains(out, "is the newest") {
		t.Errorf("exit code %d, says %q", code, out)
	}
	code, out, _ = tenonIn(t, dir, nil, nil, "models", "update", "--json")
	var u models.CatalogUpdate
	if err := json.Unmarshal([]byte(out), &u); err != nil || code != command.ExitDone || u.Changed || u.Updated != day {
		t.Errorf("exit code %d, says %q, %v", code, out, err)
	}
	srv.Close()
	if code, _, told = tenonIn(t, dir, nil, nil, "models", "update"); code != command.ExitError || Leaks(told) {
		t.Errorf("exit code %d, says %q", code, told)
	}
	// The program reports a catalog that it cannot use, and uses its own.
	writeFile(t, u.File, "{")
	if code, out, told = tenonIn(t, dir, nil, nil, "models", "-a", "claude-haiku-4-5"); code != command.ExitDone || !strings.Contains(told, "cannot be used") || !strings.Contains(out, "1/5") {
		t.Errorf("exit code %d, says %q and %q", code, out, told)
	}
}

// The names of a server's models cannot control a terminal.
func TestNamesOfModelsAreHarmless(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"object":"list","data":[{"id":"evil\u001b[2J\u0007name\nnext"},{"id":"good"}]}`)
	}))
	defer srv.Close()
	closed := "http://127.0.0.1:1/v1"
	vars := map[string]string{"OLLAMA_HOST": srv.URL, "VLLM_BASE_URL": closed, "LLAMACPP_BASE_URL": closed, "LMSTUDIO_BASE_URL": closed}
	for _, args := range [][]string{{"models", "--discover"}, {"models", "--discover", "--json"}} {
		code, out, told := tenonIn(t, t.TempDir(), vars, nil, args...)
		if code != command.ExitDone || strings.ContainsAny(out+told, "\x1b\x07") || !strings.Contains(out, "ollama/good") {
			t.Errorf("%v: exit code %d, says %q and %q", args, code, out, told)
		}
	}
}

// Tables fit 80 columns; only a name that is longer than its column has a line of its own.
func TestModelsFit(t *testing.T) {
	_, out, told := tenonIn(t, t.TempDir(), map[string]string{"OPENROUTER_API_KEY": "sk-planted-0123456789"}, nil, "models", "--all")
	for _, line := range strings.Split(out+told, "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(out, "\n* openrouter/anthropic/claude-sonnet-4.6") {
		t.Errorf("the default is not marked:\n%s", out)
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
		code, out, _ := tenonIn(t, dir, vars, nil, args...)
		if code != command.ExitDone || !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
			t.Errorf("%s: exit code %d, %q", c.args, code, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "config", "tenon.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := tenonIn(t, dir, vars, nil, "__complete", "models", "test", "a"); code != command.ExitDone || strings.Contains(out, "anthropic") {
		t.Errorf("with a mistake in the configuration: exit code %d, %q", code, out)
	}
}

// A trial shows everything that a provider reports, in every protocol.
func TestATrialShowsAll(t *testing.T) {
	quota := llm.Quota{Limit: 50, Remaining: 49, Reset: time.Now().Add(time.Minute)}
	step := modelserver.Think("Hm.").Say("ready").Usage(llm.Usage{Input: 12, CacheRead: 3, Output: 2, Reasoning: 1}).
		Limits(llm.RateLimits{Requests: quota})
	for ref, protocol := range map[string]string{
		"anthropic/claude-haiku-4-5": "ANTHROPIC", "openai-responses/gpt-5.4": "OPENAI", "openai-chat/gpt-5.4": "OPENAI", "gemini/gemini-3.5-flash": "GEMINI",
	} {
		srv := modelserver.New(t, modelserver.Steps(step, step))
		vars := map[string]string{protocol + "_API_KEY": "sk-planted-0123456789", "ANTHROPIC_BASE_URL": srv.URL, "OPENAI_BASE_URL": srv.URL + "/v1", "GOOGLE_GEMINI_BASE_URL": srv.URL}
		code, out, told := tenonIn(t, t.TempDir(), vars, nil, "models", "test", ref)
		if code != command.ExitDone || told != "" || !strings.Contains(out, "✓ "+ref+": ready\n") || !strings.Contains(out, "  tokens  ") || !strings.Contains(out, "  cost    $") {
			t.Errorf("%s: exit code %d, says %q and %q", ref, code, out, told)
		}
		if protocol != "GEMINI" && !strings.Contains(out, "49 of 50 requests left") {
			t.Errorf("%s shows no limits: %q", ref, out)
		}
		_, out, _ = tenonIn(t, t.TempDir(), vars, nil, "models", "test", ref, "--json")
		var got models.Trial
		if err := json.Unmarshal([]byte(out), &got); err != nil || !got.OK || got.Answer != "ready" || got.Usage.CacheRead != 3 || got.FirstByte <= 0 ||
			got.FirstToken < got.FirstByte || got.Seconds < got.FirstToken || got.Cost <= 0 || got.RequestID == "" && protocol != "GEMINI" {
			t.Errorf("%s: %v, %s", ref, err, out)
		}
		for _, v := range srv.Violations() {
			t.Errorf("%s: %v", ref, v)
		}
	}
}
