package lsp_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/lsp"
)

// fakeSpec is the entry of a server that misbehaves.
func fakeSpec(t testing.TB, how string) lsp.Spec {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return lsp.Spec{Name: "fake", Command: self, Files: []string{".x"}, Env: func(context.Context) ([]string, error) { return []string{"TENON_LSP_FAKE=" + how}, nil }}
}

// misbehaving is a project whose server misbehaves, with short waits.
func misbehaving(t *testing.T, how string, more ...func(*lsp.Options)) *site {
	t.Helper()
	files := map[string]string{"a.x": "good\n𐐀 = old\n", "b.x": "good\n"}
	return project(t, files, fakeSpec(t, how), append([]func(*lsp.Options){func(o *lsp.Options) {
		o.Sandbox = nil // the walls are another test
		o.First, o.Warm, o.Answer = 20*time.Second, 20*time.Second, 20*time.Second
	}}, more...)...)
}

func brief(o *lsp.Options) {
	o.First, o.Warm, o.Answer = time.Second, 200*time.Millisecond, 200*time.Millisecond
}

func TestAWellBehavedServerReportsNewProblems(t *testing.T) {
	p := misbehaving(t, "well")
	if text := p.edit("a.x", "good", "bad"); text != "fake: 1 problem in a.x:\n1:1 error: it is bad [31m really" {
		t.Errorf("the first edit: %q", text)
	}
	if text := p.edit("a.x", "bad", "bad\nbad"); text != "fake: 1 new problem in a.x:\n2:1 error: it is bad [31m really" {
		t.Errorf("one problem more: %q", text)
	}
	if text := p.edit("a.x", "bad\nbad", "good"); text != "" {
		t.Errorf("no problems: %q", text)
	}
	if text := p.call("diagnostics", nil); text != "no errors or warnings" {
		t.Errorf("all problems: %q", text)
	}
	if text := p.call("hover", map[string]any{"path": "a.x", "name": "old"}); text != "text[31m\ncode" {
		t.Errorf("a hover: %q", text)
	}
}

func TestAServerThatBreaksTheProtocolIsEndedAndStartsAgain(t *testing.T) {
	for _, c := range []struct{ how, want string }{
		{"dies", "the server ended"},
		{"huge", "at most 33554432 bytes"},
		{"negative", "at most 33554432 bytes"},
		{"short", "expected a header"},
		{"json", "invalid character"},
		{"headers", "more than 4096 bytes"},
		{"flood", "more than 4096 bytes"},
	} {
		t.Run(c.how, func(t *testing.T) {
			p := misbehaving(t, c.how)
			if text := p.edit("a.x", "good", "bad"); !strings.HasPrefix(text, "[no diagnostics: fake does not run: ") || !strings.Contains(text, c.want) {
				t.Errorf("the edit: %q, want %q", text, c.want)
			}
			_, err := p.try("hover", map[string]any{"path": "a.x", "name": "old"})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a call after the failure: %v, want %q", err, c.want)
			}
		})
	}
}

func TestAServerThatEndsAtItsStartIsReportedWithItsLastWords(t *testing.T) {
	p := misbehaving(t, "dead")
	text := p.edit("a.x", "good", "bad")
	if !strings.Contains(text, "no diagnostics: fake does not run: it did not start: ") || !strings.Contains(text, ": no license [2J found") {
		t.Errorf("the edit says %q", text)
	}
}

func TestAnEditDoesNotWaitLongForAServer(t *testing.T) {
	for how, want := range map[string]string{
		"silent": "", // it is still starting
		"mute":   "[fake has not checked the change within 1s; lsp diagnostics asks again]",
		"long":   "[fake has not checked the change within 1s; lsp diagnostics asks again]",
	} {
		t.Run(how, func(t *testing.T) {
			p := misbehaving(t, how, brief)
			if want != "" { // its start may take longer than the wait
				p.servers.Warm(t.Context(), p.ws, filepath.Join(p.dir, "a.x"))
			}
			if text := p.edit("a.x", "good", "bad"); text != want {
				t.Errorf("the first edit: %q, want %q", text, want)
			}
			if text := p.edit("a.x", "bad", "good"); text != "" {
				t.Errorf("the second edit: %q", text)
			}
		})
	}
}

func TestProblemsWithoutEndDoNotHoldAnEdit(t *testing.T) {
	p := misbehaving(t, "endless", func(o *lsp.Options) { o.First = 5 * time.Second }) // the start included
	if text := p.edit("a.x", "good", "bad"); !strings.HasPrefix(text, "fake: 1 problem in a.x:\n") {
		t.Errorf("the edit: %q", text)
	}
}

