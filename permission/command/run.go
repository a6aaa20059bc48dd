package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is a command during its judgement.
type call struct {
	facts
	words   []word
	given   arguments // split by the table
	node    syntax.Node
	ends    ends
	printed word  // its output, as far as Tenon knows it
	last    int   // the index of the last command that it runs
	start   place // before its options
	clear   bool  // a wrapper: listed only if it has effects itself
}

// name is the name of the command for people.
func (c *call) name() string { return shown(path.Base(c.words[0].text)) }

// simple judges a simple command: assignments and words.
func (a *analyzer) simple(x *syntax.CallExpr, c place) (int, ends) {
	stay := ends{c.dirs, c.dirs}
	does, why, set := a.at(c).assigns(x.Assigns, len(x.Args) > 0)
	if len(set) == 1 && len(x.Args) > 0 && x.Args[0].Lit() == "read" && len(a.functions) == 0 { // no program gets it
		if value, ok := strings.CutPrefix(set[0].text, "IFS="); ok {
			does, why = weigh("IFS", word{text: value, dynamic: set[0].dynamic}, false)
		}
	}
	words, at := make([]word, 0, len(x.Args)), a.at(c)
	for _, w := range x.Args {
		words = append(words, at.fields(w)...)
	}
	if len(words) == 0 {
		a.printed = word{}
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

// emit lists a judged command.
func (a *analyzer) emit(n syntax.Node, c place, words []word, does Does, why string) int {
	k := &call{facts: facts{a: a, place: c}, words: words, node: n}
	k.does(does, why)
	return k.emit()
}

func (c *call) emit() int {
	a, at := c.a, c.place.spot(c.node)
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
	cmd.Words = make([]string, 0, len(c.words))
	for i, w := range c.words {
		if w.named {
			cmd.Names = add(cmd.Names, a.at(c.place).below(w))
		}
		if w.dynamic {
			cmd.Dynamic = append(cmd.Dynamic, i)
			w.text = ""
		}
		cmd.Words = append(cmd.Words, w.text)
	}
	cmd.Why = c.why(cmd, c.name())
	a.out.Commands = append(a.out.Commands, cmd)
	return len(a.out.Commands) - 1
}

// run judges a program with its arguments. The result is the index of its command in the list, or -1.
func (a *analyzer) run(n syntax.Node, c place, words []word) (int, ends) {
	if len(a.idle) == 0 {
		a.idle = append(a.idle, new(call))
	}
	k := a.idle[len(a.idle)-1]
	a.idle = a.idle[:len(a.idle)-1]
	*k = call{facts: facts{a: a, place: c}, words: words, node: n, ends: ends{c.dirs, c.dirs}, last: -1}
	listed, ends := k.run()
	a.idle = append(a.idle, k)
	return listed, ends
}

func (c *call) run() (int, ends) {
	a, at := c.a, c.place.spot(c.node)
	if c.place.depth++; a.full || c.place.depth > deepest && a.enough(at, "nested too deep") {
		return -1, c.ends
	}
	if a.looked++; a.looked > mostCommands && a.enough(at, "too many commands") {
		return -1, c.ends
	}
	a.printed = word{}
	if c.judge(); !c.clear {
		a.printed = c.printed
	}
	if c.clear && c.cmd.Does == 0 && c.last >= 0 {
		return c.last, c.ends
	}
	return c.emit(), c.ends
}

// judge finds the program in the table.
func (c *call) judge() {
	first := c.words[0]
	switch {
	case !first.known() || first.tilde:
		c.unknown("the program cannot be determined in advance")
		return
	case first.text == "":
		c.unknown("the program has no name")
		return
	case c.a.aliases[first.text]:
		c.unknown("the line redefines " + c.name())
		return
	}
	name := first.text
	if strings.Contains(name, "/") {
		if name = c.standard(name); name == "" {
			c.does(Executes, "runs "+shown(first.text)+", a program of its own")
			c.task(first)
			c.cmd.ReadPaths = add(c.cmd.ReadPaths, c.a.at(c.place).paths(first))
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
	p := c.a.table[name]
	if p == nil && strings.Contains(name, ".") { // python3.12
		p = c.a.table[strings.TrimRight(name, "0123456789.")]
	}
	if p == nil || strings.Contains(name, " ") {
		c.unknown("unknown command " + shown(name))
		return
	}
	c.cmd.Sorted = true
	c.apply(p, name, c.words[1:])
}

// standard returns the name of a program in a system directory, "" for other programs.
func (c *call) standard(name string) string {
	switch dir := path.Dir(name); dir {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin", "/lib", "/lib64":
		if path.Clean(name) == name && !slices.Contains(c.a.options.Roots, dir) && c.a.options.Dir != dir {
			return path.Base(name)
		}
	}
	return ""
}

// apply judges the arguments by the entry of the program.
func (c *call) apply(p *program, name string, args []word) {
	if len(args) == 1 && slices.ContainsFunc(p.only, func(o string) bool { return args[0].is(o) }) {
		return
	}
	c.replaces = p.replaces
	if c.does(p.does, p.why); p.git {
		c.repository()
	}
	c.given, c.start = p.sort(args), c.place
	g := &c.given
	c.sorted(g)
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
	own := func(w word) bool { return w.is("--offline", "--no-index", "--version", "--help", "-i", "--index-url") }
	if p.group != "" && !slices.ContainsFunc(c.words, own) {
		c.reaches(p.group)
	}
	if c.prints(name, g); c.printed.dynamic {
		c.zeros(name, g)
	}
	if p.rule != nil {
		p.rule(c, name, g)
	}
	c.operands(p, name, g)
	if p.does&Queries != 0 && slices.ContainsFunc(args, func(w word) bool { return !w.known() }) {
		c.does(Network, "sends words that cannot be determined in advance")
	}
	if p.fills || g.effect(fills) {
		c.cmd.Trees, c.cmd.Copies = add(c.cmd.Trees, c.cmd.WritePaths), p.copies
	}
	if (p.here || g.effect(readsHere)) && len(c.cmd.ReadPaths) == 0 {
		c.reads(word{text: "."})
	}
	if c.cmd.Follows = g.effect(follows); p.does&Writes != 0 || g.effect('W') {
		c.somewhere()
	}
}

// hidden judges an argument that cannot be determined in advance and may be an option. The option -D of a program is rarely harmless,
// and the letter of effects that destroy is a D too.
func (c *call) hidden(p *program, name string) {
	switch p.danger {
	case canWrite:
		if strings.Contains(p.options, "D") {
			c.does(Destroys, "an argument of "+name+" that cannot be determined in advance may be an option")
		}
		c.writes(word{dynamic: true})
	case canRun:
		c.unknown("an argument of " + name + " that cannot be determined in advance may be an option")
	}
}

func (c *call) subcommand(p *program, name string, g *arguments) {
	if p.rule != nil {
		p.rule(c, name, g)
	}
	if len(g.operands) == 0 {
		if bare := c.a.table[name+" -"]; bare != nil {
			c.apply(bare, name, nil)
		}
		return
	}
	if !g.operands[0].known() {
		c.cmd.Sorted = false
		c.unknown("the subcommand of " + name + " cannot be determined in advance")
		return
	}
	name, next, args := c.a.table.subcommand(name, g.operands)
	if next == nil {
		c.cmd.Sorted = false
		c.unknown("unknown command " + shown(name))
		return
	}
	c.apply(next, name, args)
}

// subcommand finds the entry of a subcommand, and its arguments.
func (t table) subcommand(name string, operands []word) (string, *program, []word) {
	whole := name + " " + operands[0].text
	if p := t[whole]; p != nil && !strings.Contains(operands[0].text, " ") && operands[0].text != "-" {
		return whole, p, operands[1:]
	}
	if p := t[name+" *"]; p != nil {
		return name, p, operands
	}
	return whole, nil, nil
}

func (c *call) option(name string, o given) {
	if o.value && (!o.optional || o.text.text != "" || o.text.dynamic) {
		c.argument(o.kind, o.text, name+" "+o.name)
	} else if o.value { // the default value is unknown
		c.argument(o.kind, word{dynamic: true}, name+" "+o.name)
	}
	for _, l := range o.effects {
		switch l {
		case changesGit:
			c.does(Writes, "")
			c.repository()
		case writesHere:
			c.writes(word{text: "."})
		case replaces:
			c.replaces = true
		case onlyReads, edits, readsHere, noPattern, noTarget, fills, follows:
		default:
			why := name + " " + o.name
			switch l {
			case 'D':
				why += " cannot be undone"
			case 'L':
				why += " discards changes that are not committed"
			case 'P':
				why += " publishes"
			case 'X':
				why += " runs code"
			case 'U':
				why += " may have unknown effects"
			default:
				why = ""
			}
			c.does(letters[l], why)
		}
	}
}

// operands judges the words that are neither options nor their values.
func (c *call) operands(p *program, name string, g *arguments) {
	if g.effect(noPattern) { // an option has the pattern
		rest := *p
		rest.operands = p.operands[1:]
		p = &rest
	}
	kinds := p.kinds(len(g.operands))
	if g.effect(noTarget) { // an option has the target
		for i := range kinds {
			kinds[i] = p.operands[0].kind
		}
	}
	if kinds == nil && len(g.operands) > 0 {
		if p.rule == nil && (p.does == 0 || len(p.operands) > 0) {
			c.unknown(name + " has unknown arguments")
		}
		return
	}
	readsOnly, writes := g.effect(onlyReads), g.effect(edits)
	loose := p.loose(g.operands)
	for i, w := range g.operands {
		kind := kinds[i]
		if kind == maybePath && g.has("--no-index") { // git diff of untracked files
			kind = readPath
		}
		if loose && kind != subprogram {
			for _, k := range p.operands {
				if k.kind != subprogram {
					c.operand(k.kind, w, name, readsOnly, writes)
				} else {
					c.unknown("the program cannot be determined in advance")
				}
			}
		} else if kind != subprogram {
			c.operand(kind, w, name, readsOnly, writes)
		}
		if kind == subprogram {
			c.wrapped(name, g.operands[i:], c.place.inner(name))
			return
		}
	}
	if len(p.operands) > 0 && p.operands[len(p.operands)-1] == (operand{kind: subprogram}) {
		c.clear = false
	}
}

func (c *call) operand(kind kind, w word, name string, readsOnly, writes bool) {
	switch {
	case readsOnly && (kind == gitState || kind == writePath):
		kind = anyText
	case readsOnly && kind == editPath:
		kind = readPath
	case writes && kind == readPath:
		kind = editPath
	}
	c.argument(kind, w, name)
}

// argument judges one value by its kind.
func (c *call) argument(kind kind, w word, name string) {
	switch kind {
	case readPath, textAndRead:
		switch scheme, _, url := strings.Cut(w.text, ":/"); {
		case url && len(scheme) > 1 && !strings.Contains(scheme, "/"): // openssl and xmllint open http://x/y and file:/x
			if c.reads(word{dynamic: true}); !strings.EqualFold(scheme, "file") {
				c.argument(netHost, w, name)
			}
		case !w.is("-"):
			c.reads(w)
		}
	case fileList:
		c.reads(w)
		c.reads(word{dynamic: true})
	case maybePath:
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
	case writePath:
		c.writes(w)
	case outputPath:
		if !w.is("-") {
			c.writes(w)
		}
	case editPath:
		c.reads(w)
		c.writes(w)
	case gitState:
		c.does(Writes, "")
		c.repository()
	case netHost:
		c.does(Network, "")
		c.host(w)
	case shellLine:
		c.line(w, name)
	case tarAction:
		if text, ok := strings.CutPrefix(w.text, "exec="); ok {
			c.line(word{text: text, dynamic: w.dynamic}, name)
		} else if w.dynamic {
			c.unknown("the value of " + name + " cannot be determined in advance")
		}
	case code:
		c.does(Executes, name+" runs code in its arguments")
	case scriptFile:
		c.does(Executes, name+" runs "+shownWord(w))
		c.reads(w)
	case directory:
		if dirs := c.place.dirs; up(w.text) && (len(dirs) != 1 || dirs[0] != c.a.options.Dir) || up(strings.TrimLeft(w.text, "./")) {
			w = word{dynamic: true} // a link on the way may lead elsewhere
		}
		c.place.dirs = c.a.at(c.place).enter(w)
	case unjudged:
		c.unknown("an argument of " + name + " may have unknown effects")
	}
}
