package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/web"
)

// Web returns the settings of the configuration for the web tools.
func (s *Setup) Web() web.Options {
	o := web.Options{Proxy: http.ProxyFromEnvironment}
	if s.Config.Web.Search.Backend != "" {
		o.Engine = &engine{setup: s, made: sync.OnceValues(s.engine)}
	}
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

// engine is the search engine of the configuration. The first search resolves its address and its key, which may be references to
// commands.
type engine struct {
	setup *Setup
	made  func() (web.Engine, error)
}

func (s *Setup) engine() (web.Engine, error) {
	c := &s.Config.Web.Search
	address, err := c.URL.Get(context.Background()) // a referenced command has ten seconds
	if err != nil {
		return nil, err
	}
	key, err := c.APIKey.Get(context.Background())
	if err != nil {
		return nil, err
	}
	s.Secrets.Hide(key)
	return web.NewEngine(string(c.Backend), address, key, nil)
}

// Host implements [web.Engine]. If the address is not known yet, such as before its command has run, Host returns the engine's name.
func (e *engine) Host() string {
	c := &e.setup.Config.Web.Search
	_, known := c.URL.Ready()
	_, open := c.APIKey.Ready()
	if (known || !c.URL.IsSet()) && (open || !c.APIKey.IsSet()) {
		if made, err := e.made(); err == nil {
			return made.Host()
		}
	}
	return string(c.Backend)
}

// Search implements [web.Engine].
func (e *engine) Search(ctx context.Context, query string, count int) ([]web.Hit, error) {
	made, err := e.made()
	if err != nil {
		return nil, err
	}
	return made.Search(ctx, query, count)
}
