package lsp_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/tool/lsp"
)

// status returns the state of the only server.
func (s *site) status() lsp.Status {
	s.t.Helper()
	all := s.servers.Status()
	if len(all) != 1 {
		s.t.Fatalf("%d servers were used", len(all))
	}
	return all[0]
}

func TestTheStateOfAServer(t *testing.T) {
	p := misbehaving(t, "well")
	p.edit("a.x", "good", "bad")
	if got := p.status(); got.State != lsp.Ready || got.PID == 0 || got.Err != nil {
		t.Errorf("after an edit: %+v", got)
	}
	p.servers.Restart()
	p.servers.AwaitEnd("fake")
	if got := p.status(); got.State != lsp.Unloaded || got.PID != 0 || got.Err != nil {
		t.Errorf("after the end: %+v", got)
	}

	p = misbehaving(t, "dead")
	began := time.Now()
	p.servers.Warm(t.Context(), p.ws, filepath.Join(p.dir, "a.x"))
	if got := p.status(); got.State != lsp.Waiting || got.Failures != 1 || !got.Next.After(began) || !strings.Contains(got.Err.Error(), "no license") {
		t.Errorf("after a failure: %+v", got)
	}
}

func TestAServerThatRestsMakesRoomForThatOfAnotherDirectory(t *testing.T) {
	limit := lsp.NewLimit(1)
	with := func(o *lsp.Options) { o.Limit, o.Check = limit, time.Millisecond }
	one, two := misbehaving(t, "well", with), misbehaving(t, "well", with)
	limit.Rest(time.Hour)
	one.edit("a.x", "good", "bad")
	if text := two.edit("a.x", "good", "bad"); !strings.Contains(text, "too many language servers") {
		t.Errorf("an edit beyond the limit: %q", text)
	}
	if got := two.status(); got.State != lsp.Waiting || got.Failures != 0 {
		t.Errorf("beyond the limit: %+v", got)
	}
	limit.Rest(0)
	two.servers.Warm(t.Context(), two.ws, filepath.Join(two.dir, "a.x"))
	for two.status().State != lsp.Ready { // the back-off is a millisecond
		two.servers.Warm(t.Context(), two.ws, filepath.Join(two.dir, "a.x"))
	}
	if got := one.status(); got.State != lsp.Unloaded {
		t.Errorf("the one that made room: %+v", got)
	}
}

func TestFind(t *testing.T) {
	p := project(t, map[string]string{"main.x": "good\n", "web/package.json": "{}", "web/node_modules/a.py": "", ".git/b.rs": ""}, fakeSpec(t, "well"))
	var missing, installed []string
	for _, f := range lsp.Find(p.dir, append(lsp.Known(), fakeSpec(t, "well"), lsp.Spec{Name: "none", Command: "not-installed-anywhere", Files: []string{".x"}})) {
		if f.Installed {
			installed = append(installed, f.Name)
		} else {
			missing = append(missing, f.Name)
		}
	}
	all := slices.Sorted(slices.Values(slices.Concat(missing, installed)))
	if !slices.Equal(all, []string{"fake", "none", "typescript-language-server"}) || !slices.Contains(installed, "fake") || !slices.Contains(missing, "none") {
		t.Errorf("installed %v, missing %v", installed, missing)
	}
}
