package family

import (
	_ "embed"
	"maps"
	"strings"

	"github.com/tenon-agent/tenon/models"
)

// form is a tool in the words of a family.
type form struct {
	tool      string // its canonical name
	name      string // empty: the family is not offered the tool
	arguments string // pairs of names, see rename; for the arguments that have another name or none
	only      string // instead of all arguments: the names of those that are offered
	text      string // instead of the tool's description
	schema    string // instead of the tool's schema
	grammar   string
}

// forms are the tools that the families know. A tool without a form keeps its name and arguments. In arguments, "dir:workdir" is a name for
// an argument, "timeout:timeout_ms*1000" the same in milliseconds, "items:todos(text:content)" one for the members of a list too, and
// "yield:" an argument that is not offered. The first form of a tool is the one that [Dialect.Name] returns.
var forms = map[models.Family][]form{
	models.FamilyClaude: {
		{tool: "shell", name: "Bash", arguments: bashArguments},
		{tool: "job", name: "BashOutput", schema: bashOutput, text: bashOutputText},
		{tool: "job", name: "KillBash", schema: `{"type":"object","properties":{"shell_id":{"type":"string","description":"such as job1"}},"required":["shell_id"],"additionalProperties":false}`, text: "Kill a background command."},
		{tool: "read", name: "Read", arguments: "path:file_path"},
		{tool: "edit", name: "Edit", arguments: editArguments},
		{tool: "write", name: "Write", arguments: "path:file_path"},
		{tool: "glob", name: "Glob"},
		{tool: "grep", name: "Grep", arguments: grepArguments},
		{tool: "todo", name: "TodoWrite", arguments: "items:todos(text:content)"},
		{tool: "fetch", name: "WebFetch"},
		{tool: "web_search", name: "WebSearch"},
		{tool: "question", name: "AskUserQuestion", arguments: "questions:questions(text:question,multiple:multiSelect)"},
		{tool: "skill", name: "Skill", arguments: "name:skill"},
		{tool: "agent", name: "Task", arguments: taskArguments},
		{tool: "patch"},
	},
	models.FamilyGPT: {
		{tool: "shell", name: "exec_command", arguments: "command:cmd dir:workdir yield:yield_time_ms*1000 timeout:timeout_ms*1000 background: description: unconfined:sandbox_permissions reason:justification"},
		{tool: "job", name: "write_stdin", schema: writeStdin, text: writeStdinText},
		{tool: "read", name: "view_image", only: "path", text: "Show an image file of the project. Read text files with commands."},
		{tool: "patch", name: "apply_patch", arguments: "patch:input", grammar: patchGrammar},
		{tool: "todo", name: "update_plan", arguments: "items:plan(text:step)"},
		{tool: "edit"},
		{tool: "write"},
		{tool: "glob"},
		{tool: "grep"},
	},
	models.FamilyGemini: {
		{tool: "shell", name: "run_shell_command", arguments: "dir:dir_path background:is_background yield:"},
		{tool: "read", name: "read_file", arguments: "path:file_path offset:start_line limit:end_line"},
		{tool: "write", name: "write_file", arguments: "path:file_path"},
		{tool: "edit", name: "replace", arguments: "path:file_path old_text:old_string new_text:new_string replace_all:allow_multiple"},
		{tool: "glob", name: "glob", arguments: "path:dir_path"},
		{tool: "grep", name: "grep_search", arguments: "path:dir_path include:include_pattern"},
		{tool: "todo", name: "write_todos", arguments: "items:todos(text:description)"},
		{tool: "fetch", name: "web_fetch"},
		{tool: "web_search", name: "google_web_search"},
		{tool: "question", name: "ask_user", arguments: "questions:questions(text:question,multiple:multiSelect)"},
		{tool: "skill", name: "activate_skill"},
		{tool: "agent", name: "task"},
		{tool: "patch"},
	},
	models.FamilyOpen: {
		{tool: "shell", name: "bash", arguments: bashArguments},
		{tool: "read", name: "read", arguments: "path:file_path"},
		{tool: "edit", name: "edit", arguments: editArguments},
		{tool: "write", name: "write", arguments: "path:file_path"},
		{tool: "grep", name: "grep", arguments: grepArguments},
		{tool: "todo", name: "todo", arguments: "items:todos(text:content)"},
		{tool: "agent", name: "task", arguments: taskArguments},
		{tool: "patch"},
	},
}

// rare are tools that models were not trained on. Errors do not list them.
var rare = []string{"multi_edit", "delete", "list", "download", "artifact", "cleanup", "revert"}

const (
	bashArguments = "timeout:timeout*1000 background:run_in_background unconfined:dangerouslyDisableSandbox yield:"
	editArguments = "path:file_path old_text:old_string new_text:new_string"
	taskArguments = "task:prompt role:subagent_type name:description background:run_in_background"
	grepArguments = "limit:head_limit include:glob ignore_case:-i context:-C before:-B after:-A"

	bashOutputText = "Show the new output of a background command. Without an ID: list the background commands. You get a message when one ends."
	bashOutput     = `{"type":"object","properties":{"bash_id":{"type":"string","description":"such as job1"},` +
		`"block":{"type":"boolean","description":"wait for the end"},` +
		`"timeout":{"type":"integer","description":"milliseconds to wait, default 60000","minimum":1,"maximum":600000}},"additionalProperties":false}`

	writeStdinText = "Wait for a command that continues in the background, and show its new output. Without an ID: list these commands. " +
		"The commands read no input; the character U+0003 (Ctrl+C) kills one. You get a message when one ends."
	writeStdin = `{"type":"object","properties":{"session_id":{"type":"string","description":"such as job1"},` +
		`"chars":{"type":"string","description":"empty, or U+0003"},` +
		`"yield_time_ms":{"type":"integer","description":"milliseconds to wait for the end, default 60000; 0: do not wait","minimum":0,"maximum":600000}},"additionalProperties":false}`
)

