// Package guidance finds what people wrote down for agents: context files such as AGENTS.md, those of the person and those of the project.
//
// A [Guide] is asked before every request. What has not changed on disk is not read again.
package guidance
