package command

import (
	"strings"
)

// judgeMoves judges pushd, popd and similar builtins, which may change to any directory.
func judgeMoves(c *call, _ string, _ *arguments) { c.ends = ends{[]string{""}, []string{""}} }

// judgeJobs judges jobs, which runs a program with -x.
func judgeJobs(c *call, name string, g *arguments) {
	if g.has("-x") {
		c.wrapped(name, g.operands, c.place.inner("jobs -x"))
	}
}

func judgeCd(c *call, _ string, g *arguments) {
	in := c.place
	to := word{text: "~", tilde: true}
	if len(g.operands) > 0 {
		to = g.operands[0]
	}
	c.does(0, "changes the directory")
	switch {
	case to.is("-") || to.mayBeOption() || len(g.operands) > 1 || c.a.known("CDPATH"):
		c.ends = ends{[]string{""}, in.dirs}
	case g.has("-P") && strings.Contains(to.text, ".."):
		c.ends = ends{[]string{""}, in.dirs}
	case to.is(""):
		c.ends = ends{in.dirs, in.dirs}
	default:
		c.ends = ends{c.a.at(in).enter(to), in.dirs}
	}
}

// judgeCommand judges command, builtin and similar builtins. command -v only looks up a name.
func judgeCommand(c *call, name string, g *arguments) {
	if g.has("-v", "-V") || len(g.operands) == 0 {
		return
	}
	words := g.operands
	if !words[0].known() {
		c.unknown("the program cannot be determined in advance")
		return
	}
	switch words[0].text {
	case "export", "declare", "typeset", "local", "readonly":
		c.clear = true
		judgeVariables(c, words[0].text, &arguments{operands: words[1:]})
		return
	case "let":
		c.unknown("let evaluates its words as arithmetic")
		return
	}
	in := c.place.inner(name)
	c.clear = true
	skipping(c.a, func() { c.last, c.ends = c.a.run(c.node, in, words) })
}

func judgeExec(c *call, _ string, g *arguments) {
	if c.a.moved = c.a.moved || len(g.operands) == 0; len(g.operands) > 0 { // it may change the input of later commands
		c.wrapped("exec", g.operands, c.place.inner("exec"))
	}
}

// judgeTrap judges commands that run at a signal or at the end.
func judgeTrap(c *call, _ string, g *arguments) {
	if g.has("-p", "-l") || len(g.operands) < 2 {
		return
	}
	w := g.operands[0]
	if !w.known() {
		c.mystery("trap")
		return
	}
	if w.text == "-" || w.text == "" {
		return
	}
	in := c.place.inner("trap")
	in.dirs = []string{""}
	c.clear = true
	c.nested(w, "trap", in, in.lang)
}

func judgeAlias(c *call, _ string, g *arguments) {
	for _, w := range g.operands {
		name, text, ok := strings.Cut(w.text, "=")
		if !ok && w.known() {
			continue
		}
		c.a.aliases[name] = true
		if w.dynamic || w.glob {
			c.mystery("alias")
			continue
		}
		c.does(Executes, "redefines "+shown(name))
		in := c.place.inner("alias")
		in.dirs = []string{""}
		c.nested(word{text: text}, "alias", in, in.lang)
	}
}

// judgeVariables judges export, declare, unset and similar builtins that the parser does not parse as such.
func judgeVariables(c *call, name string, g *arguments) {
	for _, w := range g.operands {
		variable, value, given := strings.Cut(w.text, "=")
		switch {
		case w.dynamic && !given, w.splits, w.glob, strings.ContainsAny(variable, "[$`"):
			c.unknown("a variable whose name cannot be determined in advance")
			continue
		case name != "unset" && name != "export" && strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "nix"):
			c.unknown(name + " " + shown(w.text) + " changes the meaning of variables")
			continue
		}
		v := word{text: value, dynamic: w.dynamic}
		if name != "unset" {
			c.a.taint(c.place.spot(c.node), variable, v)
			c.a.set(variable, word{}, false)
			c.a.splits(variable, v)
		}
		does, why := weigh(variable, v, name == "export" && given)
		c.does(does, why)
	}
	if name == "unset" && !g.has("-v") { // also without -f if there is no variable of that name
		for _, w := range g.operands {
			c.a.shaken = c.a.shaken || !w.known() || g.has("-f") || len(c.a.functions) > 0
		}
	}
}

