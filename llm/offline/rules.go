package offline

import (
	"strconv"

	"github.com/tenon-agent/tenon/llm/offline/internal/lazy"
)

// rule turns the words of a clause into an instruction. The groups of the expression are handed to make, masked.
type rule struct {
	match *lazy.Regexp
	make  func(m *masked, g []string) instruction
}

func re(s string) *lazy.Regexp { return lazy.Compile(`(?is)^` + s + `[.!?]*$`) }

const (
	treeDepth = 3 // of a tree

	project = `(?:(?:this|the|my|your|our|current)\s+)*(?:project|repo|repository|code ?base|code|source|app|application|program|module|package|library|directory|folder|workspace|working directory)`
	files   = `(?:file|document)s?(?:\s+and\s+(?:director(?:y|ies)|folders))?`
	within  = `(?:in|of|under|inside|within|from|across|throughout|below|at)`
	the     = `(?:(?:the|all|all of|all the|every|each|any|a|an|me|us|my)\s+)*`
)

func plain(v verb) func(*masked, []string) instruction {
	return func(*masked, []string) instruction { return instruction{verb: v} }
}

func at(v verb, group int) func(*masked, []string) instruction {
	return func(m *masked, g []string) instruction { return instruction{verb: v, path: m.place(g[group])} }
}

