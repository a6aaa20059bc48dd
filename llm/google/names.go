package google

import (
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

// names are the tools of a request by the names under which the model knows them: these must begin with a letter or an underscore.
type names map[string]string

func newNames(tools []llm.Tool) names {
	n := make(names, len(tools))
	for _, t := range tools {
		n[sentName(t.Name)] = t.Name
	}
	return n
}

// sentName returns the name under which a tool is sent.
func sentName(name string) string {
	name = fit.Name(name)
	if c := name[0]; c >= '0' && c <= '9' || c == '-' {
		name = fit.Name("_" + name)
	}
	return name
}

// tool returns the name of the tool that the model means. Models sometimes put the name space before it in which they see the tools.
func (n names) tool(name string) string {
	if known, ok := n[name]; ok {
		return known
	}
	for _, space := range []string{"default_api.", "default_api:"} {
		if rest, ok := strings.CutPrefix(name, space); ok {
			if known, ok := n[rest]; ok {
				return known
			}
		}
	}
	return name
}
