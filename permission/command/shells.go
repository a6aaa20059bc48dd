package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// judgeShell judges bash, sh and similar shells: commands in an argument, in a file, or on the input.
func judgeShell(c *call, name string, _ *arguments) {
	args := c.words[1:]
	if len(args) == 2 && args[0].is("-n") && args[1].known() && !strings.HasPrefix(args[1].text, "-") && name != "zsh" {
		c.reads(args[1]) // it only checks the syntax
		return
	}
	interactive := false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.mayBeOption():
			c.unknown("the commands of " + name + " cannot be determined in advance")
			return
		case strings.HasPrefix(w.text, "--"):
			switch {
			case w.is("--version", "--help") && len(args) == 1:
				return
			case w.is("--norc", "--noprofile", "--posix", "--login", "--"):
			default:
				c.unknown("unknown option " + shown(w.text) + " of " + name)
				return
			}
		case len(w.text) > 1 && (w.text[0] == '-' || w.text[0] == '+'):
			if strings.Trim(w.text[1:], "bcefhilmnprstuvxBCEHPToO") != "" || w.dynamic {
				c.unknown("unknown option " + shown(w.text) + " of " + name)
				return
			}
			interactive = interactive || strings.ContainsAny(w.text, "ils")
			if strings.ContainsAny(w.text, "oO") {
				i++ // the name of an option of the shell
				shellOption(c, name, args, i)
			}
			if strings.Contains(w.text, "c") && w.text[0] == '-' {
				shellText(c, name, args[min(i+1, len(args)):], interactive)
				return
			}
			if strings.Contains(w.text, "s") {
				shellInput(c, name)
				return
			}
		default:
			c.does(Executes, name+" runs "+shownWord(w))
			c.reads(w)
			return
		}
	}
	shellInput(c, name)
}

// shellOption judges the option name after -o or -O.
func shellOption(c *call, name string, args []word, i int) {
	if i < len(args) && !args[i].is(plainOptions...) && !args[i].is(plainShopts...) {
		c.unknown("unknown option " + shownWord(args[i]) + " of " + name)
	}
}

// judgeStranger lists the commands of another kind of shell, as far as they parse.
func judgeStranger(c *call, name string, _ *arguments) {
	for i, w := range c.words[:len(c.words)-1] {
		if text := c.words[i+1]; i > 0 && w.is("-c", "--command", "-qc", "-Command", "/c", "/C") && text.known() {
			c.shellLine(text, name+" -c", c.place.inner(name+" -c"), syntax.LangBash)
		}
	}
}

// shellText judges sh -c TEXT. Options may still come before the text.
func shellText(c *call, name string, args []word, interactive bool) {
	for len(args) > 0 && len(args[0].text) > 1 && (args[0].text[0] == '-' || args[0].text[0] == '+') && args[0].known() {
		option := args[0].text
		if strings.Trim(option[1:], "bcefhilmnprstuvxBCEHPToO") != "" {
			c.unknown("unknown option " + shown(option) + " of " + name)
		}
		if strings.ContainsAny(option, "oO") && len(args) > 1 { // the name of an option follows
			shellOption(c, name, args, 1)
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		c.unknown(name + " -c has no argument")
		return
	}
	if interactive {
		c.does(Executes, name+" runs its start files")
	}
	c.clear = true
	if w := args[0]; w.dynamic || w.splits || w.glob {
		c.mystery(name + " -c")
		return
	}
	shellCommands(c, name, args[0], name+" -c")
}

// shellCommands judges a text for the shell of this name.
func shellCommands(c *call, name string, text word, via string) {
	in := c.place.inner(via)
	switch name {
	case "bash":
		c.shellLine(text, via, in, syntax.LangBash)
	case "sh", "dash", "ash":
		if _, err := c.a.parsers.parse(bounded(text.text), syntax.LangPOSIX); err == nil {
			c.shellLine(text, via, in, syntax.LangPOSIX)
			return
		}
		c.shellLine(text, via, in, syntax.LangBash)
		c.unknown(name + " may read its commands in other ways than bash")
	default:
		c.shellLine(text, via, in, syntax.LangBash)
		if strings.Trim(text.text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./'\"|&;,:@%+-\n") != "" {
			c.unknown(name + " may read its commands in other ways than bash")
		}
	}
}

// bounded returns a text within the bounds of the parser, or one that it rejects.
func bounded(text string) string {
	if len(text) > longestLine || openings(text) > mostOpen {
		return ")"
	}
	return text
}

func shellInput(c *call, name string) {
	switch in := c.place.in; {
	case in.known:
		c.clear = true
		shellCommands(c, name, word{text: in.text}, name)
	case in.other:
		c.does(Executes|Unknown, name+" runs its input")
	default:
		c.does(Executes, name+" runs its input")
	}
}

// judgeEval judges eval, which joins its words and parses them again.
func judgeEval(c *call, _ string, g *arguments) {
	words := g.operands
	var text []string
	for _, w := range words {
		if !w.known() {
			c.mystery("eval")
			return
		}
		text = append(text, w.text)
	}
	c.clear = true
	all := word{text: strings.Join(text, " ")}
	if len(words) == 1 {
		all = words[0]
	}
	c.ends = c.nested(all, "eval", c.place.inner("eval"), c.place.lang)
}

func judgeSource(c *call, _ string, g *arguments) {
	words := g.operands
	c.ends = ends{[]string{""}, []string{""}}
	if len(words) == 0 {
		return
	}
	c.does(Executes, "runs "+shownWord(words[0])+" in this shell")
	c.reads(words[0])
}

// text judges words that a program joins and passes to a shell.
func (c *call) text(words []word, via string, in place) {
	var text []string
	for _, w := range words {
		if w.dynamic || w.splits || w.glob {
			c.mystery(via)
			return
		}
		text = append(text, w.text)
	}
	switch len(words) {
	case 0:
	case 1:
		c.shellLine(words[0], via, in, syntax.LangBash)
	default:
		c.shellLine(word{text: strings.Join(text, " ")}, via, in, syntax.LangBash)
	}
}

// line judges a value that is itself a line of shell commands.
func (c *call) line(w word, via string) {
	if w.dynamic {
		c.mystery(via)
		return
	}
	c.shellLine(w, via, c.place.inner(via), syntax.LangBash)
}

// shellLine judges a text of commands that another shell runs.
func (c *call) shellLine(text word, via string, in place, lang syntax.LangVariant) {
	c.a.outside(func() { c.nested(text, via, in, lang) })
}

// mystery lists an unknown command in addition to the command itself: a deny rule may match it.
func (c *call) mystery(via string) {
	why := "the commands of " + via + " cannot be determined in advance"
	c.unknown(why)
	c.a.emit(c.node, c.place.inner(via), []word{{dynamic: true}}, Unknown, why)
}

// nested judges a text of commands within this one. A word of the line that is such a text gets its canonical form; from elsewhere the
// text must have that form.
func (c *call) nested(text word, via string, in place, lang syntax.LangVariant) ends {
	in.at = c.place.spot(c.node)
	in.nested, in.sure, in.in.known = true, false, false
	a, before := c.a, len(c.a.out.Commands)
	e, printed, ok := a.text(text.text, in, lang)
	switch {
	case a.raw || ok && printed == strings.TrimSuffix(text.text, "\n"):
	case ok && printed != "" && text.whole():
		text.from.Parts = []syntax.WordPart{&syntax.SglQuoted{Value: printed}}
		a.edited = true
	default:
		c.unknown("shells may read the text of " + via + " in different ways")
	}
	if n := len(a.out.Commands); n > before {
		c.last = n - 1
	}
	return e
}