func TestAServerThatHangsIsEnded(t *testing.T) {
	p := misbehaving(t, "hung", brief)
	p.servers.Warm(t.Context(), p.ws, filepath.Join(p.dir, "a.x"))
	args := map[string]any{"path": "a.x", "name": "old", "line": 2}
	for range 3 {
		if _, err := p.try("hover", args); err == nil || !strings.Contains(err.Error(), "no answer to textDocument/hover in time") {
			t.Errorf("a call that hangs: %v", err)
		}
	}
	if _, err := p.try("hover", args); err == nil || !strings.Contains(err.Error(), "it left 3 requests without an answer") {
		t.Errorf("the call after three that hang: %v", err)
	}
}

func TestPositionsAreRightInBothEncodings(t *testing.T) {
	for _, how := range []string{"utf-16", "utf-8"} {
		t.Run(how, func(t *testing.T) {
			p := misbehaving(t, how)
			p.call("rename", map[string]any{"path": "a.x", "name": "old", "line": 2, "new_name": "new"})
			if data, err := os.ReadFile(filepath.Join(p.dir, "a.x")); err != nil || string(data) != "good\n𐐀 = new\n" {
				t.Errorf("the file: %q, %v", data, err)
			}
		})
	}
}

func TestARenameThatIsWrongChangesNothing(t *testing.T) {
	for how, want := range map[string]string{"outside": "/etc/passwd", "overlap": "overlap"} {
		t.Run(how, func(t *testing.T) {
			p := misbehaving(t, how)
			if _, err := p.try("rename", map[string]any{"path": "a.x", "name": "old", "line": 2, "new_name": "new"}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %q", err, want)
			}
			if data, err := os.ReadFile(filepath.Join(p.dir, "a.x")); err != nil || string(data) != "good\n𐐀 = old\n" {
				t.Errorf("the file: %q, %v", data, err)
			}
		})
	}
}

func TestAChangeByACommandReachesTheServer(t *testing.T) {
	p := misbehaving(t, "well")
	p.edit("a.x", "good", "fine")
	name := filepath.Join(p.dir, "a.x")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	// The command leaves the size and the time of the file as they were.
	if err := os.WriteFile(name, []byte("bad \n𐐀 = old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	p.servers.Changed(nil, []string{name}, nil)
	if text := p.edit("b.x", "good", "fine"); !strings.Contains(text, "fake: 1 new problem in other files: a.x (1)") {
		t.Errorf("the next edit: %q", text)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	p.servers.Changed(nil, nil, []string{name})
	if text := p.call("diagnostics", nil); text != "no errors or warnings" {
		t.Errorf("after the removal: %q", text)
	}
}

func TestAnIdleServerEndsAndStartsAgain(t *testing.T) {
	p := misbehaving(t, "well", func(o *lsp.Options) { o.Idle, o.Check = time.Nanosecond, time.Millisecond })
	p.edit("a.x", "good", "bad")
	p.awaitEnd()
	if text := p.edit("a.x", "bad", "good"); strings.Contains(text, "no diagnostics") {
		t.Errorf("the edit after the end: %q", text)
	}
}

func TestAServerThatUsesTooMuchMemoryEnds(t *testing.T) {
	p := misbehaving(t, "well", func(o *lsp.Options) { o.Memory, o.Check = 1, time.Millisecond })
	p.servers.Warm(t.Context(), p.ws, filepath.Join(p.dir, "a.x"))
	if err := p.awaitEnd(); lsp.WatchesMemory && (err == nil || !strings.Contains(err.Error(), "the limit lsp.memory is 0 MiB")) {
		t.Errorf("the server ended with %v", err)
	}
}

// awaitEnd waits until no server runs, and returns why.
func (s *site) awaitEnd() error {
	s.t.Helper()
	s.servers.AwaitEnd("fake")
	return s.servers.Status()[0].Err
}

func TestNothingRunsWithoutAFileOfAServer(t *testing.T) {
	p := misbehaving(t, "well")
	abs := filepath.Join(p.dir, "c.y")
	p.servers.Edit(p.ws, []string{abs}).After(t.Context(), []tool.FileDiff{{Path: "c.y", Created: true}})
	if all := p.servers.Status(); len(all) > 0 {
		t.Errorf("servers were used: %v", all)
	}
	if _, err := p.try("hover", map[string]any{"path": "c.y", "name": "x"}); err == nil || !strings.Contains(err.Error(), "no language server is configured for c.y") {
		t.Errorf("a call about it: %v", err)
	}
}
