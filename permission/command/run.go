package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// quiet is what is said of a command that does nothing that matters.
const quiet = "changes nothing"

// call is one command that is being judged.
type call struct {
	a     *analyzer
	place place
	words []word
	cmd   Command
	whys  []string
	node  syntax.Node
	ends  ends
	last  int  // the index of the last command that was emitted for what it runs
	clear bool // a wrapper: it need not be listed when it does nothing itself
}

// does adds to what the command does, and why.
func (c *call) does(d Does, why string) {
	if c.cmd.Does |= d; why != "" && !slices.Contains(c.whys, why) {
		c.whys = append(c.whys, why)
	}
}

func (c *call) unknown(why string) { c.does(Unknown, why) }

func (c *call) reads(w word) {
	if paths := c.a.paths(w, c.place); len(paths) > 0 || c.place.remote {
		c.cmd.ReadPaths = add(c.cmd.ReadPaths, paths)
		c.does(Reads, "")
	}
}

func (c *call) writes(w word) {
	if paths := c.a.paths(w, c.place); len(paths) > 0 || c.place.remote {
		if c.cmd.WritePaths = add(c.cmd.WritePaths, paths); w.text == "." {
			c.cmd.Trees = add(c.cmd.Trees, paths)
		}
		c.does(Writes, "")
	}
}

// name is what the command is called in words for people.
func (c *call) name() string { return shown(path.Base(c.words[0].text)) }

// simple judges a simple command: assignments and words.
func (a *analyzer) simple(x *syntax.CallExpr, c place) (int, ends) {
	stay := ends{c.dirs, c.dirs}
	does, why, set := a.assigns(x.Assigns, c, len(x.Args) > 0)
	var words []word
	for _, w := range x.Args {
		words = append(words, a.fields(w, c)...)
	}
	if len(words) == 0 {
		if does == 0 {
			return -1, stay
		}
		return a.emit(x, c, set, does, why), stay
	}
	if does != 0 {
		c.adds |= does
		if c.why == "" {
			c.why = why
		}
	}
	return a.run(x, c, words)
}

// emit lists a command whose judgement is already made.
func (a *analyzer) emit(n syntax.Node, c place, words []word, does Does, why string) int {
	k := &call{a: a, place: c, words: words, node: n}
	k.does(does, why)
	return k.emit()
}

func (c *call) emit() int {
	a, at := c.a, c.a.spot(c.node, c.place)
	if a.looked++; a.full || a.looked > mostCommands && a.enough(at, "too many commands") {
		return -1
	}
	c.does(c.place.adds, c.place.why)
	cmd := c.cmd
	if cmd.Does&Writes != 0 && len(cmd.WritePaths) == 0 && !c.place.remote {
		cmd.WritePaths = []string{""}
	}
	if cmd.Does&Reads != 0 && len(cmd.ReadPaths) == 0 && !c.place.remote {
		cmd.ReadPaths = []string{""}
	}
	cmd.Line, cmd.Column, cmd.Via, cmd.Adds = at.line, at.column, c.place.via, c.place.adds
	if len(c.place.dirs) == 1 && !c.place.remote {
		cmd.Dir = c.place.dirs[0]
	}
	for i, w := range c.words {
		if w.dynamic {
			cmd.Dynamic = append(cmd.Dynamic, i)
			w.text = ""
		}
		cmd.Words = append(cmd.Words, w.text)
	}
	cmd.Why = c.why(cmd)
	a.out.Commands = append(a.out.Commands, cmd)
	return len(a.out.Commands) - 1
}

// why puts in words what the command does.
func (c *call) why(cmd Command) string {
	all := slices.Clone(c.whys)
	say := func(d Does, verb, nameless string, what ...string) {
		switch {
		case cmd.Does&d == 0:
			return
		case len(what) == 0 && len(all) > 0:
			return
		case len(what) == 0 || what[0] == "":
			verb += nameless
		default:
			verb += shown(what[0])
		}
		if len(what) > 1 {
			verb += " and others"
		}
		all = append(all, verb)
	}
	say(Writes, "writes ", "files that are not known before it runs", cmd.WritePaths...)
	say(Network, "talks to ", "other machines", cmd.Hosts...)
	say(Reads, "reads ", "files that are not known before it runs", cmd.ReadPaths...)
	say(Destroys, "", "destroys what is there")
	say(Executes, "", "runs code")
	say(Unknown, "", "nothing is known of "+c.name())
	switch {
	case len(all) == 0:
		return quiet
	case len(all) > 3:
		all = all[:3]
	}
	return strings.Join(all, "; ")
}

