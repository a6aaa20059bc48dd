package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNewFileIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out")
	says := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			_, e := io.WriteString(w, text)
			return errors.Join(e, err)
		}
	}
	broken := errors.New("no more")
	for _, c := range []struct {
		what, name string
		force      bool
		write      func(io.Writer) error
		want, says string // the file after it; the error
	}{
		{"fails", name, false, says("half", broken), "", "write " + name + ": no more"},
		{"writes", name, false, says("one", nil), "one", ""},
		{"is there", name, false, says("two", nil), "one", name + " exists; name another file, or replace it with --force"},
		{"fails again", name, true, says("half", broken), "one", "no more"},
		{"replaces", name, true, says("three", nil), "three", ""},
		{"nowhere", filepath.Join(dir, "nowhere", "out"), false, says("four", nil), "three", "write " + filepath.Join(dir, "nowhere", "out") + ": "},
		{"below a file", filepath.Join(name, "out"), true, says("five", nil), "three", "write " + filepath.Join(name, "out") + ": "},
	} {
		err := NewFile(c.name, c.force, c.write)
		if (err == nil) != (c.says == "") || err != nil && (!strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), ".part")) {
			t.Errorf("%s: error %v, want %q", c.what, err, c.says)
		}
		if got, _ := os.ReadFile(name); string(got) != c.want {
			t.Errorf("%s: the file has %q, want %q", c.what, got, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(left) > 0 {
			t.Errorf("%s: left are %q", c.what, left)
		}
	}
}