// rules are tried in their order; the first that matches wins.
var rules = []rule{
	{re(`(?:help|hi|hello|hey|what (?:can|do) you do|what are you|who are you|how do you work)(?: there)?`), plain(help)},
	{re(`(?:describe|explain|summari[sz]e|outline|analy[sz]e|introduce|explore|overview of|what(?: is|'s) in|tell ` + the + `(?:about|what)|(?:give|show|write|make|print) ` + the + `(?:short |quick |brief )?(?:overview|summary|description|outline) (?:of|for))\s+` + project + `\b.*`), plain(describe)},
	{re(`what(?: is|'s| are| does)\s+(?:in\s+)?` + project + `(?:\s+(?:do|about|for|all about))?`), plain(describe)},
	{re(`(?:overview|summary|describe|summari[sz]e|explain|describe (?:it|this)|explain (?:it|this)|what is this|what's this|what is this about|give ` + the + `overview|how is ` + project + ` (?:organi[sz]ed|structured|laid out))`), plain(describe)},

	{re(`(?:show|print|display|view|read|see|look at)?\s*` + the + `(?:git )?(?:history|(?:git )?log|recent commits|last commits|commits)`), plain(gitLog)},
	{re(`(?:(?:show|tell) ` + the + `)?(?:what(?:'s| has| have| is)? (?:i )?changed|(?:show|print)?\s*` + the + `(?:git )?(?:status|changes|uncommitted changes))`), plain(gitStatus)},
	{re(`(?:(?:run|execute)\s+)?` + the + `(?:unit )?tests?(?: suite)?(?: (?:of|in|for) ` + project + `)?|test ` + project + `|test it`), plain(runTests)},
	{re(`(?:run|execute|make) ` + the + `build|(?:build|compile)(?: (?:it|` + project + `))?`), plain(runBuild)},

	{re(`(?:[$!]|(?:run|execute|exec)(?: ` + the + `?(?:shell )?command)?(?::| )|(?:in ` + the + `shell,? )?(?:run|execute))\s*(.+)`), makeRun},

	{re(`count\s+` + the + `(?:number of )?lines(?: of code)?(?: ` + within + ` (.+))?`), at(countLines, 1)},
	{re(`how many lines(?: of code)?(?: (?:are|is))?(?: there)?(?: ` + within + ` (.+?)|(?: does| do| has)? (.+?)(?: have| has| contain)?)?`), func(m *masked, g []string) instruction {
		return instruction{verb: countLines, path: m.place(g[1] + g[2])}
	}},
	{re(`(?:count|how many)\s+` + the + `(?:number of )?(.*?)\s*` + files + `(?: (?:are|is) there| do (?:we|i) have| exist)?(?: (?:matching|named|called|like|with names like) (.+?))?(?: ` + within + ` (.+?))?(?: (?:are|is) there)?`), makeCountFiles},
	{re(`(?:count|how many(?: times)?|how often)\s+(?:(?:do|does|is)\s+)?` + the + `(?:number of )?(?:(?:occurrences|matches|uses|times|instances|mentions|lines)\s+(?:of|for|with|containing)\s+)?` + the + `(?:word |text |string |pattern )?(.+?)(?: (?:occurs?|appears?|used|are there|is there|mentioned))?(?: ` + within + ` (.+?))?`), makeSearch(countMatches)},

	{re(`(?:replace|change|substitute|rename)\s+(?:(?:all|every|each)\s+)?(?:(?:the\s+)?(?:occurrences?|instances?)\s+of\s+)?(?:the\s+)?(?:(?:word|text|string|name|function|variable|type|identifier)\s+)?(.+?)\s+(?:with|by|to|for|into)\s+(.+?)(?:\s+(everywhere)|,?\s+` + within + `\s+(.+))`), func(m *masked, g []string) instruction {
		return m.replacement(g[1], g[2], g[3]+g[4])
	}},
	{re(`in\s+(.+?),?\s+(?:replace|change|substitute|rename)\s+(?:(?:all|every|each)\s+)?(?:(?:the\s+)?(?:occurrences?|instances?)\s+of\s+)?(.+?)\s+(?:with|by|to|for|into)\s+(.+)`), func(m *masked, g []string) instruction {
		return m.replacement(g[2], g[3], g[1])
	}},

	{re(`(?:append|add)\s+to\s+(?:the\s+end\s+of\s+)?(?:the\s+)?(?:file\s+)?(\S+?)\s*:[ \t]*\n?(.+)`), makeAppend(2, 1)},
	{re(`(?:append|add)\s+(?:the\s+)?(?:(?:line|text|content)\s+)?(.+?)\s+to\s+(?:the\s+end\s+of\s+)?(?:the\s+)?(?:file\s+)?(\S+?)`), makeAppend(1, 2)},
	{re(`(?:create|make|add|generate)\s+` + the + `(?:new\s+)?(?:directory|folder)\b.*`), plain(unsupported)},
	{re(`(create|make|write|add|save|generate|overwrite|touch)\s+` + the + `(?:new\s+)?(?:empty\s+)?(?:text\s+)?(file,?\s+)?(?:(?:named|called|at|as)\s+)?(\S+?)(?:,?\s+(?:with|containing|that contains|that says|saying|which says|by)\b(.*)|\s*(:.*))?`), makeWrite},
	{re(`(?:write|put|save)\s+(?:the\s+)?(?:(?:text|line)\s+)?(.+?)\s+(?:to|in|into|as)\s+(?:the\s+)?(?:new\s+)?(?:file\s+)?(\S+?)`), makePut},

	{re(`(?:show|read|print|display|view|see|open|give|cat|list)\s+` + the + `(?:first|top)\s+([0-9]+)\s+lines?\s+of\s+(?:the\s+)?(?:file\s+)?(.+)`), func(m *masked, g []string) instruction {
		return instruction{verb: read, path: m.place(g[2]), to: number(g[1])}
	}},
	{re(`(?:(?:show|read|print|display|view|see|open|give)\s+)?` + the + lines + `\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?(.+)`), func(m *masked, g []string) instruction {
		return instruction{verb: read, path: m.place(g[3]), from: number(g[1]), to: lastLine(g)}
	}},
	{re(`(?:show|read|print|display|view|open|cat|look at)\s+` + the + `(?:contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(\S+?)(?:,|:)?\s+\(?(?:from\s+)?` + lines + `\)?`), func(m *masked, g []string) instruction {
		return instruction{verb: read, path: m.place(g[1]), from: number(g[2]), to: lastLine(g[1:])}
	}},

	{re(`(?:show|read|open|print|display|cat|view|look at)\s+` + the + `contents?\s+of\s+(.+)`), makeLook},
	{re(`(?:list|ls|show|print|display|find|what are)\s*` + the + `(?:` + files + `|director(?:y|ies)|folders?|contents?|(?:project|repository) files)(?:\s+` + within + `\s+(.+))?`), at(list, 1)},
	{re(`(?:(?:list|ls|show|print|display)\s*` + the + `)?(?:(?:file|directory|project|repository)\s+)?(?:tree|structure|layout)(?:\s+` + within + `\s+(.+))?`), func(m *masked, g []string) instruction {
		return instruction{verb: list, path: m.place(g[1]), depth: treeDepth}
	}},
	{re(`(?:what|which)\s+(?:files|directories)\s+(?:are|do (?:we|i) have|exist)\s*(?:there\s*)?(?:` + within + `?\s*(.+))?`), at(list, 1)},
	{re(`(?:ls|list)`), plain(list)},
	{re(`(?:find|locate|search|look|list|show|get|where (?:is|are))\s+(?:for\s+)?` + the + `(?:` + files + `\s+)?(?:named|called|matching|like|with the name|whose names? (?:match(?:es)?|is|are|contains?|ends? (?:in|with))|ending (?:in|with)|with (?:the )?extension)\s+(.+?)(?:\s+` + within + `\s+(.+))?`), makeFind},
	{re(`(?:find|locate|list|show|where (?:is|are)|search for|look for)\s+` + the + `([*\w.+#-]+|\x00[0-9]+\x00)\s+` + files + `(?:\s+` + within + `\s+(.+))?`), makeFind},
	{re(`(?:which|what)\s+` + files + `\s+(?:contain|mention|use|have|include|match)s?\s+` + the + `(?:word |text |string )?(.+?)(?:\s+` + within + `\s+(.+))?`), makeSearch(search)},
	{re(`(?:find|locate|list|where (?:is|are)|search for|look for)\s+` + the + `(?:file\s+)?(\S+)(?:\s+` + within + `\s+(.+))?`), makeFindOrSearch},
	{re(`(?:search|grep)\s+(?:in\s+)?([^\s]+|\S+ files?|the \S+)\s+for\s+(.+)`), func(m *masked, g []string) instruction {
		return makeSearch(search)(m, []string{g[0], g[2], g[1]})
	}},
	{re(`(?:find|search|grep|look|locate)\s+(?:for\s+|in\s+files\s+for\s+)?(?:(?:all|every|any|each|the)\s+)*(?:(?:occurrences?|uses?|usages?|mentions?|instances?|lines?)\s+(?:of|with|containing|matching)\s+)?(?:the\s+)?((?:regex|regular expression|pattern)\s+)?(?:(?:words?|text|strings?|phrase)\s+)?(.+?)(?:\s+` + within + `\s+(.+))?`), func(m *masked, g []string) instruction {
		in := makeSearch(search)(m, []string{g[0], g[2], g[3]})
		in.regex = in.regex || g[1] != ""
		return in
	}},
	{re(`where (?:is|are|do we|does it)\s+` + the + `(.+?)\s+(?:used|defined|declared|called|mentioned|set)(?:\s+` + within + `\s+(.+))?`), makeSearch(search)},

	{re(`(?:list|ls)\s+(.+)`), at(list, 1)},
	{re(`what(?:'s| is)\s+in\s+(?:the\s+)?(?:file\s+)?(.+)`), makeLook},
	{re(`(?:show|read|open|print|display|cat|view|look at|explain|describe|summari[sz]e)\s+` + the + `(?:contents?\s+of\s+)?(?:the\s+)?(?:files?\s+)?(.+)`), makeLook},
	{re(`(?:delete|remove|rename|move|copy|commit|fix|implement|refactor|improve)\b.*`), plain(unsupported)},
}

const lines = `lines?\s+([0-9]+)(?:\s*(?:-|–|to|through|until|and|\.\.)\s*(?:line\s+)?([0-9]+))?`

// instruction applies the rules to one clause.
func (m *masked) instruction(clause string) instruction {
	if len(clause) > maxClause {
		return instruction{verb: unknown}
	}
	for _, r := range rules {
		if g := r.match.FindStringSubmatch(clause); g != nil {
			if in := r.make(m, g); in.verb != "" {
				return in
			}
		}
	}
	return instruction{verb: unknown}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// lastLine is the end of the range in groups 1 and 2; a single line is a range of one.
func lastLine(g []string) int {
	if g[2] == "" {
		return number(g[1])
	}
	return max(number(g[1]), number(g[2]))
}
