// Package session is the journal: the one record of everything that happens between a person, a model and the tools.
//
// A session is a list of [Event] values. An event with a sequence number is an entry: the journal keeps it. An event without one is
// transient: only listeners see it. Entries form a tree by their Parent. A rewind or a new branch is a [Head] entry whose parent is an
// older entry, so a journal never loses anything. Package view reads branches: a view is a function over the path from an entry to the
// root.
//
// A fork is a session whose branch continues from an entry of another session (Created.Fork). Its path leads from its own entries to its
// Created, and then to the entries of the other session, which both share. A fork does not inherit entries aside of branches, such as
// titles and changes of files.
//
// One [Writer] at a time holds the lease of a session. Any number of readers follow with Log.Watch. If a process dies, the next process
// that opens the session appends the missing results (view.Recover).
package session
