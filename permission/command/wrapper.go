package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapped judges the program of a wrapper.
func (c *call) wrapped(name string, words []word, in place) {
	c.clear = true
	if len(words) == 0 {
		return
	}
	if words[0].splits || words[0].glob {
		c.unknown("the program cannot be determined in advance")
	}
	c.outside(in, words)
}

// outside judges a program in a process of its own.
func (c *call) outside(in place, words []word) {
	c.a.outside(func() { c.last, _ = c.a.run(c.node, in, words) })
}

// judgeEnv judges env: assignments, -S, then a program.
func judgeEnv(c *call, _ string, g *arguments) {
	words := g.operands
	for _, o := range g.options {
		if o.name == "-S" || o.name == "--split-string" {
			split, ok := envSplit(o.text)
			if !ok {
				c.mystery("env -S")
			}
			words = append(split, words...)
		}
	}
	if g.has("-S", "--split-string") { // the words may start with options again
		again := c.a.table["env"].sort(words)
		if again.strange != "" || again.has("-S", "--split-string") {
			c.unknown("env -S has unknown options")
		}
		for _, o := range again.options {
			c.option("env", o)
		}
		words = again.operands
	}
	in := c.place.inner("env")
	for len(words) > 0 {
		w := words[0]
		name, value, ok := strings.Cut(w.text, "=")
		if !ok {
			if w.dynamic || w.glob {
				c.unknown("the program that env runs cannot be determined in advance")
			}
			break
		}
		if words = words[1:]; w.splits || w.glob {
			c.unknown("an assignment that may become several words")
		}
		does, why := weigh(name, word{text: value, dynamic: w.dynamic}, true)
		in.adds |= does
		if in.why == "" {
			in.why = why
		}
	}
	if len(words) == 0 {
		c.does(0, "shows the environment")
		return
	}
	c.wrapped("env", words, in)
}

// envSplit splits the value of env -S, if it has no quotes and no escapes.
func envSplit(w word) (words []word, ok bool) {
	if w.dynamic || strings.ContainsAny(w.text, "\\'\"$#") {
		return nil, false
	}
	for f := range strings.FieldsSeq(w.text) {
		words = append(words, word{text: f})
	}
	return words, true
}

// judgeXargs judges xargs, whose program gets words from the input.
func judgeXargs(c *call, _ string, g *arguments) {
	words := g.operands
	if len(words) == 0 {
		words = []word{{text: "echo"}}
	}
	mark := ""
	for _, o := range g.options {
		switch o.name {
		case "-I", "-i", "--replace":
			if mark = o.text.text; mark == "" || o.text.dynamic {
				mark = "{}"
			}
		}
	}
	filled := make([]word, 0, len(words)+1)
	for _, w := range words {
		if before, _, ok := strings.Cut(w.text, mark); ok && mark != "" {
			if w.text != mark || c.fed(g).number {
				w = word{text: before, dynamic: true}
			} else {
				w = c.fed(g)
				w.splits = w.splits && !w.named
			}
		}
		filled = append(filled, w)
	}
	if mark == "" {
		filled = append(filled, c.fed(g))
	}
	in := c.place.inner("xargs")
	in.in = input{other: true}
	c.wrapped("xargs", filled, in)
}

func judgeSudo(c *call, name string, g *arguments) {
	in := c.place.inner(name)
	in.adds |= Executes
	in.why = "as another user"
	in.in.known = false
	words := g.operands
	for len(words) > 0 && strings.Contains(words[0].text, "=") && !strings.HasPrefix(words[0].text, "=") {
		does, why := weigh(strings.SplitN(words[0].text, "=", 2)[0], word{dynamic: true}, true)
		c.does(does, why)
		words = words[1:]
	}
	if g.has("-e", "--edit", "-s", "--shell", "-i", "--login") || len(words) == 0 {
		c.does(Executes, "as another user")
	}
	for _, w := range words {
		if g.has("-e", "--edit") {
			c.writes(w)
		}
	}
	if g.has("-e", "--edit") {
		return
	}
	if g.has("-i", "--login", "-D", "--chdir", "-R", "--chroot") {
		in.dirs = []string{""}
	}
	c.wrapped(name, words, in)
	c.clear = len(words) > 0 && !g.has("-s", "--shell", "-i", "--login")
}

func judgeSu(c *call, _ string, g *arguments) {
	c.does(Executes, "as another user")
	in := c.place.inner("su -c")
	in.adds |= Executes
	in.why = "as another user"
	for _, o := range g.options {
		if o.name == "-c" || o.name == "--command" {
			if o.text.dynamic {
				c.mystery("su -c")
				continue
			}
			c.shellLine(o.text, "su -c", in, syntax.LangBash)
		}
	}
}

