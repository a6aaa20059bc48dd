//go:build unix

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
)

// If the program cannot read or write the configuration directory, the error names a remedy.
func TestADirectoryOfTheConfigurationThatIsClosed(t *testing.T) {
	if !unprivileged.Is(t) {
		return
	}
	dir := t.TempDir()
	project, closed := filepath.Join(dir, "project"), filepath.Join(dir, "closed")
	for _, name := range []string{project, closed} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := writeFile(t, filepath.Join(dir, "tenon.json"), "{}")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		config, want string
		args         []string
	}{
		{closed, "; set TENON_CONFIG_DIR to a writable directory\n", []string{"trust", "--yes", project}},
		{closed, "; set TENON_CONFIG_DIR to a writable directory\n", []string{"auth", "login", "openai"}},
		{dir, "[config.invalid]\n", []string{"config", "show"}},
	} {
		var told bytes.Buffer
		env := command.Env{Stdin: strings.NewReader("sk-0123456789abcdef\n"), Stdout: &told, Stderr: &told, Getenv: func(name string) string {
			return map[string]string{"TENON_CONFIG_DIR": test.config, "TENON_DATA_DIR": dir, "TENON_KEYRING": "off", "TENON_DISCOVER": "off"}[name]
		}}
		if code := Main(t.Context(), test.args, env); code != command.ExitError || !strings.HasSuffix(told.String(), test.want) {
			t.Errorf("%v: exit code %d, prints %q", test.args, code, told.String())
		}
	}
}
