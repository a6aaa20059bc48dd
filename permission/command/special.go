package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// special applies the rule of the table for programs whose arguments are a language of their own.
func (c *call) special(p *program, name string, g *arguments) {
	switch p.by {
	case "shell":
		c.shell(name)
	case "eval":
		c.eval(g.operands)
	case "source":
		c.source(g.operands)
	case "cd":
		c.cd(g)
	case "moves":
		c.ends = ends{[]string{""}, []string{""}}
	case "env":
		c.env(g)
	case "xargs":
		c.xargs(g)
	case "find":
		c.find()
	case "sudo":
		c.sudo(name, g)
	case "su":
		c.su(g)
	case "ssh":
		c.ssh(g)
	case "joined":
		c.joined(name, g)
	case "elsewhere":
		c.elsewhere(name, g)
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
	case "sed":
		c.sed(g)
	case "awk":
		c.awk(g)
	case "tar":
		c.tar()
	case "dd":
		c.dd(g)
	case "script":
		c.script(name)
	case "git":
		c.git(g)
	case "gitconfig":
		c.gitConfig(g)
	case "remote":
		c.remote(name, g)
	case "checkout":
		c.checkout(name)
	case "branch":
		c.branch(g)
	case "stranger":
		c.stranger(name)
	case "flock":
		if len(g.operands) > 1 && g.operands[1].is("-c", "--command") {
			c.text(g.operands[2:min(3, len(g.operands))], "flock -c", c.place.inner("flock -c"))
			g.operands = g.operands[:1]
		}
	case "copy":
		c.copy(name, g)
	case "applet":
		c.applet(name, g)
	case "gotest":
		c.goBuild(g)
	case "query":
		c.query(name, g)
	case "tracer":
		for _, o := range g.options {
			if (o.name == "-o" || o.name == "--output") && (o.text.dynamic || strings.HasPrefix(o.text.text, "|") || strings.HasPrefix(o.text.text, "!")) {
				c.unknown(name + " " + o.name + " may run a program")
			}
		}
	case "jobs":
		if g.has("-x") {
			c.wrapped(name, g.operands, c.place.inner("jobs -x"))
		}
	case "listed":
		c.listed(name, g)
	case "date":
		c.date(g)
	case "kill":
		c.kill()
	case "split":
		c.split(g)
	case "unzip":
		if g.has("-l", "-v", "-Z", "-z", "-t", "-p", "-c") {
			break
		}
		if c.does(Writes, ""); !g.has("-d") {
			c.writes(word{text: "."})
		}
	case "link":
		c.link(g)
	case "patch":
		c.patch(name, g)
	case "foreach":
		c.does(Executes, "")
		c.text(g.operands, "git submodule foreach", c.place.inner("git submodule foreach").lost())
	case "filter":
		c.filter(g)
	case "gitexec":
		// what -x runs is in its kind
	case "archive":
		g.operands = nil
	case "packages":
		c.packages(g)
	case "container":
		c.container(g)
	case "download":
		c.download(name, g)
	default:
		c.unknown("no rule is called " + p.by)
	}
}

// shell judges bash, sh and their like: a text of commands, a file of them, or what comes on the input.
func (c *call) shell(name string) {
	args := c.words[1:]
	interactive := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.mayBeOption():
			c.unknown("what " + name + " runs is not known before")
			return
		case strings.HasPrefix(w.text, "--"):
			switch {
			case w.is("--version", "--help") && len(args) == 1:
				return
			case w.is("--norc", "--noprofile", "--posix", "--login", "--"):
			default:
				c.unknown("option " + shown(w.text) + " of " + name + " is not known")
				return
			}
		case len(w.text) > 1 && (w.text[0] == '-' || w.text[0] == '+'):
			if strings.Trim(w.text[1:], "bcefhilmnprstuvxBCEHPToO") != "" || w.dynamic {
				c.unknown("option " + shown(w.text) + " of " + name + " is not known")
				return
			}
			interactive = interactive || strings.ContainsAny(w.text, "ils")
			if strings.ContainsAny(w.text, "oO") {
				i++ // the name of an option of the shell
				c.shellOption(name, args, i)
			}
			if strings.Contains(w.text, "c") && w.text[0] == '-' {
				c.shellText(name, args[min(i+1, len(args)):], interactive)
				return
			}
			if strings.Contains(w.text, "s") {
				c.shellInput(name)
				return
			}
		default:
			c.does(Executes, name+" runs "+shownWord(w))
			c.reads(w)
			return
		}
	}
	c.shellInput(name)
}

