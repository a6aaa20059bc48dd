package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// OAuth configures logins at servers on the network.
type OAuth struct {
	// Load returns what Save stored for a server, or "". Save stores a secret text.
	Load func(ctx context.Context, server string) (string, error)
	Save func(ctx context.Context, server, text string) error

	// Visit lets the person log in at an address, and returns the parameters with which the browser came back to Redirect. Nil: a server
	// that needs a login fails with [ErrLogin].
	Visit    func(ctx context.Context, address string) (url.Values, error)
	Redirect string // http://127.0.0.1:PORT/callback

	Hide func(secrets ...string) // gets each token; may be nil
}

// Registered is an OAuth client that the person registered.
type Registered struct {
	ID     string                                    // or the https address of the document that describes the client
	Secret func(ctx context.Context) (string, error) // nil: a public client
	Scopes []string                                  // to ask for; default: those that the server names

	Service  bool                                      // the client gets its tokens for itself, without a person
	Key      func(ctx context.Context) (string, error) // in PEM: with it a Service signs its requests; nil: it sends its Secret
	Identity *Identity                                 // says who the person is, instead of a login
	TokenURL func(ctx context.Context) (string, error) // where the Service or the Identity gets tokens; nil: where the server says, on its own host
}

// Identity is what a person is to an identity provider, which vouches for them at servers.
type Identity struct {
	ID       string // of the client there
	Secret   func(ctx context.Context) (string, error)
	Token    func(ctx context.Context) (string, error) // the ID token of the person
	TokenURL func(ctx context.Context) (string, error)
}

// grant is what a login leaves.
type grant struct {
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitzero"`
	TokenURL     string           `json:"token_url"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitzero"`
	Server       string           `json:"server"`            // the address of the server; a token goes to no other one
	Resource     string           `json:"resource,omitzero"` // as the server names itself
	Token        *oauth2.Token    `json:"token"`
	Wanted       []string         `json:"wanted,omitzero"` // scopes that a call lacked, for the next login
}

// oauthTimeout bounds a request to a server of logins.
const oauthTimeout = 30 * time.Second

// login is the handler of one server.
type login struct {
	*auth.AuthorizationCodeHandler
	visits bool
	lacks  func(ctx context.Context, scopes []string) // notes what a call lacked
}

// Authorize implements [auth.OAuthHandler]. Without a person it stops, so that a server needs a login.
func (l login) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	if !l.visits {
		challenge := strings.Join(resp.Header.Values("WWW-Authenticate"), ", ")
		if resp.StatusCode == http.StatusForbidden && !strings.Contains(challenge, "insufficient_scope") {
			return resp.Body.Close() // the retry reports it
		}
		if found, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate")); err == nil && resp.StatusCode == http.StatusForbidden {
			for _, c := range found {
				l.lacks(ctx, strings.Fields(c.Params["scope"]))
			}
		}
		return errors.Join(ErrLogin, resp.Body.Close())
	}
	return l.AuthorizationCodeHandler.Authorize(ctx, req, resp)
}

// authorize returns the handler of logins of a server.
func (s *server) authorize(ctx context.Context, address string) (auth.OAuthHandler, error) {
	o := s.client.options.OAuth
	forms := &resourceForms{base: http.DefaultTransport}
	client := &http.Client{Timeout: oauthTimeout, Transport: forms, CheckRedirect: keepsForms}
	if s.OAuth.Service || s.OAuth.Identity != nil {
		return &service{server: s, client: client}, nil
	}
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: o.Redirect, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: client,
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			back, err := o.Visit(ctx, a.URL)
			if err != nil {
				return nil, err
			}
			if back.Get("error") != "" {
				return nil, fmt.Errorf("the server refused the login: %s", clean(back.Get("error")+" "+back.Get("error_description"), maxDescription))
			}
			return &auth.AuthorizationResult{Code: back.Get("code"), State: back.Get("state"), Iss: back.Get("iss")}, nil
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			g := grant{ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Server: address, Resource: forms.named(""), Token: token}
			return tokensOf(ctx, s, g, true)
		},
	}
	if config.RedirectURL == "" {
		config.RedirectURL = "http://127.0.0.1/callback" // no one visits it
	}
	document := strings.HasPrefix(s.OAuth.ID, "https://")
	if document {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: s.OAuth.ID}
	}
	if r := s.OAuth; r.ID != "" && !document {
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: r.ID}
		if r.Secret != nil {
			secret, err := r.Secret(ctx)
			if err != nil {
				return nil, err
			}
			config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
		}
	} else {
		config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Tenon", RedirectURIs: []string{config.RedirectURL}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}}
	}
	g, kept := granted(ctx, s, address)
	config.ScopeFilter = func(found []string) []string {
		if len(s.OAuth.Scopes) > 0 {
			found = s.OAuth.Scopes
		}
		all := slices.Concat(found, g.Wanted)
		slices.Sort(all)
		return slices.Compact(all)
	}
	if kept && o.Visit == nil {
		forms.named(g.Resource)
		var err error
		if config.InitialTokenSource, err = tokensOf(context.WithValue(context.Background(), oauth2.HTTPClient, client), s, g, false); err != nil {
			return nil, err
		}
	}
	h, err := auth.NewAuthorizationCodeHandler(config)
	return login{h, o.Visit != nil, func(ctx context.Context, scopes []string) {
		if g, kept := granted(ctx, s, address); kept && len(scopes) > 0 {
			g.Wanted = append(g.Wanted, scopes...)
			t := &stored{server: s, grant: g}
			if err := t.keep(g.Token); err != nil {
				s.log.add("cannot store the scopes that a call lacked: %v", err)
			}
		}
	}}, err
}

