package app

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// The model reads that /tmp and a network are private where they are, and does not where they are not.
func TestWhatIsPrivateForTheModel(t *testing.T) {
	const files, network = "and to /tmp (private to this session", "share a private network"
	policy := &sandbox.Policy{Temp: t.TempDir(), Loopback: new(sandbox.Loopback)}
	if !policy.Shares() {
		t.Skip("no network can be shared here")
	}
	open := policy.Show()
	open.Network.Open = true
	if text := (Bounds{Sandbox: policy}).May(permission.Plan, false); strings.Contains(text, "write") {
		t.Errorf("mode plan: %s", text)
	}
	for name, test := range map[string]struct {
		policy         *sandbox.Policy
		mode           permission.Mode
		files, network bool
	}{
		"a session":         {policy, permission.Auto, true, true},
		"an open network":   {open, permission.Auto, true, false},
		"no session":        {policy.Session("", nil), permission.Auto, false, false},
		"mode yolo":         {policy, permission.Yolo, false, false},
		"mode ask":          {policy, permission.AskMode, true, true},
		"mode plan":         {policy, permission.Plan, false, false},
		"mode inspect":      {policy, permission.Inspect, false, false},
		"without a sandbox": {nil, permission.Edits, false, false},
	} {
		text := Bounds{Sandbox: test.policy}.May(test.mode, true)
		if strings.Contains(text, files) != test.files || strings.Contains(text, network) != test.network {
			t.Errorf("%s: %s", name, text)
		}
	}
}
