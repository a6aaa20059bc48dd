// Package e2e tests the whole program against every protocol. The tests start the real tenon as a process, with only the documented
// variables, in its own project. A server of package modelserver answers, fails, stalls and lies by a script.
//
// The tests of a client check single bytes. These tests check the facts that a person would notice: the complete answer, the exit code, the
// text of failures, the journal, and that no key is visible.
package e2e
