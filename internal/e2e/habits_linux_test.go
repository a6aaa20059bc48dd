package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// habit is a call as models of a family make it, without a look at the definitions, and a part of its result.
type habit struct{ name, arguments, want string }

// args encodes pairs of names and values.
func args(pairs ...any) string {
	m := make(map[string]any)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	text, _ := json.Marshal(m)
	return string(text)
}

// The refactoring of the tests below: Greet gets a name, in code that gofmt has yet to format, and a second file calls it.
const (
	greetGo = "package greet\n\nfunc Greet() string {\n\treturn \"hello\"\n}\n"
	useGo   = "package greet\n\nvar first = Greet()\n"
	testGo  = "package greet\n\nimport \"testing\"\n\nfunc TestGreet(t *testing.T) {\n\tif got := Greet(\"you\"); got != \"hello, you\" {\n\t\tt.Error(got)\n\t}\n}\n"
)

// refactor lets a model do the refactoring in mode auto, and returns its requests. Every call must succeed.
func refactor(t *testing.T, way string, habits []habit) (*project, []*modelserver.Request) {
	t.Helper()
	p := everydayProject(t)
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(cache))
	p.env = append(p.env, "GOCACHE="+dir)
	p.config(fmt.Sprintf(`{"sandbox": {"writable": [%q]}}`, dir))
	for name, text := range map[string]string{"go.mod": "module example.com/greet\n\ngo 1.22\n", "greet.go": greetGo, "use.go": useGo, "old.go": "package greet\n", "greet_test.go": testGo} {
		p.write(filepath.Join(p.dir, name), text)
	}
	var steps []modelserver.Step
	for _, h := range habits {
		steps = append(steps, modelserver.Call(h.name, h.arguments))
	}
	w := wayOf(t, way)
	srv := w.serve(p, modelserver.Steps(append(steps, modelserver.Say("Done."))...))
	if r := p.tenon("run", "--model", w.ref(), "--mode", "auto", "Give Greet a name."); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	requests := srv.Requests()
	results := requests[len(requests)-1].Results()
	for i, h := range habits {
		if !strings.Contains(results[i].Text(), h.want) {
			t.Errorf("call %d, %s: got %q, want %q", i, h.name, results[i].Text(), h.want)
		}
	}
	failed := 0
	for _, e := range p.journal() {
		if m, ok := e.Body.(session.Message); ok && m.Role == llm.RoleTool && (m.Outcome != session.OutcomeOK || m.IsError) {
			failed++
			t.Errorf("%s failed: %s", m.Tool, m.Text())
		}
	}
	for name, want := range map[string]string{
		"greet.go": "package greet\n\n// Greet greets by name.\nfunc Greet(name string) string {\n\treturn \"hello, \" + name\n}\n",
		"use.go":   "package greet\n\nvar first = Greet(\"you\")\n",
	} {
		if text, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	if v := srv.Violations(); len(v) > 0 {
		t.Errorf("%v", v)
	}
	return p, requests
}

