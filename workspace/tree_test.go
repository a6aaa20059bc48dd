package workspace_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// treeOf is everything below a directory: modes, contents, and where links lead.
func treeOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		mode := info.Mode()
		if runtime.GOOS == "windows" {
			mode = mode.Type()
		}
		switch text := ""; {
		case info.Mode()&fs.ModeSymlink != 0:
			text, err = os.Readlink(name)
			out[rel] = "link to " + text
		case info.IsDir():
			out[rel] = mode.String()
		default:
			var data []byte
			data, err = os.ReadFile(name)
			out[rel] = fmt.Sprintf("%v %q", mode, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sameTree compares two trees.
func sameTree(t testing.TB, got, want map[string]string) {
	t.Helper()
	var lines []string
	for name := range maps.Keys(got) {
		if _, ok := want[name]; !ok {
			lines = append(lines, fmt.Sprintf("%s is there: %s", name, got[name]))
		}
	}
	for name, text := range want {
		if other, ok := got[name]; !ok {
			lines = append(lines, name+" is missing")
		} else if other != text {
			lines = append(lines, fmt.Sprintf("%s is %.80s, want %.80s", name, other, text))
		}
	}
	if slices.Sort(lines); len(lines) > 0 {
		t.Errorf("the trees differ:\n%s", strings.Join(lines[:min(20, len(lines))], "\n"))
	}
}
