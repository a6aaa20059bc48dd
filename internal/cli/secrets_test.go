package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// planted is what is in every secret that the test plants, and must be in nothing that comes out.
const planted = "planted"

// talkative is a server that repeats its client's key wherever it can.
func talkative(r *modelserver.Request) modelserver.Step {
	shown := r.Key
	if _, token, ok := strings.Cut(r.Header.Get("X-Secret"), " "); ok {
		shown += " and " + token
	}
	switch {
	case strings.Contains(r.Model, "denied"):
		return modelserver.Fail(401).Message("Incorrect API key provided: " + shown)
	case strings.Contains(r.Model, "broken"):
		return modelserver.Raw(200, "text/html", "<html>"+shown+"</html>")
	case len(r.Results()) == 0 && len(r.Tools) > 0:
		return modelserver.Call("shell", `{"command":"env; cat config/keys.json config/tenon.json; env | base64; exit 3"}`)
	default:
		return modelserver.Say("Over.").Header("X-Request-Id", "req-1")
	}
}

// TestKeysDoNotComeOut runs every command with keys in the environment, in a file, and in the configuration.
func TestKeysDoNotComeOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the test are those of other systems")
	}
	srv := modelserver.New(t, modelserver.Func(talkative))
	dir := t.TempDir()
	host := strings.TrimPrefix(srv.URL, "http://")
	secrets := map[string]string{
		"ANTHROPIC_API_KEY":     "sk-ant-planted-environment-0123456789",
		"OPENAI_API_KEY":        "sk-planted-openai/environment+0123456789",
		"AWS_SECRET_ACCESS_KEY": "plantedAws/0123456789+secret",
		"WORK_KEY":              "sk-planted-referred-0123456789",
	}
	vars := isolated(dir)
	maps.Copy(vars, secrets)
	maps.Copy(vars, map[string]string{
		"PATH": os.Getenv("PATH"), "ANTHROPIC_BASE_URL": srv.URL, "OPENAI_BASE_URL": "http://user:planted-password@" + host + "/v1",
		"GROQ_BASE_URL": srv.URL + "/v1", "OLLAMA_HOST": host, "LLAMACPP_BASE_URL": srv.URL, "LMSTUDIO_BASE_URL": srv.URL, "VLLM_BASE_URL": srv.URL,
		"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "TENON_CONFIG_DIR": filepath.Join(dir, "config"), "TENON_DATA_DIR": filepath.Join(dir, "data"),
	})
	mkdirs(t, filepath.Join(dir, "config"), filepath.Join(dir, "project", ".git"))
	writeFile(t, filepath.Join(dir, "config", "tenon.json"), `{
		"catalog_url": "http://me:planted-catalog@`+host+`/models.json",
		"pools": {"all": ["anthropic/denied", "openai/denied", "work/big", "referred/denied"]},
		"providers": {
			"work": {"base_url": "http://me:planted-password@`+host+`/v1", "api_key": "sk-planted-literal-0123456789",
				"headers": {"X-Secret": "Token planted-header-0123456789"}, "models": {"big": {}, "denied": {}, "broken": {}}, "retry": {"delay": "1ms"}},
			"referred": {"base_url": "`+srv.URL+`/v1", "api_keys": ["$WORK_KEY", {"name": "printed", "key": "$(cat printed)"}], "retry": {"delay": "1ms"}},
			"openai": {"retry": {"delay": "1ms"}}, "anthropic": {"retry": {"delay": "1ms"}},
		},
	}`)
	writeFile(t, filepath.Join(dir, "config", "printed"), "sk-planted-printed-0123456789")
	writeFile(t, filepath.Join(dir, "project", "tenon.json"), `{"limits": {"turns": 9}}`)
	writeFile(t, filepath.Join(dir, "wrong.json"), `{"providers": {"work": {"api_key": ["sk-planted-list"], "base_url": "sk-planted-url"}}}`)

	run := func(input string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "tenon", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
		for name, value := range vars {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if _, exited := err.(*exec.ExitError); err != nil && !exited {
			t.Fatal(err)
		}
		if text := out.String(); Leaks(text) {
			t.Errorf("tenon %s\n%s", strings.Join(args, " "), text)
		} else if text == "" {
			t.Errorf("tenon %s says nothing", strings.Join(args, " "))
		}
	}
	run("sk-planted-kept-0123456789\n", "auth", "login", "groq", "--check", "--json")
	run("sk-planted-kept-0123456789\n", "auth", "login", "work", "--check")
	run("sk-planted broken\n", "auth", "login", "xai")
	for _, args := range []string{
		"auth list", "auth list --json", "auth logout mistral", "auth login sk-planted-argument-0123",
		"models", "models --all", "models --all --json", "models --json", "models --discover", "models update", "models update --json",
		"models update --url http://me:planted@" + host + "/models.json?key=planted",
		"models test", "models test all", "models test all --json", "models test work/denied work/broken referred/denied --retry",
		"models test anthropic/denied openai/broken --json",
		"config show", "config show --origin", "config show --json", "config show --origin -C project", "config check", "config check wrong.json",
		"config check --json wrong.json", "config path", "config schema", "trust project", "trust project --yes --json", "trust --list",
		"run --model work/denied hello", "run --model openai/denied hello --debug", "run --model referred/broken hello --output json",
		"run --model work/denied hello --output stream-json", "version", "help auth login",
	} {
		run("", strings.Fields(args)...)
	}
	// A tool prints all that the program can see.
	for _, model := range []string{"anthropic/claude-sonnet-4-6", "openai/gpt-5.4", "work/big", "referred/x"} {
		for _, output := range []string{"text", "json", "stream-json"} {
			run("", "run", "--yes", "--model", model, "--output", output, "look around", "--debug")
		}
	}
	for _, id := range sessionIDs(t, dir, vars) {
		run("", "sessions", "show", id)
		run("", "sessions", "show", "--full", id)
		run("", "sessions", "show", "--json", id)
		run("", "sessions", "export", id)
	}
	run("", "sessions", "list", "--json")
	withoutKeys(t, filepath.Join(dir, "data"))
	for _, r := range srv.Requests() {
		for _, m := range r.Messages {
			if text, _ := json.Marshal(m); Leaks(string(text)) {
				t.Errorf("the model is sent %s", text)
			}
		}
	}
}

// Leaks reports whether there is anything of a planted secret in a text, also in base64, broken into lines or not.
func Leaks(text string) bool {
	text = strings.NewReplacer("\n", "", `\n`, "").Replace(text)
	return strings.Contains(text, planted) || slices.ContainsFunc(plantedCodes(), func(code string) bool { return strings.Contains(text, code) })
}

// plantedCodes is what every base64 has one of that has a planted secret in it.
func plantedCodes() []string {
	var all []string
	for before := range 3 {
		code := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + planted))
		all = append(all, code[(before*8+5)/6:(before+len(planted))*8/6]) // without the characters that its neighbours have a part in
	}
	return all
}

// sessionIDs returns the IDs of all sessions.
func sessionIDs(t *testing.T, dir string, vars map[string]string) (ids []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "tenon", "sessions", "list", "--all", "--json", "--limit", "0")
	cmd.Dir = dir
	for name, value := range vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var s struct{ ID string }
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	if len(ids) < 12 {
		t.Errorf("there are only %d sessions", len(ids))
	}
	return ids
}

// withoutKeys looks into every file below a directory.
func withoutKeys(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if i := bytes.Index(data, []byte(planted)); i >= 0 {
			t.Errorf("%s: …%q…", path, data[max(0, i-40):min(len(data), i+60)])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func mkdirs(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