// patchGrammar is the grammar of patches, for models that write them without JSON around.
//
//go:embed patch.lark
var patchGrammar string

// rename is the family's name for an argument.
type rename struct {
	own, theirs string
	times       int64    // their unit is this many times smaller
	members     []rename // of the objects in a list
}

// renames reads the arguments of a form.
func renames(text, separator string) (out []rename) {
	if text == "" {
		return nil
	}
	for one := range strings.SplitSeq(text, separator) {
		one, members, _ := strings.Cut(strings.TrimSuffix(one, ")"), "(")
		own, theirs, _ := strings.Cut(one, ":")
		r := rename{own: own, theirs: theirs, times: 1, members: renames(members, ",")}
		if theirs, ok := strings.CutSuffix(theirs, "*1000"); ok {
			r.theirs, r.times = theirs, 1000
		}
		out = append(out, r)
	}
	return out
}

// incoming is the meaning of a name of a tool.
type incoming struct {
	tool string
	fix  func(r *reader) error // converts the arguments of this name alone; nil: nothing
}

// names are the names of tools that models know, in plain spelling.
var names = func() map[string]incoming {
	all := make(map[string]incoming)
	for tool, list := range map[string]string{
		"shell": "shell bash execcommand shellcommand localshell runshellcommand runcommand runterminalcmd runterminalcommand executecommand execute exec terminal",
		"read":  "read readfile notebookread view viewfile viewimage cat openfile",
		"edit":  "edit replace editfile strreplace searchreplace replaceinfile", "multi_edit": "multiedit",
		"write": "write writefile createfile writetofile", "patch": "patch applypatch applydiff",
		"glob": "glob findfiles filesearch", "grep": "grep grepsearch searchfilecontent ripgrep rg", "list": "list ls listdirectory listdir listfiles",
		"todo":  "todo todowrite updateplan writetodos updatetodolist",
		"fetch": "fetch webfetch fetchurl", "web_search": "websearch googlewebsearch",
		"question": "question askuserquestion askuser askfollowupquestion requestuserinput", "skill": "skill activateskill", "agent": "agent task spawnagent",
		"agent_wait": "agentwait waitagent", "agent_send": "agentsend sendmessage sendinput", "agent_cancel": "agentcancel closeagent", "job": "job",
	} {
		for name := range strings.FieldsSeq(list) {
			all[name] = incoming{tool: tool}
		}
	}
	maps.Copy(all, map[string]incoming{
		"bashoutput": {"job", (*reader).output}, "taskoutput": {"job", (*reader).output},
		"killbash": {"job", (*reader).kill}, "killshell": {"job", (*reader).kill}, "taskstop": {"job", (*reader).kill},
		"writestdin":              {"job", (*reader).stdin},
		"strreplacebasededittool": {"edit", (*reader).textEditor}, "strreplaceeditor": {"edit", (*reader).textEditor},
	})
	return all
}()

// pathNames are other names of a file.
const pathNames = "filepath filename file absolutepath notebookpath targetfile"

// aliases are the names of arguments that models use, in plain spelling, by tool.
var aliases = map[string]map[string]string{
	"shell": {
		"command": "cmd script", "dir": "workdir workingdirectory cwd dirpath directory", "timeout": "timeoutms", "yield": "yieldtimems",
		"background": "runinbackground isbackground", "unconfined": "sandboxpermissions dangerouslydisablesandbox", "reason": "justification",
		"": "maxoutputtokens tty login shell restart",
	},
	"job":        {"id": "bashid shellid sessionid taskid jobid", "timeout": "yieldtimems", "": "filter maxoutputtokens"},
	"read":       {"path": pathNames},
	"edit":       {"path": pathNames, "old_text": "oldstring oldstr", "new_text": "newstring newstr", "replace_all": "allowmultiple", "": "instruction"},
	"multi_edit": {"path": pathNames, "": "instruction"},
	"write":      {"path": pathNames, "content": "filetext contents"},
	"patch":      {"patch": "input patchtext"},
	"list":       {"path": "dirpath directory dir"},
	"glob":       {"path": "dirpath directory dir", "": "casesensitive respectgitignore respectgeminiignore"},
	"grep": {
		"path": "dirpath directory dir filepath", "include": "glob includepattern", "ignore_case": "-i caseinsensitive", "literal": "fixedstrings",
		"limit": "headlimit maxresults totalmaxmatches", "context": "-C contextlines", "before": "-B", "after": "-A", "": "-n",
	},
	"todo":       {"items": "todos plan", "": "explanation"},
	"skill":      {"name": "skill skillname"},
	"agent":      {"task": "prompt message", "role": "subagenttype agenttype", "background": "runinbackground"},
	"agent_wait": {"tasks": "ids targets", "timeout": "timeoutms"}, "agent_send": {"task": "to id target", "text": "message"}, "agent_cancel": {"task": "id target"},
}

// members are the lists of objects among the arguments, and the same for these objects.
var members = map[string]struct {
	name    string
	members map[string]string
}{
	"todo":       {"items", map[string]string{"text": "content step description", "status": "", "": "activeform id priority"}},
	"edit":       {"edits", replacements},
	"multi_edit": {"edits", replacements},
	"question":   {"questions", map[string]string{"text": "question", "multiple": "multiselect", "options": "", "default": "", "": "header type"}},
}

var replacements = map[string]string{"old_text": "oldstring oldstr", "new_text": "newstring newstr", "replace_all": "allowmultiple"}
