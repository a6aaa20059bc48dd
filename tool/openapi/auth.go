package openapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/tenon-agent/tenon/tool"
)

// Kind is the way in which a credential goes with a request.
type Kind string

// The kinds.
const (
	Bearer Kind = "bearer" // Authorization: Bearer SECRET
	Basic  Kind = "basic"  // Authorization: Basic, with User and Secret
	Header Kind = "header" // the header Name
	Query  Kind = "query"  // the parameter Name of the query
	Cookie Kind = "cookie" // the cookie Name
	OAuth  Kind = "oauth"  // the token of the client User with Secret from TokenURL: OAuth 2.0 client credentials
)

// Credential proves to an API who calls it. The document says where it goes; Kind and Name say so for a scheme that the document does not have.
type Credential struct {
	Kind     Kind
	Name     string // of the header, parameter or cookie
	User     string // of basic authentication, or the ID of an OAuth client
	TokenURL string // default: that of the document
	Scopes   []string

	// Secret returns the key, the token, the password or the secret of the client. It is called for each request, and for no other host.
	Secret func(context.Context) (string, error)
}

// scheme is a security scheme.
type scheme struct {
	id, name string
	kind     Kind
	tokenURL string
	scopes   []string
	with     *Credential // nil: none
}

type token struct {
	secret string
	until  time.Time // zero: it does not expire
}

// readSchemes reads the schemes of the document, and those of credentials that belong to none.
func (a *API) readSchemes() error {
	schemes := fields(fields(a.doc.root["components"])["securitySchemes"])
	for id, raw := range schemes {
		if s := a.doc.readScheme(id, raw); s != nil {
			a.schemes[id] = s
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a.o.Auth)) {
		c := a.o.Auth[id]
		s := a.schemes[id]
		if s == nil {
			s = &scheme{id: id, kind: c.Kind, name: c.Name, tokenURL: c.TokenURL, scopes: c.Scopes}
			a.schemes[id] = s
		}
		if c.Kind != "" {
			s.kind = c.Kind
		}
		if c.Name != "" {
			s.name = c.Name
		}
		if c.TokenURL != "" {
			s.tokenURL = c.TokenURL
		}
		if c.Scopes != nil {
			s.scopes = c.Scopes
		}
		if s.kind == OAuth && c.User == "" {
			s.kind = Bearer // the secret is a token
		}
		if err := s.check(); err != nil {
			return err
		}
		s.with = &c
	}
	return nil
}

// check reports what a credential lacks.
func (s *scheme) check() error {
	switch s.kind {
	case "":
		return fmt.Errorf("the document has no security scheme %s, so the credential needs a type", quote(s.id))
	case Header, Cookie:
		if !isToken(s.name) {
			return fmt.Errorf("the credential %s needs the name of a %s", quote(s.id), s.kind)
		}
	case Query:
		if s.name == "" {
			return fmt.Errorf("the credential %s needs the name of a parameter", quote(s.id))
		}
	case OAuth:
		u, err := url.Parse(s.tokenURL)
		if err == nil {
			_, err = base(u)
		}
		if err != nil || !private(u) {
			return fmt.Errorf("the credential %s needs the https address of a token server", quote(s.id))
		}
	}
	return nil
}

// readScheme returns nil for a scheme that Tenon does not support.
func (d *document) readScheme(id string, raw any) *scheme {
	o, err := d.resolve(raw)
	if err != nil {
		return nil
	}
	s := &scheme{id: id, name: word(o["name"])}
	switch word(o["type"]) {
	case "apiKey":
		s.kind = Kind(word(o["in"]))
		if s.kind != Header && s.kind != Query && s.kind != Cookie || s.kind != Query && !isToken(s.name) || s.name == "" {
			return nil
		}
	case "http":
		s.kind = Kind(strings.ToLower(word(o["scheme"])))
		if s.kind != Bearer && s.kind != Basic {
			return nil
		}
	case "oauth2":
		s.kind = OAuth
		s.tokenURL = word(fields(fields(o["flows"])["clientCredentials"])["tokenUrl"])
	case "openIdConnect":
		s.kind = Bearer
	default:
		return nil
	}
	return s
}

// requirements returns the alternatives of a list of requirements. It leaves out alternatives with schemes that Tenon does not support.
func (a *API) requirements(all []any) ([][]*scheme, error) {
	var out [][]*scheme
	var wrong error
	for _, raw := range all {
		needs, known := []*scheme{}, true
		for _, id := range slices.Sorted(maps.Keys(fields(raw))) {
			s := a.schemes[id]
			if s == nil {
				known = false
				wrong = fmt.Errorf("its security scheme %s is unknown or not supported", quote(id))
				continue
			}
			needs = append(needs, s)
		}
		if known {
			out = append(out, needs)
		}
	}
	if len(all) > 0 && len(out) == 0 && len(a.general()) == 0 {
		return nil, wrong
	}
	return out, nil
}

