package google_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/google"
	"github.com/tenon-agent/tenon/llm/wire"
)

// place makes a file of credentials the default ones, and nothing else of the machine.
func place(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_QUOTA_PROJECT"} {
		t.Setenv(name, "")
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	return path
}

// encodeJSON returns v as JSON.
func encodeJSON(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

func user(tokenURI string) string {
	return encodeJSON(map[string]string{
		"type": "authorized_user", "client_id": "client", "client_secret": "client-secret", "refresh_token": "refresh-secret",
		"quota_project_id": "quota-project", "token_uri": tokenURI,
	})
}

func serviceAccount(t *testing.T, tokenURI string) (string, *rsa.PublicKey) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return encodeJSON(map[string]string{
		"type": "service_account", "project_id": "own-project", "client_email": "robot@own-project.example", "private_key_id": "k1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": tokenURI,
	}), &private.PublicKey
}

// tokens is a token server that counts what it is asked.
type tokens struct {
	*httptest.Server

	asked atomic.Int64
	form  atomic.Value // the last form, as it was encoded
}

func serveTokens(t *testing.T, lasting int) *tokens {
	t.Helper()
	s := &tokens{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.asked.Add(1)
		_ = r.ParseForm()
		s.form.Store(r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":%d}`, n, lasting)
	}))
	t.Cleanup(s.Close)
	return s
}

func authorize(ctx context.Context, c *google.Credentials) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.invalid/", nil)
	if err != nil {
		return nil, err
	}
	err = c.Authorize(r, nil)
	return r.Header, err
}

func TestAPersonsCredentials(t *testing.T) {
	srv := serveTokens(t, 3600)
	place(t, user(srv.URL))
	c := &google.Credentials{HTTP: srv.Client()}
	if srv.asked.Load() != 0 {
		t.Error("a token was fetched before it was needed")
	}
	for range 3 {
		h, err := authorize(t.Context(), c)
		if err != nil || h.Get("Authorization") != "Bearer token-1" || h.Get("X-Goog-User-Project") != "quota-project" {
			t.Fatalf("got %v, %v", h, err)
		}
	}
	if p, err := c.Project(t.Context()); err != nil || p != "quota-project" {
		t.Errorf("the project is %q, %v", p, err)
	}
	t.Setenv("GOOGLE_CLOUD_QUOTA_PROJECT", "other-quota")
	t.Setenv("GOOGLE_CLOUD_PROJECT", "other-project")
	if h, err := authorize(t.Context(), c); err != nil || h.Get("X-Goog-User-Project") != "other-quota" {
		t.Errorf("got %v, %v", h, err)
	}
	if p, err := new(google.Credentials).Project(t.Context()); err != nil || p != "other-project" {
		t.Errorf("the project is %q, %v", p, err)
	}
	if n := srv.asked.Load(); n != 1 {
		t.Errorf("%d tokens were fetched", n)
	}
}

func TestAServiceAccountsCredentials(t *testing.T) {
	srv := serveTokens(t, 3600)
	file, public := serviceAccount(t, srv.URL)
	place(t, file)
	c := &google.Credentials{HTTP: srv.Client()}
	h, err := authorize(t.Context(), c)
	if err != nil || h.Get("Authorization") != "Bearer token-1" || h.Get("X-Goog-User-Project") != "" {
		t.Fatalf("got %v, %v", h, err)
	}
	if p, err := c.Project(t.Context()); err != nil || p != "own-project" {
		t.Errorf("the project is %q, %v", p, err)
	}
	form, _ := srv.form.Load().(interface{ Get(string) string })
	parts := strings.Split(form.Get("assertion"), ".")
	if len(parts) != 3 || public == nil {
		t.Fatalf("the assertion is %q", form.Get("assertion"))
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || !strings.Contains(string(claims), "https://www.googleapis.com/auth/cloud-platform") || !strings.Contains(string(claims), "robot@") {
		t.Errorf("the claims are %s, %v", claims, err)
	}
}

// A token that is about to end is not used, and its successor is fetched once for all that wait for it.
func TestTokensAreRenewed(t *testing.T) {
	srv := serveTokens(t, 30)
	place(t, user(srv.URL))
	c := &google.Credentials{HTTP: srv.Client()}
	for n := range 3 {
		h, err := authorize(t.Context(), c)
		if want := fmt.Sprintf("Bearer token-%d", n+1); err != nil || h.Get("Authorization") != want {
			t.Errorf("got %v, %v, want %s", h, err, want)
		}
	}
	long := serveTokens(t, 3600)
	place(t, user(long.URL))
	shared := &google.Credentials{HTTP: long.Client()}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if h, err := authorize(t.Context(), shared); err != nil || h.Get("Authorization") != "Bearer token-1" {
				t.Errorf("got %v, %v", h, err)
			}
		})
	}
	all.Wait()
}

