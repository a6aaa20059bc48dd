package config

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestGrant(t *testing.T) {
	for before, want := range map[string]string{
		"":                                       `"allow": ["shell(go test *)"]`,
		"{}":                                     `"allow": ["shell(go test *)"]`,
		"{\n\t// mine\n\t\"model\": \"a/b\",\n}": "// mine",
		`{"permissions": {"mode": "edits"}}`:     `"mode": "edits"`,
		"{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"edit\", // all of it\n\t\t],\n\t},\n}": "// all of it",
		`{"permissions": {"allow": ["shell(go test *)"]}}`:                                         `{"permissions": {"allow": ["shell(go test *)"]}}`,
	} {
		file := filepath.Join(t.TempDir(), "new", fileName)
		if before != "" {
			file = filepath.Join(t.TempDir(), fileName)
			write(t, file, before)
		}
		for range 2 { // the second time changes nothing
			if err := Grant(t.Context(), file, "shell(go test *)"); err != nil {
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
		`{"permissions": 7}`:              "add the rule to",
		`{"permissions": {"allow": "x"}}`: "add the rule to",
	} {
		file := filepath.Join(t.TempDir(), fileName)
		write(t, file, before)
		if err := Grant(t.Context(), file, "edit"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", before, err)
		}
		if text, _ := os.ReadFile(file); string(text) != before {
			t.Errorf("%s became %s", before, text)
		}
	}
}

// Rules that are given at the same time are all kept.
func TestGrantsSideBySide(t *testing.T) {
	file := filepath.Join(t.TempDir(), fileName)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if err := Grant(t.Context(), file, "shell(cmd"+string(rune('a'+i))+")"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if c, err := Load(Options{File: file}); err != nil || len(c.Permissions.Allow) != 10 {
		t.Errorf("got %v, %v", c.Permissions.Allow, err)
	}
}
