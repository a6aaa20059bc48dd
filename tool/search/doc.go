// Package search is the tools that find things in a project: glob finds files by name, grep finds lines by content.
//
// Both honour the ignore files of the workspace, follow no links, and give the same answer in the same order for the same tree.
package search
