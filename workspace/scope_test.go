//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestWriteScope(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"mine/file": "old", "mine/sub/file": "old", "other/file": "old"})
	link(t, "../other", filepath.Join(dir, "mine/link"))
	session := openWith(t, dir, workspace.Options{Writable: []string{"mine"}})
	free := openWith(t, dir, workspace.Options{})
	whole, narrow := t.Context(), workspace.WithScope(t.Context(), filepath.Join(dir, "mine/sub"))
	wider := workspace.WithScope(narrow, dir)
	before := trees.Of(t, filepath.Join(dir, "other"))
	for _, test := range []struct {
		name    string
		free    bool // with the context alone
		session bool // in the session whose scope is mine
		call    bool // and with the narrow context
	}{
		{"mine/sub/file", true, true, true},
		{"mine/sub/new/file", true, true, true},
		{"mine/file", false, true, false},
		{"mine/link/file", false, false, false},
		{"other/file", false, false, false},
		{"new", false, false, false},
	} {
		for _, way := range []struct {
			w    *workspace.Workspace
			name string
			want bool
			err  error
		}{
			{free, "the call", test.free, free.WriteFile(narrow, test.name, []byte("x"), nil)},
			{free, "a wider call in it", test.free, free.WriteFile(wider, test.name, []byte("x"), nil)},
			{session, "the session", test.session, session.WriteFile(whole, test.name, []byte("x"), nil)},
			{session, "the call in the session", test.call, session.WriteFile(narrow, test.name, []byte("x"), nil)},
		} {
			if refused := errorIs[*workspace.ScopeError](way.err); refused == way.want || way.err != nil && !refused {
				t.Errorf("%s, in the scope of %s: %v", test.name, way.name, way.err)
			}
		}
	}
	if err := session.Rename(whole, "other/file", "mine/moved", nil); !errorIs[*workspace.ScopeError](err) {
		t.Errorf("moved from outside: %v", err)
	}
	trees.Same(t, trees.Of(t, filepath.Join(dir, "other")), before)
	if _, err := session.Run(whole, workspace.Command{Line: "true"}); !errorIs[*workspace.ScopeError](err) {
		t.Errorf("a command without a sandbox: %v", err)
	}
	if _, err := session.Run(whole, workspace.Command{Line: "true", ReadOnly: true}); err != nil {
		t.Errorf("a command that reads: %v", err)
	}
}

// A confined command writes in the scope alone, and reads the other files.
func TestWriteScopeOfCommands(t *testing.T) {
	if sandbox.Look().Level() != sandbox.Namespaces {
		t.Skip("no sandbox here")
	}
	dir := realDir(t)
	write(t, dir, map[string]string{"mine/sub/file": "old", "other/file": "old"})
	w := openWith(t, dir, workspace.Options{Sandbox: &sandbox.Policy{Writable: []string{dir}}, Writable: []string{"mine"}})
	ctx := workspace.WithScope(t.Context(), filepath.Join(dir, "mine/sub"))
	done, err := w.Run(ctx, workspace.Command{Line: "echo new > mine/sub/file; echo new > mine/file; echo new > other/file; echo new > file; cat other/file > mine/sub/read"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"mine/sub/file": "new\n", "mine/file": "", "other/file": "old", "file": "", "mine/sub/read": "old"} {
		if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != want {
			t.Errorf("%s has %q, want %q; %s", name, got, want, done.Head)
		}
	}
	if _, err := w.Run(ctx, workspace.Command{Line: "true", Unconfined: true}); !errorIs[*workspace.ScopeError](err) {
		t.Errorf("outside the sandbox: %v", err)
	}
}
