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

// Explanations of real outputs about the network name what a program said that it could not reach, and nothing else.
func TestExplanationsOfTheNetwork(t *testing.T) {
	closed := (&sandbox.Policy{Writable: []string{"/home/me/project"}}).Explainer("/home/me/project")
	some := (&sandbox.Policy{Writable: []string{"/home/me/project"}, Network: sandbox.Network{Hosts: []string{"example.com"}}}).Explainer("/home/me/project")
	for _, test := range []struct {
		c          *sandbox.Confined
		line, host string
		why        string // "": nothing is explained
	}{
		{closed, "a.go:2:8: golang.org/x/text@v0.14.0: reading file:///home/me/go/pkg/mod/cache/download/golang.org/x/text/@v/v0.14.0.zip: no such file or directory", "@go", "use --network @go, or add @go to sandbox.network"},
		{closed, "go: module lookup disabled by GOPROXY=off", "@go", "caches here lack the package"},
		{closed, "npm error request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org", "registry.npmjs.org", "use --network @npm"},
		{closed, "npm error code EAI_AGAIN", "", "use --network HOST"},
		{closed, "ERROR: No matching distribution found for six", "@pypi", "use --network @pypi"},
		{closed, "As a reminder, you're using offline mode (--offline) which can sometimes cause surprising resolution failures", "@crates", "@crates"},
		{closed, "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com", "github.com", "use --network @github"},
		{closed, "curl: (6) Could not resolve host: docs.example.org", "docs.example.org", "use --network docs.example.org"},
		{closed, `Get "https://proxy.golang.org/x/@v/list": dial tcp: lookup proxy.golang.org on 10.0.0.2:53: dial udp 10.0.0.2:53: connect: network is unreachable`, "proxy.golang.org", "@go"},
		{closed, "urllib3: HTTPSConnectionPool(host='pypi.org', port=443): Temporary failure in name resolution", "pypi.org", "@pypi"},
		{closed, "[ERROR] Unknown host repo.maven.apache.org: Temporary failure in name resolution", "repo.maven.apache.org", "@maven"},
		{some, "ERROR: No matching distribution found for six", "", ""},
		{some, "curl: (6) Could not resolve host: example.com", "example.com", "this program does not use it"},
		{some, "curl: (6) Could not resolve host: other.example", "other.example", "use --network other.example"},
		{closed, "ModuleNotFoundError: No module named 'requests'", "", ""},
		{closed, "failed to connect to db.sqlite: no such table", "", ""},
		{closed, "user@example.com: no such file or directory", "", ""},
		{closed, "golang.org/x/text@v0.14.0: no such file or directory", "", ""},
		{closed, "go: github.com/x/y@v1.2.3: unknown revision", "", ""},
	} {
		got := test.c.Explain([]byte(test.line), 1)
		switch {
		case test.why == "" && len(got) > 0:
			t.Errorf("%s: got %v", test.line, got)
		case test.why != "" && (len(got) != 1 || got[0].What != sandbox.Connect || got[0].Host != test.host || !strings.Contains(got[0].Why, test.why)):
			t.Errorf("%s: got %v", test.line, got)
		}
	}
}
