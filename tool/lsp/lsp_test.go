package lsp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/tool/lsp"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// site is a project with its servers and a session.
type site struct {
	t       testing.TB
	dir     string
	ws      *workspace.Workspace
	set     *files.Set
	servers *lsp.Servers
	tool    tool.Tool
}

// project makes a project with files and opens it. The servers run in a sandbox.
func project(t testing.TB, contents map[string]string, spec lsp.Spec, more ...func(*lsp.Options)) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range contents {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return enter(t, dir, spec, more...)
}

func enter(t testing.TB, dir string, spec lsp.Spec, more ...func(*lsp.Options)) *site {
	t.Helper()
	policy := &sandbox.Policy{Writable: []string{dir}, Caches: t.TempDir(), Partial: true}
	// A loaded machine starts servers slowly. Other tests check the limits.
	o := lsp.Options{Root: dir, Servers: []lsp.Spec{spec}, Sandbox: func() (*sandbox.Policy, error) { return policy, nil }, First: time.Minute, Warm: time.Minute, Answer: time.Minute}
	for _, change := range more {
		change(&o)
	}
	s := &site{t: t, dir: dir, servers: lsp.New(o)}
	var err error
	if s.ws, err = workspace.Open(dir, workspace.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.servers.Close(); err != nil {
			t.Error(err)
		}
		if err := s.ws.Close(); err != nil {
			t.Error(err)
		}
	})
	s.set = files.NewSet(s.ws)
	s.tool = s.servers.Tool(s.ws, s.set)
	return s
}

// try runs a call of the tool.
func (s *site) try(action string, args map[string]any) (string, error) {
	s.t.Helper()
	all := map[string]any{"action": action}
	for k, v := range args {
		all[k] = v
	}
	data, err := json.Marshal(all)
	if err != nil {
		s.t.Fatal(err)
	}
	call, err := s.tool.Prepare(s.t.Context(), string(data))
	if err != nil {
		return "", err
	}
	result, err := call.Run(s.t.Context(), nil)
	return result.Content.Text(), err
}

func (s *site) call(action string, args map[string]any) string {
	s.t.Helper()
	text, err := s.try(action, args)
	if err != nil {
		s.t.Errorf("%s %v: %v", action, args, err)
	}
	return text
}

// edit replaces a text in a file and returns what the servers say about it.
func (s *site) edit(name, before, after string) string {
	s.t.Helper()
	abs := filepath.Join(s.dir, name)
	e := s.servers.Edit(s.ws, []string{abs})
	data, err := os.ReadFile(abs)
	if err != nil || !strings.Contains(string(data), before) {
		s.t.Fatalf("%s has no %q: %q, %v", name, before, data, err)
	}
	if err := s.ws.WriteFile(s.t.Context(), name, []byte(strings.Replace(string(data), before, after, 1)), nil); err != nil {
		s.t.Fatal(err)
	}
	return e.After(s.t.Context(), []tool.FileDiff{{Path: name}})
}
