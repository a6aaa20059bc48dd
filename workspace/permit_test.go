package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// What lies outside has a place that can be asked about, and can be used only while it is permitted.
func TestPermit(t *testing.T) {
	dir, other := resolved(t), resolved(t)
	for _, name := range []string{filepath.Join(other, "a", "x"), filepath.Join(other, "b"), filepath.Join(dir, "guarded")} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir, workspace.Options{Outside: workspace.AskOutside, Protected: []string{"guarded"}, Hidden: []string{filepath.Join(other, "b")}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	x, b, guarded := filepath.Join(other, "a", "x"), filepath.Join(other, "b"), filepath.Join(dir, "guarded")
	read := func(name string) error { _, err := w.ReadFile(name, 10); return err }
	write := func(name string) error { return w.WriteFile(t.Context(), name, []byte("new"), nil) }
	is := func(what string, err error, outside, protected, hidden bool) {
		t.Helper()
		_, o := errors.AsType[*workspace.OutsideError](err)
		_, p := errors.AsType[*workspace.ProtectedError](err)
		_, h := errors.AsType[*workspace.HiddenError](err)
		if o != outside || p != protected || h != hidden || (err != nil) != (o || p || h) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, name := range []string{x, guarded} {
		if at, err := w.Resolve(name); err != nil || at != name {
			t.Errorf("%s is at %s, %v", name, at, err)
		}
		if at, err := w.Locate(name); err != nil || at != name {
			t.Errorf("%s is at %s, %v", name, at, err)
		}
	}
	_, err = w.Resolve(b)
	is("a hidden place", err, false, false, true)
	is("read outside", read(x), true, false, false)
	is("write outside", write(x), true, false, false)
	is("read what is protected", read(guarded), false, false, false)
	is("write what is protected", write(guarded), false, true, false)

	revoke := w.Permit([]string{filepath.Join(other, "a")}, nil)
	is("read what is permitted", read(x), false, false, false)
	is("write what may be read", write(x), true, false, false)
	revoke()
	is("read what was permitted", read(x), true, false, false)

	revoke = w.Permit(nil, []string{x, guarded, b})
	is("write what is permitted", write(x), false, false, false)
	is("read what may be written", read(x), false, false, false)
	is("write what is protected and permitted", write(guarded), false, false, false)
	is("write its neighbour", write(filepath.Join(other, "a", "y")), true, false, false)
	is("read what is hidden", read(b), false, false, true)

	// A link that is put in the way after the judgement.
	if err := os.Rename(filepath.Join(other, "a"), filepath.Join(other, "c")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(other, "c"), filepath.Join(other, "a")); err != nil {
		t.Skip(err)
	}
	is("write through a link", write(x), true, false, false)
	revoke()
}

// resolved is a new directory by its name without links.
func resolved(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A refused path cannot be read, walked, or found through a link.
func TestRefuse(t *testing.T) {
	dir := resolved(t)
	for _, name := range []string{"a.go", "key.pem", "sub/other.pem", "sub/b.go"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("key.pem", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	secret := errors.New("no keys")
	w, err := workspace.Open(dir, workspace.Options{Refuse: func(name string) error {
		if filepath.Ext(name) == ".pem" {
			return secret
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range []string{"key.pem", "link", filepath.Join(dir, "sub", "other.pem")} {
		if _, err := w.ReadFile(name, 10); !errors.Is(err, secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var seen []string
	for e, err := range w.Walk(t.Context(), ".", workspace.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, e.Path)
	}
	if want := []string{"a.go", "link", "sub", "sub/b.go"}; !slices.Equal(seen, want) {
		t.Errorf("walked %v", seen)
	}
}
