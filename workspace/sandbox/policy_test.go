package sandbox_test

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

func TestSecretsAreKnownByTheirNames(t *testing.T) {
	secrets := []string{
		"OPENAI_API_KEY", "GITHUB_TOKEN", "GH_TOKEN", "AWS_PROFILE", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "MY_SECRET", "SSH_AUTH_SOCK", "anthropic_api_key",
		"NPM_CONFIG__AUTH", "PGPASSFILE", "SENTRY_DSN", "SIGNING_KEY", "AZURE_CLIENT_ID", "TENON_X", "DATABASE_URL", "DBUS_SESSION_BUS_ADDRESS",
	}
	plain := []string{"PATH", "HOME", "PWD", "OLDPWD", "LANG", "GOFLAGS", "KEYBOARD", "MONKEY", "TERM", "CARGO_HOME", "JAVA_HOME", "GIT_AUTHOR_NAME", "SSL_CERT_FILE"}
	var env []string
	for _, name := range slices.Concat(secrets, plain) {
		env = append(env, name+"=x")
	}
	for _, v := range sandbox.Environment(env) {
		name := strings.TrimSuffix(v, "=x")
		if !slices.Contains(plain, name) {
			t.Errorf("%s passes", name)
		}
		plain = slices.DeleteFunc(plain, func(p string) bool { return p == name })
	}
	if len(plain) > 0 {
		t.Errorf("%v do not pass", plain)
	}
}

// A machine that cannot confine commands runs none.
func TestAMachineWithoutWalls(t *testing.T) {
	for _, p := range []*sandbox.Policy{{Partial: true}, {}} {
		p.Pretend(sandbox.Report{Trouble: "none here"})
		cmd := exec.Command("true")
		_, err := p.Wrap(cmd)
		if unavailable := (*sandbox.UnavailableError)(nil); !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "The command was not run") {
			t.Error(err)
		}
	}
}

func TestExplainOfOtherFailures(t *testing.T) {
	c := (&sandbox.Policy{Writable: []string{"/home/me/project"}, Hidden: []string{"/home/me/.ssh"}}).Explainer("/home/me/project")
	for _, line := range []string{
		"cat: nothing: No such file or directory", "curl: (7) Failed to connect to 127.0.0.1 port 9: Connection refused", "--- FAIL: TestX", "",
		"rm: cannot remove '/home/me/project/x': Permission denied", "error: kill the build",
	} {
		if got := c.Explain([]byte(line), 1); len(got) > 0 {
			t.Errorf("%q: %v", line, got)
		}
	}
}