// shellOption judges the name after -o or -O.
func (c *call) shellOption(name string, args []word, i int) {
	if i < len(args) && !args[i].is(plainOptions...) && !args[i].is(plainShopts...) {
		c.unknown("option " + shownWord(args[i]) + " of " + name + " is not known")
	}
}

// stranger shows the commands that another kind of shell is given, as far as they are like those of others.
func (c *call) stranger(name string) {
	for i, w := range c.words[:len(c.words)-1] {
		if text := c.words[i+1]; i > 0 && w.is("-c", "--command", "-qc", "-Command", "/c", "/C") && text.known() {
			c.shellLine(text.text, name+" -c", c.place.inner(name+" -c"), syntax.LangBash)
		}
	}
}

// shellText judges sh -c TEXT. Options may still come before the text.
func (c *call) shellText(name string, args []word, interactive bool) {
	for len(args) > 0 && len(args[0].text) > 1 && (args[0].text[0] == '-' || args[0].text[0] == '+') && args[0].known() {
		if strings.ContainsAny(args[0].text, "oO") && len(args) > 1 {
			c.shellOption(name, args, 1)
			args = args[1:]
		}
		if strings.Trim(args[0].text[1:], "bcefhilmnprstuvxBCEHPToO") != "" && strings.IndexByte("-+", args[0].text[0]) >= 0 {
			c.unknown("option " + shown(args[0].text) + " of " + name + " is not known")
		}
		args = args[1:]
	}
	if len(args) == 0 {
		c.unknown(name + " -c is given nothing")
		return
	}
	if interactive {
		c.does(Executes, name+" runs its start files")
	}
	c.clear = true
	if w := args[0]; w.dynamic || w.splits || w.glob {
		c.unknown("the commands of " + name + " -c are not known before they run")
		return
	}
	c.commands(name, args[0].text, name+" -c")
}

// commands judges a text that a shell of this name runs.
func (c *call) commands(name, text, via string) {
	in := c.place.inner(via)
	switch name {
	case "bash":
		c.shellLine(text, via, in, syntax.LangBash)
	case "sh", "dash", "ash":
		_, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(bounded(text)), "")
		if err == nil {
			c.shellLine(text, via, in, syntax.LangPOSIX)
		}
		if err != nil || strings.Contains(text, "[[") || strings.Contains(text, "((") || strings.Contains(text, "$'") {
			c.shellLine(text, via, in, syntax.LangBash)
		}
	default:
		c.shellLine(text, via, in, syntax.LangBash)
		if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./'\"|&;,:@%+-\n") != "" {
			c.unknown(name + " may read its commands in other ways than bash")
		}
	}
}

// bounded returns a text that the parser may be given, or one that it refuses.
func bounded(text string) string {
	if len(text) > longestLine || openings(text) > mostOpen {
		return ")"
	}
	return text
}

func (c *call) shellInput(name string) {
	switch in := c.place.in; {
	case in.known:
		c.clear = true
		c.commands(name, in.text, name)
	case in.other:
		c.does(Executes|Unknown, name+" runs what comes on its input")
	default:
		c.does(Executes, name+" runs what comes on its input")
	}
}

// eval judges eval: its words, joined, are read again.
func (c *call) eval(words []word) {
	var text []string
	for _, w := range words {
		if !w.known() {
			c.unknown("the commands of eval are not known before they run")
			return
		}
		text = append(text, w.text)
	}
	c.clear = true
	c.ends = c.nested(strings.Join(text, " "), "eval", c.place.inner("eval"), syntax.LangBash)
}