// run judges a program with its arguments. The result is the index of the command that was listed for it, or -1.
func (a *analyzer) run(n syntax.Node, c place, words []word) (int, ends) {
	k := &call{a: a, place: c, words: words, node: n, ends: ends{c.dirs, c.dirs}, last: -1}
	if c.depth++; a.full || c.depth > deepest && a.enough(a.spot(n, c), "nested too deep") {
		return -1, k.ends
	}
	k.place.depth = c.depth
	if a.looked++; a.looked > mostCommands && a.enough(a.spot(n, c), "too many commands") {
		return -1, k.ends
	}
	k.judge()
	if k.clear && k.cmd.Does == 0 && k.last >= 0 {
		return k.last, k.ends
	}
	return k.emit(), k.ends
}

// judge finds the program in the table.
func (c *call) judge() {
	first := c.words[0]
	switch {
	case !first.known() || first.tilde:
		c.unknown("the program is not known before it runs")
		return
	case first.text == "":
		c.unknown("the program has no name")
		return
	case c.a.aliases[first.text]:
		c.unknown("the line gives " + c.name() + " another meaning")
		return
	}
	name := first.text
	if strings.Contains(name, "/") {
		if name = c.standard(name); name == "" {
			c.does(Executes, "runs "+shown(first.text)+", a program of its own")
			c.cmd.ReadPaths = add(c.cmd.ReadPaths, c.a.paths(first, c.place))
			return
		}
	}
	if moves, ok := c.a.functions[name]; ok && !c.a.wary {
		c.a.trusted = true
		if c.does(0, "calls a function of the line"); moves {
			c.ends = ends{[]string{""}, []string{""}}
		}
		return
	}
	p := programs()[name]
	if p == nil && strings.Contains(name, ".") { // python3.12
		p = programs()[strings.TrimRight(name, "0123456789.")]
	}
	if p == nil || strings.Contains(name, " ") {
		c.unknown("nothing is known of " + shown(name))
		return
	}
	c.cmd.Sorted = true
	c.apply(p, name, c.words[1:])
}

// sorted lists the options of the command.
func (c *call) sorted(g *arguments) {
	c.cmd.Sorted = c.cmd.Sorted && g.certain()
	for _, o := range g.options {
		c.cmd.Options = append(c.cmd.Options, o.listed())
	}
}

// implies lists an option that the command does not have, but something else that says the same.
func (c *call) implies(given string, names ...string) {
	c.cmd.Options = append(c.cmd.Options, Option{Names: names, Given: given})
}

// standard returns the name of a program in a directory of the system, "" for a program elsewhere.
func (c *call) standard(name string) string {
	switch dir := path.Dir(name); dir {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/lib", "/lib64":
		if path.Clean(name) == name && !slices.Contains(c.a.options.Roots, dir) && c.a.options.Dir != dir {
			return path.Base(name)
		}
	}
	return ""
}

// apply judges the arguments by what the table says of the program.
func (c *call) apply(p *program, name string, args []word) {
	if len(args) == 1 && slices.ContainsFunc(p.only, func(o string) bool { return args[0].is(o) }) {
		return
	}
	if c.does(p.does, p.why); p.git {
		c.repository()
	}
	g := p.sort(args)
	c.sorted(&g)
	if g.strange != "" {
		c.unknown(g.strange)
	}
	if g.hidden {
		c.hidden(p, name)
	}
	for _, o := range g.options {
		c.option(name, o)
	}
	if p.sub {
		c.subcommand(p, name, g)
		return
	}
	defer func() {
		if somewhere := p.does&Writes != 0 || g.effect('W'); somewhere {
			c.somewhere()
		}
	}()
	if p.by != "" {
		c.special(p, name, &g)
	}
	c.operands(p, name, g)
	if p.fills || g.effect('f') {
		c.cmd.Trees, c.cmd.Copies = add(c.cmd.Trees, c.cmd.WritePaths), p.copies
	}
	if (p.here || g.effect('h')) && len(c.cmd.ReadPaths) == 0 {
		c.reads(word{text: "."})
	}
}

// hidden judges an argument that is not known before it runs and may be an option.
func (c *call) hidden(p *program, name string) {
	switch p.danger {
	case canWrite:
		if strings.Contains(p.options, "D") {
			c.does(Destroys, "an argument of "+name+" that is not known may be an option")
		}
		c.writes(word{dynamic: true})
	case canRun:
		c.unknown("an argument of " + name + " that is not known may be an option")
	}
}

// somewhere notes that files are written which the line does not name.
func (c *call) somewhere() {
	for _, p := range c.cmd.WritePaths {
		if path.Base(p) != ".git" {
			return
		}
	}
	c.writes(word{dynamic: true})
}

// repository notes a change of what git keeps.
func (c *call) repository() {
	c.writes(word{text: ".git"})
}

func (c *call) subcommand(p *program, name string, g arguments) {
	if p.by != "" {
		c.special(p, name, &g)
	}
	if len(g.operands) == 0 {
		if bare := programs()[name+" -"]; bare != nil {
			c.apply(bare, name, nil)
		}
		return
	}
	if !g.operands[0].known() {
		c.cmd.Sorted = false
		c.unknown("the subcommand of " + name + " is not known before it runs")
		return
	}
	name, next, args := subcommand(name, g.operands)
	if next == nil {
		c.cmd.Sorted = false
		c.unknown("nothing is known of " + shown(name))
		return
	}
	c.apply(next, name, args)
}

