// Package attach lets another process on the same machine drive an open session. The process that has the session open serves its
// [conversation.Conversation] on a unix socket with [Serve]; a [Client] is the same interface in the other process.
//
// Each operation has a connection of its own: one line of JSON with the operation and its arguments, then lines of events and one line with
// the result. So a slow reader of one stream delays neither the other operations nor the agent: while a reader is slow, the agent joins or
// drops transient events for it, and it reads entries from the store.
//
// Everyone who reaches the socket can answer questions about permissions. Only processes of the same account reach it, and no command in a
// sandbox of Tenon: the sandbox hides the directory of the sockets, and on Linux the server refuses a process that sees other mounts. A
// command that a person lets run outside of the sandbox is a process like any other of the account.
package attach
