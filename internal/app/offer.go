package app

import (
	"slices"

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
	return offers(m, further)
}

// offers returns the tools that the model gets in a mode. Further tools are those that the configuration names.
func offers(m permission.Mode, further []string) func(tool string) agent.Offer {
	return func(tool string) agent.Offer {
		changes, reaches := files.Changes(tool) || tool == "download", tool == "download" || tool == "fetch" || tool == "web_search"
		switch {
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
