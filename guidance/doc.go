// Package guidance finds context files, such as AGENTS.md: instructions that a person or a project has written for agents.
//
// The caller asks a [Guide] for context blocks before every request. The guide reads a file again only after the file has changed.
package guidance
