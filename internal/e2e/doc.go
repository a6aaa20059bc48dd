// Package e2e is tests of the whole program against every protocol: the real tenon, as a process of its own, is started with
// only the variables set that its documentation names, works in a project of its own, and asks a server of package
// modelserver that answers, fails, stalls and lies by a script.
//
// What a single client does with a single byte is tested where that client is. Here stands what a person would notice: the
// answer, once and whole; the exit code; what is said about failures; what the journal keeps; and that no key is seen anywhere.
package e2e
