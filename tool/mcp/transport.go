package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The limits of what a server sends.
const (
	maxMessage = 16 << 20 // bytes of one message
	maxFlood   = 64 << 20 // bytes between two requests of Tenon
)

// errFlood ends the connection to a server that sends too much.
var errFlood = fmt.Errorf("the server sent more than %d MB without being asked", maxFlood>>20)

// meter counts what a server sends since the last request.
type meter struct{ sent atomic.Int64 }

func (m *meter) reset() { m.sent.Store(0) }

// take returns an error if the server has sent too much.
func (m *meter) take(n int) error {
	if m.sent.Add(int64(n)) > maxFlood {
		return errFlood
	}
	return nil
}

// metered is a stream of a server.
type metered struct {
	io.ReadCloser
	*meter
}

// Read implements [io.Reader].
func (m metered) Read(b []byte) (int, error) {
	n, err := m.ReadCloser.Read(b)
	if flood := m.take(n); flood != nil {
		return 0, flood
	}
	return n, err
}

// local returns the transport to a process that it starts.
func (s *server) local(ctx context.Context) (mcp.Transport, func(), error) {
	env := []string{} // nil would be that of Tenon
	if f := s.client.options.Environ; f != nil {
		env = f()
	}
	if s.Env != nil {
		more, err := s.Env(ctx)
		if err != nil {
			return nil, nil, err
		}
		env = append(env, more...)
	}
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Dir, cmd.Env = s.Dir, env
	confine := s.client.options.Confine
	if !s.Confine {
		confine = nil
	} else if confine == nil {
		return nil, nil, errors.New("the sandbox is switched off, and the server is to run in it")
	}
	p, err := start(cmd, confine, s.log)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot start %s: %w", s.Command[0], err)
	}
	s.log.add("started %s, process %d", s.Command[0], p.cmd.Process.Pid)
	stop := func() {
		if err := p.Close(); err != nil {
			s.log.add("%v", err)
		}
	}
	return &mcp.IOTransport{Reader: metered{p, &s.meter}, Writer: p, MaxLineLength: maxMessage}, stop, nil
}

// remote returns the transport to a server on the network.
func (s *server) remote(ctx context.Context) (mcp.Transport, func(), error) {
	address, err := s.Address(ctx)
	if err != nil {
		return nil, nil, err
	}
	to, err := url.Parse(address)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, nil, errors.New("its url is not an http or https address")
	}
	var header http.Header
	if s.Header != nil {
		if header, err = s.Header(ctx); err != nil {
			return nil, nil, err
		}
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	client := &http.Client{Transport: &guarded{base: base, to: to, header: header, meter: &s.meter}, CheckRedirect: sameHost}
	if s.SSE {
		return &mcp.SSEClientTransport{Endpoint: address, HTTPClient: client, MaxEventSize: maxMessage}, base.CloseIdleConnections, nil
	}
	t := &mcp.StreamableClientTransport{Endpoint: address, HTTPClient: client, MaxEventSize: maxMessage}
	if header.Get("Authorization") == "" {
		if t.OAuthHandler, err = s.authorize(ctx, address); err != nil {
			return nil, nil, err
		}
	}
	return t, base.CloseIdleConnections, nil
}

// sameHost refuses to follow a redirect to another host, which would get the headers of this one.
func sameHost(req *http.Request, via []*http.Request) error {
	if first := via[0].URL; req.URL.Host != first.Host || req.URL.Scheme != first.Scheme || len(via) > 5 {
		return fmt.Errorf("the server redirects to %s; set that address as its url if you trust it", req.URL.Host)
	}
	return nil
}

// guarded adds the headers of a server to requests to its host, and bounds the answers.
type guarded struct {
	base   http.RoundTripper
	to     *url.URL
	header http.Header
	meter  *meter
}

// RoundTrip implements [http.RoundTripper].
func (g *guarded) RoundTrip(req *http.Request) (*http.Response, error) {
	if len(g.header) > 0 && req.URL.Host == g.to.Host && req.URL.Scheme == g.to.Scheme {
		req = req.Clone(req.Context())
		for name, values := range g.header {
			req.Header[name] = values
		}
	}
	resp, err := g.base.RoundTrip(req)
	if err == nil {
		resp.Body = metered{resp.Body, g.meter}
	}
	return resp, err
}

// ErrLogin reports that a server needs a login.
var ErrLogin = errors.New("the server needs a login")
