package sandbox

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// doctor names the mechanism that confines commands, and says why a better one is not available.
func TestTheDoctorNamesTheMechanism(t *testing.T) {
	whole := sandbox.Report{Namespaces: true, Landlock: 7, Seccomp: true}
	borrowed, refused := whole, whole
	borrowed.Borrowed, borrowed.Trouble, borrowed.Bubblewrap = true, "not allowed", "/usr/bin/bwrap 0.8.0"
	refused.Namespaces, refused.Trouble = false, "not allowed"
	for _, c := range []struct {
		report sandbox.Report
		want   []string
	}{
		{whole, []string{"namespaces, Landlock and seccomp confine", "namespaces   yes", "not needed"}},
		{borrowed, []string{"namespaces of bubblewrap, Landlock", "not available to Tenon: not allowed", "bubblewrap   /usr/bin/bwrap 0.8.0"}},
		{refused, []string{"Landlock and seccomp confine commands, with gaps", "not available to Tenon: not allowed", "not installed"}},
	} {
		text := confinement(&command.Env{}, c.report, app.Bounds{Sandbox: &sandbox.Policy{}})
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
	}
}
