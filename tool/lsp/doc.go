// Package lsp connects a session to language servers: programs such as gopls that know the types and symbols of a project.
//
// [Servers] are the servers of one directory. A server starts when a file of its languages is first used, in the sandbox and without write
// access to the project, and ends after a while without use. [Servers.Edit] finds the problems that a change of files brings. [Servers.Tool]
// is the tool with which a model asks about symbols.
//
// The package speaks the Language Server Protocol over the standard input and output of the servers. It takes nothing that a server
// writes on trust: frames, lists and texts have limits, every request has a deadline, and a server that breaks the protocol is ended.
package lsp
