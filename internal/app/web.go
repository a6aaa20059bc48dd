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

// Web is what the configuration says of the tools for the web.
func (s *Setup) Web() web.Options {
	c := &s.Config.Web
	o := web.Options{Private: c.Private, Hosts: c.Allow, Proxy: http.ProxyFromEnvironment}
	if c.Search.Backend != "" {
		o.Engine = &engine{setup: s, made: sync.OnceValues(s.engine)}
	}
	return o
}

// redirect judges a host to which a page sends a request on. There is no time to ask then.
func (a *Agent) redirect(_ context.Context, host string, port int) error {
	at := net.JoinHostPort(host, strconv.Itoa(port))
	d := a.Gate.Policy().Judge(permission.Call{Tool: "fetch", Effects: tool.Effects{Hosts: []string{at}}})
	if d.Verdict == permission.Allow {
		return nil
	}
	return fmt.Errorf("the page sends requests on to %s, which must be allowed first (%s); fetch that address itself", at, d.Reason)
}

// engine is the search engine of the configuration. Its address and its key are looked up with the first search: they may be references
// to commands.
type engine struct {
	setup *Setup
	made  func() (web.Engine, error)
}

func (s *Setup) engine() (web.Engine, error) {
	c := &s.Config.Web.Search
	address, err := c.URL.Get(context.Background()) // a command of it has ten seconds
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

// Host implements [web.Engine]. Where the address cannot be told, such as before a command was run for it, it is the engine's name.
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
