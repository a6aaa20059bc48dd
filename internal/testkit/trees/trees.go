// Package trees compares whole directories, for tests alone.
package trees

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

// Of is everything below a directory, by its path from there: modes, contents, and where links lead. On Windows a mode is the type alone.
func Of(t testing.TB, dir string) map[string]string {
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
		out[rel], err = describe(name, entry)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func describe(name string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	mode := info.Mode()
	if runtime.GOOS == "windows" {
		mode = mode.Type()
	}
	switch {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		return "link to " + target, err
	case !mode.IsRegular():
		return mode.String(), nil
	}
	data, err := os.ReadFile(name)
	return fmt.Sprintf("%v %q", mode, data), err
}

// Same fails a test, which may be a rapid check, unless two trees are equal. It reports the first twenty differences.
func Same(t interface {
	Helper()
	Errorf(format string, args ...any)
}, got, want map[string]string,
) {
	t.Helper()
	var lines []string
	for name := range maps.Keys(got) {
		if _, ok := want[name]; !ok {
			lines = append(lines, fmt.Sprintf("%s is there: %.80s", name, got[name]))
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
