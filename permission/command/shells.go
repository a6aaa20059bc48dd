package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells judges what runs texts of shell commands.
func (c *call) shells(by, name string, g *arguments) bool {
	switch by {
	case "shell":
		c.shell(name)
	case "stranger":
		c.stranger(name)
	case "eval":
		c.eval(g.operands)
	case "source":
		c.source(g.operands)
	default:
		return false
	}
	return true
}

// shell judges bash, sh and their like: a text of commands, a file of them, or what comes on the input.
func (c *call) shell(name string) {
	args := c.words[1:]
	if len(args) == 2 && args[0].is("-n") && args[1].known() && !strings.HasPrefix(args[1].text, "-") && name != "zsh" {
		c.reads(args[1]) // and says whether it is well written
		return
	}
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
		c.mystery(name + " -c")
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
			c.mystery("eval")
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

// text judges words that a program joins and gives to a shell.
func (c *call) text(words []word, via string, in place) {
	var text []string
	for _, w := range words {
		if w.dynamic || w.splits || w.glob {
			c.mystery(via)
			return
		}
		text = append(text, w.text)
	}
	if len(text) > 0 {
		c.shellLine(strings.Join(text, " "), via, in, syntax.LangBash)
	}
}

// line judges a value that is itself a line of shell commands.
func (c *call) line(w word, via string) {
	if w.dynamic {
		c.mystery(via)
		return
	}
	c.shellLine(w.text, via, c.place.inner(via), syntax.LangBash)
}

// shellLine judges a text of commands that another shell runs.
func (c *call) shellLine(text, via string, in place, lang syntax.LangVariant) {
	c.a.outside(func() { c.nested(text, via, in, lang) })
}

// mystery lists, beside the command itself, one of which nothing is known: a rule that denies may mean it.
func (c *call) mystery(via string) {
	why := "the commands of " + via + " are not known before they run"
	c.unknown(why)
	c.a.emit(c.node, c.place.inner(via), []word{{dynamic: true}}, Unknown, why)
}

// nested judges a text of commands within this one.
func (c *call) nested(text, via string, in place, lang syntax.LangVariant) ends {
	in.at = c.a.spot(c.node, c.place)
	in.nested, in.sure, in.in.known = true, false, false
	before := len(c.a.out.Commands)
	e := c.a.text(text, in, lang)
	if n := len(c.a.out.Commands); n > before {
		c.last = n - 1
	}
	return e
}
