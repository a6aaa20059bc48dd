package permission_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// The directory for temporary files counts as the workspace: mode edits does not ask about it, and modes that ask about changes ask. Outside of
// the sandbox, /tmp is that of the machine.
func TestVerdictsOnTemporaryFiles(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	for link, to := range map[string]string{"out": "/etc/hostname", "in": "/tmp/n", "secret": "/hidden/key"} {
		if err := os.Symlink(to, filepath.Join(scratch, link)); err != nil {
			t.Fatal(err)
		}
	}
	policy := func(m permission.Mode) *permission.Policy {
		p, err := permission.New(permission.Options{
			Mode: m, Root: filepath.Join(dir, "work"), Hidden: []string{"/hidden"}, Sandboxed: true,
			Scratch: paths.Scratch{Dir: scratch, Names: []string{"/tmp", "/var/tmp"}, Own: []string{filepath.Join(dir, "work"), "/tmp/other/project"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const allow, ask, deny = permission.Allow, permission.Ask, permission.Deny
	for _, test := range []struct {
		line                string
		inspect, ask, edits permission.Action
	}{
		{"cat /tmp/n", allow, allow, allow},
		{"cat /var/tmp/n /tmp/in", allow, allow, allow},
		{"cat /tmp/.env", allow, allow, allow},
		{"cat /tmp/out", deny, ask, ask},
		{"cat /tmp/secret", deny, deny, deny},
		{"cat /tmp/../etc/hostname", deny, ask, ask},
		{"cat /tmp/other/project/x", deny, ask, ask},
		{"echo x > /tmp/n && cat /tmp/n", deny, ask, allow},
		{"cp file /tmp/dir/; mkdir /tmp/a; mv /tmp/a /tmp/b; touch /tmp/.envrc", deny, ask, allow},
		{"rm -rf /tmp/a /var/tmp/b", deny, ask, allow},
		{"rm -rf /tmp/a file", deny, ask, ask},
		{"rm -rf /tmp/other", deny, ask, ask},
		{"rm -rf /tmp/*", deny, ask, ask},
		{"echo x > /tmp/out", deny, ask, ask},
		{"echo x > /tmpx", deny, ask, ask},
	} {
		for mode, want := range map[permission.Mode]permission.Action{permission.Inspect: test.inspect, permission.AskMode: test.ask, permission.Edits: test.edits} {
			p := policy(mode)
			if v := p.Judge(p.Command(test.line)); v.Action != want {
				t.Errorf("%s in mode %s: %s (%s), want %s", test.line, mode, v.Action, v.Reason, want)
			}
		}
	}
	p := policy(permission.Edits)
	write := permission.Call{Tool: "write", Effects: tool.Effects{Writes: []tool.Path{tool.File("/tmp/n")}}}
	if v := p.Judge(write); v.Action != allow {
		t.Error(v)
	}
	if v := p.In(paths.Scratch{}).Judge(write); v.Action != ask {
		t.Error(v)
	}
	p = policy(permission.Auto)
	call := p.Command("echo x > /tmp/n")
	if v := p.Judge(call); v.Action != allow {
		t.Error(v)
	}
	rule, err := permission.ParseRule(permission.Allow, permission.User, "unconfined")
	if err != nil {
		t.Fatal(err)
	}
	call.Effects.Unconfined = true
	for i, part := range p.Judge(call, rule).Commands {
		if part.Code != "permission.outside_write" && part.Code != "permission.rule_allowed" {
			t.Errorf("outside of the sandbox: %d %s", i, part.Code)
		}
	}
	if v := p.In(paths.Scratch{}).InMode(permission.Auto).Judge(p.Command("echo x > /tmp/n")); v.Action != ask {
		t.Error(v)
	}
}

// Where commands share a private network, a server on 127.0.0.1 is one of theirs, unless the network has that of the machine.
func TestVerdictsOnServersOfCommands(t *testing.T) {
	policy := func(m permission.Mode, shared bool) *permission.Policy {
		p, err := permission.New(permission.Options{
			Mode: m, Root: t.TempDir(), Sandboxed: true, Loopback: shared, Network: []string{"127.0.0.1:5432", "example.com"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const allow, ask, deny = permission.Allow, permission.Ask, permission.Deny
	for _, test := range []struct {
		line                    string
		ask, edits, auto, alone permission.Action // alone: in auto, without a shared network
	}{
		{"curl -s http://localhost:3000/", ask, allow, allow, ask},
		{"curl -s http://127.0.0.1:3000/ http://[::1]:8080/", ask, allow, allow, ask},
		{"curl -X POST -d @file http://localhost:3000/", ask, allow, allow, ask},
		{"curl -s http://localhost:3000/ https://example.org/", ask, ask, ask, ask},
		{"curl -s http://localhost.example.org/", ask, ask, ask, ask},
		{"curl -s http://127.0.0.1:5432/", ask, ask, allow, allow},
		{"curl -d x http://127.0.0.1:5432/", ask, ask, allow, allow},
		{"curl -d x https://example.com/", ask, ask, ask, ask},
	} {
		for mode, want := range map[permission.Mode]permission.Action{permission.AskMode: test.ask, permission.Edits: test.edits, permission.Auto: test.auto} {
			p := policy(mode, true)
			if v := p.Judge(p.Command(test.line)); v.Action != want {
				t.Errorf("%s in mode %s: %s (%s), want %s", test.line, mode, v.Action, v.Reason, want)
			}
		}
		p := policy(permission.Auto, false)
		if v := p.Judge(p.Command(test.line)); v.Action != test.alone {
			t.Errorf("%s without a shared network: %s (%s), want %s", test.line, v.Action, v.Reason, test.alone)
		}
		p = policy(permission.Auto, true)
		call := p.Command(test.line)
		call.Effects.Unconfined = true
		if v := p.Judge(call); v.Commands[0].Action != test.alone {
			t.Errorf("%s outside of the sandbox: %s", test.line, v.Commands[0].Reason)
		}
	}
	fetch := permission.Call{Tool: "fetch", Effects: tool.Effects{Hosts: []string{"localhost:3000"}}}
	for mode, want := range map[permission.Mode]permission.Action{permission.Inspect: deny, permission.AskMode: ask, permission.Edits: allow, permission.Auto: allow} {
		if v := policy(mode, true).Judge(fetch); v.Action != want {
			t.Errorf("fetch in mode %s: %s", mode, v.Action)
		}
	}
}
