package permission

// language is the meaning of a pattern. The name before the pattern determines it.
type language int

const (
	bare     language = iota // without a pattern
	anything                 // *
	reading                  // paths that any tool or command reads
	writing                  // paths that any tool or command changes
	filing                   // paths that one tool reads or changes
	running                  // commands
	freeing                  // commands outside the sandbox
	reaching                 // hosts that any tool or command reaches
	hosting                  // hosts that one tool reaches
	serving                  // tools of MCP servers and of APIs
	sending                  // other agents
)

// vocabulary maps the names at the start of rules to the languages of their patterns.
var vocabulary = map[string]language{
	"*":    anything,
	"read": reading, "list": filing, "glob": filing, "grep": filing,
	"write": writing, "edit": filing, "multi_edit": filing, "patch": filing, "delete": filing,
	"shell": running, "unconfined": freeing,
	"fetch": reaching, "download": hosting,
	"mcp": serving, "openapi": serving, "agent": sending,
	"job": bare, "web_search": bare, "todo": bare, "question": bare, "handoff": bare, "artifact": bare, "lsp": bare,
}

// groups lists the tools that one name means in rules.
var groups = map[string][]string{
	"edit":  {"edit", "multi_edit", "patch", "apply_patch"},
	"patch": {"patch", "apply_patch"},
}

// takes reports whether the name of a rule includes a tool.
func takes(name, tool string) bool {
	if name == tool {
		return true
	}
	for _, t := range groups[name] {
		if t == tool {
			return true
		}
	}
	return false
}
