package config

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// roleEnv makes the test binary another process: it trusts the folders that its standard input names.
const roleEnv = "TENON_TEST_TRUST_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(roleEnv); dir != "" {
		if err := trustAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func trustAll(dir string) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if err := NewTrustStore(dir).Trust(context.Background(), lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// home is a user's directory and a project, both empty, and the options that find them.
type home struct {
	*testing.T
	Options
	root string // of the project
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir, root := t.TempDir(), t.TempDir()
	mkdir(t, filepath.Join(root, ".git"))
	return &home{t, Options{Dir: dir, WorkDir: root, Getenv: env()}, root}
}

// user writes the user's file.
func (h *home) user(text string) *home {
	h.Helper()
	write(h.T, filepath.Join(h.Dir, FileName), text)
	return h
}

// project writes the project's file and trusts its folder.
func (h *home) project(text string) *home {
	h.Helper()
	write(h.T, filepath.Join(h.root, FileName), text)
	if err := NewTrustStore(h.Dir).Trust(h.Context(), h.root); err != nil {
		h.Fatal(err)
	}
	return h
}

// load loads what must be right.
func (h *home) load() *Config {
	h.Helper()
	c, err := Load(h.Options)
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// mistakes loads what must be wrong, and returns the lines of the error with the names of the directories left out.
func (h *home) mistakes() []string {
	h.Helper()
	c, err := Load(h.Options)
	if err == nil || c != nil {
		h.Fatalf("got %v, %v; want no configuration and an error", c, err)
	}
	text := strings.NewReplacer(h.Dir+string(filepath.Separator), "USER/", h.root+string(filepath.Separator), "PROJECT/").Replace(err.Error())
	return strings.Split(text, "\n")
}

func write(t testing.TB, file, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(file))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

// env is an environment of names and values.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}
