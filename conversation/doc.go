// Package conversation opens and drives sessions for frontends: a terminal, a command line, a server, an editor.
//
// [Choose] finds the session that a person means: a new one, the last one of a directory, one by ID prefix, a fork. A [Conversation] is an
// open session: its state, its events, prompts, drafts, answers, changes, rewinds. [Local] is one in this process. The package knows no
// flags and prints nothing: it returns facts that a person should know as a [Warning].
package conversation
