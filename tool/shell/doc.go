// Package shell has the tools that run commands in the workspace: shell runs one and tells what it wrote and how it ended, or
// starts it as a job in the background; job looks after those.
package shell
