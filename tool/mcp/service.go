package mcp

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
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
	"golang.org/x/oauth2/clientcredentials"
)

// service gets tokens without a browser: for a client itself, or for a person whom an identity provider knows.
type service struct {
	server *server
	client *http.Client

	mu     sync.Mutex
	source oauth2.TokenSource
	scopes []string
}

// issuer is the server of logins of a server, and what a token is for.
type issuer struct {
	*oauthex.AuthServerMeta
	resource string
	scopes   []string
}

// TokenSource implements [auth.OAuthHandler].
func (h *service) TokenSource(context.Context) (oauth2.TokenSource, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.source, nil
}

// Authorize implements [auth.OAuthHandler].
func (h *service) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxForm)) // so that the connection can be used again
	resp.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return err
	}
	lacking := func(c oauthex.Challenge) bool { return c.Params["error"] == "insufficient_scope" }
	if resp.StatusCode == http.StatusForbidden && !slices.ContainsFunc(challenges, lacking) {
		return nil // the retry reports it
	}
	at, err := h.discover(ctx, challenges, req.URL)
	if err != nil {
		return err
	}
	h.mu.Lock()
	at.scopes = slices.Compact(slices.Sorted(slices.Values(slices.Concat(at.scopes, h.scopes))))
	h.mu.Unlock()
	source := oauth2.ReuseTokenSource(nil, issued(func() (*oauth2.Token, error) { return h.token(at) }))
	if _, err = source.Token(); err == nil {
		h.mu.Lock()
		h.source, h.scopes = source, at.scopes
		h.mu.Unlock()
	}
	return err
}

// issued is a source of tokens.
type issued func() (*oauth2.Token, error)

// Token implements [oauth2.TokenSource].
func (f issued) Token() (*oauth2.Token, error) { return f() }

// discover finds where the server wants its tokens to come from. Only a host that the person chose gets secrets.
func (h *service) discover(ctx context.Context, challenges []oauthex.Challenge, to *url.URL) (issuer, error) {
	const known = "/.well-known/oauth-protected-resource"
	root := to.Scheme + "://" + to.Host
	places := [][2]string{{root + known + to.Path, to.String()}, {root + known, root}}
	at := issuer{resource: to.String()}
	for _, c := range challenges {
		if address := c.Params["resource_metadata"]; address != "" {
			places = slices.Insert(places, 0, [2]string{address, to.String()})
		}
		at.scopes = append(at.scopes, strings.Fields(c.Params["scope"])...)
	}
	name := root
	for _, p := range places {
		if found, err := oauthex.GetProtectedResourceMetadata(ctx, p[0], p[1], h.client); err == nil && len(found.AuthorizationServers) > 0 {
			name, at.resource = found.AuthorizationServers[0], found.Resource
			if len(at.scopes) == 0 {
				at.scopes = found.ScopesSupported
			}
			break
		}
	}
	if own := h.server.OAuth.Scopes; len(own) > 0 {
		at.scopes = own
	}
	given, err := value(ctx, h.server.OAuth.TokenURL)
	if err != nil {
		return issuer{}, err
	}
	switch at.AuthServerMeta, err = auth.GetAuthServerMetadata(ctx, name, h.client); {
	case given != "" && (err != nil || at.AuthServerMeta == nil || at.TokenEndpoint != given):
		at.AuthServerMeta = &oauthex.AuthServerMeta{Issuer: given, TokenEndpoint: given}
	case err != nil:
		return issuer{}, fmt.Errorf("cannot read who gives tokens for the server: %s; set mcp.%s.oauth.token_url", clean(err.Error(), maxDescription), h.server.Name)
	case at.AuthServerMeta == nil:
		at.AuthServerMeta = &oauthex.AuthServerMeta{Issuer: name, TokenEndpoint: strings.TrimSuffix(name, "/") + "/token"}
	}
	tokens, err := url.Parse(at.TokenEndpoint)
	switch {
	case err != nil || given != "":
	case tokens.Scheme != "https" && tokens.Scheme != to.Scheme:
		err = errors.New("the server wants tokens to come without encryption")
	case tokens.Hostname() != to.Hostname():
		err = fmt.Errorf("the server wants %s to get the secret of the client; if the client is registered there, set mcp.%s.oauth.token_url to %s",
			clean(tokens.Host, maxDescription), h.server.Name, clean(at.TokenEndpoint, maxDescription))
	}
	return at, err
}

