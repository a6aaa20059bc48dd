// Package command says what a shell command line does before it runs: what it reads and writes, whom it talks to, which
// programs it starts, and what could not be told. It parses the line as bash does and judges the syntax tree, so that
// quotes, backslashes, substitutions and wrappers such as env, xargs, sh -c or find -exec hide nothing.
//
// [Analyze] never fails: what it cannot judge it says, as [Unknown] in what a command does or as a [Problem] of the line.
// What it calls harmless is meant to be so; what it does not call harmless may be. It looks at the text alone: it runs
// nothing, opens no file and asks no environment. A line is bounded in length, nesting and number of commands.
//
// What it takes for granted: the line is run by bash, or by a POSIX shell; programs found by PATH are those that their
// names promise; the configuration of the person (shell start files, ~/.gitconfig, .git/config) is trusted.
//
// What well-known programs do stands in the files of the directory programs. A program, or an option of a program, that is
// not there is unknown.
package command
