package permission

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
)

// Call is a call that is to be judged.
type Call struct {
	Tool      string // its name; of an MCP server mcp__server__tool
	Effects   tool.Effects
	Arguments json.RawMessage // only the name of an agent is read here, from the member "agent"
}

// need is one thing that a call does, which the policy must allow.
type need struct {
	kind    kind
	command int    // which command does it; -1: the call as a whole
	own     bool   // the command's own doing, which a rule about the command covers
	path    string // "" is a place that is not known
	tree    bool   // the path stands for all below it
	pattern string // what of that the shell makes names of, "" for all
	write   bool
	host    string
	any     bool   // it reaches a host that is not known before
	text    string // what it is, in words
}

// noCommand is the index for what no single command does.
const noCommand = -1

// needs takes a call apart. Every command has at least one need.
func (p *Policy) needs(c Call) ([]need, command.Analysis) {
	var all []need
	var a command.Analysis
	e := c.Effects
	if e.Command != "" {
		a = p.analyze(e.Command, e.Dir)
		all = p.line(a)
	}
	judged := len(all) // the shell tool tells of its command's paths too
	told := func(at tool.Path, write bool) bool {
		return slices.ContainsFunc(all[:judged], func(n need) bool {
			return n.write == write && n.path == at.Name || !write && at == everything // which stands for what is not known
		})
	}
	for _, r := range e.Reads {
		if !told(r, false) {
			all = append(all, p.file(r, false))
		}
	}
	for _, w := range e.Writes {
		if !told(w, true) {
			all = append(all, p.file(w, true))
		}
	}
	for _, h := range e.Hosts {
		if !slices.ContainsFunc(all, func(n need) bool { return n.host == h }) {
			all = append(all, p.reach(h))
		}
	}
	one := func(k kind, is bool, text string) {
		if is {
			all = append(all, need{kind: k, command: noCommand, text: text})
		}
	}
	one(unknownTool, e.Exec && e.Command == "", c.Tool)
	one(unconfined, e.Unconfined, c.Tool)
	one(startsAgents, e.Agents, c.Tool)
	one(asksPerson, e.Asks, c.Tool)
	one(nothing, len(all) == 0, c.Tool)
	return all, a
}

// file is what a tool does to a path.
func (p *Policy) file(at tool.Path, write bool) need {
	n := need{command: noCommand, path: at.Name, tree: at.Tree, write: write, text: touching(at.Name, write)}
	n.kind = p.placed(at.Name, write)
	if write && at.Tree && n.kind == writeInside && around(p.options.Protected, at.Name) {
		n.kind = writeProtected
	}
	return n
}

// touching says what is done to a path.
func touching(name string, write bool) string {
	if write {
		return "writes " + name
	}
	return "reads " + name
}

// placed is the kind of reading or writing a path.
func (p *Policy) placed(name string, write bool) kind {
	inside := in(p.roots, name)
	switch {
	case in(p.options.Hidden, name):
		return hidden
	case !write && (inside || in(p.options.Readable, name)):
		return readInside
	case !write:
		return readOutside
	case in(p.options.Protected, name), inside && steersGit(name):
		return writeProtected
	case inside:
		return writeInside
	}
	return writeOutside
}

// steersGit reports whether a file says what git runs. A repository within the project is one too: git looks into it when it is
// asked about the one around it.
func steersGit(name string) bool {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		if folds {
			part = strings.ToLower(part)
		}
		if part != ".git" {
			continue
		}
		if i+1 == len(parts) {
			return true // a file that says where the repository is
		}
		switch key(parts[i+1]) {
		case "hooks", "config", "config.worktree", "commondir", "modules", "worktrees":
			return true
		}
	}
	return false
}

func (p *Policy) reach(host string) need {
	n := need{kind: otherHost, command: noCommand, host: host, text: "reaches " + host}
	for _, h := range p.network {
		if h.hits(host) == yes {
			n.kind = listedHost
		}
	}
	return n
}

// line is what the commands of a line do.
func (p *Policy) line(a command.Analysis) []need {
	var all []need
	for _, problem := range a.Problems {
		all = append(all, need{kind: unreadable, command: noCommand, text: problem.String()})
	}
	for i := range a.Commands {
		all = append(all, p.command(&a.Commands[i], i)...)
	}
	if p.mode == Inspect {
		for _, problem := range a.Inspect() {
			all = append(all, need{kind: chained, command: noCommand, text: problem.String()})
			break
		}
	}
	if len(all) == 0 {
		all = append(all, need{kind: harmless, command: noCommand, text: "nothing to run"})
	}
	return all
}

// command is what one command does.
func (p *Policy) command(c *command.Command, i int) (all []need) {
	say := func(k kind) { all = append(all, need{kind: k, command: i, own: true, text: c.Why}) }
	paths := p.paths(c, i)
	switch {
	case c.Does&command.Unknown != 0:
		say(unknownCommand)
	case c.Does&^command.Reads == 0:
		say(harmless)
	}
	if c.Does&command.Destroys != 0 {
		say(p.destruction(c, paths))
	}
	if c.Does&command.Executes != 0 {
		say(runsCode)
	}
	if outOfReach(c) {
		say(leaves)
	}
	if c.Does&command.Network != 0 {
		say(usesNetwork)
		all[len(all)-1].any = slices.Contains(c.Hosts, "")
	}
	if c.Does&command.Writes != 0 && len(c.WritePaths) == 0 {
		say(writeSomewhere)
	}
	all = append(all, paths...)
	for _, h := range c.Hosts {
		if h == "" {
			continue
		}
		n := p.reach(h)
		n.command, n.own = i, true
		all = append(all, n)
	}
	return all
}

