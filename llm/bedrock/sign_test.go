package bedrock_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/bedrock"
	"github.com/tenon-agent/tenon/llm/wire"
)

// clean makes the environment that of a machine without any settings of AWS, and returns its home.
func clean(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY",
		"AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_CA_BUNDLE", "AWS_DEFAULTS_MODE",
	} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AWS_CONFIG_FILE", home+"/config")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", home+"/credentials")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return home
}

// withKeys sets the keys that AWS's documentation uses for examples.
func withKeys(t *testing.T) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
}

// The signatures are those that botocore, the library of AWS for Python, makes for the same requests: the path that is signed is
// the escaped one, escaped once more.
func TestSignature(t *testing.T) {
	clean(t)
	withKeys(t)
	tests := []struct {
		name, model, region, token string
		path, authorization        string
	}{
		{
			"a colon in the path", "us.anthropic.claude-3-haiku-20240307-v1:0", "us-west-2", "",
			"bedrock-runtime.us-west-2.amazonaws.com/model/us.anthropic.claude-3-haiku-20240307-v1%3A0/converse-stream",
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20000101/us-west-2/bedrock/aws4_request, " +
				"SignedHeaders=accept;content-length;content-type;host;x-amz-date, " +
				"Signature=50e74095a1d69876365cacc716b2a4aa5855293e6eeab374323d4a9bddcec3f4",
		},
		{
			"with a session", "us.anthropic.claude-3-haiku-20240307-v1:0", "us-west-2", "the-session-token",
			"bedrock-runtime.us-west-2.amazonaws.com/model/us.anthropic.claude-3-haiku-20240307-v1%3A0/converse-stream",
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20000101/us-west-2/bedrock/aws4_request, " +
				"SignedHeaders=accept;content-length;content-type;host;x-amz-date;x-amz-security-token, " +
				"Signature=846a9557d7782896a4dfc142d5bb0e85eb4885970a950d2037b94e41ccc36466",
		},
		{
			"a slash in the ARN of a model, which names the region", "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/a1b2c3", "", "",
			"bedrock-runtime.eu-central-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2c3/converse-stream",
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20000101/eu-central-1/bedrock/aws4_request, " +
				"SignedHeaders=accept;content-length;content-type;host;x-amz-date, " +
				"Signature=cbbf38f5492bee0494a4d6f15068518b51eff50774cc8784d273bb0fa03055d7",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("AWS_SESSION_TOKEN", tt.token)
			synctest.Test(t, func(t *testing.T) { // there it is midnight of 1 January 2000
				c := bedrock.New(llm.Model{Provider: "bedrock", ID: tt.model}, bedrock.Options{
					Region: tt.region,
					Endpoint: wire.Endpoint{HTTP: wire.NewClient(roundTrip(func(r *http.Request) (*http.Response, error) {
						if got := r.URL.Host + r.URL.EscapedPath(); got != tt.path {
							t.Errorf("path %s", got)
						}
						if got := r.Header.Get("Authorization"); got != tt.authorization {
							t.Errorf("got %s", got)
						}
						if got := r.Header.Get("X-Amz-Security-Token"); got != tt.token {
							t.Errorf("token %q", got)
						}
						return answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, complete))), nil
					}))},
				})
				req := ask("Hello?")
				req.MaxTokens, req.Cache = 100, llm.CacheOff
				if _, err := llm.Collect(t.Context(), c, req); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Where requests go, by what is set where.
func TestPlace(t *testing.T) {
	const path = "/model/m%3A0/converse-stream"
	tests := []struct {
		name    string
		env     map[string]string
		files   map[string]string
		options bedrock.Options
		want    string // the address, or a part of the error
	}{
		{"the option", nil, nil, bedrock.Options{Region: "eu-west-1"}, "https://bedrock-runtime.eu-west-1.amazonaws.com" + path},
		{"China", nil, nil, bedrock.Options{Region: "cn-north-1"}, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn" + path},
		{"AWS_REGION", map[string]string{"AWS_REGION": "us-east-2", "AWS_DEFAULT_REGION": "us-east-1"}, nil, bedrock.Options{}, "https://bedrock-runtime.us-east-2.amazonaws.com" + path},
		{"AWS_DEFAULT_REGION", map[string]string{"AWS_DEFAULT_REGION": "us-east-1"}, nil, bedrock.Options{}, "https://bedrock-runtime.us-east-1.amazonaws.com" + path},
		{"the default profile", nil, map[string]string{"config": "[default]\nregion = ca-central-1\n"}, bedrock.Options{}, "https://bedrock-runtime.ca-central-1.amazonaws.com" + path},
		{
			"the profile of the option",
			map[string]string{"AWS_PROFILE": "other"},
			map[string]string{"config": "[profile other]\nregion = ca-central-1\n[profile mine]\nregion = sa-east-1\n"},
			bedrock.Options{Profile: "mine"},
			"https://bedrock-runtime.sa-east-1.amazonaws.com" + path,
		},
		{
			"the endpoint of the environment",
			map[string]string{"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": "http://localhost:4566/", "AWS_REGION": "us-east-1"},
			nil,
			bedrock.Options{},
			"http://localhost:4566" + path,
		},
		{"the endpoint of all services", map[string]string{"AWS_ENDPOINT_URL": "http://localhost:4566"}, nil, bedrock.Options{Region: "us-east-1"}, "http://localhost:4566" + path},
		{"a base URL needs nothing else", nil, nil, bedrock.Options{Endpoint: wire.Endpoint{BaseURL: "https://gateway.test/bedrock/"}}, "https://gateway.test/bedrock" + path},
		{"an unknown profile that is not needed", map[string]string{"AWS_PROFILE": "gone"}, nil, bedrock.Options{Region: "us-east-1"}, "https://bedrock-runtime.us-east-1.amazonaws.com" + path},
		{"nothing at all", nil, nil, bedrock.Options{}, "no AWS region is set: set AWS_REGION"},
		{"an unknown profile", nil, nil, bedrock.Options{Profile: "gone"}, "AWS has no profile of that name: failed to get shared config profile, gone: `aws configure list-profiles`"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := clean(t)
			setUp(t, home, tt.env, tt.files)
			got := ""
			o := tt.options
			o.Endpoint.Key = "a-key-of-bedrock"
			o.Endpoint.HTTP = wire.NewClient(roundTrip(func(r *http.Request) (*http.Response, error) {
				got = r.URL.String()
				if a := r.Header.Get("Authorization"); a != "Bearer a-key-of-bedrock" {
					t.Errorf("authorization %q", a)
				}
				return answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, complete))), nil
			}))
			_, err := llm.Collect(t.Context(), bedrock.New(llm.Model{Provider: "bedrock", ID: "m:0"}, o), ask("?"))
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// The region that a signature names is that of the address, when it says one.
func TestSignedRegion(t *testing.T) {
	for base, want := range map[string]string{
		"https://bedrock-runtime.eu-west-3.amazonaws.com":                       "eu-west-3",
		"https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com":              "us-gov-west-1",
		"https://vpce-1a2b-3c.bedrock-runtime.us-west-2.vpce.amazonaws.com":     "us-west-2",
		"https://bedrock-runtime.cn-northwest-1.amazonaws.com.cn":               "cn-northwest-1",
		"https://bedrock-runtime.example.com":                                   "us-east-1",
		"https://gateway.test/https/bedrock-runtime.us-west-2.amazonaws.com/v1": "us-east-1",
	} {
		clean(t)
		withKeys(t)
		t.Setenv("AWS_REGION", "us-east-1")
		c := bedrock.New(haiku, bedrock.Options{Endpoint: wire.Endpoint{
			BaseURL: base,
			HTTP: wire.NewClient(roundTrip(func(r *http.Request) (*http.Response, error) {
				if got := r.Header.Get("Authorization"); !strings.Contains(got, "/"+want+"/bedrock/aws4_request") {
					t.Errorf("%s: %s", base, got)
				}
				return answer(http.StatusOK, eventStream, bytes.NewReader(binary(t, complete))), nil
			})),
		}})
		if _, err := llm.Collect(t.Context(), c, ask("?")); err != nil {
			t.Error(err)
		}
	}
}
