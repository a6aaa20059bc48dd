package offline

import (
	"fmt"
	"strings"
)

// verb is what an instruction wants done.
type verb string

const (
	unknown      verb = "unknown"
	help         verb = "help"
	unsupported  verb = "unsupported"
	describe     verb = "describe"
	list         verb = "list"
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
)

// instruction is one thing that the user wants done.
type instruction struct {
	verb    verb
	text    string // as the user wrote it
	path    string // file or directory; "" is the project
	glob    string // names of files
	pattern string // what to search for
	regex   bool   // pattern is a regular expression, not plain text
	with    string // what to put in place of pattern
	content string // of a file to write
	command string
	depth   int // of a list; 0: the tool's own
	from    int // first line, from 1; 0: the beginning
	to      int // last line; 0: the end
}

// intent is the instruction in a few words.
func (in instruction) intent() string {
	where := ""
	switch {
	case in.path != "" && in.path != ".":
		where = " in " + brief(in.path)
	case in.glob != "":
		where = " in " + brief(in.glob)
	}
	switch in.verb {
	case describe:
		return "overview of the project"
	case list:
		return "list files" + where
	case read:
		return "read " + brief(in.path)
	case find:
		return "find files named " + brief(in.glob)
	case search:
		return "search for " + brief(in.pattern) + where
	case countLines:
		return "count lines" + where
	case countFiles:
		return "count files" + where
	case countMatches:
		return "count " + brief(in.pattern) + where
	case replace:
		return fmt.Sprintf("replace %s with %s%s", brief(in.pattern), brief(in.with), where)
	case create, overwrite:
		return "write " + brief(in.path)
	case appendTo:
		return "append to " + brief(in.path)
	case run:
		return "run " + brief(in.command)
	case runTests:
		return "run the tests"
	case runBuild:
		return "build the project"
	case gitLog:
		return "show the history"
	case gitStatus:
		return "show what changed"
	default:
		return "say what this model can do"
	}
}

// brief is s on one line, short enough to stand in a sentence, without marks that could end a tag or a code span.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = strings.NewReplacer("<", "‹", ">", "›", "`", "'").Replace(s)
	if short := cut(s, 60); short != s {
		return short + "…"
	}
	return s
}
