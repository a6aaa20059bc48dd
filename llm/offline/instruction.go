package offline

import (
	"regexp"
	"strings"
	"sync"
)

// verb is the kind of an instruction.
type verb string

const (
	unknown      verb = "unknown"
	help         verb = "help"
	describe     verb = "describe"
	list         verb = "list"
	tree         verb = "tree"
	read         verb = "read"
	find         verb = "find"
	search       verb = "search"
	countLines   verb = "count_lines"
	countFiles   verb = "count_files"
	countMatches verb = "count_matches"
	replace      verb = "replace"
	create       verb = "create"
	overwrite    verb = "overwrite"
	appendTo     verb = "append"
	run          verb = "run"
	runTests     verb = "test"
	runBuild     verb = "build"
	gitLog       verb = "git_log"
	gitStatus    verb = "git_status"
	delegate     verb = "delegate"
	callTool     verb = "call"
)

// instruction is one instruction of the user.
type instruction struct {
	verb    verb
	text    string // as the user wrote it
	path    string // a file or directory; "" is the project
	glob    string // a pattern for the names of files
	pattern string // the text to search for
	regex   bool   // pattern is a regular expression
	with    string // the replacement of pattern
	content string // of a file to write; the task of a sub-agent; the arguments of a tool
	role    string // of a sub-agent
	name    string // of a sub-agent or a tool
	how     string // a sub-agent works: in the background, in a worktree
	command string
	from    int // first line, from 1; 0 is the beginning
	to      int // last line; 0 is the end
}

// lazy returns a function that compiles a regular expression at its first use. A program that links this package does not
// pay for the expressions when it starts.
func lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// rule recognizes one kind of instruction. The groups of its expression are named after the fields that they fill.
type rule struct {
	verb  verb
	match func() *regexp.Regexp
}

func re(v verb, expression string) rule { return rule{v, lazy(`(?is)^(?:` + expression + `)[.!?]*$`)} }

// Parts of the rules.
const (
	the     = `(?:(?:the|all|every|each|any|a|an|me|us|my|our|your|this|of|current|whole)\s+)*`
	project = `(?:project|repo|repository|code ?base|code|app|application|program|module|package|library|directory|folder|workspace)`
	shows   = `(?:show|read|open|print|display|cat|view|look at|give)`
	looks   = `(?:find|locate|list|show|search for|look for|where (?:is|are))`
	within  = `(?:in|of|under|from|across|below)`
	spot    = the + `\S+?(?:\s+(?:files?|directory|folder|package|module))?(?:\s+` + within + `\s+` + the + `\S+?)?`
	where   = `(?:\s+` + within + `\s+(?P<place>` + spot + `))?`
	times   = `(?:(?:occurrences?|instances?|matches|uses?|usages?|mentions?|lines?)\s+(?:of|with|containing)\s+)?`
	noun    = `(?:(?:word|text|string|name|function|variable|type|pattern)\s+)?`
	lines   = `lines?\s+(?P<from>[0-9]+)(?:\s*(?:-|to|until)\s*(?P<to>[0-9]+))?`
	body    = `(?:(?:\s+` + the + `(?:following\s+)?(?:contents?|text|lines?)?)?:)?\s*(?P<content>.*)`
)

