package permission

import (
	"encoding/json"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
	paths "github.com/tenon-agent/tenon/workspace/path"
)

// Call is the subject of a verdict.
type Call struct {
	Tool      string // its name; for a tool of an MCP server mcp__server__tool
	Effects   tool.Effects
	Arguments json.RawMessage // Judge reads the member "agent", the name of an agent, and nothing else
}

// need is one effect of a call. The policy must allow each.
type need struct {
	kind    kind
	command int    // the index of the command that has it; noCommand: the call as a whole
	own     bool   // an effect of the command itself: a rule about the command covers it
	path    string // "" if it cannot be determined
	tree    bool   // with all paths below it
	pattern string // the pattern that the shell expands to names in path, "" for all
	write   bool
	host    string
	any     bool   // it reaches a host that cannot be determined in advance
	text    string // describes it
}

// noCommand is the index for effects of the call as a whole.
const noCommand = -1

// needs lists the effects of a call. Every command has at least one.
func (p *Policy) needs(c Call) ([]need, command.Analysis) {
	var all []need
	var a command.Analysis
	e := c.Effects
	if e.Unconfined || p.mode.Free() {
		p = p.bare()
	}
	if e.Command != "" {
		a = p.analyze(e)
		all = p.line(a)
	}
	judged := len(all) // the shell tool declares the paths of its command too
	listed := func(at tool.Path, write bool) bool {
		return slices.ContainsFunc(all[:judged], func(n need) bool {
			return n.write == write && n.path == at.Name || !write && at == everything // the path of reads that cannot be determined
		})
	}
	for _, r := range e.Reads {
		if !listed(r, false) {
			all = append(all, p.file(r, false))
		}
	}
	for _, w := range e.Writes {
		if !listed(w, true) {
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
	one(unknownTool, !e.Declared() && e.Command == "", c.Tool)
	one(unconfined, e.Unconfined, c.Tool)
	one(startsAgents, e.Agents, c.Tool)
	one(asksPerson, e.Asks, c.Tool)
	one(nothing, len(all) == 0, c.Tool)
	return all, a
}

// file is the need of a tool that reads or writes a path.
func (e *environment) file(at tool.Path, write bool) need {
	if !at.Valid() {
		return e.lost(write)
	}
	n := need{command: noCommand, path: at.Name, tree: at.Tree, write: write, text: touching(at.Name, write)}
	n.kind = e.placed(at.Name, write)
	if n.kind == writeInside && !e.temporary(at.Name) && (at.Tree && paths.Holds(at.Name, e.options.Protected) || e.ofGit(at.Name)) {
		n.kind = writeProtected
	}
	return n
}

// lost is the need of reading or writing a path that cannot be determined.
func (e *environment) lost(write bool) need {
	n := need{kind: readSomewhere, command: noCommand, write: write, text: touching("a path that cannot be determined in advance", write)}
	if write {
		n.kind = writeSomewhere
	}
	return n
}

// touching describes reading or writing a path.
func touching(name string, write bool) string {
	if write {
		return "writes " + name
	}
	return "reads " + name
}

// placed is the kind of effect of reading or writing a path.
func (e *environment) placed(name string, write bool) kind {
	switch temporary := e.temporary(name); {
	case temporary && write:
		return writeInside
	case temporary:
		return readInside
	}
	inside, shown := contains(e.roots, name), !write && contains(e.shown, name)
	switch {
	case !shown && contains(e.options.Hidden, name):
		return hidden
	case !write && inside && !shown && e.relative(name, holdsKeys):
		return readKeys
	case !write && (inside || shown || contains(e.options.Readable, name) || contains(public, name)):
		return readInside
	case !write:
		return readOutside
	case contains(e.options.Protected, name), inside && steersGit(name):
		return writeProtected
	case inside && e.relative(name, RunsLater):
		return writeLater
	case inside:
		return writeInside
	}
	return writeOutside
}

// temporary reports whether a path lies in the directory for temporary files of calls in the sandbox.
func (e *environment) temporary(name string) bool {
	_, ok := e.options.Scratch.In(name)
	return ok
}

// contains reports whether a path is one of some directories or lies in one.
func contains(dirs []string, name string) bool {
	_, ok := paths.In(dirs, name)
	return ok
}

// steersGit reports whether git reads from a file which programs to run. A repository within the project counts: git enters it for
// the status of the repository around it.
func steersGit(name string) bool {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts {
		if !paths.Same(part, ".git") {
			continue
		}
		if i+1 == len(parts) {
			return true // a file that points to the repository
		}
		if among(parts[i+1], "hooks", "config", "config.worktree", "commondir", "modules", "worktrees") {
			return true
		}
	}
	return false
}

// among reports whether a name is one of some for the system.
func among(name string, names ...string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return paths.Same(one, name) })
}

