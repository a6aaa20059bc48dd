package app

import (
	"fmt"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/workspace/gitdir"
)

// unattended is the fact about a run of which no one answers questions.
const unattended = "User: away. No one answers questions or approves calls in this run: decide yourself, and state your assumptions.\n"

// facts is the environment block of the context.
func facts(dir, root, may string, asks bool, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Working directory: %s\n", dir)
	if root != dir {
		fmt.Fprintf(&b, "Repository: %s\n", root)
	}
	fmt.Fprintf(&b, "Git: %s\nSystem: %s/%s\nDate: %s\n", branch(dir), runtime.GOOS, runtime.GOARCH, now.Format(time.DateOnly))
	if may != "" {
		fmt.Fprintf(&b, "Permission: %s\n", may)
	}
	if !asks {
		b.WriteString(unattended)
	}
	return b.String()
}

// May describes for the model the permissions of the mode, and the sandbox of commands. asks means that people can answer questions.
func (b Bounds) May(mode permission.Mode, asks bool) string {
	mode = mode.In(b.Sandbox != nil)
	text := mode.ForModel()
	if !asks && !mode.Free() {
		text += "; a call that needs approval is denied"
	}
	if b = b.in(mode); b.Sandbox == nil {
		return text
	}
	reach := "no network"
	switch n := b.Sandbox.Network; {
	case n.Open:
		reach = "the network"
	case len(n.Hosts) > 0:
		reach = "only these hosts: " + strings.Join(n.Hosts, ", ")
	}
	writes := mode != permission.Inspect && mode != permission.Plan // those deny every command that writes
	text += ". Commands run in a sandbox: they can "
	if writes {
		text += "write here"
		if s := b.scratch(); len(s.Names) > 0 {
			text += " and to " + s.Names[0] + " (private to this session and kept between calls; file tools see the same files there)"
		}
		text += ", "
	}
	text += "read all but secrets, and reach " + reach
	if writes && b.Sandbox.Shares() {
		text += ". Commands and jobs share a private network: start a server as a job, and reach it at 127.0.0.1 with later commands and fetch"
	}
	return text
}

// branch returns the git branch of the working tree of dir.
func branch(dir string) string {
	name, commit := gitdir.Head(guidance.Root(dir))
	switch {
	case len(name) > 250 || strings.ContainsFunc(name, func(r rune) bool { return r == '<' || unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return "a branch with an invalid name" // a text that is not from git
	case name != "":
		return "branch " + name
	case commit != "":
		return "detached head"
	}
	return "no repository"
}
