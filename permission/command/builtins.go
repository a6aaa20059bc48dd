package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin judges the builtins of the shell.
func (c *call) builtin(by, name string, g *arguments) bool {
	switch by {
	case "cd":
		c.cd(g)
	case "moves":
		c.ends = ends{[]string{""}, []string{""}}
	case "command":
		c.commandBuiltin(name, g)
	case "exec":
		c.exec(g)
	case "trap":
		c.trap(g)
	case "alias":
		c.alias(g)
	case "variables":
		c.variables(name, g)
	case "read":
		c.read(name, g)
	case "printf":
		c.printf(g)
	case "test":
		c.test(g)
	case "set":
		c.set(name, g)
	case "jobs":
		if g.has("-x") {
			c.wrapped(name, g.operands, c.place.inner("jobs -x"))
		}
	case "kill":
		c.kill()
	default:
		return false
	}
	return true
}

func (c *call) cd(g *arguments) {
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
		c.ends = ends{c.a.enter(to, in), in.dirs}
	}
}

// commandBuiltin judges command, builtin and their like. command -v only asks.
func (c *call) commandBuiltin(name string, g *arguments) {
	if g.has("-v", "-V") || len(g.operands) == 0 {
		return
	}
	words := g.operands
	if !words[0].known() {
		c.unknown("the program is not known before it runs")
		return
	}
	switch words[0].text {
	case "export", "declare", "typeset", "local", "readonly":
		c.clear = true
		c.variables(words[0].text, &arguments{operands: words[1:]})
		return
	case "let":
		c.unknown("let evaluates its words as arithmetic")
		return
	}
	in := c.place.inner(name)
	c.clear = true
	c.a.outside(func() { c.last, c.ends = c.a.run(c.node, in, words) }) // these two skip functions
}

func (c *call) exec(g *arguments) {
	if len(g.operands) > 0 {
		c.wrapped("exec", g.operands, c.place.inner("exec"))
	}
}

// trap judges commands that run at a signal or at the end.
func (c *call) trap(g *arguments) {
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
	c.nested(w.text, "trap", in, syntax.LangBash)
}

func (c *call) alias(g *arguments) {
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
		c.does(Executes, "gives "+shown(name)+" another meaning")
		in := c.place.inner("alias")
		in.dirs = []string{""}
		c.nested(text, "alias", in, syntax.LangBash)
	}
}

// variables judges export, declare, unset and their like where they are not parsed as such.
func (c *call) variables(name string, g *arguments) {
	for _, w := range g.operands {
		variable, value, given := strings.Cut(w.text, "=")
		switch {
		case w.dynamic && !given, w.splits, w.glob, strings.ContainsAny(variable, "[$`"):
			c.unknown("a variable whose name is not known before it runs")
			continue
		case name != "unset" && name != "export" && strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "nix"):
			c.unknown(name + " " + shown(w.text) + " changes what variables mean")
			continue
		}
		v := word{text: value, dynamic: w.dynamic}
		if name != "unset" {
			c.a.taint(c.a.spot(c.node, c.place), variable, v)
		}
		does, why := weigh(variable, v, name == "export" && given)
		c.does(does, why)
	}
	if name == "unset" && !g.has("-v") { // without -f too, where there is no variable of that name
		for _, w := range g.operands {
			c.a.shaken = c.a.shaken || !w.known() || g.has("-f") || len(c.a.functions) > 0
		}
	}
}

// read judges read, mapfile and getopts, which set variables from outside.
func (c *call) read(name string, g *arguments) {
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
			c.unknown("a variable whose name is not known before it runs")
			continue
		}
		c.a.tainted[w.text] = c.a.spot(c.node, c.place)
		does, why := weigh(w.text, word{dynamic: true}, false)
		c.does(does, why)
	}
	c.a.tainted["REPLY"] = c.a.spot(c.node, c.place)
	c.a.tainted["MAPFILE"] = c.a.spot(c.node, c.place)
}

func (c *call) printf(g *arguments) {
	if !g.has("-v") {
		if len(g.operands) > 0 && g.operands[0].mayBeOption() && (len(g.operands) > 1 || g.operands[0].splits) {
			c.unknown("printf may set a variable that is not known")
		}
		return
	}
	for _, o := range g.options {
		c.read("printf", &arguments{operands: []word{o.text}})
	}
}

// test judges test and [. With -v a name is evaluated.
func (c *call) test(g *arguments) {
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
			c.unknown("a test that is not known before it runs; quotes make it one word")
		case i+1 < len(words) && (w.is("-v", "-R") || w.mayBeOption()) && (!next.known() || strings.ContainsAny(next.text, "[$`")):
			c.unknown("the name of a variable in which the shell may run commands")
		}
	}
}

// Options of shells that do not change what a line does in ways that matter here. Not keyword, by which arguments become
// variables, nor allexport, nor those by which a pattern means other files: dotglob, globstar, nocaseglob.
var (
	plainOptions = []string{"pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "verbose", "monitor", "posix"}
	plainShopts  = []string{"nullglob", "failglob", "extglob", "nocasematch"}
)

// set judges set, shopt and enable.
func (c *call) set(name string, g *arguments) {
	for i, w := range g.operands {
		switch {
		case w.mayBeOption():
			c.unknown("options of the shell that are not known before it runs")
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

// kill only lists signals with -l.
func (c *call) kill() {
	for i, w := range c.words {
		if i == 1 && w.is("-l", "-L", "--list", "--table") {
			return
		}
	}
	c.does(Destroys, "ends processes")
}
