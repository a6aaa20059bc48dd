// Package transfer makes ordinary sessions of those that other programs wrote, and of our own exports.
//
// [Find] looks where the programs keep their sessions, [Open] at files that a person names; both return a [Source] for each
// session. [Import] reads one and hands it to a store, whole or not at all; [GoOn] appends what has come since to the session that was
// made of it. What a session of ours has no place for is counted in the [Report], each kind with its first example.
//
// Each format has a file that says which version of it is known. None of them is specified; all that is read is taken for hostile:
// lines are bounded, times and paths are looked at, and what cannot be read is told with its place and left out.
//
// A file is read once, line by line. What becomes of it waits in a temporary file until the whole tree is known, because the
// branch that goes on comes last in a journal: memory grows with the number of messages, not with what they say.
package transfer
