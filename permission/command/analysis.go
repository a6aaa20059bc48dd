package command

import (
	"fmt"
	"strings"
)

// Does is a set of what a command does.
type Does uint8

// What a command can do. None of them: it prints, computes, or changes only the state of its own shell.
const (
	Reads    Does = 1 << iota // reads files
	Writes                    // creates, changes, moves or removes files
	Network                   // talks to other machines
	Executes                  // runs code that is not in the line: scripts, build files, hooks, another user's rights
	Destroys                  // what it does cannot be taken back: removes trees, discards commits, ends processes
	Unknown                   // what it does could not be told
)

// String lists what is in the set: "reads, writes".
func (d Does) String() string {
	if d == 0 {
		return "nothing"
	}
	var names []string
	for i, name := range []string{"reads", "writes", "network", "executes", "destroys", "unknown"} {
		if d&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Analysis is what a command line does. It is a value that belongs to the caller.
type Analysis struct {
	Commands []Command // every simple command that may run, in the order of the text; those in substitutions come first
	Problems []Problem // what could not be judged as a whole

	chain []Problem // what inspect mode does not allow in a line
}

// Command is one simple command of a line: a program with its arguments, or a builtin of the shell. An assignment or
// a redirection that stands alone and matters has a Command of its own.
type Command struct {
	Words   []string // program and arguments, without quotes and backslashes; "" for a word that is not known before it runs
	Dynamic []int    // the indexes of such words; words that the shell may expand to file names are known, as patterns
	Via     []string // what it was found in, from the outside: "env", "xargs", "sh -c", "$(...)"
	Dir     string   // where it runs, absolute; "" when that is not known
	Options []Option // those among Words, as far as the program is known
	Sorted  bool     // Options are all that there are, and all that there can be once it runs
	Does    Does
	Adds    Does // the part of Does that is not the program's own: of assignments, redirections and what is in Via

	// The files it reads and writes, absolute and without "." and "..", links not resolved. A directory stands for all below
	// it, a pattern for all that it may match, "" for a place that is not known. Where a path goes up from a directory that
	// may be a link, that directory is listed too.
	ReadPaths, WritePaths []string
	Trees                 []string // those of WritePaths that may become directories, with files that the line does not name
	Copies                bool     // they do only where what it reads is a directory
	Redirects             []string // those of them that redirections read and write

	Hosts        []string // whom it talks to, as far as the line says so: "example.org", "example.org:8080", "" for one that is not known
	Why          string   // what it does, in a few words for people
	Line, Column int      // where it stands, from 1, in bytes; for text within text, where the outermost text stands
}

// Option is an option of a command.
type Option struct {
	Names   []string // all its spellings: -r, -R, --recursive
	Given   string   // the one in the line; what else says the same, such as the + of git push origin +main
	Value   string
	Valued  bool // it has a value
	Dynamic bool // which is not known before it runs
}

// Problem is something that keeps a line, or a part of it, from being judged.
type Problem struct {
	Text         string
	Line, Column int // from 1
}

// String is the problem with its place: "1:7: this is not closed".
func (p Problem) String() string { return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Text) }

// Does returns what all commands of the line do together. A problem counts as [Unknown].
func (a Analysis) Does() (d Does) {
	for _, c := range a.Commands {
		d |= c.Does
	}
	if len(a.Problems) > 0 {
		d |= Unknown
	}
	return d
}

// Harmless reports whether all that the line does is known and it only reads files. Which files is another question.
func (a Analysis) Harmless() bool { return a.Does()&^Reads == 0 }

// Inspect returns what breaks the rules of inspect mode, nothing when the line keeps them: harmless commands, joined by
// | and || alone, without substitutions.
func (a Analysis) Inspect() []Problem {
	broken := append(append([]Problem{}, a.Problems...), a.chain...)
	for _, c := range a.Commands {
		if c.Does&^Reads != 0 {
			broken = append(broken, Problem{Text: c.Why, Line: c.Line, Column: c.Column})
		}
	}
	return broken
}
