// Package transfer imports sessions of other programs, and Tenon's own exports, as ordinary sessions.
//
// [Find] searches the usual places of the programs, [Open] the files that a person names; both return a [Source] for each
// session. [Import] reads a source into a store, completely or not at all. The [Report] counts the parts that a session cannot represent, each kind with its first example.
//
// A user message of another program can contain texts of that program. The importer gives them a speaker that is not the person.
//
// Each format has a file that names the known versions. None has a specification, and all input is untrusted:
// the readers bound lines, check times and paths, and report unreadable parts with their position.
//
// The readers read a file once, line by line. A temporary file holds the entries until the whole tree is known, because the
// current branch comes last in a journal: memory grows with the number of messages, not with their size.
package transfer
