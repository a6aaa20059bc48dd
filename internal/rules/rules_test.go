package rules

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// rule is one thing that holds everywhere in the project.
type rule struct {
	name  string
	check func(*tree) []string // what breaks it, one line each
	fix   string               // the remedy

	files  bool              // it is about tracked files, and needs git
	broken map[string]string // a small project that breaks it
	want   []string          // what check finds there: a part of each line, in order
}

// rules is all of them.
var rules = slices.Concat(importRules, codeRules, apiRules, fileRules, dependencyRules, commandRules, wordRules, errorCodeRules)

// TestProject checks every rule on the project itself.
func TestProject(t *testing.T) {
	p := project(t)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if r.files && p.tracked == nil {
				t.Skip("no git checkout")
			}
			if found := r.check(p); len(found) > 0 {
				t.Errorf("%d found:\n\t%s\nWhat to do: %s", len(found), strings.Join(found, "\n\t"), r.fix)
			}
		})
	}
}

// TestRulesBite shows for every rule that it finds what it is there to find, and no more.
func TestRulesBite(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			found := r.check(sample(t, r.broken))
			for i, want := range r.want {
				if i >= len(found) || !strings.Contains(found[i], want) {
					t.Fatalf("found %q, want line %d to contain %q", found, i+1, want)
				}
			}
			if len(found) != len(r.want) || len(r.want) == 0 {
				t.Errorf("found %q, want %d lines and at least one", found, len(r.want))
			}
		})
	}
}

// sample reads a project that is given as file names and contents.
func sample(t *testing.T, files map[string]string) *tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := read(fsys)
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			p.tracked = append(p.tracked, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
