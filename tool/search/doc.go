// Package search provides the tools that search a project: glob finds files by name, grep finds lines by content.
//
// Both respect the ignore files of the workspace, follow no links, and return the same result in the same order for the same tree.
package search
