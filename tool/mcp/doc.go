// Package mcp makes the tools of MCP servers tools of an agent.
//
// A [Client] holds the servers of one agent. [New] starts nothing: the tools come from the lists that earlier connections left in a
// directory. A server starts, or a connection opens, with the first call of one of its tools. A server without a list is unknown until
// [Client.Learn] or [Client.Connect] connects to it.
//
// Every tool is pinned by a hash of its name, description and schema. If a server changes or adds tools, these are not used until
// [Client.Accept]; a call of a changed tool fails.
//
// Everything that a server sends is data: bounded, without control characters, and marked with the name of the server. A tool has unknown
// effects, unless the person lists it in [Server.ReadOnly]. What a server claims about its tools does not count.
package mcp
