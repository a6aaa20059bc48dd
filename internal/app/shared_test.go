//go:build unix

package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/trees"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/undo"
)

// Several agents of one process work in one directory at the same time, with tools, and with commands one after another. Undo of each
// session takes back the changes of that session, and no others.
func TestAgentsInOneDirectory(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	getenv := vars("TENON_DATA_DIR", data, "TENON_CONFIG_DIR", t.TempDir(), "HOME", t.TempDir())
	s, err := NewSetup(getenv, dir, "v1")
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bounds(dir)
	policy, err := s.Policy(b, Permissions{Mode: permission.Yolo})
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(getenv, "v1")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := os.WriteFile(filepath.Join(dir, "common"), []byte("common\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := trees.Of(t, dir)

	const agents, files = 4, 5
	var all sync.WaitGroup
	var commands sync.Mutex // one command at a time
	open := make([]*Agent, agents)
	for i := range open {
		var script strings.Builder
		for n := range files {
			fmt.Fprintf(&script, "call write {\"path\":\"new/%d/%d\",\"content\":\"tool %[1]d\"}\ncall write {\"path\":\"new/both-%[1]d-%d\",\"content\":\"x\"}\n---\n", i, n)
		}
		script.WriteString("text Done.\n---\n")
		fmt.Fprintf(&script, "call shell {\"command\":\"mkdir made-%d; echo %[1]d > made-%[1]d/file; echo %[1]d >> new/%[1]d/0\"}\n---\ntext Done.", i)
		if open[i], err = a.New(t.Context(), Spec{Client: llmtest.Must(script.String()), Bounds: b, Policy: policy, Titles: Titling{Off: true}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, ag := range open {
		all.Go(func() {
			work := func(text string) {
				for e, err := range ag.Run(t.Context(), llm.UserText(text)) {
					if m, ok := e.Body.(session.Message); err != nil || ok && m.Role == llm.RoleTool && m.Outcome != session.OutcomeOK {
						t.Errorf("agent %d: %v %s", i, err, m.Text())
					}
				}
			}
			work("Write.")
			commands.Lock()
			defer commands.Unlock()
			work("Run a command.")
		})
	}
	all.Wait()
	ids := make([]session.SessionID, agents)
	for i, ag := range open {
		ids[i] = ag.Session()
		if err := ag.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(a.directories) > 0 {
		t.Errorf("%d directories are still shared", len(a.directories))
	}
	for i, id := range ids {
		before := trees.Of(t, dir)
		takeBack(t, a, id)
		for name := range before {
			own := strings.HasPrefix(name, fmt.Sprintf("new/%d/", i)) || strings.HasPrefix(name, fmt.Sprintf("made-%d", i)) ||
				strings.HasPrefix(name, fmt.Sprintf("new/both-%d-", i))
			if _, err := os.Lstat(filepath.Join(dir, name)); own != (err != nil) && strings.Contains(name, "-") {
				t.Errorf("after the undo of %d: %s: %v", i, name, err)
			}
		}
	}
	_ = os.Remove(filepath.Join(dir, "new")) // which stayed as long as another session had files in it
	trees.Same(t, trees.Of(t, dir), empty)
}

// takeBack undoes all runs of a session.
func takeBack(t *testing.T, a *App, id session.SessionID) {
	t.Helper()
	contents := a.Checkpoints(id)
	w, err := a.Store.Open(t.Context(), id, session.Lease{Owner: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	h, err := undo.Read(t.Context(), a.Store, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	runs := h.Runs()
	p, err := h.Undo(string(runs[len(runs)-1].Entry), undo.Files)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context(), w, contents, false); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Files {
		if f.Unsure || f.Problem != "" {
			t.Errorf("%+v", f)
		}
	}
}
