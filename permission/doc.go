// Package permission decides what a call of a tool may do: whether it runs, is asked about, or is denied, and says why.
//
// A [Policy] is made of a [Mode], which has a verdict for every kind of effect (see [Table]), and of rules such as
//
//	allow shell(go test *)
//	ask   write(docs/**)
//	deny  fetch(*.example.com)
//
// Deny beats ask beats allow, wherever a rule stands and however special it is. A rule that allows turns what the mode asks
// about into what is allowed; what a mode denies, such as changes in plan mode, no rule allows. Rules that allow are read
// strictly: every simple command of a line must be covered, word by word. Rules that ask or deny are read generously: one
// command that is, or could be, what they say is enough.
//
// A call is judged by its [tool.Effects], commands by their syntax tree (package permission/command). Nothing is run;
// of the file system only links and directories are looked at, so that a link does not hide where a path leads.
package permission
