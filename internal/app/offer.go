package app

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/tool/files"
)

// offers returns the tools that a model gets in a mode. The offline model follows instructions with all of them.
func (a *Agent) offers(m permission.Mode, c llm.Client) func(tool string) agent.Offer {
	further := a.spec.Tools
	if isOffline(c) {
		further = slices.Concat(further, config.RareTools())
	}
	offer := a.spec.child.offered(offers(m, further))
	return func(tool string) agent.Offer {
		s := a.spec
		switch {
		case tool == handoffTool && (s.child != nil || s.parent != "" || s.Schema != nil || !s.Ask && !plans(a.role.Load().Name, m)):
			return agent.Never // a change of the role would break the provider's cache, so that people always have it
		case a.external.now.Load().Hides(tool):
			return agent.Never
		}
		return offer(tool)
	}
}

// offers returns the tools that the model gets in a mode. Further tools are those that the configuration names.
func offers(m permission.Mode, further []string) func(tool string) agent.Offer {
	return func(tool string) agent.Offer {
		changes, reaches := files.Changes(tool) || tool == "download", tool == "download" || tool == "fetch" || tool == "web_search" || tool == "code_search" || strings.HasPrefix(tool, "openapi__")
		switch {
		case slices.Contains(actNames(), tool): // of people
			return agent.Never
		case changes && !m.Changes(), reaches && !m.Reaches(): // the mode denies every call
			return agent.Never
		case slices.Contains(further, tool):
			return agent.Always
		case slices.Contains(config.LateTools(), tool):
			return agent.WhenFull
		case slices.Contains(config.RareTools(), tool):
			return agent.Never
		}
		return agent.Always
	}
}
