package sandbox_test

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Commands get the variables that programs need, and those that the person lists. No list of secret names is complete.
func TestVariablesOfCommands(t *testing.T) {
	secrets := strings.Fields(`OPENAI_API_KEY GITHUB_TOKEN AWS_PROFILE DB_PASSWORD SSH_AUTH_SOCK anthropic_api_key NPM_CONFIG__AUTH DATABASE_URL
		PGPASSWORD SSHPASS NGROK_AUTHTOKEN RAILS_MASTER_KEY LITELLM_MASTER_KEY WORK_ANTHROPIC_KEY OPENAI_KEY DD_APP_KEY SUPABASE_SERVICE_ROLE_KEY
		DEPLOY_KEY GPG_KEY GCP_SA_KEY npm_config__authToken APITOKEN ACCESSTOKEN SECRETKEY DBPASSWORD CI_JOB_JWT JWT COOKIE SLACK_WEBHOOK_URL
		MONGODB_URI REDIS_URL KUBE_CONFIG_DATA SERVICE_ACCOUNT_JSON GOOGLE_APPLICATION_CREDENTIALS CARGO_REGISTRY_TOKEN CARGO_REGISTRIES_X_TOKEN
		UV_PUBLISH_TOKEN POETRY_PYPI_TOKEN_X BUNDLE_GEMS__EXAMPLE__COM GIT_CONFIG_VALUE_0 GIT_ASKPASS DOCKER_HOST TENON_X BASH_FUNC_x%%
		CMAKE_TOKEN`)
	plain := strings.Fields(`PATH HOME PWD OLDPWD LANG LC_ALL TZ GOFLAGS TERM CARGO_HOME JAVA_HOME GIT_AUTHOR_NAME SSL_CERT_FILE CI npm_config_cache
		VIRTUAL_ENV CC CFLAGS RUSTFLAGS NODE_ENV CMAKE_BUILD_TYPE LISTED`)
	var env []string
	for _, name := range slices.Concat(secrets, plain) {
		env = append(env, name+"=x")
	}
	env = append(env, "https_proxy=http://user:pw@proxy.example.com", "GOPROXY=https://token@modules.example.com", "LISTED=y", "KEY_OF_TABLE=x", "PATH=/bin")
	got := sandbox.Environment(env, []string{"LISTED", "KEY_OF_TABLE"}, []string{"KEY_OF_TABLE"})
	var want []string
	for _, name := range plain {
		want = append(want, name+"="+map[string]string{"LISTED": "y", "PATH": "/bin"}[name])
		if want[len(want)-1] == name+"=" {
			want[len(want)-1] += "x"
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
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