func TestCredentialsThatCannotBeUsed(t *testing.T) {
	refuse := func(status int, body string) *httptest.Server {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(srv.Close)
		return srv
	}
	revoked := refuse(400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`)
	robot, _ := serviceAccount(t, revoked.URL)
	gone := httptest.NewServer(nil)
	gone.Close()
	lone, _ := serviceAccount(t, gone.URL)
	for _, test := range []struct {
		name, file string
		kind       llm.Kind
		want       []string
	}{
		{"expired", user(revoked.URL), llm.KindAuth, []string{"Token has been expired or revoked", "gcloud auth application-default login"}},
		{"a revoked robot", robot, llm.KindAuth, []string{"invalid_grant", "GOOGLE_APPLICATION_CREDENTIALS"}},
		{"busy", user(refuse(503, "").URL), llm.KindOverloaded, []string{"Service Unavailable"}},
		{"too many", user(refuse(429, "<html>").URL), llm.KindOverloaded, []string{"Too Many Requests"}},
		{"nonsense", user(refuse(200, "{").URL), llm.KindAuth, []string{"cannot be used"}},
		{"no server", user(gone.URL), llm.KindNetwork, []string{"no Google access token could be fetched"}},
		{"no server for a service account", lone, llm.KindNetwork, []string{"no Google access token could be fetched"}},
		{"no JSON", `{"type":`, llm.KindAuth, []string{"cannot be used", "gcloud auth application-default login"}},
		{"an unknown type", `{"type":"hologram"}`, llm.KindAuth, []string{"hologram"}},
		{"the file of a client", `{"installed":{"client_id":"a","client_secret":"b","redirect_uris":["http://localhost"]}}`, llm.KindAuth, []string{"OAuth client"}},
		{"a bad key", `{"type":"service_account","private_key":"x"}`, llm.KindAuth, []string{"cannot be used"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			place(t, test.file)
			_, err := authorize(t.Context(), &google.Credentials{HTTP: revoked.Client()})
			e, ok := errors.AsType[*llm.Error](err)
			if !ok || e.Kind != test.kind || strings.Contains(e.Error(), "secret") {
				t.Fatalf("got %v, want %s", err, test.kind)
			}
			for _, want := range test.want {
				if !strings.Contains(e.Error(), want) {
					t.Errorf("%v does not say %q", e, want)
				}
			}
		})
	}
	if err := os.Remove(place(t, "")); err != nil {
		t.Fatal(err)
	}
	if _, err := authorize(t.Context(), new(google.Credentials)); !strings.Contains(fmt.Sprint(err), "gcloud auth application-default login") {
		t.Errorf("got %v", err)
	}
	srv := serveTokens(t, 3600)
	place(t, strings.ReplaceAll(user(srv.URL), "quota-project", ""))
	if _, err := (&google.Credentials{HTTP: srv.Client()}).Project(t.Context()); !strings.Contains(fmt.Sprint(err), "set GOOGLE_CLOUD_PROJECT") {
		t.Errorf("got %v", err)
	}
}

// silent is a token server in memory that never answers.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// A caller never waits for a token longer than its context allows, and never longer than 10 s.
func TestWaitingForATokenEnds(t *testing.T) {
	robot, _ := serviceAccount(t, "https://token.example/")
	for name, file := range map[string]string{"a person": user("https://token.example/"), "a robot": robot} {
		t.Run(name, func(t *testing.T) {
			place(t, file)
			synctest.Test(t, func(t *testing.T) {
				c := &google.Credentials{HTTP: &http.Client{Transport: server(silent)}}
				start := time.Now()
				_, err := authorize(t.Context(), c)
				if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindNetwork || time.Since(start) != 10*time.Second {
					t.Errorf("after %v: got %v", time.Since(start), err)
				}
				start = time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				var others sync.WaitGroup
				others.Go(func() {
					if _, err := authorize(t.Context(), c); err == nil || time.Since(start) != 10*time.Second {
						t.Errorf("the other: after %v: got %v", time.Since(start), err)
					}
				})
				if _, err := authorize(ctx, c); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
					t.Errorf("after %v: got %v", time.Since(start), err)
				}
				others.Wait()
			})
		})
	}
}

// A client of Vertex AI finds its token and its project by itself.
func TestVertexWithCredentials(t *testing.T) {
	srv := serveTokens(t, 3600)
	file, _ := serviceAccount(t, srv.URL)
	place(t, file)
	model := modelserver.New(t, modelserver.With(modelserver.Config{Keys: []string{"token-1"}}), modelserver.Steps(modelserver.Say("Hello.")))
	transport := wire.NewTransport(nil)
	defer transport.CloseIdleConnections()
	o := google.Options{
		Endpoint:    wire.Endpoint{BaseURL: model.URL, HTTP: wire.NewClient(transport)},
		Credentials: &google.Credentials{HTTP: srv.Client()},
	}
	m, err := llm.Collect(t.Context(), google.NewVertex(flash(), "", "", o), hi())
	if err != nil || m.Text() != "Hello." {
		t.Fatalf("got %+v, %v", m, err)
	}
	if requests := model.Requests(); len(requests) != 1 || !strings.Contains(requests[0].Path, "/projects/own-project/locations/global/") {
		t.Errorf("got %+v", requests)
	}
}

// Errors of the credentials are those of the request to the model.
func TestVertexWithoutCredentials(t *testing.T) {
	place(t, "{")
	o := google.Options{Credentials: new(google.Credentials), Endpoint: wire.Endpoint{HTTP: wire.NewClient(server(silent))}}
	for _, project := range []string{"", "p"} {
		_, err := llm.Collect(t.Context(), google.NewVertex(flash(), project, "", o), hi())
		if e := llm.AsError(err); e == nil || e.Kind != llm.KindAuth || !strings.Contains(e.Error(), "gcloud auth") {
			t.Errorf("got %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, project := range []string{"", "p"} {
		_, err := llm.Collect(ctx, google.NewVertex(flash(), project, "", o), hi())
		if e := llm.AsError(err); e == nil || e.Kind != llm.KindCancelled || e.Model != flash().Ref() {
			t.Errorf("got %v", err)
		}
	}
}

// On a machine of Google's, the metadata server knows who this is.
func TestCredentialsOfAMachine(t *testing.T) {
	place(t, "")
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "")
	t.Setenv("HOME", t.TempDir())
	t.Setenv("APPDATA", t.TempDir())
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/project/project-id"):
			fmt.Fprint(w, "machine-project\n")
		case strings.HasSuffix(r.URL.Path, "/service-accounts/default/token"):
			fmt.Fprint(w, `{"access_token":"machine-token","expires_in":3600,"token_type":"Bearer"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	t.Setenv("GCE_METADATA_HOST", strings.TrimPrefix(srv.URL, "http://"))
	c := new(google.Credentials)
	h, err := authorize(t.Context(), c)
	if err != nil || h.Get("Authorization") != "Bearer machine-token" {
		t.Fatalf("got %v, %v", h, err)
	}
	if p, err := c.Project(t.Context()); err != nil || p != "machine-project" {
		t.Errorf("the project is %q, %v", p, err)
	}
}
