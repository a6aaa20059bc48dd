// Package shell provides the tools that run commands in the workspace: shell runs a command, or starts it as a background job; job
// manages background jobs.
package shell
