//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/workspace"
)

// If a tool writes to an ignored path while a job runs, the next scan does not report the file as removed.
func TestToolsWriteWhatIsIgnored(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{".gitignore": "build\n", "build/deep/x": "x", "a": "a"})
	r := record(t, dir, workspace.Options{})
	done, _, err := r.Track(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(t.Context(), []workspace.Edit{{Path: "build/deep/x", Data: []byte("y")}, {Path: "build/new/z", Data: []byte("z")}, {Path: "a"}}); err != nil {
		t.Fatal(err)
	}
	r.told = nil
	if err := done(t.Context()); err != nil || len(r.told) > 0 {
		t.Errorf("%v, reported %v", err, r.told)
	}
}

// If a tree becomes too large while a command runs and is small again at its end, the workspace reports the difference.
func TestTooLargeForAWhile(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a", "b": "b", "c": "c"})
	r := record(t, dir, workspace.Options{})
	r.LimitScans(10, 0)
	done, note, err := r.Track(t.Context())
	if err != nil || note != "" {
		t.Fatal(note, err)
	}
	for i := range 20 {
		write(t, dir, map[string]string{fmt.Sprintf("many/%d", i): ""})
	}
	second, note, err := r.Track(t.Context())
	if err != nil || note == "" {
		t.Fatalf("%q, %v", note, err)
	}
	if err := r.Apply(t.Context(), []workspace.Edit{{Path: "b", Data: []byte("by a tool")}}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(script(dir, "rm -r many; echo >> a"), second(t.Context())); err != nil {
		t.Fatal(err)
	}
	r.told = nil
	if err := done(t.Context()); err != nil || len(r.told) != 1 {
		t.Fatalf("%v, reported %v", err, r.told)
	}
	if got, want := words(dir, r.told[0]), fmt.Sprintf("a: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("a"), hashOf("a\n")); got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
}

// If the workspace cannot report changes at the start of a second command, it reports them at the end of the first one.
func TestUnreportedChangesAreReportedLater(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a"})
	r := record(t, dir, workspace.Options{})
	done, _, err := r.Track(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"a": "b"})
	r.refuse = errors.New("the journal is busy")
	if _, _, err := r.Track(t.Context()); !errors.Is(err, r.refuse) {
		t.Fatal(err)
	}
	r.refuse, r.told = nil, nil
	if err := done(t.Context()); err != nil || len(r.told) != 1 {
		t.Fatalf("%v, reported %v", err, r.told)
	}
	if got, want := words(dir, r.told[0]), fmt.Sprintf("a: -rw-r--r-- %.6s, -rw-r--r-- %.6s", hashOf("a"), hashOf("b")); got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
}

// A command whose context ends while the files are taken down before it does not begin.
func TestCancelledBeforeTheStart(t *testing.T) {
	dir := realDir(t)
	write(t, dir, map[string]string{"a": "a"})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	r := record(t, dir, workspace.Options{Label: func(context.Context) string {
		cancel(why)
		return "late"
	}})
	if done, err := r.Run(ctx, workspace.Command{Line: "touch started; rm a"}); !errors.Is(err, why) || done.ExitCode != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "started")); !errors.Is(err, fs.ErrNotExist) || len(r.told) > 0 {
		t.Errorf("it ran: %v, reported %v", err, r.told)
	}
	if err := r.Close(); err != nil || workspace.MayRecover(r.baselines, "") {
		t.Errorf("the records of the files stay: %v", err)
	}
}
