// Package session is the journal: the one record of everything that happens between a person, a model and the tools.
//
// A session is a list of [Event] values. Those with a sequence number are entries: they are in a [Store] for ever. Those
// without are passing moments that only live consumers see. Entries form a tree by their Parent; a rewind or a new
// branch is a [Head] entry whose parent lies further back, so nothing is ever taken away. The branch that ends at an
// entry is a [Path], read from its end. What a person or a model sees is a view, a plain function over a path:
// [Messages], [Uses], [Todos], [StateOf].
//
// One [Writer] at a time holds the lease of a session; any number of readers follow with Store.Watch. When a process dies,
// the next one that opens the session appends what [Recover] says: every call that was under way gets its one result.
package session