// token gets a token.
func (h *service) token(at issuer) (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), oauth2.HTTPClient, h.client), oauthTimeout)
	defer cancel()
	r := h.server.OAuth
	c := clientcredentials.Config{
		ClientID: r.ID, TokenURL: at.TokenEndpoint, Scopes: at.scopes, AuthStyle: oauth2.AuthStyleInHeader,
		EndpointParams: url.Values{"resource": {at.resource}},
	}
	if with := at.TokenEndpointAuthMethodsSupported; slices.Contains(with, "client_secret_post") && !slices.Contains(with, "client_secret_basic") {
		c.AuthStyle = oauth2.AuthStyleInParams
	}
	var err error
	if c.ClientSecret, err = value(ctx, r.Secret); c.ClientSecret == "" {
		c.AuthStyle = oauth2.AuthStyleInParams
	}
	if err == nil && r.Identity != nil {
		var assertion string
		if assertion, err = h.vouched(ctx, at); err == nil {
			c.EndpointParams = url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}}
		}
	} else if err == nil && r.Key != nil {
		var signed string
		if signed, err = h.sign(ctx, at.Issuer); err == nil {
			c.AuthStyle = oauth2.AuthStyleInParams
			c.EndpointParams.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
			c.EndpointParams.Set("client_assertion", signed)
		}
	}
	if err != nil {
		return nil, err
	}
	return h.get(ctx, c)
}

// vouched returns the assertion of the identity provider for the person.
func (h *service) vouched(ctx context.Context, at issuer) (string, error) {
	i := h.server.OAuth.Identity
	person, err1 := value(ctx, i.Token)
	secret, err2 := value(ctx, i.Secret)
	to, err3 := value(ctx, i.TokenURL)
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", err
	}
	c := clientcredentials.Config{
		ClientID: i.ID, ClientSecret: secret, TokenURL: to, Scopes: at.scopes, AuthStyle: oauth2.AuthStyleInParams,
		EndpointParams: url.Values{
			"grant_type": {oauthex.GrantTypeTokenExchange}, "requested_token_type": {oauthex.TokenTypeIDJAG},
			"subject_token": {person}, "subject_token_type": {oauthex.TokenTypeIDToken},
			"audience": {at.Issuer}, "resource": {at.resource},
		},
	}
	token, err := h.get(ctx, c)
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}

// value returns what a function of the configuration returns; nil: nothing.
func value(ctx context.Context, f func(context.Context) (string, error)) (string, error) {
	if f == nil {
		return "", nil
	}
	return f(ctx)
}

func (h *service) get(ctx context.Context, c clientcredentials.Config) (*oauth2.Token, error) {
	token, err := c.Token(ctx)
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		err = errors.New(cmp.Or(strings.TrimSpace(refused.ErrorCode+" "+refused.ErrorDescription), refused.Response.Status))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot get a token from %s: %s", c.TokenURL, clean(err.Error(), maxDescription))
	}
	if hide := h.server.client.options.OAuth.Hide; hide != nil {
		hide(token.AccessToken)
	}
	return token, nil
}

// signedFor is how long a signature of a client is valid.
const signedFor = 5 * time.Minute

// sign returns a signed statement of the client that it is the client (RFC 7523).
func (h *service) sign(ctx context.Context, audience string) (string, error) {
	text, err := h.server.OAuth.Key(ctx)
	if err != nil {
		return "", err
	}
	key, algorithm, err := signer(text)
	if err != nil {
		return "", fmt.Errorf("mcp.%s.oauth.private_key_file: %w", h.server.Name, err)
	}
	now, id := time.Now(), h.server.OAuth.ID
	head, err := json.Marshal(map[string]string{"alg": algorithm, "typ": "JWT"})
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"iss": id, "sub": id, "aud": audience, "jti": rand.Text(), "iat": now.Unix(), "exp": now.Add(signedFor).Unix()})
	if err != nil {
		return "", err
	}
	signed := base64.RawURLEncoding.EncodeToString(head) + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := signature(key, signed)
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), err
}

// signer returns a private key in PEM, and the name of its signatures in JWS.
func signer(text string) (key any, algorithm string, err error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, "", errors.New("this is not a private key in PEM")
	}
	if key, err = x509.ParsePKCS8PrivateKey(block.Bytes); err != nil {
		if key, err = x509.ParseECPrivateKey(block.Bytes); err != nil {
			key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
		}
	}
	if err != nil {
		return nil, "", errors.New("this is not a private key in the format PKCS #8, PKCS #1 or SEC 1")
	}
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		if k.Params().BitSize == 256 {
			return k, "ES256", nil
		}
	case *rsa.PrivateKey:
		return k, "RS256", nil
	case ed25519.PrivateKey:
		return k, "EdDSA", nil
	}
	return nil, "", errors.New("keys of this kind are not supported; use P-256, RSA or Ed25519")
}

func signature(key any, text string) ([]byte, error) {
	sum := sha256.Sum256([]byte(text))
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
		if err != nil {
			return nil, err
		}
		out := make([]byte, 64)
		r.FillBytes(out[:32])
		s.FillBytes(out[32:])
		return out, nil
	case *rsa.PrivateKey:
		return rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
	case ed25519.PrivateKey:
		return ed25519.Sign(k, []byte(text)), nil
	}
	return nil, errors.New("unknown key")
}
