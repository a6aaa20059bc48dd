package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
)

// everything stands for reading what is not known before.
var everything = tool.Tree(string(filepath.Separator))

// Effects returns what a command line would touch, for a tool that runs it. Exec is false only for a line of which everything
// is known and that only reads; where it reads is then in Reads, which is the whole file system when that is not known.
func Effects(line string, o command.Options) tool.Effects {
	a := command.Analyze(line, o)
	e := tool.Effects{Command: line, Dir: o.Dir, Exec: !a.Harmless()}
	for _, c := range a.Commands {
		reads := c.ReadPaths
		if len(reads) == 0 && !e.Exec && !still(c) {
			reads = []string{c.Dir} // such as git log: nothing that is written there may run beside it
		}
		e.Reads = touched(e.Reads, reads, o.Dir)
		e.Writes = touched(e.Writes, c.WritePaths, o.Dir)
		for _, h := range c.Hosts {
			if h != "" && !slices.Contains(e.Hosts, h) {
				e.Hosts = append(e.Hosts, h)
			}
		}
	}
	e.Writes = slices.DeleteFunc(e.Writes, func(p tool.Path) bool { return p == everything }) // Exec says so
	e.Idempotent = !e.Exec
	return e
}

// resting are programs that look at no file of the work.
var resting = strings.Fields(": true false echo printf seq sleep date pwd basename dirname expr id whoami uname hostname uptime nproc env printenv cd")

// still reports whether a harmless command looks at no files: their names alone, which a pattern stands for, are files too.
func still(c command.Command) bool {
	pattern := func(w string) bool { return strings.ContainsAny(w, "*?[") }
	return len(c.Words) > 0 && slices.Contains(resting, path.Base(c.Words[0])) && !slices.ContainsFunc(c.Words, pattern)
}

// touched adds the places of a command, links resolved.
func touched(all []tool.Path, names []string, dir string) []tool.Path {
	for _, name := range names {
		at := everything
		if name != "" {
			pattern := strings.ContainsAny(name, "*?[")
			if pattern {
				name = literal(path.Clean(name))
			}
			to, tree := resolve("", filepath.FromSlash(name))
			at = tool.Path{Name: to, Tree: tree || pattern || name == dir}
		}
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}
