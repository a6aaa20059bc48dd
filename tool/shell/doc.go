// Package shell is the tool that runs a command in the workspace and tells what it wrote and how it ended.
package shell
