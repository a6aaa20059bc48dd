// Package rules holds the rules of the code base as tests: who may import whom, what is documented, what a file may
// contain. It has no code of its own. A rule that fails says what to do; a rule that is in the way is changed here, in
// the same commit, with the reason beside it.
package rules
