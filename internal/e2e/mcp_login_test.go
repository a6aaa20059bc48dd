package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// mcpToken is the token of the server that needs a login.
const mcpToken = "token-of-a-login-0123456789"

// loginServer is an MCP server that needs a login, and its own server of logins, in which everybody may log in.
func loginServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "web", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, a in) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo: " + a.Text}}}, nil, nil
	})
	served := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	answer := func(path string, status int, value map[string]any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			if err := json.NewEncoder(w).Encode(value); err != nil {
				t.Error(err)
			}
		})
	}
	at := server.URL
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+mcpToken {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, at))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		served.ServeHTTP(w, r)
	})
	answer("/.well-known/oauth-protected-resource/mcp", http.StatusOK, map[string]any{"resource": at + "/mcp", "authorization_servers": []string{at}})
	answer("/.well-known/oauth-authorization-server", http.StatusOK, map[string]any{
		"issuer": at, "authorization_endpoint": at + "/authorize", "token_endpoint": at + "/token", "registration_endpoint": at + "/register",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
	})
	answer("/register", http.StatusCreated, map[string]any{"client_id": "registered", "token_endpoint_auth_method": "none"})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	answer("/token", http.StatusOK, map[string]any{"access_token": mcpToken, "token_type": "Bearer", "expires_in": 3600})
	return server
}

// A person logs in at a server with a browser, and logs out. Between the two, calls succeed.
func TestMCPLogin(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "TENON_KEYRING=off")
	ways()[0].serve(p, modelserver.Steps(modelserver.Call("mcp__web__echo", `{"text":"one"}`), modelserver.Say("done")))
	server := loginServer(t)
	p.must("mcp", "add", "--no-test", "web", server.URL+"/mcp")
	needs := func() {
		t.Helper()
		if r := p.tenon("mcp", "test", "web"); r.code == 0 || !strings.Contains(r.stdout, "needs a login; run: tenon mcp login web") {
			t.Errorf("without a login: %+v", r)
		}
	}
	needs()
	cmd := p.command(t.Context(), "mcp", "login", "--no-browser", "web")
	printed, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var seen strings.Builder
	for lines := bufio.NewScanner(printed); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
		if address := strings.TrimSpace(lines.Text()); strings.HasPrefix(address, server.URL) {
			resp, err := browser.Get(address)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, seen.String())
	}
	p.must("run", "--allow", "mcp(web/echo)", "echo one")
	shown := p.must("sessions", "show", p.session())
	if !strings.Contains(shown, "echo: one") {
		t.Errorf("the call failed: %s", shown)
	}
	for _, text := range []string{seen.String(), shown, p.must("mcp", "logs", "web")} {
		if strings.Contains(text, mcpToken) {
			t.Errorf("the token is shown: %s", text)
		}
	}
	p.must("mcp", "logout", "web")
	needs()
}
