//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

func open(t testing.TB) *workspace.Workspace {
	t.Helper()
	ws, err := workspace.Open(t.TempDir(), workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func prepare(t testing.TB, one tool.Tool, arguments any) *tool.Call {
	t.Helper()
	data, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	call, err := one.Prepare(t.Context(), string(data))
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func run(t testing.TB, ws *workspace.Workspace, arguments map[string]any) (tool.Result, shell.Ran) {
	t.Helper()
	result, err := prepare(t, shell.New(ws, shell.Options{})[0], arguments).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return result, result.Details.(shell.Ran)
}

func TestShell(t *testing.T) {
	ws := open(t)
	tests := []struct{ command, want string }{
		{"echo hello", "hello\n[exit code 0]"},
		{"echo no >&2; exit 3", "no\n[exit code 3]"},
		{"true", "[exit code 0; no output]"},
		{"printf open", "open\n[exit code 0]"},
		{`printf 'caf\351\n'`, "caf\ufffd\n[exit code 0]"},
		{`printf '\177ELF\000'`, "[binary output, 5 bytes, not shown]\n[exit code 0]"},
		{"kill -KILL $$", "[killed by signal: " + syscall.SIGKILL.String() + "; no output]"},
		{"sleep 1000 & echo ready", "ready\n[exit code 0; processes that it left running were killed; use background: true to keep a command running]"},
	}
	for _, test := range tests {
		t.Run(test.command, func(t *testing.T) {
			result, ran := run(t, ws, map[string]any{"command": test.command, "description": "d"})
			if got := result.Content.Text(); got != test.want || result.IsError {
				t.Errorf("%q, error %t; want %q", got, result.IsError, test.want)
			}
			if ran.Command != test.command || ran.Description != "d" || ran.File != "" {
				t.Errorf("details %+v", ran)
			}
		})
	}
	if _, ran := run(t, ws, map[string]any{"command": "exit 7"}); ran.ExitCode != 7 {
		t.Errorf("details %+v", ran)
	}
}

func TestEffects(t *testing.T) {
	effects := prepare(t, shell.New(open(t), shell.Options{})[0], map[string]any{"command": "rm x"}).Effects
	if !effects.Unknown || !effects.Exclusive || effects.Command != "rm x" || effects.Idempotent || effects.ReadOnly() {
		t.Errorf("%+v", effects)
	}
}

func TestArguments(t *testing.T) {
	one := shell.New(open(t), shell.Options{})[0]
	for arguments, want := range map[string]string{
		`{}`:                             "command: missing",
		`{"command":""}`:                 "command: must not be empty",
		`{"cmd":"ls"}`:                   `did you mean "command"?`,
		`{"command":"ls","timeout":601}`: "timeout: must be at most 600",
	} {
		if _, err := one.Prepare(t.Context(), arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", arguments, err, want)
		}
	}
}

func TestLongOutput(t *testing.T) {
	ws := open(t)
	result, ran := run(t, ws, map[string]any{"command": "seq 1 100000; exit 1"})
	text := result.Content.Text()
	if len(text) > 51<<10 || !strings.HasPrefix(text, "1\n2\n3\n") || strings.Count(text, ran.File) != 1 || !strings.HasSuffix(text, "\n99999\n100000\n[exit code 1]") {
		t.Errorf("%d bytes: %.40q … %q", len(text), text, text[len(text)-200:])
	}
	if ran.Bytes != 588_895 {
		t.Errorf("details %+v", ran)
	}
	// The result has the exact size of the omitted part, and the model can read that part.
	var lines, bytes int
	notice := text[strings.Index(text, "[... ")+5:]
	lines, _ = strconv.Atoi(notice[:strings.Index(notice, " lines")])
	notice = notice[strings.Index(notice, ", ")+2:]
	bytes, _ = strconv.Atoi(notice[:strings.Index(notice, " bytes")])
	shown := text[:strings.Index(text, "[... ")] + text[strings.Index(text, " ...]\n")+6:strings.LastIndex(text, "[exit")]
	if lines != 100_000-strings.Count(shown, "\n") || bytes != 588_895-len(shown) {
		t.Errorf("the result reports %d lines and %d bytes as omitted, and shows %d and %d", lines, bytes, strings.Count(shown, "\n"), len(shown))
	}
	wantNext(t, ws, text)
	grep := search.New(ws)[1]
	found, err := prepare(t, grep, map[string]any{"path": ran.File, "pattern": "^77777$"}).Run(t.Context(), nil)
	if err != nil || found.Content.Text() != ran.File+"\n77777:77777" {
		t.Errorf("%q, %v", found.Content.Text(), err)
	}
	if _, err := prepare(t, files.New(ws)[3], map[string]any{"path": ran.File, "content": "x"}).Run(t.Context(), nil); err == nil {
		t.Error("the output was overwritten")
	}
}

// follow makes the call that a result names for its missing part.
func follow(t testing.TB, ws *workspace.Workspace, text string) string {
	t.Helper()
	_, call, _ := strings.Cut(text, "Read them: ")
	name, arguments, _ := strings.Cut(call, " ")
	arguments = arguments[:strings.Index(arguments, "}")+1]
	for _, one := range append(files.New(ws), shell.New(ws, shell.Options{})...) {
		if one.Spec().Name != name {
			continue
		}
		ready, err := one.Prepare(t.Context(), arguments)
		if err != nil {
			t.Fatalf("%s %s: %v", name, arguments, err)
		}
		result, err := ready.Run(t.Context(), nil)
		if err != nil {
			t.Fatalf("%s %s: %v", name, arguments, err)
		}
		return result.Content.Text()
	}
	t.Fatalf("the result names no call: %.300q", call)
	return ""
}

// wantNext checks that the call which the result of a seq names shows the line after the last one before the gap.
func wantNext(t testing.TB, ws *workspace.Workspace, text string) {
	t.Helper()
	before, _, _ := strings.Cut(text, "\n[... ")
	last, err := strconv.Atoi(before[strings.LastIndexByte(before, '\n')+1:])
	if err != nil {
		t.Fatal(err)
	}
	if got, want := follow(t, ws, text), fmt.Sprintf("%d\t%d\n", last+1, last+1); !strings.HasPrefix(got, want) {
		t.Errorf("the call in the result shows %.40q, not %q", got, want)
	}
}

// The context window may leave less space than usual. The result has one excerpt then, too, and a command reads the rest of a long line.
func TestOutputInLittleSpace(t *testing.T) {
	ws := open(t)
	tools := shell.New(ws, shell.Options{})
	ctx := tool.WithLimit(t.Context(), 2000)
	for _, line := range []string{"seq 1 2000", "head -c 30000 /dev/zero | tr '\\0' x"} {
		result, err := prepare(t, tools[0], map[string]any{"command": line}).Run(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content.Text()
		if len(text) > 2100 || strings.Count(text, "left out") != 1 {
			t.Errorf("%s: %d bytes, %q", line, len(text), text)
		}
		if strings.HasPrefix(line, "seq") {
			wantNext(t, ws, text)
		} else if got := follow(t, ws, text); !strings.HasPrefix(got, strings.Repeat("x", 20_000)+"\n[") {
			t.Errorf("the call shows %d bytes: %.60q", len(got), got)
		}
	}
}

func TestHugeOutput(t *testing.T) {
	ws := open(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	told := 0
	call := prepare(t, shell.New(ws, shell.Options{})[0], map[string]any{"command": "yes | head -c 1G", "timeout": 600})
	result, err := call.Run(t.Context(), func(text string) { told += len(text) })
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	text := result.Content.Text()
	if len(text) > 51<<10 || !strings.Contains(text, "; the file has only the first 67108864 of 1073741824 bytes: ") {
		t.Errorf("%d bytes, ending in %q", len(text), text[max(0, len(text)-200):])
	}
	if told > 300<<10 {
		t.Errorf("%d bytes were reported live", told)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("1 GB of output took %d bytes of memory", grown)
	}
}

func TestTimeout(t *testing.T) {
	result, ran := run(t, open(t), map[string]any{"command": "echo before; sleep 1000", "timeout": 1})
	want := "before\n[timed out after 1 s and was killed; the output before that is above; a longer timeout may help]"
	if result.Content.Text() != want || !result.IsError || !ran.TimedOut || ran.Cancelled {
		t.Errorf("%q, %+v", result.Content.Text(), ran)
	}
	result, _ = run(t, open(t), map[string]any{"command": "sleep 1000", "timeout": 1})
	want = "[timed out after 1 s and was killed; no output before that; a longer timeout may help]"
	if result.Content.Text() != want {
		t.Errorf("%q", result.Content.Text())
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var told strings.Builder
	call := prepare(t, shell.New(open(t), shell.Options{})[0], map[string]any{"command": "sleep 1000 & echo $!; wait"})
	result, err := call.Run(ctx, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if told.WriteString(text); strings.Contains(told.String(), "\n") {
			cancel()
		}
	})
	ran, _ := result.Details.(shell.Ran)
	if err != nil || !result.IsError || !ran.Cancelled || ran.TimedOut || !strings.HasSuffix(result.Content.Text(), "\n[cancelled; the output before that is above]") {
		t.Errorf("%q, %+v, %v", result.Content.Text(), ran, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(told.String()))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); running(pid); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the child is still running")
		}
	}
}

func running(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(out) > 0 && out[0] != 'Z'
}

func TestOutputIsReportedAsItComes(t *testing.T) {
	var told []string
	call := prepare(t, shell.New(open(t), shell.Options{})[0], map[string]any{"command": `printf 'a\303'; sleep 0.05; printf '\251\n'; printf 'b\377\n'`})
	if _, err := call.Run(t.Context(), func(text string) { told = append(told, text) }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(told, ""); got != "aé\nb\ufffd\n" {
		t.Errorf("reported %q", told)
	}
}

func TestShellThatDoesNotStart(t *testing.T) {
	ws := open(t)
	t.Setenv("PATH", t.TempDir())
	if result, err := prepare(t, shell.New(ws, shell.Options{})[0], map[string]any{"command": "true"}).Run(t.Context(), nil); err == nil {
		t.Errorf("no error but %q", result.Content.Text())
	}
}

func TestOutputThatCannotBeKept(t *testing.T) {
	ws := open(t)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	result, ran := run(t, ws, map[string]any{"command": "seq 1 100000"})
	if text := result.Content.Text(); ran.File != "" || !strings.Contains(text, " bytes left out. They are not kept: ") || !strings.HasSuffix(text, "[exit code 0]") {
		t.Errorf("%q", text[len(text)-200:])
	}
	if _, err := os.Stat(os.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func BenchmarkShell(b *testing.B) {
	call := prepare(b, shell.New(open(b), shell.Options{})[0], map[string]any{"command": "true"})
	for b.Loop() {
		if _, err := call.Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareProcess is what the same shell costs without the tool.
func BenchmarkBareProcess(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// The title of a call is its command, and its brief says how the command ended; a command that fails is no failed call, but people
// see that it failed.
func TestFactsForPeople(t *testing.T) {
	tools := shell.New(open(t), shell.Options{})
	for command, want := range map[string]struct {
		brief  string
		failed bool
	}{
		"true":                   {"no output", false},
		"echo a":                 {"1 line", false},
		"printf 'a\\nb'; exit 3": {"exit code 3, 2 lines", true},
		"kill -9 $$":             {"killed by signal killed, no output", true},
		"seq 1 20000":            {"20000 lines", false},
	} {
		arguments, _ := json.Marshal(map[string]string{"command": command})
		call, err := tools[0].Prepare(t.Context(), string(arguments))
		if err != nil {
			t.Fatal(err)
		}
		result, err := call.Run(t.Context(), nil)
		if err != nil || call.Title != command || result.Brief != want.brief || result.Failed != want.failed || result.IsError {
			t.Errorf("%s: title %q, brief %q, failed %t, %v", command, call.Title, result.Brief, result.Failed, err)
		}
	}
}
