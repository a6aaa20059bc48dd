package bedrock_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/wire"
)

func setUp(t *testing.T, home string, env, files map[string]string) {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// signing returns a client that signs, whose requests f answers.
func signing(o bedrock.Options, f roundTrip) *bedrock.Client {
	o.Region = "us-east-1"
	o.Endpoint.HTTP = wire.NewClient(f)
	return bedrock.New(haiku, o)
}

// If there are no credentials, the error lists the places that were searched, and a remedy.
func TestNoCredentials(t *testing.T) {
	const sso = "[profile work]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = dev\n" +
		"[sso-session corp]\nsso_start_url = https://corp.test/start\nsso_region = us-east-1\nsso_registration_scopes = sso:account:access\n"
	const oldSSO = "[profile work]\nsso_start_url = https://corp.test/start\nsso_account_id = 123456789012\nsso_role_name = dev\nsso_region = us-east-1\n"
	tests := []struct {
		name, config, profile string
		want                  string
	}{
		{"nothing is set", "", "", "no AWS credentials were found: not in AWS_BEARER_TOKEN_BEDROCK"},
		{"SSO without a login", sso, "work", "the AWS single sign-on session has expired or was never begun: run `aws sso login --profile work`"},
		{"SSO of the old kind", oldSSO, "work", "run `aws sso login --profile work`"},
		{"a login that was never begun", "[profile work]\nlogin_session = arn:aws:iam::123456789012:user/a\n", "work", "run `aws login --profile work`"},
		{
			"MFA", "[profile base]\naws_access_key_id = a\naws_secret_access_key = b\n" +
				"[profile work]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = base\nmfa_serial = arn:aws:iam::1:mfa/me\n", "work",
			"demands a code of an MFA device",
		},
		{"a program that fails", "[profile work]\ncredential_process = " + filepath.Join(t.TempDir(), "missing") + "\n", "work", "the credential_process of the AWS profile failed"},
		{"a program that says why", "[profile work]\ncredential_process = echo log in first >&2; exit 3\n", "work", "failed: it said: log in first"},
		{"a program that writes nonsense", "[profile work]\ncredential_process = echo secret-in-clear\n", "work", "did not write the JSON of credentials"},
		{"a malformed file", "[profile work\n", "work", "AWS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(tt.config, ">&2") {
				t.Skip("the program is a shell script")
			}
			home := clean(t)
			setUp(t, home, nil, map[string]string{"config": tt.config})
			c := signing(bedrock.Options{Profile: tt.profile}, func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, http.ErrAbortHandler
			})
			_, err := llm.Collect(t.Context(), c, ask("?"))
			e := llm.AsError(err)
			if e == nil || e.Kind != llm.KindAuth || e.Model != haiku.Ref() || !strings.Contains(e.Message, tt.want) {
				t.Errorf("got %v", err)
			}
			if strings.Contains(fmt.Sprintf("%+v %v", e, e.Err), "secret-in-clear") {
				t.Error("the error shows what the program wrote")
			}
		})
	}
}

// Credentials are fetched once. After a refusal they are fetched again.
func TestCredentialsAreKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	home := clean(t)
	calls := filepath.Join(home, "calls")
	setUp(t, home, nil, map[string]string{
		"config": "[default]\ncredential_process = /bin/sh " + filepath.Join(home, "fetch") + "\n",
		"fetch":  "echo call >>" + calls + `; echo '{"Version":1,"AccessKeyId":"AKID","SecretAccessKey":"made-up-secret"}'`,
	})
	refuse := false
	c := signing(bedrock.Options{}, func(*http.Request) (*http.Response, error) {
		if refuse {
			return answer(http.StatusForbidden, "application/json", strings.NewReader(`{"message":"The security token included in the request is expired"}`)), nil
		}
		return answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, complete))), nil
	})
	fetched := func() int {
		data, _ := os.ReadFile(calls)
		return strings.Count(string(data), "call")
	}
	for range 3 {
		if _, err := llm.Collect(t.Context(), c, ask("?")); err != nil {
			t.Fatal(err)
		}
	}
	if fetched() != 1 {
		t.Errorf("fetched %d times", fetched())
	}
	refuse = true
	_, err := llm.Collect(t.Context(), c, ask("?"))
	if e := llm.AsError(err); e.Kind != llm.KindAuth || !strings.Contains(e.Message, "expired: renew the credentials, as with `aws sso login`") {
		t.Errorf("got %v", err)
	}
	refuse = false
	if _, err := llm.Collect(t.Context(), c, ask("?")); err != nil || fetched() != 2 {
		t.Errorf("fetched %d times: %v", fetched(), err)
	}
}

