package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
)

func TestRewriteChangesAllFilesOrNone(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, b := filepath.Join(dir, "a.go"), filepath.Join(dir, "b.go")
	for _, name := range []string{a, b} {
		if err := os.WriteFile(name, []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	set := files.NewSet(ws)
	is := func(want string) {
		t.Helper()
		for _, name := range []string{a, b} {
			if data, err := os.ReadFile(name); err != nil || string(data) != want {
				t.Errorf("%s is %q, %v; want %q", name, data, err, want)
			}
		}
	}
	both := []files.Rewrite{{Path: a, Before: "old\n", After: "new\n"}, {Path: b, Before: "old\n", After: "new\n"}}
	if diff, err := set.PreviewRewrite(t.Context(), both); err != nil || strings.Count(diff, "+new") != 2 {
		t.Errorf("the preview is %q, %v", diff, err)
	}
	wrong := []files.Rewrite{both[0], {Path: b, Before: "other\n", After: "new\n"}}
	if _, err := set.Rewrite(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "b.go has changed just now") {
		t.Errorf("the error about a file with another text is %v", err)
	}
	is("old\n")
	result, err := set.Rewrite(t.Context(), both)
	if err != nil || len(result.Diffs) != 2 || result.Brief != "+2 -2, 2 files" {
		t.Errorf("the result is %+v, %v", result, err)
	}
	is("new\n")
}
