// Package role has roles. A role is a named configuration of an agent: its prompt, model, tools, permissions and limits.
//
// A role is a Markdown file with front matter. The body is the prompt:
//
//	---
//	name: docs
//	description: Writes and corrects documentation
//	model: small
//	tools: read, grep, glob, edit, write
//	deny: write(src/**)
//	---
//	You write documentation. Every command in it must work when it is pasted.
//
// [Parse] also reads the agents of Claude Code. A role only narrows: the permissions of its agent are the stricter verdict of those of the role
// and of the session or agent that uses it.
package role
