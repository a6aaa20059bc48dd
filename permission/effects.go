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
		e.Reads = touched(e.Reads, c.ReadPaths, o.Dir)
		e.Writes = touched(e.Writes, c.WritePaths, o.Dir)
		for _, h := range c.Hosts {
			if !slices.Contains(e.Hosts, h) {
				e.Hosts = append(e.Hosts, h)
			}
		}
	}
	e.Writes = slices.DeleteFunc(e.Writes, func(p tool.Path) bool { return p == everything }) // Exec says so
	e.Idempotent = !e.Exec
	return e
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
			at = tool.Path{Name: to, Tree: tree || pattern}
		}
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}
