package permission

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// everything is the path of a read that cannot be determined in advance.
var everything = tool.Tree(string(filepath.Separator))

// analyzed is the analysis of a command line with its input. [Effects] carries it, and policies with the same directories judge it. Only
// this package can make one, and it never changes.
type analyzed struct {
	line    string
	options command.Options
	command.Analysis
}

// analyze returns the analysis of the command line in the effects of a call, which is the carried one if it has the same input.
func (e *environment) analyze(call tool.Effects) command.Analysis {
	o := command.Options{Dir: cmp.Or(call.Dir, e.options.Root), Home: e.options.Home, Roots: e.roots, Shell: e.options.Shell}
	if a, ok := call.Analysis.(*analyzed); ok && a.line == call.Command && a.options.Dir == o.Dir && a.options.Home == o.Home &&
		a.options.Shell == o.Shell && slices.Equal(a.options.Roots, o.Roots) {
		return a.Analysis
	}
	return command.Analyze(call.Command, o)
}

// Effects returns the effects of a command line, for a tool that runs it. They are declared only if the whole line is known and
// only reads. Reads then lists the paths, or the whole file system if a path cannot be determined. The effects carry the analysis, so
// that a policy need not repeat it. Command is the text that the shell must run: the line in its canonical form, or the line itself if it has
// none, which Unknown and the problems of the analysis say. The paths go by the directory for temporary files, as the sandbox shows it.
func Effects(line string, o command.Options, scratch paths.Scratch) tool.Effects {
	resolver := &paths.Resolver{Scratch: scratch}
	o.Roots = slices.Clone(o.Roots)
	a := command.Analyze(line, o)
	line = cmp.Or(a.Text, line)
	e := tool.Effects{Command: line, Dir: o.Dir, Unknown: !a.Harmless(), Analysis: &analyzed{line, o, a}}
	e.Exclusive, e.Idempotent = e.Unknown, !e.Unknown
	for _, c := range a.Commands {
		reads := c.ReadPaths
		if len(reads) == 0 && !e.Unknown && !still(c) {
			reads = []string{c.Dir} // such as git log: no call that writes there may run at the same time
		}
		e.Reads = touched(e.Reads, reads, o.Dir, resolver)
		e.Writes = touched(e.Writes, c.WritePaths, o.Dir, resolver)
		for _, h := range c.Hosts {
			if h != "" && !slices.Contains(e.Hosts, h) {
				e.Hosts = append(e.Hosts, h)
			}
		}
	}
	e.Writes = slices.DeleteFunc(e.Writes, func(p tool.Path) bool { return p == everything }) // Unknown says so
	e.None = !e.Unknown && len(e.Reads) == 0 && len(e.Writes) == 0 && len(e.Hosts) == 0
	return e
}

// resting are programs that read no file of the project.
var resting = strings.Fields(": true false echo printf seq sleep date pwd basename dirname expr id whoami uname hostname uptime nproc env printenv cd")

// still reports whether a harmless command reads no file and lists no directory, as the expansion of a pattern does.
func still(c command.Command) bool {
	pattern := func(w string) bool { return strings.ContainsAny(w, "*?[") }
	return len(c.Words) > 0 && slices.Contains(resting, path.Base(c.Words[0])) && !slices.ContainsFunc(c.Words, pattern)
}

// touched adds the paths of a command, with links resolved.
func touched(all []tool.Path, names []string, dir string, resolver *paths.Resolver) []tool.Path {
	for _, name := range names {
		at := everything
		if name != "" {
			pattern := strings.ContainsAny(name, "*?[")
			if pattern {
				name = literal(path.Clean(name))
			}
			to := resolver.Guess(filepath.FromSlash(name))
			at = tool.Path{Name: to.Path, Tree: to.Dir || pattern || name == dir}
		}
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}
