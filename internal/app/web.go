package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/redact"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/web"
)

// Web returns the settings of the configuration for the web tools.
func (s *Setup) Web() web.Options {
	o := web.Options{Proxy: http.ProxyFromEnvironment}
	c := &s.Config.Web
	o.Engine = s.engine(string(c.Search.Backend), &c.Search.URL, &c.Search.APIKey)
	o.Code = s.engine(string(c.Code.Backend), &c.Code.URL, &c.Code.APIKey)
	return o
}

// redirect judges a host to which a page redirects. It asks no question, because the request is in progress.
func (a *Agent) redirect(_ context.Context, host string, port int) error {
	at := net.JoinHostPort(host, strconv.Itoa(port))
	v := a.Gate.Judge(permission.Call{Tool: "fetch", Effects: tool.Effects{Hosts: []string{at}}})
	if v.Action == permission.Allow {
		return nil
	}
	return fmt.Errorf("the page redirects to %s, which needs its own approval (%s); fetch that address", at, v.Reason)
}

// engine is a search engine of the configuration. The first search resolves its address and its key, which may be references to
// commands.
type engine struct {
	backend  string
	url, key *redact.Value
	made     func() (web.Engine, error)
}

// engine returns nil without a backend.
func (s *Setup) engine(backend string, url, key *redact.Value) web.Engine {
	if backend == "" {
		return nil
	}
	return &engine{backend: backend, url: url, key: key, made: sync.OnceValues(func() (web.Engine, error) {
		address, err := url.Get(context.Background()) // a referenced command has ten seconds
		if err != nil {
			return nil, err
		}
		secret, err := key.Get(context.Background())
		if err != nil {
			return nil, err
		}
		s.Secrets.Hide(secret)
		return web.NewEngine(backend, address, secret, nil)
	})}
}

// Host implements [web.Engine]. If the address is not known yet, such as before its command has run, Host returns the engine's name.
func (e *engine) Host() string {
	_, known := e.url.Ready()
	_, open := e.key.Ready()
	if (known || !e.url.IsSet()) && (open || !e.key.IsSet()) {
		if made, err := e.made(); err == nil {
			return made.Host()
		}
	}
	return e.backend
}

// Search implements [web.Engine].
func (e *engine) Search(ctx context.Context, query string, count int) ([]web.Hit, error) {
	made, err := e.made()
	if err != nil {
		return nil, err
	}
	return made.Search(ctx, query, count)
}
