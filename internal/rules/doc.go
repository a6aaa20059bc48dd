// Package rules checks the rules of the code base as tests: imports, documentation, contents of files. It has no code. A rule that fails
// says what to do. To change a rule, edit it in the same commit and add the reason.
package rules
