package web

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

const (
	fetchTime    = 30 * time.Second // for a page, and for a search
	downloadTime = 10 * time.Minute // for a file
)

// Options say what may be reached. The zero value reaches every public address directly and has no web_search.
type Options struct {
	// Private lets all addresses be reached, also those that are not public.
	Private bool

	// Hosts may be reached although their addresses are not public: names, addresses or networks such as 10.0.0.0/8, each of
	// the first two with or without a port.
	Hosts []string

	// Allow is asked for the target of every redirect before it is followed; its error stops the call. Nil: all are followed.
	// The first host of a call is not asked for: it stands in the effects of the call.
	Allow func(ctx context.Context, host string, port int) error

	// Proxy chooses a proxy, such as [http.ProxyFromEnvironment]. Nil: none is used. Behind a proxy, what is judged are the
	// addresses that this machine finds for a name.
	Proxy func(*http.Request) (*url.URL, error)

	// Replace is asked whether download may replace the existing file of an absolute path, which is one that the model has read
	// at its present version. Nil: it may replace none.
	Replace func(name string) error

	// Engine answers web_search. Nil: there is no such tool.
	Engine Engine
}

// New returns the tools download, fetch and, with an engine, web_search for a workspace. The error says which of the options
// cannot be understood.
func New(ws *workspace.Workspace, o Options) ([]tool.Tool, error) {
	s, err := newSet(ws, o)
	if err != nil {
		return nil, err
	}
	tools := []tool.Tool{s.download(), s.fetch()}
	if o.Engine != nil {
		tools = append(tools, search(o.Engine))
	}
	return tools, nil
}

// set is one set of tools.
type set struct {
	ws      *workspace.Workspace
	client  *client
	replace func(string) error
	pages   pages

	fetchTime, downloadTime time.Duration
}

func newSet(ws *workspace.Workspace, o Options) (*set, error) {
	guard, err := newGuard(o.Private, o.Hosts)
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return &set{
		ws: ws, replace: o.Replace, client: newClient(guard, o.Allow, o.Proxy),
		fetchTime: fetchTime, downloadTime: downloadTime,
	}, nil
}

//go:embed fetch.md
var fetchText string

//go:embed download.md
var downloadText string

//go:embed search.md
var searchText string
