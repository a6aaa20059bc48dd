package mcp_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/url"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool/mcp"
)

func given(text string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return text, nil }
}

// admits connects to a server with a client, calls its tool, and returns the last form with which a token came.
func (g *guarded) admits(t *testing.T, r mcp.Registered) url.Values {
	t.Helper()
	c := open(t, mcp.Options{}, mcp.Server{Name: "web", Address: given(g.URL + "/mcp"), OAuth: r})
	defer c.Close()
	if _, err := c.Connect(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t, c, "mcp__web__echo", `{"text":"hello"}`); err != nil || !strings.Contains(got.Content.Text(), "hello") {
		t.Errorf("%v, %v", got, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.forms[len(g.forms)-1]
}

// A client with rights of its own needs no login of a person.
func TestClientCredentials(t *testing.T) {
	g := newGuarded(t, 3600)
	f := g.admits(t, mcp.Registered{ID: "ci", Secret: given("secret"), Service: true})
	if f.Get("grant_type") != "client_credentials" || f.Get("resource") != g.URL+"/mcp" || f.Get("scope") != "read" || g.basic[0] != "ci:secret" {
		t.Errorf("%v, %v", f, g.basic)
	}
}

// The client signs with its key instead of sending a secret.
func TestSignedClientCredentials(t *testing.T) {
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for algorithm, c := range map[string]struct {
		key    any
		proves func(text, signature []byte) bool
	}{
		"ES256": {curve, func(text, s []byte) bool {
			sum := sha256.Sum256(text)
			return len(s) == 64 && ecdsa.Verify(&curve.PublicKey, sum[:], new(big.Int).SetBytes(s[:32]), new(big.Int).SetBytes(s[32:]))
		}},
		"RS256": {long, func(text, s []byte) bool {
			sum := sha256.Sum256(text)
			return rsa.VerifyPKCS1v15(&long.PublicKey, crypto.SHA256, sum[:], s) == nil
		}},
		"EdDSA": {edwards, func(text, s []byte) bool { return ed25519.Verify(public, text, s) }},
	} {
		t.Run(algorithm, func(t *testing.T) {
			der, err := x509.MarshalPKCS8PrivateKey(c.key)
			if err != nil {
				t.Fatal(err)
			}
			g := newGuarded(t, 3600)
			f := g.admits(t, mcp.Registered{ID: "ci", Service: true, Key: given(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))})
			parts := strings.Split(f.Get("client_assertion"), ".")
			if len(parts) != 3 || f.Has("client_secret") {
				t.Fatalf("%v", f)
			}
			var decoded [3][]byte
			for i := range parts {
				if decoded[i], err = base64.RawURLEncoding.DecodeString(parts[i]); err != nil {
					t.Fatal(err)
				}
			}
			var claims struct {
				Iss, Sub, Aud, Jti string
				Exp                int64
			}
			if err := json.Unmarshal(decoded[1], &claims); err != nil {
				t.Fatal(err)
			}
			if claims.Iss != "ci" || claims.Sub != "ci" || claims.Aud != g.URL || claims.Jti == "" || claims.Exp == 0 || !strings.Contains(string(decoded[0]), algorithm) {
				t.Errorf("%s %+v", decoded[0], claims)
			}
			if !c.proves([]byte(parts[0]+"."+parts[1]), decoded[2]) {
				t.Error("the signature is wrong")
			}
		})
	}
}

// A server cannot send the secret of a client to another host. The person can.
func TestSecretForAnotherHost(t *testing.T) {
	g := newGuarded(t, 3600)
	g.logins = strings.Replace(g.URL, "127.0.0.1", "localhost", 1) + "/other"
	r := mcp.Registered{ID: "ci", Secret: given("secret"), Service: true}
	c := open(t, mcp.Options{}, mcp.Server{Name: "web", Address: given(g.URL + "/mcp"), OAuth: r})
	if _, err := c.Connect(t.Context(), "web"); err == nil || !strings.Contains(err.Error(), "set mcp.web.oauth.token_url to "+g.logins+"/token") || len(g.forms) > 0 {
		t.Errorf("%v, %v", err, g.forms)
	}
	r.TokenURL = given(g.URL + "/token")
	g.admits(t, r)
}

// An identity provider vouches for the person.
func TestIdentity(t *testing.T) {
	g := newGuarded(t, 3600)
	f := g.admits(t, mcp.Registered{
		ID: "tenon", Secret: given("secret"),
		Identity: &mcp.Identity{ID: "at-idp", Token: given("who-i-am"), TokenURL: given(g.URL + "/token")},
	})
	first := g.forms[0]
	if first.Get("subject_token") != "who-i-am" || first.Get("client_id") != "at-idp" || first.Get("audience") != g.URL || first.Get("resource") != g.URL+"/mcp" {
		t.Errorf("at the identity provider: %v", first)
	}
	if f.Get("assertion") != "secret-token-1" || f.Get("subject_token") != "" || g.basic[1] != "tenon:secret" {
		t.Errorf("at the server of logins: %v, %v", f, g.basic)
	}
}

// A server of 2025-03-26 is its own server of logins, and may name an issuer with a path. A newer one may not.
func TestIssuerWithAPath(t *testing.T) {
	for logins, works := range map[string]bool{"-": true, "": false} {
		g := newGuarded(t, 3600)
		g.logins, g.issuer = logins, "/oauth"
		o := mcp.OAuth{Redirect: "http://127.0.0.1:9/callback"}
		o.Visit = func(_ context.Context, address string) (url.Values, error) {
			to, err := url.Parse(address)
			return url.Values{"code": {"c"}, "state": {to.Query().Get("state")}}, err
		}
		c := open(t, mcp.Options{OAuth: o}, mcp.Server{Name: "web", Address: given(g.URL + "/mcp")})
		if _, err := c.Connect(t.Context(), "web"); (err == nil) != works {
			t.Errorf("logins %q: %v", logins, err)
		}
	}
}
