package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	functions := c.a.functions
	c.a.functions = map[string]bool{} // these two skip functions
	c.last, c.ends = c.a.run(c.node, in, words)
	c.a.functions = functions
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
		c.unknown("the commands of trap are not known before they run")
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
			c.unknown("an alias that is not known before it runs")
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
	if name == "unset" && g.has("-f") {
		clear(c.a.functions)
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
		if len(g.operands) > 0 && g.operands[0].mayBeOption() && len(g.operands) > 1 {
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
	for i, w := range g.operands {
		if w.is("-v", "-R") && i+1 < len(g.operands) {
			if v := g.operands[i+1]; !v.known() || strings.ContainsAny(v.text, "[$`") {
				c.unknown("the name of a variable in which the shell may run commands")
			}
		}
		if w.mayBeOption() && w.splits && len(g.operands) > 1 && strings.ContainsRune(g.operands[len(g.operands)-1].text, '[') {
			c.unknown("a test that is not known before it runs")
		}
	}
}

// set judges set, shopt and enable.
func (c *call) set(name string, g *arguments) {
	for _, w := range g.operands {
		switch {
		case w.mayBeOption():
			c.unknown("options of the shell that are not known before it runs")
			return
		case name == "set" && (w.text == "--" || w.text == "-"):
			return
		case name == "set" && (strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "+")):
			if strings.Trim(w.text[1:], "efuxvoCbmhnETBp") != "" {
				c.unknown("option " + shown(w.text) + " of the shell is not known")
			}
		case name == "set":
			switch w.text {
			case "pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "verbose", "monitor", "posix":
			default:
				return
			}
		case name == "shopt":
			switch w.text {
			case "-s", "-u", "-q", "-p", "nullglob", "failglob", "globstar", "dotglob", "extglob", "nocaseglob", "nocasematch":
			default:
				c.unknown("option " + shown(w.text) + " of the shell is not known")
			}
		}
	}
}

// kill only lists signals with -l.
func (c *call) kill(g *arguments) {
	for i, w := range c.words {
		if i == 1 && w.is("-l", "-L", "--list", "--table") {
			return
		}
	}
	c.does(Destroys, "ends processes")
	_ = g
}