func (c *call) source(words []word) {
	c.ends = ends{[]string{""}, []string{""}}
	if len(words) == 0 {
		return
	}
	c.does(Executes, "runs "+shownWord(words[0])+" in this shell")
	c.reads(words[0])
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

// env judges env: assignments, -S, then a program.
func (c *call) env(g *arguments) {
	words := g.operands
	for _, o := range g.options {
		if o.name == "-S" || o.name == "--split-string" {
			split, ok := envSplit(o.text)
			if !ok {
				c.unknown("env -S is given what is not known before it runs")
			}
			words = append(split, words...)
		}
	}
	if g.has("-S", "--split-string") { // what was split may begin with options again
		again := programs()["env"].sort(words)
		if again.strange != "" || again.has("-S", "--split-string") {
			c.unknown("env -S is given options that are not known")
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
				c.unknown("the program that env runs is not known before")
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

// envSplit splits the value of env -S where it needs none of its own language.
func envSplit(w word) (words []word, ok bool) {
	if w.dynamic || strings.ContainsAny(w.text, "\\'\"$#") {
		return nil, false
	}
	for f := range strings.FieldsSeq(w.text) {
		words = append(words, word{text: f})
	}
	return words, true
}

// xargs judges xargs and parallel: a program gets words that come from the input.
func (c *call) xargs(g *arguments) {
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
			w = word{text: before, dynamic: true}
		}
		filled = append(filled, w)
	}
	if mark == "" {
		filled = append(filled, word{dynamic: true, splits: true})
	}
	in := c.place.inner("xargs")
	in.in = input{other: true}
	c.wrapped("xargs", filled, in)
}

func (c *call) sudo(name string, g *arguments) {
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

func (c *call) su(g *arguments) {
	c.does(Executes, "as another user")
	in := c.place.inner("su -c")
	in.adds |= Executes
	in.why = "as another user"
	for _, o := range g.options {
		if o.name == "-c" || o.name == "--command" {
			if o.text.dynamic {
				c.unknown("the commands of su -c are not known before they run")
				continue
			}
			c.shellLine(o.text.text, "su -c", in, syntax.LangBash)
		}
	}
}

// ssh judges a command on another machine. It is shown; its paths are not ours.
func (c *call) ssh(g *arguments) {
	c.does(Network|Executes, "runs on another machine")
	if len(g.operands) == 0 {
		return
	}
	c.host(word{text: g.operands[0].text + ":", dynamic: g.operands[0].dynamic})
	in := c.place.inner("ssh")
	in.remote, in.dirs = true, []string{""}
	in.adds |= Network | Executes
	in.why = "on another machine"
	c.text(g.operands[1:], "ssh", in)
}

// text judges words that a program joins and gives to a shell.
func (c *call) text(words []word, via string, in place) {
	var text []string
	for _, w := range words {
		if w.dynamic || w.splits || w.glob {
			c.unknown("the commands of " + via + " are not known before they run")
			return
		}
		text = append(text, w.text)
	}
	if len(text) > 0 {
		c.shellLine(strings.Join(text, " "), via, in, syntax.LangBash)
	}
}

// joined judges watch, parallel and their like, which give their words to a shell.
func (c *call) joined(name string, g *arguments) {
	words := g.operands
	in := c.place.inner(name)
	if name == "parallel" {
		c.parallel(words, in)
		return
	}
	if name == "watch" && g.has("-x", "--exec") {
		c.wrapped(name, words, in)
		return
	}
	c.clear = true
	c.text(words, name, in)
}

// parallel judges GNU parallel: what follows ::: are values, and without {} they come at the end.
func (c *call) parallel(words []word, in place) {
	in.in = input{other: true}
	for i, w := range words {
		if strings.HasPrefix(w.text, "::") {
			words = words[:i]
			break
		}
	}
	if len(words) == 0 {
		c.unknown("parallel runs what it reads")
		return
	}
	for _, w := range words {
		if strings.ContainsAny(w.text, "{;|&$`<>()\n'\"\\*?") || !w.known() {
			c.unknown("parallel puts what it reads into a line of commands")
			c.text(words, "parallel", in)
			return
		}
	}
	c.unknown("parallel gives what it reads to a shell")
	c.wrapped("parallel", append(words[:len(words):len(words)], word{dynamic: true, splits: true}), in)
	c.clear = false
}

// lost is the place of commands that run in directories which are not known.
func (c place) lost() place {
	c.dirs = []string{""}
	return c
}

// container judges docker run and exec: the program in it is shown, its paths are not ours.
func (c *call) container(g *arguments) {
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

// elsewhere judges chroot, docker run and their like: the program sees other files.
func (c *call) elsewhere(name string, g *arguments) {
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