// judgeRead judges read, mapfile and getopts, which set variables to unknown texts.
func judgeRead(c *call, name string, g *arguments) {
	operands := g.operands
	for _, o := range g.options {
		if o.name == "-a" {
			operands = append(operands, o.text)
		}
	}
	if name == "getopts" && len(operands) > 0 {
		operands = operands[1:min(2, len(operands))]
	}
	for _, w := range operands {
		if !w.known() || strings.ContainsAny(w.text, "[$`") {
			c.unknown("a variable whose name cannot be determined in advance")
			continue
		}
		line := word{}
		if name == "read" && len(operands) == 1 && g.only("-r -s") && !c.place.in.prints.zero {
			line = c.place.in.prints
		}
		c.a.set(w.text, line, line.dynamic)
		c.a.splits(w.text, word{dynamic: true})
		c.a.tainted[w.text] = c.place.spot(c.node)
		does, why := weigh(w.text, word{dynamic: true}, false)
		c.does(does, why)
	}
	c.a.set("REPLY", word{}, false)
	c.a.tainted["REPLY"] = c.place.spot(c.node)
	c.a.tainted["MAPFILE"] = c.place.spot(c.node)
}

func judgePrintf(c *call, _ string, g *arguments) {
	if !g.has("-v") {
		if len(g.operands) > 0 && g.operands[0].mayBeOption() && (len(g.operands) > 1 || g.operands[0].splits) {
			c.unknown("printf may set an unknown variable")
		}
		return
	}
	for _, o := range g.options {
		judgeRead(c, "printf", &arguments{operands: []word{o.text}})
	}
}

// judgeTest judges test and [. With -v the shell evaluates a name.
func judgeTest(c *call, _ string, g *arguments) {
	words := g.operands
	if c.words[0].is("[") && len(words) > 0 {
		words = words[:len(words)-1]
	}
	for i, w := range words {
		var next word
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w.splits || w.glob: // it may be an operator with its operand
			c.unknown("a test that cannot be determined in advance; quote the word")
		case i+1 < len(words) && (w.is("-v", "-R") || w.mayBeOption()) && (!next.known() || strings.ContainsAny(next.text, "[$`")):
			c.unknown("the name of a variable in which the shell may run commands")
		}
	}
}

// Options of shells that do not change the effects of a line. Not among them are keyword, which turns arguments into variables,
// allexport, and options that change the files of a pattern: dotglob, globstar, nocaseglob.
var (
	plainOptions = []string{"pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "verbose", "monitor", "posix"}
	plainShopts  = []string{"nullglob", "failglob", "extglob", "nocasematch"}
)

// judgeSet judges set, shopt and enable.
func judgeSet(c *call, name string, g *arguments) {
	for i, w := range g.operands {
		switch {
		case w.mayBeOption():
			c.unknown("options of the shell that cannot be determined in advance")
			return
		case name == "set" && (w.text == "--" || w.text == "-"):
			return
		case name == "set" && (strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "+")):
			if strings.Trim(w.text[1:], "efuxvoCbmhnETBp") != "" {
				c.unknown("option " + shown(w.text) + " of the shell may change what commands do")
			}
		case name == "set" && (i == 0 || !strings.ContainsAny(g.operands[i-1].text[:1], "-+") || !strings.Contains(g.operands[i-1].text, "o")):
			return // parameters
		case name == "set":
			if !w.is(plainOptions...) {
				c.unknown("option " + shownWord(w) + " of the shell may change what commands do")
			}
		case name == "shopt":
			if !w.is("-s", "-u", "-q", "-p") && !w.is(plainShopts...) {
				c.unknown("option " + shown(w.text) + " of the shell may change what commands do")
			}
		}
	}
}

// judgeKill only lists signals with -l.
func judgeKill(c *call, _ string, _ *arguments) {
	for i, w := range c.words {
		if i == 1 && w.is("-l", "-L", "--list", "--table") {
			return
		}
	}
	c.does(Destroys, "ends processes")
}