// outside are programs that let others act for them: another user, or a service that no sandbox of ours holds.
var outside = []string{
	"sudo", "doas", "su", "runuser", "pkexec", "systemd-run", "systemctl", "launchctl", "at", "batch", "crontab", "nsenter",
	"docker", "podman", "nerdctl", "lxc", "machinectl", "schtasks", "runas",
}

// outOfReach reports whether a command acts where the sandbox does not hold. What it only shows of itself is no such thing.
func outOfReach(c *command.Command) bool {
	if c.Does&^command.Reads == 0 || len(c.Words) == 0 {
		return false
	}
	for _, via := range c.Via {
		if program, _, _ := strings.Cut(via, " "); slices.Contains(outside, program) {
			return true
		}
	}
	return slices.Contains(outside, path.Base(c.Words[0]))
}

// paths is what a command does to files.
func (p *Policy) paths(c *command.Command, i int) (all []need) {
	for _, name := range c.ReadPaths {
		n := p.commandPath(name, false, false)
		n.command, n.own = i, !slices.Contains(c.Redirects, name)
		all = append(all, n)
	}
	for _, name := range c.WritePaths {
		n := p.commandPath(name, true, c.Does&command.Destroys != 0)
		n.tree = n.tree || slices.Contains(c.Trees, name) && (!c.Copies || directory(c.ReadPaths))
		n.command, n.own = i, !slices.Contains(c.Redirects, name)
		all = append(all, n)
	}
	return all
}

// directory reports whether one of the paths may be a directory. One that is not there yet may become one.
func directory(names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(filepath.FromSlash(name))
		return err != nil || info.IsDir()
	})
}

func (p *Policy) commandPath(name string, write, destroys bool) need {
	if name == "" {
		n := need{kind: readSomewhere, write: write, text: touching("a place that is not known before", write)}
		if write {
			n.kind = writeSomewhere
		}
		return n
	}
	pattern := ""
	if strings.ContainsAny(name, "*?[") {
		pattern = path.Clean(name)
		name = literal(pattern)
	}
	at, dir := resolve(p.options.Root, filepath.FromSlash(name))
	n := need{path: at, tree: dir || pattern != "", pattern: pattern, write: write, text: touching(at, write), kind: p.placed(at, write)}
	meets := func(places []string, deep bool) bool {
		if pattern == "" {
			return deep && around(places, at)
		}
		return slices.ContainsFunc(places, func(q string) bool {
			q = filepath.ToSlash(q)
			return (deep || strings.Count(pattern, "/") >= strings.Count(q, "/")) && reachable(pattern, q)
		})
	}
	switch {
	case meets(p.options.Hidden, destroys && !slices.Contains(p.roots, at)):
		n.kind = hidden // it names one, or removes what one is in
	case n.kind == writeProtected && !destroys && filepath.Base(at) == ".git" && in(p.roots, filepath.Dir(at)):
		n.kind = writeAround // what git does with its repository, also where .git is a file that leads there
	case n.kind == readInside && !p.options.Sandboxed && meets(p.options.Hidden, true):
		n.kind = readOutside // where no sandbox hides it
	case n.kind == writeInside && meets(p.options.Protected, true):
		if n.kind = writeAround; destroys {
			n.kind = writeProtected
		}
	}
	return n
}

// literal is the directory that a pattern of paths starts in.
func literal(pattern string) string {
	meta := strings.IndexAny(pattern, "*?[")
	return path.Clean(pattern[:strings.LastIndexByte(pattern[:meta], '/')+1])
}

// reachable reports whether a pattern, as the shell expands it, may name a place, what it is in, or what is in it.
func reachable(pattern, place string) bool {
	have := strings.Split(place, "/")
	for i, part := range strings.Split(pattern, "/") {
		if i >= len(have) {
			return true
		}
		if strings.HasPrefix(have[i], ".") && !strings.HasPrefix(part, ".") && !strings.HasPrefix(part, "[") {
			return false
		}
		if ok, err := path.Match(part, have[i]); !ok && err == nil && !strings.Contains(part, "[") {
			return false
		}
	}
	return true
}

// destruction tells what is lost with files in the workspace that are named, which checkpoints may have, from all else.
func (p *Policy) destruction(c *command.Command, paths []need) kind {
	named := len(c.WritePaths) > 0
	for _, n := range paths {
		if n.write && (n.kind != writeInside || filepath.Base(n.path) == ".git" || strings.Contains(filepath.ToSlash(n.path), "/.git/") || slices.Contains(p.roots, n.path)) {
			named = false
		}
	}
	if !named || c.Does&command.Unknown != 0 {
		return destroys
	}
	return destroysFiles
}
