package command

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Does is a set of effects of a command.
type Does uint16

// The effects of a command. Without any, it prints, computes, or changes only the state of its own shell.
const (
	Reads     Does = 1 << iota // reads files
	Writes                     // creates, changes, moves or removes files
	Network                    // reaches other machines
	Executes                   // runs code that is not in the line: scripts, build files, hooks; or runs as another user
	Destroys                   // has effects that cannot be undone: deletes trees, discards commits, ends processes
	Unknown                    // may have effects that cannot be determined
	Publishes                  // makes something public or changes it elsewhere: pushes, releases, uploads, posts
	Discards                   // may discard changes that a person has made and not committed; with Destroys
	Queries                    // asks a service that the person has set up, and changes nothing: docker ps, gh pr list
)

// String lists the effects: "reads, writes".
func (d Does) String() string {
	if d == 0 {
		return "nothing"
	}
	var names []string
	for i, name := range []string{"reads", "writes", "network", "executes", "destroys", "unknown", "publishes", "discards", "queries"} {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Analysis is the effects of a command line. Several goroutines may read it; none may change it.
type Analysis struct {
	Commands []Command // every simple command that may run, in the order of the text; those in substitutions come first
	Problems []Problem // parts that cannot be judged

	// Text is the line in its canonical form, which the shell reads as Tenon does. The shell must run this text: the line itself may
	// do something else. It is "" if there is none; Problems then says why.
	Text string

	chain []Problem    // parts that mode inspect does not allow
	tree  *syntax.File // of the line; nil if it cannot be parsed
}

// Tree returns the syntax tree of the line, which the caller must not change. It is nil if the line cannot be parsed.
func (a Analysis) Tree() *syntax.File { return a.tree }

// Command is one simple command of a line: a program with its arguments, or a builtin of the shell. An assignment or
// a redirection without a program has a Command of its own if it has effects.
type Command struct {
	Words   []string // program and arguments, without quotes and backslashes; "" for a word that cannot be determined in advance
	Dynamic []int    // the indexes of such words; words that the shell may expand to file names are patterns
	Via     []string // the wrappers around it, from the outside: "env", "xargs", "sh -c", "$(...)"
	Dir     string   // its directory, absolute; "" if it cannot be determined
	Options []Option // the options among Words, as far as the program is known
	Sorted  bool     // Options is complete, also once the command runs
	Does    Does
	Adds    Does // the part of Does of assignments, redirections and wrappers

	// The files it reads and writes, absolute and without "." and "..", links not resolved. A directory includes all paths below
	// it, a pattern all paths that it may match, "" is a path that cannot be determined. Where a path goes up from a directory that
	// may be a link, that directory is listed too.
	ReadPaths, WritePaths []string
	Trees                 []string // the WritePaths that may become directories, with files that the line does not name
	Copies                bool     // Trees become directories only if the command reads a directory
	Redirects             []string // the paths of redirections

	// Directories and patterns. The command reads names of files below them as words, as find, ls or a pattern prints them. All that is said
	// here is true only if none of these names, taken apart at spaces, starts with a dash or leads elsewhere, and no file is a link that does.
	Names []string

	Follows bool   // it follows links below ReadPaths; the analysis is right only if none of them leads elsewhere
	Imports string // the directory from which python may import a module in place of one of its own, and then run it; "": none

	Hosts        []string // the hosts that it reaches, as far as the line names them: "example.org", "example.org:8080", "" for an unknown one
	Why          string   // the effects, in a few words for people
	Line, Column int      // its position, from 1, in bytes; for text within text, the position of the outermost text
}

// Option is an option of a command.
type Option struct {
	Names   []string // all its spellings: -r, -R, --recursive
	Given   string   // the one in the line, or another word with the same effect, such as the + of git push origin +main
	Value   string
	Valued  bool // it has a value
	Dynamic bool // the value cannot be determined in advance
}

// Problem is a reason that a line, or a part of it, cannot be judged.
type Problem struct {
	Text         string
	Line, Column int // from 1
}

// String is the problem with its position: "1:7: this is not closed".
func (p Problem) String() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Text) }

// Does returns the effects of all commands together. A problem counts as [Unknown].
func (a Analysis) Does() (d Does) {
	for _, c := range a.Commands {
		d |= c.Does
	}
	if len(a.Problems) > 0 {
		d |= Unknown
	}
	return d
}

// Harmless reports whether the effects of the line are known and it only reads files, whichever they are. If that
// depends on the names of files (Command.Names) or on links (Command.Follows), they are not known.
func (a Analysis) Harmless() bool {
	return a.Does()&^Reads == 0 && !slices.ContainsFunc(a.Commands, func(c Command) bool { return len(c.Names) > 0 || c.Follows || c.Imports != "" })
}

// Inspect returns the parts of the line that mode inspect does not allow. It allows harmless commands that only | and || join,
// without substitutions.
func (a Analysis) Inspect() []Problem {
	broken := append(append([]Problem{}, a.Problems...), a.chain...)
	for _, c := range a.Commands {
		if c.Does&^Reads != 0 {
			broken = append(broken, Problem{Text: c.Why, Line: c.Line, Column: c.Column})
		}
	}
	return broken
}