// rules are tried in their order; the first that matches wins.
var rules = []rule{
	re(help, `help|hi|hello|hey|what can you do|what are you|who are you`),
	re(describe, `(?:(?:describe|explain|summari[sz]e|outline|tell me about|what(?:'s| is| does| are)(?: in)?|(?:`+shows+` )?`+the+`(?:overview|summary|description) of)\s+`+the+project+`(?: do| about| for| to me)*)`),
	re(describe, `overview|summary|(?:describe|explain) (?:it|this)|what(?: is|'s) this`),
	re(gitLog, `(?:`+shows+`\s+)?`+the+`(?:git )?(?:history|log|recent commits|last commits|commits)`),
	re(gitStatus, `(?:show\s+)?what(?:'s| has)? changed|(?:`+shows+`\s+)?`+the+`(?:git )?(?:status|changes)`),
	re(runTests, `(?:(?:run|execute)\s+)?`+the+`(?:unit )?tests?(?: suite)?|test `+the+project),
	re(runBuild, `run `+the+`build|build(?: it| `+the+project+`)?`),
	re(delegate, `give\s+(?:an?|another)\s+(?:(?P<role>\S+)\s+)?sub-?agent(?:\s+(?:named|called)\s+(?P<agent>\S+))?\s+(?:the|this|a)\s+task`+
		`(?P<how>(?:,?\s+(?:and\s+)?in\s+(?:the\s+background|a\s+worktree))*)\s*:\s*(?P<task>.+)`),
	re(callTool, `call\s+(?:the\s+tool\s+)?(?P<tool>[\w.-]+)\s+with\s+(?P<arguments>\{.*\})`),
	re(run, `(?:[$!]|(?:run|execute)(?: the command)?[:\s])\s*(?P<command>.+)`),

	re(countLines, `(?:count|how many)\s+`+the+`(?:number of )?lines(?: of code)?(?: are)?(?: there)?`+where),
	re(countLines, `how many lines (?:does|do|has)\s+(?P<place>`+spot+`)(?: have| has| contain)?`),
	re(countFiles, `(?:count|how many)\s+`+the+`(?:number of )?(?:(?P<kind>\S+?)\s+)?files?(?: are)?(?: there)?`+where),
	re(countFiles, `(?:count|how many)\s+`+the+`files?\s+(?:named|called|matching)\s+(?P<names>\S+?)`+where),
	re(countMatches, `(?:count|how (?:many|often))(?: times)?\s+(?:(?:do|does|is)\s+)?`+the+`(?:number of )?`+times+noun+`(?P<pattern>.+?)(?: (?:occurs?|appears?|used|are there))?`+where),

	re(replace, `(?:replace|change|substitute|rename)\s+(?:(?:all|every|each|the)\s+)*`+times+noun+`(?P<pattern>.+?)\s+(?:with|by|to)\s+(?P<with>.+?)(?:\s+everywhere|,?\s+in\s+(?P<place>`+spot+`))`),
	re(replace, `in\s+(?P<place>`+spot+`),?\s+(?:replace|change|substitute|rename)\s+(?:(?:all|every|each|the)\s+)*`+times+`(?P<pattern>.+?)\s+(?:with|by|to)\s+(?P<with>.+)`),
	re(appendTo, `(?:append|add)\s+(?:the\s+)?(?:(?:line|text)\s+)?(?P<content>.+?)\s+to\s+(?:the\s+end\s+of\s+)?(?:the\s+)?(?:file\s+)?(?P<file>\S+?)`),
	re(overwrite, `overwrite\s+(?:the\s+)?(?:file\s+)?(?P<file>\S+?)(?::|,?\s+(?:with|containing))`+body),
	re(create, `(?:create|make|write|add|touch)\s+`+the+`(?:new\s+)?(?:empty\s+)?(?:file\s+)?(?:(?:named|called)\s+)?(?P<file>\S+?)(?:(?::|,?\s+(?:with|containing))`+body+`)?`),
	re(create, `(?:write|put|save)\s+(?P<content>.+?)\s+(?:to|in|into)\s+(?:the\s+)?(?:file\s+)?(?P<file>\S+?)`),

	re(read, shows+`\s+`+the+`(?:first|top)\s+(?P<to>[0-9]+)\s+lines?\s+of\s+(?:the\s+)?(?:file\s+)?(?P<file>\S+?)`),
	re(read, `(?:`+shows+`\s+)?`+the+lines+`\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?(?P<file>\S+?)`),
	re(read, shows+`\s+(?:the\s+)?(?:file\s+)?(?P<file>\S+?),?\s+(?:from\s+)?`+lines),
	re(list, `(?:list|ls|show|what are)\s+`+the+`(?:files|directories|contents)`+where),
	re(list, `what files\s+(?:are|do we have)(?: here| there)?`+where),
	re(tree, `(?:(?:list|show)\s+)?`+the+`(?:(?:file|directory|project)\s+)?(?:tree|structure)`+where),
	re(find, looks+`\s+`+the+`(?:files?\s+)?(?:named|called|matching)\s+(?P<names>\S+?)`+where),
	re(find, looks+`\s+`+the+`(?P<kind>\S+?)\s+files?`+where),
	re(find, `(?:find|locate|where (?:is|are))\s+`+the+`(?:file\s+)?(?P<name>\S+?)`+where),
	re(search, `(?:which|what)\s+files?\s+(?:contain|mention|use|have)s?\s+`+noun+`(?P<pattern>.+?)`+where),
	re(search, `search\s+(?P<place>\S+)\s+for\s+(?P<pattern>.+?)`),
	re(search, `(?:find|search|grep|look)\s+(?:for\s+)?(?:(?:all|every|the)\s+)*`+times+noun+`(?P<pattern>.+?)`+where),
	re(search, `where is\s+(?:the\s+)?`+noun+`(?P<pattern>.+?)\s+(?:used|defined|declared|called)`+where),
	re(list, `(?:list|ls)(?:\s+(?P<place>\S+?))?`),
	re(read, `(?:read|cat|open)\s+(?P<path>\S+?)`),
	re(read, `(?:`+shows+`|what(?:'s| is) in)\s+`+the+`(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(?P<file>\S+?)`),
}

