package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/llmtest"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// outside is a server on an address of this machine that is not loopback.
func outside(t *testing.T) (address string) {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		n, ok := a.(*net.IPNet)
		if !ok || n.IP.To4() == nil || n.IP.IsLoopback() {
			continue
		}
		if l, err := net.Listen("tcp", net.JoinHostPort(n.IP.String(), "0")); err == nil {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "reached") }))
			server.Listener.Close()
			server.Listener = l
			server.Start()
			t.Cleanup(server.Close)
			return l.Addr().String()
		}
	}
	t.Skip("this machine has no address but loopback, which is inside the sandbox")
	return ""
}

// A command reaches the hosts for which a person approved its call. A grant lets all later commands of the session reach them, and a grant for all
// sessions adds them to the configuration. A denial lets none.
func TestApprovedHostsAreReached(t *testing.T) {
	if sandbox.Look().Level() != sandbox.Namespaces {
		t.Skip("no sandbox here")
	}
	for name, test := range map[string]struct {
		answer ask.Answer
		want   []string // in the results of curl, and of a script that runs curl
		kept   bool
	}{
		"denied":           {ask.Answer{}, []string{"denied", "network"}, false},
		"once":             {ask.Answer{Allow: true}, []string{"reached", "network"}, false},
		"this session":     {ask.Answer{Allow: true, Grant: 1}, []string{"reached", "reached"}, false},
		"for all sessions": {ask.Answer{Allow: true, Grant: 1, Always: true}, []string{"reached", "reached"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			at := outside(t)
			data, dir, config := t.TempDir(), t.TempDir(), t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "fetch.sh"), []byte("curl -sS http://"+at+"/\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := NewSetup(vars("TENON_DATA_DIR", data, "TENON_CONFIG_DIR", config, "HOME", t.TempDir()), dir, "v1")
			if err != nil {
				t.Fatal(err)
			}
			b := s.Bounds(dir)
			policy, err := s.Policy(b, Permissions{Mode: permission.Auto})
			if err != nil {
				t.Fatal(err)
			}
			a, err := Open(s.getenv, "v1")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Close() }()
			script := fmt.Sprintf("call shell {\"command\": \"curl -sS http://%s/\"}\n---\ncall shell {\"command\": \"sh fetch.sh\"}\n---\ntext Done.", at)
			ag, err := a.New(t.Context(), Spec{Client: llmtest.Must(script), Bounds: b, Policy: policy, Titles: Titling{Off: true}, Ask: true, Keep: s.Keep})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = ag.Close() }()
			asked := 0
			var results []string
			for e, err := range ag.Run(t.Context(), llm.UserText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				switch body := e.Body.(type) {
				case session.Asking:
					asked++
					if _, err := ag.Request(context.WithoutCancel(t.Context()), session.Answered{ID: body.ID, Answers: []ask.Answer{test.answer}}); err != nil {
						t.Error(err)
					}
				case session.Message:
					if body.Role == llm.RoleTool {
						results = append(results, body.Content.Text())
					}
				}
			}
			if asked != 1 || len(results) != 2 || !strings.Contains(results[0], test.want[0]) || !strings.Contains(results[1], test.want[1]) {
				t.Errorf("%d questions, results %q", asked, results)
			}
			again, err := NewSetup(s.getenv, dir, "v1")
			if err != nil || slices.Contains(again.Bounds(dir).Hosts, at) != test.kept {
				t.Errorf("the configuration has %v, error %v", again.Bounds(dir).Hosts, err)
			}
		})
	}
}
