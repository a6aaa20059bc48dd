package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

func TestQuote(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.txt":       "a/b.txt",
		"with space":    "with space",
		"größe/日本":      "größe/日本",
		`say "hi"`:      `say "hi"`,
		"two\nlines":    `"two\nlines"`,
		"\x1b[2Jclear":  `"\x1b[2Jclear"`,
		"bad\xff.txt":   `"bad\xff.txt"`,
		"\u202egnp.exe": `"\u202egnp.exe"`, // it turns what follows around
	} {
		if got := workspace.Quote(path); got != want {
			t.Errorf("Quote(%q) = %s, want %s", path, got, want)
		}
	}
}

// A name that was shown in quotes can be given back so, and means that file and no other.
func TestQuotedNames(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the file system does not take such names")
	}
	dir := t.TempDir()
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for _, name := range []string{"two\nlines", "lines", "bad\xff.txt", `"quoted"`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		`"two\nlines"`:  "two\nlines",
		`"bad\xff.txt"`: "bad\xff.txt",
		`"quoted"`:      `"quoted"`,
		`"lines"`:       "lines",
	} {
		data, err := ws.ReadFile(name, 100)
		if err != nil || string(data) != want {
			t.Errorf("%s is %q, %v, want %q", name, data, err, want)
		}
	}
	if _, err := ws.ReadFile(`"../\x6futside"`, 100); err == nil {
		t.Error("a quoted name leads outside")
	}
	// Nor can a name begin a new line in an error.
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "a\ndir"), 0o700), os.Symlink("a\nloop", filepath.Join(dir, "a\nloop"))); err != nil {
		t.Fatal(err)
	}
	read := func(name string) error { _, err := ws.ReadFile(name, 100); return err }
	run := func(dir string) error {
		_, err := ws.Run(t.Context(), workspace.Command{Line: "true", Dir: dir})
		return err
	}
	for _, err := range []error{read("a\nnone"), read("a\ndir"), read("a\nloop"), run("two\nlines"), run("a\nnone")} {
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("the error %q", err)
		}
	}
}
