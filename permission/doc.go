// Package permission judges calls of tools before they run: it allows a call, asks a person about it, or denies it, with a reason.
//
// A [Policy] has a [Mode], which decides about every kind of effect (see [Table]), and rules such as
//
//	allow shell(go test *)
//	ask   write(docs/**)
//	deny  fetch(*.example.com)
//
// Deny beats ask, and ask beats allow, whatever the order of the rules and however specific they are. An allow rule lifts a question
// of the mode. No rule lifts a denial of the mode, such as that of changes in plan mode. Allow rules are strict: rules must cover
// every simple command of a line, word by word. Ask and deny rules are broad: one command that may match is enough.
//
// A [Judge] is a policy, a live one that changes while a session is open, or the [Meet] of two.
//
// Policies judge the [tool.Effects] of a call, and command lines by their syntax tree (package permission/command). They run
// nothing and read no files. They look up links and directories, so that a link does not hide the target of a path.
package permission