// granted returns the stored login at a server. A token goes to no other address.
func granted(ctx context.Context, s *server, address string) (g grant, kept bool) {
	if load := s.client.options.OAuth.Load; load != nil {
		if text, err := load(ctx, s.Name); err == nil && text != "" {
			if g, err = decode(text); err == nil && g.Server == address {
				return g, true
			}
		}
	}
	return grant{}, false
}

// tokensOf returns the tokens of a grant. It stores the first one if it is new, and each that follows it.
func tokensOf(ctx context.Context, s *server, g grant, fresh bool) (oauth2.TokenSource, error) {
	c := &oauth2.Config{ClientID: g.ClientID, ClientSecret: g.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle}}
	t := &stored{server: s, grant: g, source: c.TokenSource(ctx, g.Token)}
	t.hide(g.Token)
	if fresh {
		return t, t.keep(g.Token)
	}
	return t, nil
}

// stored is a source of tokens that keeps each new one.
type stored struct {
	server *server
	source oauth2.TokenSource

	mu    sync.Mutex
	grant grant
}

// Token implements [oauth2.TokenSource].
func (t *stored) Token() (*oauth2.Token, error) {
	token, err := t.source.Token()
	if err != nil {
		return nil, fmt.Errorf("%w again: %w", ErrLogin, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if token.AccessToken != t.grant.Token.AccessToken {
		t.grant.Token = token
		t.hide(token)
		if err := t.keep(token); err != nil {
			t.server.log.add("cannot store a token: %v", err)
		}
	}
	return token, nil
}

func (t *stored) hide(token *oauth2.Token) {
	if hide := t.server.client.options.OAuth.Hide; hide != nil {
		hide(token.AccessToken, token.RefreshToken, t.grant.ClientSecret)
	}
}

// storeTime bounds a store of a token: a keyring can hang.
const storeTime = 10 * time.Second

func (t *stored) keep(token *oauth2.Token) error {
	save := t.server.client.options.OAuth.Save
	if save == nil {
		return nil
	}
	g := t.grant
	g.Token = token
	data, err := json.Marshal(g)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	return save(ctx, t.server.Name, base64.StdEncoding.EncodeToString(data))
}

func decode(text string) (g grant, err error) {
	data, err := base64.StdEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &g)
	}
	if err == nil && (g.Token == nil || g.TokenURL == "") {
		err = errors.New("the stored login is incomplete")
	}
	return g, err
}

// resourceForms adds the resource to the requests for another token: the protocol requires it, and package oauth2 does not know it. It also
// reads the metadata of servers of 2025-03-26.
type resourceForms struct {
	base http.RoundTripper

	mu        sync.Mutex
	resource  string // of the first token
	described bool   // the server names its server of logins
}

// named sets the resource unless it is empty, and returns it.
func (r *resourceForms) named(resource string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if resource != "" {
		r.resource = resource
	}
	return r.resource
}

// keepsForms refuses to follow a redirect that would send a form with secrets elsewhere.
func keepsForms(req *http.Request, via []*http.Request) error {
	if req.Method != http.MethodGet || len(via) > 5 {
		return fmt.Errorf("the server redirects to %s", clean(req.URL.Host, maxDescription))
	}
	return nil
}

// maxForm is the most bytes of a form of package oauth2, and of metadata.
const maxForm = 1 << 20

// RoundTrip implements [http.RoundTripper].
func (r *resourceForms) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPost && req.Body != nil && strings.HasPrefix(req.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		data, err := io.ReadAll(io.LimitReader(req.Body, maxForm))
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		form, err := url.ParseQuery(string(data))
		if resource := r.named(form.Get("resource")); err == nil && form.Get("grant_type") == "refresh_token" && resource != "" {
			form.Set("resource", resource)
			data = []byte(form.Encode())
		}
		req = req.Clone(req.Context())
		req.Body, req.ContentLength = io.NopCloser(strings.NewReader(string(data))), int64(len(data))
	}
	resp, err := r.base.RoundTrip(req)
	if err == nil && req.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
		err = r.adopt(req.URL, resp)
	}
	return resp, err
}

// ownMetadata is the path of the metadata of a server that is its own server of logins, as in the protocol of 2025-03-26.
const ownMetadata = "/.well-known/oauth-authorization-server"

// adopt lets a server that is its own server of logins name an issuer with a path, although its metadata is at the root: the host is the
// same. A server that describes itself names its issuer, and the metadata must have that name.
func (r *resourceForms) adopt(from *url.URL, resp *http.Response) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.described = r.described || from.Path != ownMetadata; r.described {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxForm))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	var fields map[string]any
	if json.Unmarshal(data, &fields) == nil {
		name, _ := fields["issuer"].(string)
		if issuer, err := url.Parse(name); err == nil && issuer.Scheme == from.Scheme && issuer.Host == from.Host {
			fields["issuer"] = from.Scheme + "://" + from.Host
			if data, err = json.Marshal(fields); err != nil {
				return err
			}
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return nil
}
