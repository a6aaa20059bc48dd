package permission

// language is what the pattern of a rule means, by the name in front of it.
type language int

const (
	bare     language = iota // no pattern is possible
	anything                 // *
	reading                  // paths that are read, whoever reads them
	writing                  // paths that are changed, whoever changes them
	filing                   // paths that one tool touches
	running                  // commands
	freeing                  // commands outside the sandbox
	reaching                 // hosts, whoever reaches them
	hosting                  // hosts that one tool reaches
	serving                  // tools of MCP servers
	sending                  // other agents
)

// vocabulary is the names that rules can begin with.
var vocabulary = map[string]language{
	"*":    anything,
	"read": reading, "list": filing, "glob": filing, "grep": filing,
	"write": writing, "edit": filing, "multi_edit": filing, "patch": filing, "delete": filing,
	"shell": running, "unconfined": freeing,
	"fetch": reaching, "download": hosting,
	"mcp": serving, "agent": sending,
	"job": bare, "web_search": bare, "todo": bare, "question": bare, "artifact": bare,
}

// groups is which tools the name of a tool means in rules, where it means more than itself.
var groups = map[string][]string{
	"edit":  {"edit", "multi_edit", "patch", "apply_patch"},
	"patch": {"patch", "apply_patch"},
}

// takes reports whether the name of a rule means a tool.
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
