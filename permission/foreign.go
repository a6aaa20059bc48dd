package permission

import (
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
)

// foreign maps the names of tools in other programs to ours.
var foreign = map[string]string{
	"bash": "shell", "sh": "shell", "zsh": "shell", "powershell": "shell", "cmd": "shell", "command": "shell", "exec": "shell",
	"execute": "shell", "run": "shell", "terminal": "shell", "run_command": "shell", "run_shell_command": "shell",
	"shelltool": "shell", "execute_command": "shell",

	"read_file": "read", "view": "read", "cat": "read", "ls": "list", "list_directory": "list", "search": "grep",
	"write_file": "write", "create": "write", "multiedit": "multi_edit", "notebookedit": "edit", "str_replace": "edit",
	"replace": "edit", "apply_patch": "patch", "applypatch": "patch", "remove": "delete",

	"webfetch": "fetch", "web_fetch": "fetch", "network": "fetch", "websearch": "web_search",
	"todowrite": "todo", "todoread": "todo", "task": "agent", "subagent": "agent", "all": "*",
}

// hint translates a rule with an unknown tool: `; write shell(go test *)`. "" means no translation.
func hint(text string, tools []string) string {
	for _, rule := range translations(text, tools) {
		if _, err := ParseRule(Allow, Session, rule, tools...); err == nil {
			return "; write " + rule
		}
	}
	return ""
}

// translations lists possible meanings of a rule in the syntax of another program, the likeliest first.
func translations(text string, tools []string) []string {
	name, pattern, open := strings.Cut(strings.TrimSpace(text), "(")
	name = strings.TrimSpace(name)
	before, after, colon := strings.Cut(name, ":")
	first, rest, words := strings.Cut(name, " ")
	server, served := strings.CutPrefix(name, "mcp__")
	line := "shell(" + strings.TrimSuffix(strings.TrimSuffix(text, "*"), ":")
	switch as := native(name, tools); {
	case served:
		server, tool, _ := strings.Cut(server, "__")
		return []string{"mcp(" + server + "/" + tool + ")", "mcp(" + server + "/*)"}
	case open && as != "":
		return []string{translated(as, strings.TrimSuffix(pattern, ")")), as}
	case open:
		return nil
	case colon && native(before, tools) != "": // Bash:git push
		return []string{translated(native(before, tools), after)}
	case words && native(first, tools) != "" && !command.Known(first):
		return []string{translated(native(first, tools), rest)}
	case words || command.Known(name):
		return []string{strings.TrimSpace(line) + " *)"}
	case as != "":
		return []string{as}
	}
	return nil
}

// native is our name of a tool, "" for an unknown one.
func native(name string, tools []string) string {
	name = strings.ToLower(name)
	if _, ok := vocabulary[name]; ok || slices.Contains(tools, name) {
		return name
	}
	return foreign[name]
}

// translated is a rule with its pattern in our syntax.
func translated(tool, pattern string) string {
	pattern = strings.TrimSpace(pattern)
	switch vocabulary[tool] {
	case running:
		if begin, ok := strings.CutSuffix(pattern, ":*"); ok {
			pattern = begin + " *"
		}
	case reading, writing, filing:
		if strings.HasPrefix(pattern, "//") {
			pattern = pattern[1:]
		}
	case reaching, hosting:
		for _, begin := range []string{"domain:", "https://", "http://"} {
			pattern = strings.TrimPrefix(pattern, begin)
		}
	}
	return tool + "(" + pattern + ")"
}

// ToolName returns our name of a tool by its name in another program, such as "shell" for "Bash". It returns an unknown name in lower case.
func ToolName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if as := native(name, nil); as != "" {
		return as
	}
	return name
}
