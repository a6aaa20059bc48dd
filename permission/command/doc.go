// Package command analyzes a shell command line before it runs: the files that it reads and writes, the hosts that it reaches, the
// programs that it starts, and the parts that cannot be determined in advance. It parses the line as bash does and judges the syntax
// tree, so that quotes, backslashes, substitutions and wrappers such as env, xargs, sh -c or find -exec hide nothing.
//
// [Analyze] never fails. It reports parts that it cannot judge as [Unknown] effects of a command, or as a [Problem] of the line. It
// errs on the safe side: a command that it calls harmless is harmless, and others may be. It looks at the text alone: it runs
// nothing, opens no file and reads no environment. It bounds the length, the nesting and the number of commands of a line.
//
// A shell may read a line in other ways than a parser. Analyze therefore judges the canonical form of a line, [Analysis.Text], which shells
// and the parser read alike. A program that runs the line must run that text. Tests run generated lines in bash and dash, and find programs
// that ran without having been judged.
//
// It assumes that bash or a POSIX shell runs the line, that programs in PATH do what their names promise, and that the
// configuration of the person (shell start files, ~/.gitconfig, .git/config) is trusted.
//
// The files in the directory programs describe well-known programs. A program or an option without an entry is unknown.
package command
