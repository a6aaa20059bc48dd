// Package session is the journal: the one record of everything that happens between a person, a model and the tools.
//
// A session is a list of [Event] values. Those with a sequence number are entries: they are in a [Store] for ever. Those
// without are passing moments that only live consumers see. Entries form a tree by their Parent; a rewind or a new
// branch is a [Head] entry whose parent lies further back, so nothing is ever taken away. The branch that ends at an
// entry is a [Path], read from its end. What a person or a model sees is a view, a plain function over a path:
// [Messages], [Uses], [Todos], [StateOf].
//
// A fork is a session whose branch goes on from an entry of another one (Created.Fork): its path leads from its own entries over its
// Created into those of the other, which are shared and stay as they are. What hangs on no branch, such as titles and changes of
// files, is not inherited.
//
// One [Writer] at a time holds the lease of a session; any number of readers follow with Store.Watch. When a process dies,
// the next one that opens the session appends what [Recover] says: every call that was under way gets its one result.
package session