// judgeJoined judges watch, parallel and similar programs, which pass their words to a shell.
func judgeJoined(c *call, name string, g *arguments) {
	words := g.operands
	in := c.place.inner(name)
	if name == "parallel" {
		parallel(c, words, in)
		return
	}
	if name == "watch" && g.has("-x", "--exec") {
		c.wrapped(name, words, in)
		return
	}
	c.clear = true
	c.text(words, name, in)
}

// parallel judges GNU parallel: values follow :::, and without {} they come at the end.
func parallel(c *call, words []word, in place) {
	in.in = input{other: true}
	for i, w := range words {
		if strings.HasPrefix(w.text, "::") {
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		c.unknown("parallel runs its input")
		return
	}
	for _, w := range words {
		if strings.ContainsAny(w.text, "{;|&$`<>()\n'\"\\*?") || !w.known() {
			c.unknown("parallel puts its input into a command line")
			c.text(words, "parallel", in)
			return
		}
	}
	c.unknown("parallel passes its input to a shell")
	c.wrapped("parallel", append(words[:len(words):len(words)], word{dynamic: true, splits: true}), in)
	c.clear = false
}

// lost is the place of commands in unknown directories.
func (c place) lost() place {
	c.dirs = []string{""}
	return c
}

// judgeContainer judges docker run and exec. The analysis lists the program, but its paths are not ours.
func judgeContainer(c *call, _ string, g *arguments) {
	in := c.place.inner("container").lost()
	in.remote = true
	in.adds |= Executes
	in.why = "in a container"
	for _, o := range g.options {
		if o.name == "-v" || o.name == "--volume" {
			from, _, _ := strings.Cut(o.text.text, ":")
			if w := (word{text: from, dynamic: o.text.dynamic && from == o.text.text, tilde: o.text.tilde}); strings.ContainsAny(from, "/.~") || w.dynamic {
				c.reads(w)
				c.writes(w)
				c.cmd.Trees = add(c.cmd.Trees, c.cmd.WritePaths)
			}
		}
	}
	if len(g.operands) > 1 {
		c.outside(in, g.operands[1:])
	}
}

// judgeElsewhere judges chroot and similar programs, whose program sees other files.
func judgeElsewhere(c *call, name string, g *arguments) {
	in := c.place.inner(name)
	in.adds |= Executes
	in.why = "in another view of the system"
	in.dirs, in.remote = []string{""}, true
	words := g.operands
	if name != "unshare" && name != "nsenter" && len(words) > 0 {
		words = words[1:]
	}
	c.does(Executes, "runs in another view of the system")
	if len(words) > 0 {
		c.outside(in, words)
	}
}

// judgeApplet judges busybox and toybox: the first operand is the program.
func judgeApplet(c *call, name string, g *arguments) {
	if len(g.operands) > 0 && !strings.Contains(g.operands[0].text, "/") {
		c.wrapped(name, g.operands, c.place.inner(name))
		return
	}
	c.unknown("an unknown program of " + name)
}

// judgeFlock judges flock, which runs a program or, after -c, a line.
func judgeFlock(c *call, _ string, g *arguments) {
	if len(g.operands) > 1 && g.operands[1].is("-c", "--command") {
		c.text(g.operands[2:min(3, len(g.operands))], "flock -c", c.place.inner("flock -c"))
		g.operands = g.operands[:1]
	}
}

// judgeTracer judges strace and ltrace, which may pipe their output into a program.
func judgeTracer(c *call, name string, g *arguments) {
	for _, o := range g.options {
		if o.name != "-o" && o.name != "--output" {
			continue
		}
		if o.text.dynamic || strings.HasPrefix(o.text.text, "|") || strings.HasPrefix(o.text.text, "!") {
			c.unknown(name + " " + o.name + " may run a program")
		}
	}
}

// judgeGuess lists possible programs of a wrapper with unknown options: from each word on that is a program, or starts a command
// line. The wrapper is unknown anyway; the list is for rules that deny its program.
func judgeGuess(c *call, name string, _ *arguments) {
	for i, w := range c.words {
		first, _, line := strings.Cut(w.text, " ")
		switch {
		case i == 0 || !w.known() || c.a.table[path.Base(first)] == nil:
		case line:
			c.shellLine(w, name, c.place.inner(name), syntax.LangBash)
		default:
			c.outside(c.place.inner(name), c.words[i:])
		}
	}
}