// ofGit reports whether a file can be a part of a git directory, with or without the name .git. Tools write outside the sandbox, and nothing looks
// at a repository that they make.
func (e *environment) ofGit(name string) bool {
	part := filepath.Base(name)
	if among(part, "HEAD", "commondir") {
		return true
	}
	for dir := filepath.Dir(name); contains(e.roots, dir); part, dir = filepath.Base(dir), filepath.Dir(dir) {
		if paths.Same(part, ".git") {
			return true
		}
		if among(part, "config", "config.worktree", "hooks", "objects", "refs") {
			if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil {
				return true
			}
		}
	}
	return false
}

func (e *environment) reach(host string) need {
	n := need{kind: otherHost, command: noCommand, host: host, text: "reaches " + host}
	if within(e.network, host) == yes {
		n.kind = listedHost
	}
	if n.kind == otherHost && e.options.Loopback && loopback(host) {
		n.kind = ownServer
	}
	return n
}

// loopback reports whether a host with a port is 127.0.0.1, another address of the loopback interface, or localhost.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// private reports whether a command reaches only servers of commands.
func (e *environment) private(c *command.Command) bool {
	return len(c.Hosts) > 0 && !slices.ContainsFunc(c.Hosts, func(h string) bool { return h == "" || e.reach(h).kind != ownServer })
}

// line lists the effects of a command line.
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
		all = append(all, need{kind: harmless, command: noCommand, text: "runs nothing"})
	}
	return all
}

// command lists the effects of one command.
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
	} else if replaces(c) {
		say(discards)
	}
	if c.Does&command.Publishes != 0 && !p.private(c) {
		say(publishes)
	}
	if c.Does&command.Queries != 0 {
		say(queries)
	}
	if c.Does&command.Executes != 0 {
		say(runsCode)
	}
	if outOfReach(c) {
		say(leaves)
	}
	if c.Does&command.Network != 0 && !p.private(c) {
		say(usesNetwork)
		all[len(all)-1].any = slices.Contains(c.Hosts, "")
	}
	if c.Does&command.Writes != 0 && len(c.WritePaths) == 0 {
		say(writeSomewhere)
	}
	all = append(all, paths...)
	if n, odd := p.look(c); odd {
		n.command = i
		all = append(all, n)
	}
	if c.Imports != "" && imports(c.Imports) {
		say(runsCode)
	}
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

// outside are programs that act through another user or a service, which no sandbox of ours confines.
var outside = []string{
	"sudo", "doas", "su", "runuser", "pkexec", "systemd-run", "systemctl", "launchctl", "at", "batch", "crontab", "nsenter",
	"docker", "podman", "nerdctl", "lxc", "machinectl", "schtasks", "runas",
}

// outOfReach reports whether a command acts outside the sandbox. A command that only reads does not.
func outOfReach(c *command.Command) bool {
	if c.Does&^(command.Reads|command.Queries) == 0 || len(c.Words) == 0 {
		return false
	}
	for _, via := range c.Via {
		if program, _, _ := strings.Cut(via, " "); slices.Contains(outside, program) {
			return true
		}
	}
	return slices.Contains(outside, path.Base(c.Words[0]))
}

// paths lists the files that a command reads and writes.
func (e *environment) paths(c *command.Command, i int) (all []need) {
	for _, named := range c.ReadPaths {
		for _, name := range e.matched(named) {
			n := e.commandPath(name, false, false)
			n.command, n.own = i, !slices.Contains(c.Redirects, named)
			all = append(all, n)
		}
	}
	for _, named := range c.WritePaths {
		for _, name := range e.matched(named) {
			n := e.commandPath(name, true, c.Does&command.Destroys != 0)
			n.tree = n.tree || slices.Contains(c.Trees, named) && (!c.Copies || e.directory(c.ReadPaths))
			n.command, n.own = i, !slices.Contains(c.Redirects, named)
			all = append(all, n)
		}
	}
	return all
}