// The client asks the metadata service of a machine in AWS. A service that does not answer causes no delay.
func TestMetadataService(t *testing.T) {
	var hang atomic.Bool
	release := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hang.Load() {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		switch r.URL.Path {
		case "/latest/api/token":
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "60")
			fmt.Fprint(w, "token")
		case "/latest/meta-data/iam/security-credentials/":
			fmt.Fprint(w, "role")
		case "/latest/meta-data/iam/security-credentials/role":
			fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"AKIDROLE","SecretAccessKey":"s","Token":"t","Expiration":%q}`,
				time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		default:
			http.NotFound(w, r)
		}
	}))
	defer service.Close()
	defer close(release)
	clean(t)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", service.URL)
	key := ""
	serve := func(r *http.Request) (*http.Response, error) {
		key = r.Header.Get("Authorization")
		return answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, complete))), nil
	}
	if _, err := llm.Collect(t.Context(), signing(bedrock.Options{}, serve), ask("?")); err != nil || !strings.Contains(key, "AKIDROLE") {
		t.Errorf("%s: %v", key, err)
	}
	hang.Store(true)
	_, err := llm.Collect(t.Context(), signing(bedrock.Options{}, serve), ask("?"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindAuth || !strings.Contains(e.Message, "no AWS credentials were found") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = llm.Collect(ctx, signing(bedrock.Options{}, serve), ask("?"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindCancelled {
		t.Errorf("got %v", err)
	}
}

// Errors of Bedrock that do not say what to do are completed.
func TestAdvice(t *testing.T) {
	clean(t)
	withKeys(t)
	tests := []struct {
		status        int
		message, want string
		kind          llm.Kind
	}{
		{403, "Signature expired: 20260102T030405Z is now earlier than 20260102T040000Z", "040000Z: is the clock of this machine right?", llm.KindAuth},
		{
			400, "Invocation of model ID anthropic.claude-x with on-demand throughput isn\u2019t supported. Retry your request with an inference profile.",
			"put the name of an inference profile before the model's, such as us." + haiku.ID, llm.KindInvalidRequest,
		},
		{403, "You don't have access to the model with the specified model ID.", "specified model ID.", llm.KindAuth},
		{400, "Input is too long for requested model.", "requested model.", llm.KindContextOverflow},
		{429, "Too many requests", "requests", llm.KindRateLimited},
		{424, "The model failed", "failed", llm.KindOverloaded},
	}
	for _, tt := range tests {
		c := signing(bedrock.Options{}, func(*http.Request) (*http.Response, error) {
			return answer(tt.status, "application/json", strings.NewReader(fmt.Sprintf(`{"message":%q}`, tt.message))), nil
		})
		_, err := llm.Collect(t.Context(), c, ask("?"))
		if e := llm.AsError(err); e == nil || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Message, tt.want) {
			t.Errorf("got %v", err)
		}
	}
}

// AWS names an error in a header when the body does not.
func TestErrorNamedByHeader(t *testing.T) {
	c := bedrock.New(haiku, bedrock.Options{Endpoint: at(func(*http.Request) (*http.Response, error) {
		resp := answer(http.StatusBadRequest, "application/json", strings.NewReader(`{"message":"Slow down, please."}`))
		resp.Header.Set("X-Amzn-Errortype", "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/")
		return resp, nil
	})})
	_, err := llm.Collect(t.Context(), c, ask("?"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindRateLimited {
		t.Errorf("got %v", err)
	}
}

// Single sign-on: a session that is good gives credentials, one that was ended asks for a login.
func TestSingleSignOn(t *testing.T) {
	var ended atomic.Bool
	portal := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if ended.Load() || r.Header.Get("X-Amz-Sso_bearer_token") != "a-token" {
			w.Header().Set("X-Amzn-Errortype", "UnauthorizedException")
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"message":"Session token not found or invalid"}`)
			return
		}
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"AKIDSSO","secretAccessKey":"s","sessionToken":"t","expiration":%d}}`, time.Now().Add(time.Hour).UnixMilli())
	}))
	defer portal.Close()
	home := clean(t)
	t.Setenv("AWS_ENDPOINT_URL_SSO", portal.URL)
	session := sha1.Sum([]byte("corp"))
	setUp(t, home, nil, map[string]string{
		"config": "[profile work]\nsso_session = corp\nsso_account_id = 123456789012\nsso_role_name = dev\n" +
			"[sso-session corp]\nsso_start_url = https://corp.test/start\nsso_region = us-east-1\n",
		".aws/sso/cache/" + hex.EncodeToString(session[:]) + ".json": fmt.Sprintf(`{"accessToken":"a-token","expiresAt":%q}`,
			time.Now().Add(time.Hour).UTC().Format(time.RFC3339)),
	})
	key := ""
	serve := func(r *http.Request) (*http.Response, error) {
		key = r.Header.Get("Authorization")
		return answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, complete))), nil
	}
	if _, err := llm.Collect(t.Context(), signing(bedrock.Options{Profile: "work"}, serve), ask("?")); err != nil || !strings.Contains(key, "AKIDSSO") {
		t.Errorf("%s: %v", key, err)
	}
	ended.Store(true)
	_, err := llm.Collect(t.Context(), signing(bedrock.Options{Profile: "work"}, serve), ask("?"))
	if e := llm.AsError(err); e == nil || e.Kind != llm.KindAuth || !strings.Contains(e.Message, "run `aws sso login --profile work`") {
		t.Errorf("got %v", err)
	}
}

// A client is for all: many requests at once share what it knows of AWS.
func TestConcurrentUse(t *testing.T) {
	clean(t)
	withKeys(t)
	c := signing(bedrock.Options{}, func(*http.Request) (*http.Response, error) {
		return answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, complete))), nil
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := llm.Collect(t.Context(), c, ask("?")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