// A model that behaves as those that were trained on Codex reads with sed, patches, formats and patches again.
func TestTheHabitsOfCodex(t *testing.T) {
	t.Parallel()
	const (
		first = "*** Begin Patch\n*** Update File: greet.go\n@@\n-func Greet() string {\n-\treturn \"hello\"\n+func Greet(name string) string {\n+     return \"hello, \"+name\n }\n*** End Patch"
		after = "*** Begin Patch ***\n*** Update File: greet.go\n@@\n package greet\n \n+// Greet greets by name.\n func Greet(name string) string {\n \treturn \"hello, \" + name\n*** End Patch ***"
		use   = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: use.go\n@@\n-var first = Greet()\n+var first = Greet(\"you\")\n*** Delete File: old.go\n*** End Patch\nEOF\n"
	)
	p, requests := refactor(t, "openai-responses", []habit{
		{"exec_command", args("cmd", "sed -n '1,200p' greet.go", "workdir", ".", "yield_time_ms", 1000, "max_output_tokens", 4000), "func Greet()"},
		{"update_plan", args("explanation", "so", "plan", []any{map[string]any{"step": "change Greet", "status": "in_progress"}}), "in progress"},
		{"apply_patch", first, "greet.go"},
		{"exec_command", args("cmd", "gofmt -w greet.go && sed -n 1,5p greet.go"), "\treturn \"hello, \" + name"},
		{"apply_patch", after, "greet.go"},
		{"shell", args("command", []string{"bash", "-lc", "cat use.go old.go"}, "timeout_ms", 10000), "var first"},
		{"exec_command", args("cmd", use), "use.go"},
		{"exec_command", args("cmd", "go test ./...", "yield_time_ms", 30000, "sandbox_permissions", "use_default", "justification", "to see"), ""},
		{"write_stdin", args("session_id", "job2", "yield_time_ms", 600000), "ok"},
		{"update_plan", args("plan", []any{map[string]any{"step": "change Greet", "status": "completed"}}), "1 completed"},
	})
	var names []string
	for _, tool := range requests[0].Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); !strings.Contains(got, "apply_patch exec_command ") || !strings.Contains(got, "write_stdin") {
		t.Errorf("it is offered %s", got)
	}
	body := string(requests[len(requests)-1].Body)
	for _, want := range []string{`"type":"custom_tool_call"`, `"name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"cat use.go old.go\"]`} {
		if !strings.Contains(body, want) {
			t.Errorf("the last request has no %s", want)
		}
	}
	canonical(t, p, "shell todo patch shell patch shell patch shell job todo")
	if _, err := os.Stat(filepath.Join(p.dir, "old.go")); err == nil {
		t.Error("old.go is still there")
	}
}

// On Chat Completions a patch is the argument of a function.
func TestTheHabitsOfCodexOnChat(t *testing.T) {
	t.Parallel()
	const patch = "*** Begin Patch\n*** Update File: greet.go\n@@\n-func Greet() string {\n-\treturn \"hello\"\n+// Greet greets by name.\n+func Greet(name string) string {\n+\treturn \"hello, \" + name\n }\n" +
		"*** Update File: use.go\n@@\n-var first = Greet()\n+var first = Greet(\"you\")\n*** End Patch"
	p, _ := refactor(t, "openai", []habit{
		{"shell_command", args("command", "cat greet.go use.go", "timeout_ms", 1000), "func Greet()"},
		{"apply_patch", args("input", patch), "use.go"},
	})
	canonical(t, p, "shell patch")
}

// An open model whose server does not read its calls makes them as text, and they need the same permission.
func TestAnOpenModelWritesItsCallsAsText(t *testing.T) {
	t.Parallel()
	p := everydayProject(t)
	w := wayOf(t, "ollama")
	srv := w.serve(p, modelserver.Steps(
		modelserver.Say("<tool_call>\n<function=bash>\n<parameter=command>\necho hi\n</parameter>\n</function>\n</tool_call>"),
		modelserver.Say(`{"name": "write", "arguments": {"file_path": "a", "content": "x"}}`), modelserver.Say("Done.")))
	if r := p.tenon("run", "--model", w.ref(), "--mode", "plan", "--allow", "shell(echo *)", "Go."); r.code != 4 || !strings.Contains(r.stdout, "Done.") {
		t.Fatalf("%+v", r)
	}
	results := srv.Requests()[2].Results()
	if len(results) != 2 || !strings.Contains(results[0].Text(), "hi\n") || !strings.Contains(results[1].Text(), "denied") {
		t.Errorf("%+v", results)
	}
}

