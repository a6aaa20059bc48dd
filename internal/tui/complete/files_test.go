package complete_test

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/workspace"
)

// drain runs a listing to its end and returns the number of batches.
func drain(t *testing.T, f *complete.Files, cmd tea.Cmd) (batches int) {
	t.Helper()
	for ; cmd != nil; batches++ {
		cmd = f.Update(cmd().(complete.Listed))
	}
	return batches
}

func find(f *complete.Files, pattern string) (texts []string) {
	for _, it := range f.Find(pattern)().(complete.Found).Items {
		texts = append(texts, it.Text)
	}
	return texts
}

func TestFilesOfAWorkspace(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": "", "a b.txt": "", "src/deep/x.go": "", "ignored.log": "", ".gitignore": "*.log\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f := complete.NewFiles(dir, complete.Walk(w))
	now := time.Now()
	drain(t, f, f.Refresh(now))
	if got, want := find(f, ""), []string{".gitignore", "a b.txt", "main.go", "src/", "src/deep/", "src/deep/x.go"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := find(f, "x.go"); !slices.Equal(got, []string{"src/deep/x.go"}) {
		t.Errorf("got %q", got)
	}
	if got := find(f, "log"); len(got) != 0 {
		t.Errorf("ignored files are found: %q", got)
	}
	if got := find(f, "./src/"); !slices.Equal(got, []string{"./src/deep/"}) {
		t.Errorf("got %q", got)
	}
	if got := find(f, filepath.ToSlash(dir)+"/ma"); !slices.Equal(got, []string{filepath.ToSlash(dir) + "/main.go"}) {
		t.Errorf("got %q", got)
	}
	if f.Refresh(now) != nil {
		t.Error("a fresh list is listed again")
	}
	if err := os.WriteFile(filepath.Join(dir, "new.go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	drain(t, f, f.Refresh(now.Add(time.Hour)))
	if got := find(f, "new"); !slices.Equal(got, []string{"new.go"}) {
		t.Errorf("a stale list is not listed again: %q", got)
	}
}

func TestALargeListStreamsAndEnds(t *testing.T) {
	ended, all := false, paths(300_000)
	f := complete.NewFiles("", func(context.Context) iter.Seq[string] {
		return func(yield func(string) bool) {
			defer func() { ended = true }()
			for _, p := range all {
				if !yield(p) {
					return
				}
			}
		}
	})
	cmd := f.Refresh(time.Now())
	cmd = f.Update(cmd().(complete.Listed))
	if found := f.Find("handler")().(complete.Found); len(found.Items) != complete.Limit || !found.Partial {
		t.Errorf("%d items of a part of the list, partial %t", len(found.Items), found.Partial)
	}
	if drain(t, f, cmd); !ended {
		t.Error("the listing did not end")
	}
	if found := f.Find("zzz")().(complete.Found); found.Total != 200_000 || found.Partial {
		t.Errorf("%+v", found)
	}
	ended = false
	f.Update(f.Refresh(time.Now().Add(time.Hour))().(complete.Listed))
	if f.Close(); !ended {
		t.Error("Close does not end a listing")
	}
}

func BenchmarkFind50000(b *testing.B) {
	f := complete.NewFiles("", func(context.Context) iter.Seq[string] { return slices.Values(paths(50_000)) })
	for cmd := f.Refresh(time.Now()); cmd != nil; {
		cmd = f.Update(cmd().(complete.Listed))
	}
	for b.Loop() {
		f.Find("handler12")()
	}
}
