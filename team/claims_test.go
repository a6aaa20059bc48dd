package team_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/tool"
)

// history writes the journal of a sub-agent.
type history struct {
	t     *testing.T
	root  string
	store *memory.Store
	w     session.Writer
	calls int
}

func newHistory(t *testing.T) *history {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { store.Close() })
	id, err := store.Create(t.Context(), session.Created{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := store.Open(t.Context(), id, session.Lease{Owner: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return &history{t: t, root: t.TempDir(), store: store, w: w}
}

func (h *history) add(bodies ...session.Body) {
	h.t.Helper()
	if _, err := h.w.Append(h.t.Context(), session.Stamp{}, bodies...); err != nil {
		h.t.Fatal(err)
	}
}

// runs is a command that ends. What it changes counts as a change of its call.
func (h *history) runs(line string, passes bool, changes ...string) {
	h.t.Helper()
	h.calls++
	c := llm.ToolCall{ID: string(rune('a' + h.calls)), Name: "shell"}
	effects, err := json.Marshal(tool.Effects{Command: line, Unknown: true})
	if err != nil {
		h.t.Fatal(err)
	}
	h.add(session.CallStarted{Call: c.ID, Tool: "shell", Arguments: json.RawMessage(`{}`), Effects: effects})
	for _, name := range changes {
		h.changes(c.ID, name, "", "b")
	}
	h.add(session.Message{Message: llm.ToolText(c, "out", false), Failed: !passes})
}

// changes changes a file from one content to another; an empty one means that there is no file.
func (h *history) changes(call, name, before, after string) {
	h.t.Helper()
	state := func(content string) *session.FileState {
		if content == "" {
			return nil
		}
		return &session.FileState{Hash: content}
	}
	h.add(session.FilesChanged{Call: call, Cause: session.ByTool, Files: []session.FileChange{{Path: filepath.Join(h.root, name), Before: state(before), After: state(after)}}})
}

func (h *history) verify(r session.TaskReport) session.TaskReport {
	h.t.Helper()
	r, err := team.Verify(h.t.Context(), h.store, h.w.Session(), 0, h.root, r)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func checks(commands ...string) (out []session.TaskCheck) {
	for _, c := range commands {
		out = append(out, session.TaskCheck{Command: c, Verified: true})
	}
	return out
}

func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(h *history)
		doubt string // a part of it; "": the check is verified
	}{
		{"it ran and passed", func(h *history) { h.changes("x", "a.go", "1", "2"); h.runs("go test ./...", true) }, ""},
		{"it changed files itself", func(h *history) { h.runs("go test ./...", true, "cover.out") }, ""},
		{"with other blanks", func(h *history) { h.runs("  go  test\n./... ", true) }, ""},
		{"it is one of several that all passed", func(h *history) { h.runs("cd sub && go test ./... && go vet", true) }, ""},
		{"it never ran", func(h *history) { h.runs("go vet", true) }, "did not run"},
		{"it was only printed", func(h *history) { h.runs("echo 'go test ./...'", true) }, "did not run"},
		{"another command hides its exit code", func(h *history) { h.runs("go test ./... || true", true) }, "did not run"},
		{"another command follows", func(h *history) { h.runs("go test ./... ; true", true) }, "did not run"},
		{"it failed", func(h *history) { h.runs("go test ./...", false) }, "failed"},
		{"it passed and then failed", func(h *history) { h.runs("go test ./...", true); h.runs("go test ./...", false) }, "failed"},
		{"it failed and then passed", func(h *history) { h.runs("go test ./...", false); h.runs("go test ./...", true) }, ""},
		{"a file changed afterwards", func(h *history) { h.runs("go test ./...", true); h.changes("x", "a.go", "1", "2") }, "changed a.go after"},
		{"a command changed a file afterwards", func(h *history) { h.runs("go test ./...", true); h.runs("gofmt -w .", true, "a.go") }, "changed a.go after"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHistory(t)
			c.do(h)
			r := h.verify(session.TaskReport{Outcome: session.TaskCompleted, Checks: checks("go test ./...")})
			got := r.Checks[0]
			if got.Verified != (c.doubt == "") || !strings.Contains(got.Doubt, c.doubt) || got.Verified != !slices.Contains(r.Doubts, got.Doubt) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	h := newHistory(t)
	h.changes("1", "a.go", "1", "2")
	h.changes("2", "new.go", "", "1")
	h.changes("3", "back.go", "1", "2")
	h.changes("4", "back.go", "2", "1")
	h.changes("5", "gone.go", "1", "")
	r := h.verify(session.TaskReport{Files: []string{"a.go", filepath.Join(h.root, "new.go"), "./back.go"}})
	if want := []string{"a.go", "gone.go", "new.go"}; !slices.Equal(r.Changed, want) {
		t.Errorf("changed %q", r.Changed)
	}
	want := []string{"it names back.go as changed, but the file did not change", "it changed gone.go without naming it"}
	if !slices.Equal(r.Doubts, want) {
		t.Errorf("doubts %q", r.Doubts)
	}
	h.add(session.FilesChanged{Cause: session.ByCommand, More: 3, Files: []session.FileChange{{Path: filepath.Join(h.root, "z")}}})
	if r := h.verify(session.TaskReport{Files: []string{"elsewhere.go"}}); len(r.Doubts) != 1 || !strings.Contains(r.Doubts[0], "incomplete") {
		t.Errorf("doubts %q", r.Doubts)
	}
}

// The report names the first calls that were denied, or that the sandbox blocked, and counts all of them.
func TestDeniedCalls(t *testing.T) {
	h := newHistory(t)
	for i := range 4 {
		c := llm.ToolCall{ID: fmt.Sprint("c", i), Name: "mcp__server__push"}
		h.add(
			session.Message{Message: llm.Message{Role: llm.RoleAssistant, Content: llm.Content{c}}},
			session.Decision{Call: c.ID, Verdict: []string{"deny", "allow"}[i/3], Title: "main", Code: "permission.scope"},
		)
	}
	h.add(session.Decision{Call: "x", Verdict: "deny", By: "a hook", As: "shell", Title: strings.Repeat("é", 300)})
	for _, place := range []string{`"path":"` + filepath.ToSlash(filepath.Join(h.root, "out", "a")) + `"`, `"host":"example.com"`, `"path":"/b"`, `"path":"/c"`} {
		m := llm.ToolText(llm.ToolCall{ID: "y", Name: "shell"}, "out", false)
		h.add(session.Message{Message: m, Details: json.RawMessage(`{"blocked":[{"what":"write",` + place + `}]}`)})
	}
	want := []string{
		"mcp__server__push main (permission.scope)", "shell " + strings.Repeat("é", 194) + "… (a hook)", "shell: write out/a (sandbox)",
		"shell: write example.com (sandbox)", "shell: write /b (sandbox)",
	}
	for _, outcome := range []session.TaskOutcome{session.TaskCompleted, session.TaskFailed} {
		if r := h.verify(session.TaskReport{Outcome: outcome}); r.Denials != 8 || !slices.Equal(r.Denied, want) {
			t.Errorf("%d calls: %q", r.Denials, r.Denied)
		}
	}
}

// An attempt is verified by its own work, not by that of earlier attempts.
func TestEarlierAttemptsDoNotCount(t *testing.T) {
	h := newHistory(t)
	h.runs("go test", true)
	var last int64
	for e, err := range h.store.Read(t.Context(), h.w.Session(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		last = e.Seq
	}
	r, err := team.Verify(t.Context(), h.store, h.w.Session(), last, h.root, session.TaskReport{Checks: checks("go test")})
	if err != nil || r.Checks[0].Verified {
		t.Errorf("%+v, %v", r, err)
	}
}
