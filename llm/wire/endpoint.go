package wire

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Endpoint is where a server is and how it is reached. Every field has a default. An Endpoint is shared by copying it; its
// fields must not be changed while requests are under way.
type Endpoint struct {
	BaseURL string      // scheme, host and the path before that of the protocol; default: the provider's own server
	Key     string      // API key or token, sent as the protocol wants it; empty: none
	KeyName string      // what people call the key
	Header  http.Header // further headers; they win over those of the protocol

	// Authorize, when it is set, is asked to put proof of identity on each request, in place of Key.
	Authorize func(r *http.Request, body []byte) error

	HTTP      *http.Client  // default: one for all, with [NewTransport] and no proxy but that of the environment
	FirstByte time.Duration // longest silence before the first byte of an answer; 0: 120 s, negative: no end
	Idle      time.Duration // longest silence after it; 0: 60 s, negative: no end
	UserAgent string        // default "tenon"
}

// Default limits of silence.
const (
	DefaultFirstByte = 120 * time.Second
	DefaultIdle      = 60 * time.Second
)

// URL returns the address of path below the base URL, or below byDefault when the endpoint has none. A path that the base URL
// ends with already, such as /v1, is not repeated.
func (e *Endpoint) URL(byDefault, path string) string {
	base := strings.TrimRight(cmp.Or(e.BaseURL, byDefault), "/")
	base, query, hasQuery := strings.Cut(base, "?")
	base = strings.TrimRight(base, "/")
	for i := range path {
		if i > 0 && path[i] == '/' && strings.HasSuffix(base, path[:i]) {
			path = path[i:]
			break
		}
	}
	if hasQuery {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + query
	}
	return base + path
}

// Host returns the host that the endpoint speaks to, for error texts.
func (e *Endpoint) Host(byDefault string) string {
	u, err := url.Parse(cmp.Or(e.BaseURL, byDefault))
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Limits of the steps before a request can be sent.
const (
	dialTimeout = 15 * time.Second
	tlsTimeout  = 10 * time.Second
	pingAfter   = 30 * time.Second // silence after which a connection of HTTP/2 is tested
	pingTimeout = 15 * time.Second
)

// NewTransport returns a transport for requests to models: connections are made within 15 s and kept, dead ones of HTTP/2 are
// noticed, and no other timer runs. Proxy is that of the provider; nil means the environment's.
func NewTransport(proxy *url.URL) *http.Transport {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSHandshakeTimeout:   tlsTimeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   16,
		IdleConnTimeout:       90 * time.Second,
		ExpectContinueTimeout: time.Second,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingTimeout},
	}
	if proxy != nil {
		t.Proxy = http.ProxyURL(proxy)
	}
	return t
}

// NewClient returns a client over t that follows no redirect: a key must not travel to an address that the caller did not choose.
func NewClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// shared is the client of endpoints that have none of their own, so that they share connections.
var shared = sync.OnceValue(func() *http.Client { return NewClient(NewTransport(nil)) })

func (e *Endpoint) client() *http.Client {
	if e.HTTP != nil {
		return e.HTTP
	}
	return shared()
}

// limit resolves a configured time; 0 means no limit.
func limit(d, byDefault time.Duration) time.Duration {
	if d == 0 {
		return byDefault
	}
	return max(d, 0)
}
