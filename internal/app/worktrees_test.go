package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/permission"
)

// Work in a worktree has the bounds of the project: an absolute path that the project hides is hidden in the copy, too.
func TestWithinAWorktree(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, home, data := filepath.Join(top, "project"), filepath.Join(top, "home"), filepath.Join(top, "data")
	for name, text := range map[string]string{
		filepath.Join(project, "a.txt"): "a",
		filepath.Join(home, "tenon.json"): `{"sandbox":{"hidden":["` + filepath.ToSlash(filepath.Join(project, "secret")) + `"]},
		"permissions":{"deny":["write(` + filepath.ToSlash(project) + `/docs/**)"]}}`,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string {
		return map[string]string{"HOME": home, "TENON_CONFIG_DIR": home, "TENON_DATA_DIR": data}[name]
	}
	a, err := Open(getenv, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	w, err := a.Worktrees().Create(t.Context(), project, "one", "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSetup(getenv, project, "test")
	if err != nil {
		t.Fatal(err)
	}
	b, policy, err := Within(s, w, Permissions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Root != w.Dir() || !slices.Contains(b.Hidden, filepath.Join(w.Dir(), "secret")) || !slices.Contains(b.Hidden, data) {
		t.Errorf("%+v", b.Bounds)
	}
	if rules := policy.Rules(); !slices.ContainsFunc(rules, func(r permission.Rule) bool { return r.Text() == "write("+filepath.ToSlash(w.Dir())+"/docs/**)" }) {
		t.Errorf("%v", rules)
	}
}