// A model of another family reads the earlier calls under the names that it knows: once, and from then on always the same.
func TestAnotherFamilyContinues(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	claude := wayOf(t, "anthropic")
	claude.serve(p, modelserver.Steps(modelserver.Call("Bash", `{"command": "echo hi"}`), modelserver.Say("Hi.")))
	if r := p.tenon("run", "--model", claude.ref(), "--mode", "yolo", "Say hi."); r.code != 0 {
		t.Fatalf("%+v", r)
	}
	gpt := wayOf(t, "openai-responses")
	srv := gpt.serve(p, modelserver.Steps(modelserver.Call("bash", `{"command": "echo again"}`), modelserver.Say("Done."), modelserver.Say("Yes.")))
	for _, prompt := range []string{"Again.", "Really?"} {
		if r := p.tenon("run", "--continue", "--model", gpt.ref(), "--mode", "yolo", prompt); r.code != 0 {
			t.Fatalf("%+v", r)
		}
	}
	sent := srv.Requests()
	for i, r := range sent {
		var calls []string
		for _, m := range r.Messages {
			for _, c := range m.Calls() {
				calls = append(calls, c.Name+c.Arguments)
			}
		}
		want := `exec_command{"cmd":"echo hi"}`
		if i > 0 {
			want += ` bash{"command": "echo again"}`
		}
		if got := strings.Join(calls, " "); got != want {
			t.Errorf("request %d has the calls %s", i, got)
		}
	}
	epochs := 0
	for _, e := range p.journal() {
		if epoch, ok := e.Body.(session.Epoch); ok {
			epochs++
			if epochs == 2 && epoch.Reason != "model" {
				t.Errorf("the second epoch began because of %q", epoch.Reason)
			}
		}
	}
	if epochs != 2 {
		t.Errorf("there are %d epochs", epochs)
	}
}

// A model that behaves as those of Anthropic reads, edits, runs commands and keeps a list.
func TestTheHabitsOfClaude(t *testing.T) {
	t.Parallel()
	p, _ := refactor(t, "anthropic", []habit{
		{"TodoWrite", args("todos", []any{map[string]any{"content": "change Greet", "status": "in_progress", "activeForm": "Changing Greet"}}), "in progress"},
		{"Grep", args("pattern", `Greet\(`, "glob", "*.go", "output_mode", "content", "-n", true, "-C", 1), "greet.go"},
		{"Read", args("file_path", "greet.go"), "func Greet()"},
		{"Edit", args("file_path", "greet.go", "old_string", "func Greet() string {\n\treturn \"hello\"\n", "new_string", "func Greet(name string) string {\n     return \"hello, \"+name\n"), "greet.go"},
		{"Bash", args("command", "gofmt -w greet.go", "description", "Format", "timeout", 120000), "exit code 0"},
		{"Edit", args("file_path", "greet.go", "old_string", "func Greet(name string) string {\n\treturn \"hello, \" + name\n", "new_string", "// Greet greets by name.\nfunc Greet(name string) string {\n\treturn \"hello, \" + name\n"), "greet.go"},
		{"MultiEdit", args("file_path", "use.go", "edits", []any{map[string]any{"old_string": "Greet()", "new_string": `Greet("you")`}}), "use.go"},
		{"Bash", args("command", "go test ./...", "run_in_background", true), "job1"},
		{"BashOutput", args("bash_id", "job1", "block", true, "timeout", 600000), "ok"},
		{"Glob", args("pattern", "**/*.go"), "use.go"},
		{"TodoWrite", args("todos", []any{map[string]any{"content": "change Greet", "status": "completed", "activeForm": "Changing Greet"}}), "1 completed"},
	})
	canonical(t, p, "todo grep read edit shell edit multi_edit shell job glob todo")
}

// canonical checks the names in the journal: of the calls that started, and of the results.
func canonical(t *testing.T, p *project, want string) {
	t.Helper()
	var started, results []string
	for _, e := range p.journal() {
		switch b := e.Body.(type) {
		case session.CallStarted:
			started = append(started, b.Tool)
		case session.Message:
			if b.Role == llm.RoleTool {
				results = append(results, b.Tool)
			}
		}
	}
	if strings.Join(started, " ") != want || strings.Join(results, " ") != want {
		t.Errorf("the journal has the calls %s with the results %s", started, results)
	}
}
