package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A host that a person granted for all sessions is one that commands may reach in all sessions.
func TestGrantOfAHost(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	write(t, file, "{\n\t// mine\n\t\"sandbox\": {\"network\": [\"example.com\"]},\n}")
	for range 2 {
		if err := Grant(t.Context(), file, "/sandbox/network", "@npm"); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Options{File: file})
	if text, _ := os.ReadFile(file); err != nil || !slices.Equal(c.Sandbox.Network, []string{"example.com", "@npm"}) || !strings.Contains(string(text), "// mine") {
		t.Errorf("the file is %s, error %v", text, err)
	}
}

func TestGrant(t *testing.T) {
	for before, want := range map[string]string{
		"":                                       `"allow": ["shell(go test *)"]`,
		"{}":                                     `"allow": ["shell(go test *)"]`,
		"{\n\t// mine\n\t\"model\": \"a/b\",\n}": "// mine",
		`{"permissions": {"mode": "edits"}}`:     `"mode": "edits"`,
		"{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"edit\", // all of it\n\t\t],\n\t},\n}": "// all of it",
		`{"permissions": {"allow": ["shell(go test *)"]}}`:                                         `{"permissions": {"allow": ["shell(go test *)"]}}`,
	} {
		file := filepath.Join(t.TempDir(), "new", FileName)
		if before != "" {
			file = filepath.Join(t.TempDir(), FileName)
			write(t, file, before)
		}
		for range 2 { // the second time changes nothing
			if err := Grant(t.Context(), file, "/permissions/allow", "shell(go test *)"); err != nil {
				t.Fatalf("%s: %v", before, err)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) || strings.Count(string(text), "shell(go test *)") != 1 {
			t.Errorf("%s became %s", before, text)
		}
		c, err := Load(Options{File: file})
		if err != nil || len(c.Permissions.Allow) == 0 || c.Permissions.Allow[len(c.Permissions.Allow)-1].Text != "shell(go test *)" {
			t.Errorf("%s became %s: %v", before, text, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the mode is %v, %v", info.Mode(), err)
		}
	}
}

func TestGrantToWhatIsNoConfiguration(t *testing.T) {
	for before, want := range map[string]string{
		"{":                               "fix it first",
		`{"permissions": 7}`:              "cannot add edit to",
		`{"permissions": {"allow": "x"}}`: "cannot add edit to",
	} {
		file := filepath.Join(t.TempDir(), FileName)
		write(t, file, before)
		if err := Grant(t.Context(), file, "/permissions/allow", "edit"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", before, err)
		}
		if text, _ := os.ReadFile(file); string(text) != before {
			t.Errorf("%s became %s", before, text)
		}
	}
}

// Rules that are given at the same time are all kept.
func TestGrantsSideBySide(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if err := Grant(t.Context(), file, "/permissions/allow", "shell(cmd"+string(rune('a'+i))+")"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if c, err := Load(Options{File: file}); err != nil || len(c.Permissions.Allow) != 10 {
		t.Errorf("got %v, %v", c.Permissions.Allow, err)
	}
}

func TestSet(t *testing.T) {
	file := filepath.Join(t.TempDir(), FileName)
	for _, c := range []struct {
		name  string
		value any
	}{{"/terminal/theme", "dark"}, {"/terminal/vim", true}, {"/terminal/theme", "light"}} {
		if err := Set(t.Context(), file, c.name, c.value); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Count(string(text), "theme") != 1 || !strings.Contains(string(text), `"light"`) || !strings.Contains(string(text), `"vim": true`) {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.WriteFile(file, []byte("{ // mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Set(t.Context(), file, "/terminal/vim", true); err == nil || !strings.Contains(err.Error(), "fix it first") {
		t.Error(err)
	}
}