// subcommand finds what the table says of a subcommand, and what its arguments are.
func subcommand(name string, operands []word) (string, *program, []word) {
	whole := name + " " + operands[0].text
	if p := programs()[whole]; p != nil && !strings.Contains(operands[0].text, " ") && operands[0].text != "-" {
		return whole, p, operands[1:]
	}
	if p := programs()[name+" *"]; p != nil {
		return name, p, operands
	}
	return whole, nil, nil
}

func (c *call) option(name string, o given) {
	if o.value && (!o.optional || o.text.text != "" || o.text.dynamic) {
		c.argument(o.kind, o.text, name+" "+o.name)
	} else if o.value { // what it takes for granted is not known here
		c.argument(o.kind, word{dynamic: true}, name+" "+o.name)
	}
	for _, l := range o.effects {
		switch l {
		case 'M':
			c.does(Writes, "")
			c.repository()
		case 'O':
			c.writes(word{text: "."})
		case 'r', 'w', 'h', 'e', 't', 'f':
		default:
			why := name + " " + o.name
			switch l {
			case 'D':
				why += " cannot be taken back"
			case 'X':
				why += " runs code"
			case 'U':
				why += " can do more than is known here"
			default:
				why = ""
			}
			c.does(letters[l], why)
		}
	}
}

// operands judges what is neither an option nor the value of one.
func (c *call) operands(p *program, name string, g arguments) {
	if g.effect('e') { // the pattern was an option
		rest := *p
		rest.operands = p.operands[1:]
		p = &rest
	}
	kinds := p.kinds(len(g.operands))
	if g.effect('t') { // where it writes was an option
		for i := range kinds {
			kinds[i] = p.operands[0][0]
		}
	}
	if kinds == nil && len(g.operands) > 0 {
		if p.by == "" && (p.does == 0 || len(p.operands) > 0) {
			c.unknown(name + " is given more than is known here")
		}
		return
	}
	onlyReads, writes := g.effect('r'), g.effect('w')
	loose := p.loose(g.operands)
	for i, w := range g.operands {
		kind := kinds[i]
		if kind == 'p' && g.has("--no-index") { // git diff, of files that git does not know
			kind = 'R'
		}
		if loose && kind != 'P' {
			for _, k := range p.operands {
				if k[0] != 'P' {
					c.operand(k[0], w, name, onlyReads, writes)
				} else {
					c.unknown("which program runs is not known before")
				}
			}
		} else if kind != 'P' {
			c.operand(kind, w, name, onlyReads, writes)
		}
		if kind == 'P' {
			c.wrapped(name, g.operands[i:], c.place.inner(name))
			return
		}
	}
	if len(p.operands) > 0 && p.operands[len(p.operands)-1] == "P" {
		c.clear = false
	}
}

func (c *call) operand(kind byte, w word, name string, onlyReads, writes bool) {
	switch {
	case onlyReads && (kind == 'M' || kind == 'W'):
		kind = '_'
	case onlyReads && kind == 'B':
		kind = 'R'
	case writes && kind == 'R':
		kind = 'B'
	}
	c.argument(kind, w, name)
}

// argument judges one value by its kind.
func (c *call) argument(kind byte, w word, name string) {
	switch kind {
	case 'R', '3':
		if !w.is("-") {
			c.reads(w)
		}
	case 'L':
		c.reads(w)
		c.reads(word{dynamic: true})
	case 'p':
		commit, file, ok := strings.Cut(w.text, ":")
		ok = ok && !w.dynamic && !strings.Contains(commit, "/")
		if w.dynamic || w.tilde || !ok && strings.ContainsAny(w.text, "/.") {
			c.reads(w)
		}
		if ok { // of a commit, or of a stage of the index: HEAD:.env, :0:.env
			if stage, rest, staged := strings.Cut(file, ":"); staged && isNumber(stage) {
				file = rest
			}
			c.reads(word{text: file})
		}
	case 'W':
		c.writes(w)
	case 'S':
		if !w.is("-") {
			c.writes(w)
		}
	case 'B':
		c.reads(w)
		c.writes(w)
	case 'M':
		c.does(Writes, "")
		c.repository()
	case 'N':
		c.does(Network, "")
		c.host(w)
	case 'C':
		c.line(w, name)
	case 'X':
		c.does(Executes, name+" runs code that it is given")
	case 'F':
		c.does(Executes, name+" runs "+shownWord(w))
		c.reads(w)
	case 'G':
		c.place.dirs = c.a.enter(w, c.place)
	case 'U':
		c.unknown("an argument of " + name + " can do more than is known here")
	}
}
