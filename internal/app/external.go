package app

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/catalog"
)

// External is the tools of connections.
type External struct {
	Groups []catalog.Group
	Share  float64 // of the context window that their descriptions may take; 0: 5 %
}

const (
	usualShare  = 0.05    // 10,000 tokens of the usual window, about a hundred tools
	usualWindow = 200_000 // tokens, of a model whose window is not known
)

// connections are the tools of an agent that connections bring, next to the built-in ones.
type connections struct {
	agent   *Agent
	builtin []tool.Tool
	apis    []catalog.Group // of the configuration, in addition to those that change
	now     atomic.Pointer[catalog.Catalog]
}

func (c *connections) load(e External, m llm.Model) {
	c.now.Store(catalog.New(int(cmp.Or(e.Share, usualShare)*float64(cmp.Or(m.Context, usualWindow))), slices.Concat(e.Groups, c.apis)...))
}

// dialect returns the tools as the family of a model knows them, and finds the tool that a call of call_tool means.
func (c *connections) dialect(m llm.Model, tools []llm.Tool) agent.Dialect {
	return catalog.Dialect{Inner: namesFor(m, tools), Catalog: c.now.Load()}
}

// change gives the agent other tools of connections from its next turn on. The context window marks the change with an epoch.
func (c *connections) change(ctx context.Context, e External) error {
	a := c.agent
	client := *a.answering.Load()
	c.load(e, client.Model())
	return a.Set(ctx, agent.Change{Tools: c.tools(), Offer: a.offers(a.mode, client)})
}

// tools returns all tools of the agent, whose results hide secrets.
func (c *connections) tools() []tool.Tool {
	a := c.agent
	all := slices.Concat(c.builtin, c.now.Load().Tools())
	return a.spec.Secrets.Tools(a.site.tools(a.site.diagnosed(all), func() []string { return permission.Reachable(a.Gate.Grants()) }))
}
