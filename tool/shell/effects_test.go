//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/shell"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func openSandboxed(t *testing.T) *workspace.Workspace {
	t.Helper()
	if sandbox.Look().Level() != sandbox.Namespaces {
		t.Skip("no sandbox here")
	}
	dir := t.TempDir()
	ws, err := workspace.Open(dir, workspace.Options{Sandbox: &sandbox.Policy{Writable: []string{dir}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

func TestEffectsComeFromTheAnalysis(t *testing.T) {
	ws := openSandboxed(t)
	if err := os.Mkdir(filepath.Join(ws.Dir(), "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	var line, dir string
	run := shell.New(ws, shell.Options{Analyze: func(l, d string) tool.Effects {
		line, dir = l, d
		return tool.Effects{Reads: []tool.Path{tool.File(filepath.Join(d, "x"))}, Command: "cat 'x'", Idempotent: true}
	}})[0]
	e := prepare(t, run, map[string]any{"command": "cat x", "dir": "sub", "unconfined": true, "reason": "x is outside"}).Effects
	sub := filepath.Join(ws.Dir(), "sub")
	if line != "cat x" || dir != sub || e.Command != "cat 'x'" || e.Dir != sub || !e.Unconfined || e.Unknown || !e.Idempotent || len(e.Reads) != 1 {
		t.Errorf("analysed %q in %q: %+v", line, dir, e)
	}
	if e := prepare(t, run, map[string]any{"command": "cat x"}).Effects; e.Unconfined || e.Dir != ws.Dir() {
		t.Errorf("%+v", e)
	}
}

// The tool and its jobs run the text of the effects that were judged, not the line of the model. People see that text, with its new lines.
func TestTheJudgedTextRuns(t *testing.T) {
	run := shell.New(open(t), shell.Options{Analyze: func(string, string) tool.Effects {
		return tool.Effects{Command: "echo judged\necho twice"}
	}})[0]
	call := prepare(t, run, map[string]any{"command": "echo given # \\"})
	if call.Title != "echo judged ⏎ echo twice" {
		t.Errorf("the title is %q", call.Title)
	}
	result, err := call.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ran := result.Details.(shell.Ran); ran.Command != "echo judged\necho twice" || !strings.HasPrefix(result.Content.Text(), "judged\ntwice\n") {
		t.Errorf("ran %q: %s", ran.Command, result.Content.Text())
	}
	result, err = prepare(t, run, map[string]any{"command": "echo given", "background": true}).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if ran := result.Details.(shell.Ran); ran.Command != "echo judged\necho twice" {
		t.Errorf("the job ran %q", ran.Command)
	}
}

// A line is analyzed when its call is prepared, and not again when it runs.
func TestALineIsAnalyzedOnce(t *testing.T) {
	n := 0
	run := shell.New(open(t), shell.Options{Analyze: func(string, string) tool.Effects {
		n++
		return tool.Effects{None: true}
	}})[0]
	for _, background := range []bool{false, true} {
		n = 0
		c := prepare(t, run, map[string]any{"command": "true", "background": background})
		if _, err := c.Run(t.Context(), nil); err != nil || n != 1 {
			t.Errorf("background %t: analyzed %d times, %v", background, n, err)
		}
	}
}

// A line that the shell cannot read is a mistake to correct. The shell says what and where, and executes nothing.
func TestSyntaxErrors(t *testing.T) {
	ws := open(t)
	run := shell.New(ws, shell.Options{})[0]
	t.Setenv("BASH_ENV", filepath.Join(ws.Dir(), "env"))
	if err := os.WriteFile(filepath.Join(ws.Dir(), "env"), []byte("touch ran\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"touch ran; echo \"unterminated", "touch ran\nif true; then", "touch ran\n$(touch ran)\necho )\n", "cat > ran <<'EOF'\ntext without an end"} {
		data, err := json.Marshal(map[string]any{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		_, err = run.Prepare(t.Context(), string(data))
		coded, ok := errors.AsType[interface {
			error
			Code() string
		}](err)
		if !ok || coded.Code() != "tool.syntax" || !strings.Contains(err.Error(), "cannot read the command, and ran nothing of it: ") || !strings.Contains(err.Error(), "line ") && !strings.Contains(err.Error(), "sh: ") ||
			strings.Contains(err.Error(), "shell: ") || strings.Contains(err.Error(), "-c: ") {
			t.Errorf("%q: %v", line, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(ws.Dir(), "ran")); !errors.Is(err, os.ErrNotExist) {
		t.Error("something ran")
	}
	// A line that only the parser of Tenon refuses is judged as one that cannot be judged.
	if e := prepare(t, run, map[string]any{"command": "a=(1 2); echo ${a[-1]@K}"}).Effects; !e.Unknown {
		t.Errorf("%+v", e)
	}
}

func TestArgumentsOfTheSandbox(t *testing.T) {
	run := shell.New(openSandboxed(t), shell.Options{})[0]
	if _, err := run.Prepare(t.Context(), `{"command":"ls","unconfined":true}`); err == nil || !strings.Contains(err.Error(), "reason: missing") {
		t.Errorf("without a reason: %v", err)
	}
	if _, err := run.Prepare(t.Context(), `{"command":"ls","dir":"../x"}`); err == nil || !strings.Contains(err.Error(), "outside the workspace") {
		t.Errorf("outside: %v", err)
	}
	if _, err := run.Prepare(t.Context(), `{"command":"vim x"}`); err == nil || !strings.Contains(err.Error(), "needs a terminal") {
		t.Errorf("interactive: %v", err)
	}
	// Without a sandbox, a command cannot ask to leave it.
	if _, err := shell.New(open(t), shell.Options{})[0].Prepare(t.Context(), `{"command":"ls","unconfined":true}`); err == nil {
		t.Error("no sandbox: no error")
	}
}

func TestBlockedAccessIsReported(t *testing.T) {
	ws := openSandboxed(t)
	outside := filepath.Join(t.TempDir(), "x")
	arguments := map[string]any{"command": "echo x >/etc/tenon-test"}
	result, ran := run(t, ws, arguments)
	text := result.Content.Text()
	for _, want := range []string{"the sandbox blocked: write /etc/tenon-test", "run it with unconfined and a reason", "exit code 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
	if len(ran.Blocked) != 1 || ran.Blocked[0].Path != "/etc/tenon-test" || ran.Blocked[0].What != "write" || ran.Blocked[0].Why == "" {
		t.Errorf("details %+v", ran)
	}
	_, ran = run(t, ws, map[string]any{"command": "echo x >" + outside, "unconfined": true, "reason": "a test"})
	if _, err := os.Stat(outside); err != nil || ran.ExitCode != 0 || !ran.Unconfined || ran.Reason != "a test" || ran.Blocked != nil {
		t.Errorf("outside: %+v, %v", ran, err)
	}
	tools := shell.New(ws, shell.Options{})
	call(t, tools[0], map[string]any{"command": "echo x >/etc/tenon-test", "background": true})
	if got, _ := call(t, tools[1], map[string]any{"action": "wait", "id": "job1"}); !strings.Contains(got, "the sandbox blocked: write /etc/tenon-test") {
		t.Errorf("%q", got)
	}
}

// Calls of one message that only look run side by side, also when they are the same: each waits until all have started.
func TestCallsRunSideBySide(t *testing.T) {
	const calls = 8
	ws := open(t)
	var script strings.Builder
	for range calls {
		script.WriteString("call shell {\"command\": \"echo up; until test -e go; do sleep 0.01; done\"}\n")
	}
	a, err := agent.New(t.Context(), memory.New(), agent.Options{
		Client: llmtest.Must(script.String() + "---\ntext Done."),
		Tools:  shell.New(ws, shell.Options{Analyze: func(string, string) tool.Effects { return tool.Effects{None: true, Idempotent: true} }}),
		Gate:   agent.AllowAll(),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	up := 0
	results := 0
	for e, err := range a.Run(context.WithoutCancel(t.Context()), llm.UserText("Go.")) {
		if err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case session.CallStarted:
			if up++; up == calls {
				if err := os.WriteFile(filepath.Join(ws.Dir(), "go"), nil, 0o666); err != nil {
					t.Fatal(err)
				}
			}
		case session.Message:
			if b.Role != llm.RoleTool {
				continue
			}
			if results++; up != calls || !strings.Contains(b.Content.Text(), "exit code 0") {
				t.Errorf("a result after %d calls had started: %q", up, b.Content.Text())
			}
		}
	}
	if results != calls {
		t.Errorf("%d results", results)
	}
}