// maxClause is the longest instruction, in bytes, without its quotes and its content.
const maxClause = 8 << 10

// instruction applies the rules to one clause.
func (m *masked) instruction(clause string) instruction {
	if len(clause) > maxClause {
		return instruction{verb: unknown}
	}
	for _, r := range rules {
		if in, ok := m.fill(r, clause); ok {
			return in
		}
	}
	return instruction{verb: unknown}
}

// fill returns the instruction that r makes of a clause. It returns false if the clause does not match, or if a group
// matches a text that its field cannot have.
func (m *masked) fill(r rule, clause string) (in instruction, ok bool) {
	groups := r.match().FindStringSubmatch(clause)
	if groups == nil {
		return in, false
	}
	in.verb = r.verb
	for i, name := range r.match().SubexpNames() {
		if name == "" || groups[i] == "" && name != "content" && name != "with" {
			continue
		}
		if !m.set(&in, name, groups[i]) {
			return in, false
		}
	}
	in.to = max(in.to, in.from) // a single line is a range of one
	return in, true
}

// set fills one field with the text of a group. It reports whether the field can have this text.
func (m *masked) set(in *instruction, group, text string) bool {
	v, quoted := m.value(text)
	switch group {
	case "path":
		in.path = v
	case "file":
		in.path = v
		return quoted && v != "" || isFileLike(v) && !strings.ContainsAny(v, globRunes) || isPronoun(v)
	case "place":
		dir, glob := m.scope(text)
		in.path, in.glob = dir, firstOf(in.glob, glob)
	case "kind":
		in.glob = anywhere(kind(v))
		return in.glob != ""
	case "names", "name":
		in.glob = anywhere(firstOf(kind(v), v))
		return group == "names" && quoted || !quoted && isFileLike(v)
	case "pattern":
		in.pattern, in.regex = v, false
		if g := slashed().FindStringSubmatch(v); g != nil && !quoted {
			in.pattern, in.regex = g[1], true
		} else if notes().MatchString(v) && !quoted {
			in.pattern, in.regex = `\b(TODO|FIXME)\b`, true
		}
		return strings.TrimSpace(v) != ""
	case "with":
		in.with = v
	case "content":
		if in.content = v; !quoted && strings.TrimSpace(v) != "" || in.verb == appendTo {
			in.content = strings.TrimRight(v, " \t\n") + "\n"
		}
	case "task":
		in.content = strings.TrimSpace(v)
		return in.content != ""
	case "role":
		in.role = v
	case "agent", "tool":
		in.name = v
	case "arguments":
		in.content = v
	case "how":
		in.how = strings.ToLower(text)
	case "command":
		in.command = strings.TrimSpace(v)
		if !quoted && !endsInPath().MatchString(v) {
			in.command = strings.TrimSuffix(in.command, ".") // of the sentence
		}
		return !isPronoun(strings.TrimSuffix(in.command, " again"))
	case "from":
		in.from = number(text)
	case "to":
		in.to = number(text)
	}
	return true
}

func isPronoun(s string) bool { return strings.EqualFold(s, "it") }

var (
	slashed = lazy(`^/(.+)/$`)
	notes   = lazy(`(?i)^(?:todo|fixme)s?$`)
	// endsInPath matches a command with a final dot that is no full stop.
	endsInPath = lazy(`[./ ]\.\s*$`)
)
