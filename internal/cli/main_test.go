package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// TestMain lets the test binary be the program too: scripts and tests that start "tenon" start it.
func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(leakChecked{m}, map[string]func(){"tenon": tenon})
}

// raceOptions is the value of GORACE for programs that tests start. By default a program with the race detector waits a second
// before it ends.
const raceOptions = "atexit_sleep_ms=0"

// stuck is what a model that is stuck says first.
const stuck = "the model is stuck\n"

// priced is the model of scripts: with a price, so that limits of money hold.
var priced = llm.Model{
	Provider: "test", ID: "script", Context: 200_000, MaxOutput: 32_000, Images: true, Documents: true, Price: llm.Price{Input: 1, Output: 1},
}

// tenon is cmd/tenon, but for the model: a script in TENON_TEST_SCRIPT answers, or with TENON_TEST_STUCK a model that
// does not even heed the end of its context.
func tenon() {
	env := System()
	env.Version = "v0.0.0-test"
	if name := os.Getenv("TENON_TEST_SCRIPT"); name != "" {
		script, err := os.ReadFile(name)
		if err == nil {
			env.Client, err = llmtest.Parse(string(script), llmtest.ByHistory(), llmtest.WithModel(priced))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
	}
	if os.Getenv("TENON_TEST_STUCK") != "" {
		env.Client = llmtest.Func(func(context.Context, *llm.Request) (llm.Message, error) {
			fmt.Fprint(os.Stderr, stuck) // an interrupt before this one would end the run in good order: the model was not asked yet
			select {}
		})
	}
	os.Exit(Main(context.Background(), os.Args[1:], env))
}

// leakChecked fails the tests when goroutines are left behind.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	undo := isolate()
	defer undo()
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// isolate keeps what the person who runs the tests has set up out of them: no key, no server and no configuration of theirs is seen,
// here and in the programs that tests start.
func isolate() (undo func()) {
	dir, err := os.MkdirTemp("", "tenon-test-*")
	if err != nil {
		panic(err)
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); outside(name) {
			_ = os.Unsetenv(name)
		}
	}
	for name, value := range isolated(dir) {
		_ = os.Setenv(name, value)
	}
	return func() { _ = os.RemoveAll(dir) }
}

// isolated is the environment of a program that must see nothing but a directory.
func isolated(dir string) map[string]string {
	return map[string]string{
		"HOME": filepath.Join(dir, "home"), "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "",
		"AppData": filepath.Join(dir, "AppData"), "LocalAppData": filepath.Join(dir, "LocalAppData"),
		"TENON_CONFIG_DIR": filepath.Join(dir, "config"), "TENON_DATA_DIR": filepath.Join(dir, "data"),
		"TENON_KEYRING": "off", "TENON_DISCOVER": "off", "TENON_MODEL": "", "GORACE": raceOptions,
	}
}

// outside reports whether a variable could lead to a model.
func outside(name string) bool {
	for _, p := range providers() {
		if slices.Contains(p.KeyVars, name) || slices.Contains(p.URLVars, name) {
			return true
		}
	}
	for _, prefix := range []string{"TENON_", "AWS_", "GOOGLE_", "AZURE_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "GCE_", "K_SERVICE", "CLOUD_ML_"} {
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, "TENON_TEST_") {
			return true
		}
	}
	return false
}

// providers is the providers as the program knows them where nothing is set up.
func providers() []models.ProviderStatus {
	return models.New(models.Options{Getenv: func(string) string { return "" }}).Providers()
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
