package web

import (
	"context"
	_ "embed"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/host"
)

const (
	fetchTime    = 30 * time.Second // for a page, and for a search
	downloadTime = 10 * time.Minute // for a file
)

// Options configure the tools. The zero value reaches every public address directly and has no web_search.
type Options struct {
	// Hosts returns the hosts that the person listed. The tools reach an address that is not public only if it is listed, as an address or in
	// a range, or if all hosts are. Nil: none.
	Hosts func() host.List

	// Allow decides about the target of every redirect; its error stops the call. Nil: the tools follow all redirects. The effects of a
	// call declare its first host.
	Allow func(ctx context.Context, host string, port int) error

	// Proxy chooses a proxy, such as [http.ProxyFromEnvironment]. Nil: no proxy. With a proxy, the tools check the addresses to which this
	// machine resolves a name.
	Proxy func(*http.Request) (*url.URL, error)

	// Commands returns the function that connects to the network of commands in the sandbox. Requests to localhost and to loopback addresses
	// go there. Nil, or a nil function: they go to this machine, if they are allowed.
	Commands func() func(ctx context.Context, network, address string) (net.Conn, error)

	// Replace decides whether download may replace the file at an absolute path. It should require that the model has read the present
	// version. Nil: download replaces no file.
	Replace func(name string) error

	// Engine answers web_search, and Code answers code_search. Nil: the tool does not exist.
	Engine, Code Engine
}

// New returns the tools download, fetch and, with engines, web_search and code_search for a workspace.
func New(ws *workspace.Workspace, o Options) []tool.Tool {
	s := newSet(ws, o)
	tools := []tool.Tool{s.download(), s.fetch()}
	if o.Engine != nil {
		tools = append(tools, search("web_search", searchText, o.Engine))
	}
	if o.Code != nil {
		tools = append(tools, search("code_search", codeText, o.Code))
	}
	return tools
}

// Transport returns a transport with the policy of fetch: it dials only addresses that the options allow. It follows no redirects, as no
// transport does, so [Options.Allow] has no effect.
func Transport(o Options) http.RoundTripper { return newClient(guard(o.Hosts), o) }

type set struct {
	ws      *workspace.Workspace
	client  *client
	replace func(string) error
	pages   pages

	fetchTime, downloadTime time.Duration
}

func newSet(ws *workspace.Workspace, o Options) *set {
	return &set{
		ws: ws, replace: o.Replace, client: newClient(guard(o.Hosts), o),
		fetchTime: fetchTime, downloadTime: downloadTime,
	}
}

//go:embed fetch.md
var fetchText string

//go:embed download.md
var downloadText string

//go:embed search.md
var searchText string
