//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// killedRun lets the program run a command and kills it under it, when it is known that it lived after what the command did first.
func killedRun(t *testing.T, dir, project, mode, command string) {
	t.Helper()
	env := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"), `call shell {"command":"`+command+`; touch ready; sleep 1000"}`)}
	c := start(t, dir, env, "run", "--mode", mode, "-C", project, "do it")
	ready := filepath.Join(project, "ready")
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		if made, err := os.Stat(ready); err == nil && aliveSince(dir, made.ModTime().Add(50*time.Millisecond)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the command does not come to its point")
		}
	}
	c.signal(os.Kill)
	if err := c.cmd.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
}

// aliveSince reports whether a process has said that it lives, after a time.
func aliveSince(dir string, since time.Time) bool {
	logs, _ := filepath.Glob(filepath.Join(dir, "data", "baselines", "*", "log"))
	for _, log := range logs {
		if info, err := os.Stat(log); err == nil && info.ModTime().After(since) {
			return true
		}
	}
	return false
}

// The program is killed while a command runs. The next process finds the changes of the command, can undo and redo them, and shows them to
// the model.
func TestKilledUnderACommand(t *testing.T) {
	const command = "echo two >a; rm b; mv c d; mkdir e; echo new >e/f"
	prepare := func(t *testing.T, mode string) (dir, project string) {
		dir = t.TempDir()
		project = filepath.Join(dir, "project")
		if err := os.Mkdir(project, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b", "c"} {
			writeFile(t, filepath.Join(project, name), name+"\n")
		}
		killedRun(t, dir, project, mode, command)
		return dir, project
	}
	t.Run("undo", func(t *testing.T) {
		dir, project := prepare(t, "yolo")
		tell := func(want string, args ...string) {
			t.Helper()
			code, out, told := start(t, dir, nil, append(args, "-C", project)...).end()
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%v: exit code %d: %s%s", args, code, out, told)
			}
		}
		tell("recreate b", "undo", "--dry-run")
		tell("+two", "diff")
		writeFile(t, filepath.Join(project, "e", "mine"), "by a person")
		tell("restore  a", "undo")
		for name, want := range map[string]string{"a": "a\n", "b": "b\n", "c": "c\n", "e/mine": "by a person"} {
			if got, err := os.ReadFile(filepath.Join(project, name)); string(got) != want {
				t.Errorf("%s is %q, %v", name, got, err)
			}
		}
		tell("remove   b", "redo")
		if got, err := os.ReadFile(filepath.Join(project, "e", "f")); string(got) != "new\n" {
			t.Errorf("after redo: %q, %v", got, err)
		}
	})
	t.Run("go on", func(t *testing.T) {
		mode := "yolo"
		if sandbox.Look().Level() == sandbox.Namespaces {
			mode = "auto"
		}
		dir, project := prepare(t, mode)
		env := []string{"TENON_TEST_SCRIPT=" + writeFile(t, filepath.Join(dir, "script"), "text Never.\n---\ntext Well.")}
		if code, _, told := start(t, dir, env, "run", "--continue", "-C", project, "and now?").end(); code != 0 {
			t.Fatalf("exit code %d: %s", code, told)
		}
		stores, _ := filepath.Glob(filepath.Join(dir, "data", "contents", "*"))
		if len(stores) != 1 {
			t.Fatalf("%q", stores)
		}
		_, out, _ := start(t, dir, nil, "sessions", "export", filepath.Base(stores[0])).end()
		out = strings.ReplaceAll(out, `\\\"`, `\"`)
		for _, want := range []string{"The outcome of this call is unknown", "Files that were different from what they had been before the call", `e/f\": new`, `b\": removed`, `a\": changed`} {
			if !strings.Contains(out, want) {
				t.Errorf("the model does not see %q:\n%s", want, out)
			}
		}
		if strings.Contains(out, `.tenon\": new`) {
			t.Errorf("the model sees files of the sandbox as changes of the command:\n%s", out)
		}
	})
}