// matched adds to a pattern the paths that it matches through links, "" if Tenon cannot look at all.
func (e *environment) matched(pattern string) []string {
	all := []string{pattern}
	if !strings.ContainsAny(pattern, "*?[") {
		return all
	}
	pattern = filepath.ToSlash(e.options.Scratch.OnDisk(filepath.FromSlash(pattern)))
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if before, _, ok := strings.Cut(part, "["); ok { // shells and Go differ in brackets
			parts[i] = before + "*"
		}
	}
	found, err := filepath.Glob(filepath.FromSlash(strings.Join(parts, "/")))
	if err != nil || len(found) > mostNames {
		return append(all, "")
	}
	through := map[string]bool{} // directories that are, or are below, links
	for _, at := range found {
		dir := filepath.Dir(at)
		if _, known := through[dir]; !known {
			through[dir] = e.resolver.Guess(dir).Path != dir
		}
		info, err := os.Lstat(at)
		if link := err != nil || info.Mode()&fs.ModeSymlink != 0; (link || through[dir]) && reachable(pattern, filepath.ToSlash(at)) {
			all = append(all, filepath.ToSlash(at))
		}
	}
	return all
}

// directory reports whether one of the paths may be a directory. A path that does not exist may become one.
func (e *environment) directory(names []string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(e.options.Scratch.OnDisk(filepath.FromSlash(name)))
		return err != nil || info.IsDir()
	})
}

func (e *environment) commandPath(name string, write, destroys bool) need {
	if name == "" {
		return e.lost(write)
	}
	pattern := ""
	if strings.ContainsAny(name, "*?[") {
		pattern = path.Clean(name)
		name = literal(pattern)
	}
	to := e.resolver.Guess(filepath.FromSlash(name))
	at, dir := to.Path, to.Dir
	if paths.Magic(at) { // through a link of the workspace
		return e.lost(write)
	}
	n := need{path: at, tree: dir || pattern != "", pattern: pattern, write: write, text: touching(at, write), kind: e.placed(at, write)}
	switch own := paths.Holds(at, e.options.Scratch.Own); {
	case e.temporary(at) && own && destroys:
		n.kind = writeOutside // a project in /tmp
		return n
	case e.temporary(at):
		return n
	}
	meets := func(places []string, deep bool) bool {
		if pattern == "" {
			return deep && paths.Holds(at, places)
		}
		return slices.ContainsFunc(places, func(q string) bool {
			q = filepath.ToSlash(q)
			return (deep || strings.Count(pattern, "/") >= strings.Count(q, "/")) && reachable(pattern, q)
		})
	}
	switch {
	case meets(e.options.Hidden, destroys && !slices.Contains(e.roots, at)):
		n.kind = hidden // it names a secret path, or removes a directory with one
	case n.kind == writeProtected && !destroys && filepath.Base(at) == ".git" && contains(e.roots, filepath.Dir(at)):
		n.kind = writeAround // git changes its repository, also through a .git file
	case n.kind == readInside && expands(pattern, keyFiles):
		n.kind = readKeys
	case n.kind == writeInside && expands(pattern, laterFiles):
		n.kind = writeLater
	case n.kind == readInside && !e.options.Sandboxed && meets(e.options.Hidden, true):
		n.kind = readOutside // no sandbox hides the secret paths
	case n.kind == writeInside && meets(e.options.Protected, true):
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

// reachable reports whether a pattern, as the shell expands it, may name a path, a parent of it, or a path below it.
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

// replaces reports whether git checkout names a file, which it then replaces.
func replaces(c *command.Command) bool {
	i := slices.Index(c.Words, "checkout")
	return i > 0 && path.Base(c.Words[0]) == "git" && !slices.Contains(c.Words, "-b") && slices.ContainsFunc(c.Words[i+1:], func(w string) bool {
		_, err := os.Lstat(filepath.Join(c.Dir, filepath.FromSlash(w)))
		return w != "" && err == nil
	})
}

// destruction is the kind of a destructive command. Checkpoints may have files in the workspace that the line names, and nothing else.
func (e *environment) destruction(c *command.Command, paths []need) kind {
	if c.Does&command.Discards != 0 {
		return discards
	}
	named, kept := len(c.WritePaths) > 0, false
	for _, n := range paths {
		kept = kept || n.write && !e.temporary(n.path)
		if n.write && (n.kind != writeInside || filepath.Base(n.path) == ".git" || strings.Contains(filepath.ToSlash(n.path), "/.git/") || slices.Contains(e.roots, n.path)) {
			named = false
		}
	}
	if !named || c.Does&command.Unknown != 0 {
		return destroys
	}
	if !kept {
		return writeInside
	}
	return destroysFiles
}