// general returns the schemes of credentials that the document does not know.
func (a *API) general() (out []*scheme) {
	known := fields(fields(a.doc.root["components"])["securitySchemes"])
	for _, id := range slices.Sorted(maps.Keys(a.o.Auth)) {
		if _, there := known[id]; !there {
			out = append(out, a.schemes[id])
		}
	}
	return out
}

// chosen returns the schemes that a call uses: the first alternative for which there are credentials, else those that the document does not know.
func (a *API) chosen(o *operation) ([]*scheme, error) {
	general := a.general()
	if len(o.security) == 0 {
		return general, nil
	}
	var missing []string
	open := false
	for _, needs := range o.security {
		if len(needs) == 0 {
			open = true
			continue
		}
		if !slices.ContainsFunc(needs, func(s *scheme) bool { return s.with == nil }) {
			return append(slices.Clip(needs), general...), nil
		}
		for _, s := range needs {
			if s.with == nil && !slices.Contains(missing, quote(s.id)) {
				missing = append(missing, quote(s.id))
			}
		}
	}
	if open || len(general) > 0 {
		return general, nil
	}
	return nil, tool.Codef("openapi.auth", "the API needs credentials; the user can set one of %s in openapi.%s.auth", strings.Join(missing, ", "), a.o.Name)
}

// tokenHosts returns the token servers that a call may reach.
func tokenHosts(schemes []*scheme) (hosts []string) {
	for _, s := range schemes {
		if s.kind == OAuth {
			if u, err := url.Parse(s.tokenURL); err == nil {
				hosts = append(hosts, hostOf(u))
			}
		}
	}
	return hosts
}

// authorize adds credentials to a request.
func (a *API) authorize(ctx context.Context, r *http.Request, schemes []*scheme) error {
	if len(schemes) > 0 && !private(r.URL) && a.o.Server == "" {
		return tool.Codef("openapi.auth", "the server of the document, %s, is not encrypted, so Tenon sends it no credentials; the user can set openapi.%s.server to allow that",
			r.URL.Host, a.o.Name)
	}
	for _, s := range schemes {
		if err := a.authorizeBy(ctx, r, s); err != nil {
			return tool.Codef("openapi.auth", "cannot use the credential %s of the API %s: %w", quote(s.id), a.o.Name, err)
		}
	}
	return nil
}

func (a *API) authorizeBy(ctx context.Context, r *http.Request, s *scheme) error {
	secret, err := s.with.Secret(ctx)
	if err == nil && s.kind == OAuth {
		secret, err = a.token(ctx, s, secret)
	}
	if err != nil {
		return err
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("it has a control character")
	}
	switch s.kind {
	case Basic:
		if strings.Contains(s.with.User, ":") {
			return errors.New("the name of the user has a colon")
		}
		r.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(s.with.User+":"+secret)))
	case Header:
		r.Header.Set(s.name, secret)
	case Cookie:
		if strings.ContainsAny(secret, " \",;\\") {
			return errors.New("it has a character that cookies cannot have")
		}
		addCookie(r.Header, s.name+"="+secret)
	case Query:
		if r.URL.RawQuery != "" {
			r.URL.RawQuery += "&"
		}
		r.URL.RawQuery += escape(s.name, false) + "=" + escape(secret, false)
	default:
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	return nil
}

// addCookie adds a cookie to a header.
func addCookie(h http.Header, pair string) {
	if before := h.Get("Cookie"); before != "" {
		pair = before + "; " + pair
	}
	h.Set("Cookie", pair)
}

// token returns an access token of a client, a new one if the last has expired.
func (a *API) token(ctx context.Context, s *scheme, secret string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock() // one request for all calls; ctx bounds it
	if t := a.tokens[s.id]; t != nil && (t.until.IsZero() || time.Now().Before(t.until)) {
		return t.secret, nil
	}
	c := clientcredentials.Config{ClientID: s.with.User, ClientSecret: secret, TokenURL: s.tokenURL, Scopes: s.scopes}
	alone := *a.client
	alone.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	got, err := c.Token(context.WithValue(ctx, oauth2.HTTPClient, &alone))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return "", fmt.Errorf("the token server answered %d %s", refused.Response.StatusCode, line(refused.ErrorCode+" "+refused.ErrorDescription, 200))
	}
	if err != nil {
		return "", fmt.Errorf("the token server did not answer: %w", cause(ctx, err))
	}
	if a.o.Obtained != nil {
		a.o.Obtained(got.AccessToken)
	}
	t := &token{secret: got.AccessToken}
	if !got.Expiry.IsZero() {
		t.until = got.Expiry.Add(-30 * time.Second)
	}
	a.tokens[s.id] = t
	return t.secret, nil
}

// forget drops the tokens that a server refused.
func (a *API) forget(schemes []*scheme) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range schemes {
		delete(a.tokens, s.id)
	}
}
