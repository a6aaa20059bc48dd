package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/tool/mcp"
)

// guarded is a server that needs a login, with its server of logins.
type guarded struct {
	*httptest.Server
	mu     sync.Mutex
	forms  []url.Values // of the requests for tokens
	basic  []string     // the client and its secret in the headers of these requests
	valid  string       // the token that it accepts
	expiry int
	logins string // the server of logins that it names; default: itself; "-": it describes itself not at all
	issuer string // the name of that server, after its address
}

func (g *guarded) token() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.valid
}

func newGuarded(t *testing.T, expiry int) *guarded {
	t.Helper()
	g := &guarded{expiry: expiry, valid: "none-yet"}
	mux := http.NewServeMux()
	served := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		s := sdk.NewServer(&sdk.Implementation{Name: "web", Version: "1"}, nil)
		sdk.AddTool(s, &sdk.Tool{Name: "echo"}, say(func(in text) string { return in.Text }))
		return s
	}, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+g.token() {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="read"`, g.URL))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		served.ServeHTTP(w, r)
	})
	answer := func(path string, value func() any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			v := value()
			if v == nil {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(v); err != nil {
				t.Error(err)
			}
		})
	}
	answer("/.well-known/oauth-protected-resource/mcp", func() any {
		if g.logins == "-" {
			return nil
		}
		return map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{cmp.Or(g.logins, g.URL)}}
	})
	answer("/.well-known/oauth-authorization-server", func() any {
		return map[string]any{
			"issuer": g.URL + g.issuer, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "registration_endpoint": g.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		}
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		in["client_id"] = "registered"
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(in)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.forms = append(g.forms, r.PostForm)
		id, secret, _ := r.BasicAuth()
		g.basic = append(g.basic, id+":"+secret)
		g.valid = fmt.Sprintf("secret-token-%d", len(g.forms))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","refresh_token":"secret-refresh","expires_in":%d}`, g.valid, g.expiry)
	})
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

// A login registers a client, uses PKCE and names the resource. Later connections use the stored token, and refresh it.
func TestLogin(t *testing.T) {
	g := newGuarded(t, 1) // so short that each connection refreshes
	s := mcp.Server{Name: "web", Address: func(context.Context) (string, error) { return g.URL + "/mcp", nil }}
	var mu sync.Mutex
	kept := ""
	o := mcp.OAuth{
		Load: func(context.Context, string) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			return kept, nil
		},
		Save: func(_ context.Context, _, text string) error {
			mu.Lock()
			defer mu.Unlock()
			kept = text
			return nil
		},
	}
	stranger := open(t, mcp.Options{OAuth: o}, s)
	defer stranger.Close()
	if status, err := stranger.Connect(t.Context(), "web"); err == nil || !status.NeedsLogin {
		t.Fatalf("without a login: %+v, %v", status, err)
	}
	visiting := o
	visiting.Redirect = "http://127.0.0.1:9/callback"
	visiting.Visit = func(_ context.Context, address string) (url.Values, error) {
		to, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		q := to.Query()
		if q.Get("code_challenge_method") != "S256" || q.Get("resource") != g.URL+"/mcp" || q.Get("client_id") != "registered" || q.Get("scope") != "read" {
			t.Errorf("the address to log in: %s", address)
		}
		return url.Values{"code": {"c"}, "state": {q.Get("state")}}, nil
	}
	person := open(t, mcp.Options{OAuth: visiting}, s)
	defer person.Close()
	if _, err := person.Connect(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	if kept == "" || strings.Contains(kept, "secret-token") {
		t.Errorf("stored: %q", kept)
	}
	later := open(t, mcp.Options{OAuth: o}, s)
	defer later.Close()
	if _, err := later.Connect(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	if r, err := call(t, later, "mcp__web__echo", `{"text":"hello"}`); err != nil || !strings.Contains(r.Content.Text(), "hello") {
		t.Errorf("%v, %v", r, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if f := g.forms[0]; f.Get("code_verifier") == "" || f.Get("resource") != g.URL+"/mcp" {
		t.Errorf("the first token: %v", f)
	}
	if f := g.forms[len(g.forms)-1]; f.Get("grant_type") != "refresh_token" || f.Get("resource") != g.URL+"/mcp" {
		t.Errorf("the last token: %v", f)
	}
}

// A token goes to the server that gave it, and to no other address.
func TestTokenOfAnotherServer(t *testing.T) {
	g := newGuarded(t, 3600)
	s := mcp.Server{Name: "web", Address: func(context.Context) (string, error) { return g.URL + "/mcp", nil }}
	kept := ""
	o := mcp.OAuth{Save: func(_ context.Context, _, text string) error { kept = text; return nil }, Redirect: "http://127.0.0.1:9/callback"}
	o.Visit = func(_ context.Context, address string) (url.Values, error) {
		to, err := url.Parse(address)
		return url.Values{"code": {"c"}, "state": {to.Query().Get("state")}}, err
	}
	c := open(t, mcp.Options{OAuth: o}, s)
	if _, err := c.Connect(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	c.Close()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("another server got the token")
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer other.Close()
	s.Address = func(context.Context) (string, error) { return other.URL + "/mcp", nil }
	stranger := open(t, mcp.Options{OAuth: mcp.OAuth{Load: func(context.Context, string) (string, error) { return kept, nil }}}, s)
	defer stranger.Close()
	if status, err := stranger.Connect(t.Context(), "web"); err == nil || !status.NeedsLogin {
		t.Errorf("%+v, %v", status, err)
	}
}
