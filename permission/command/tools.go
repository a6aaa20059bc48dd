package command

import (
	"slices"
	"strings"
)

// tool judges what reads and writes files in ways of its own.
func (c *call) tool(by, name string, g *arguments) bool {
	switch by {
	case "tar":
		c.tar()
	case "dd":
		c.dd(g)
	case "date":
		c.date(g)
	case "split":
		c.split(g)
	case "unzip":
		c.unzip(g)
	case "link":
		c.link(g)
	case "patch":
		c.patch(name, g)
	case "listed":
		c.listed(name, g)
	default:
		return false
	}
	return true
}

// tar judges tar, whose first word may be options without a dash.
func (c *call) tar() {
	p := programs()["tar options"]
	g := p.sort(oldTar(c.words[1:]))
	c.cmd.Sorted = true
	c.sorted(&g)
	if g.strange != "" {
		c.unknown(g.strange)
	}
	mode, archive, start := "", word{text: "-"}, c.place
	for _, o := range g.options {
		switch o.name {
		case "-c", "-x", "-t", "-r", "-u", "-A":
			mode = o.name
		case "--create", "--extract", "--list", "--get", "--append", "--update", "--delete", "--concatenate", "--catenate", "--diff", "--compare":
			mode = "-" + o.name[2:3]
		case "-f", "--file":
			archive = o.text
		case "--checkpoint-action":
			if text, ok := strings.CutPrefix(o.text.text, "exec="); ok {
				c.line(word{text: text, dynamic: o.text.dynamic}, "tar --checkpoint-action")
			} else if o.text.dynamic {
				c.unknown("what tar does at a checkpoint is not known before it runs")
			}
			continue
		}
		if o.name == "-C" || o.name == "--directory" {
			if mode == "-x" || mode == "-e" || mode == "-g" {
				c.writes(o.text)
			}
		}
		c.option("tar", o)
	}
	if before, _, ok := strings.Cut(archive.text, ":"); ok && !strings.Contains(before, "/") && !g.has("--force-local") {
		c.does(Network|Executes, "tar reaches another machine")
	}
	inside := c.place // -C came into force, but not for the archive
	c.place = start
	if stdio := archive.is("-"); !stdio && mode != "" {
		if strings.Contains("-c -r -u -a -A", mode) {
			c.writes(archive)
		} else {
			c.reads(archive)
		}
	}
	c.place = inside
	switch mode {
	case "-x", "-e", "-g":
		if !g.has("-O", "--to-stdout") {
			c.writes(word{text: "."})
		}
	case "-t", "-l":
	case "-c", "-r", "-u", "-a", "-A":
		for _, w := range g.operands {
			c.reads(w)
		}
	default:
		c.unknown("what tar does is not known")
	}
}

// oldTar turns "xzf a.tar b" into "-x -z -f a.tar b".
func oldTar(args []word) []word {
	if len(args) == 0 || !args[0].known() || strings.HasPrefix(args[0].text, "-") {
		return args
	}
	letters, rest := args[0].text, args[1:]
	var all []word
	for _, l := range letters {
		all = append(all, word{text: "-" + string(l)})
		if strings.ContainsRune("fbCTXIgHKLNVF", l) && len(rest) > 0 {
			all, rest = append(all, rest[0]), rest[1:]
		}
	}
	return append(all, rest...)
}

// dd judges if=, of= and the rest of dd's settings.
func (c *call) dd(g *arguments) {
	for _, w := range g.operands {
		key, value, ok := strings.Cut(w.text, "=")
		v := word{text: value, dynamic: w.dynamic, tilde: strings.HasPrefix(value, "~")} // as bash has it in what looks like an assignment
		switch {
		case !ok || w.splits || w.glob:
			c.unknown("a setting of dd is not known")
		case key == "if":
			c.reads(v)
		case key == "of":
			if c.writes(v); strings.HasPrefix(value, "/dev/") && !silent(value) {
				c.does(Destroys, "writes to a device")
			}
		case !slices.Contains(strings.Fields("bs ibs obs cbs count skip seek iseek oseek conv iflag oflag status"), key):
			c.unknown("a setting of dd is not known")
		}
	}
	g.operands = nil
}

// date sets the clock with an operand that does not begin with +.
func (c *call) date(g *arguments) {
	for _, w := range g.operands {
		if !strings.HasPrefix(w.text, "+") {
			c.does(Unknown, "date may set the clock")
		}
	}
	g.operands = nil
}

// split writes files whose names begin with its second operand.
func (c *call) split(g *arguments) {
	to := word{text: "."}
	if len(g.operands) > 1 {
		to = g.operands[len(g.operands)-1]
		if !to.dynamic {
			to = word{text: to.text + "*", tilde: to.tilde}
		}
	}
	if c.writes(to); len(g.operands) > 0 && !g.operands[0].is("-") {
		c.reads(g.operands[0])
	}
	g.operands = nil
}

// patch judges patch and git apply, whose files are named in the patch.
func (c *call) patch(name string, g *arguments) {
	if name == "git apply" && g.has("--check", "--stat", "--numstat", "--summary") && !g.has("--apply") {
		for _, w := range g.operands {
			c.reads(w)
		}
		g.operands = nil
		return
	}
	for i, w := range g.operands {
		if name == "patch" && i == 0 {
			c.writes(w)
		} else {
			c.reads(w)
		}
	}
	if c.writes(word{text: "."}); g.has("--cached", "--index", "--3way", "-3") {
		c.repository()
	}
	if name == "patch" && g.has("-e", "--ed") {
		c.does(Executes, "patch gives ed commands")
	}
	g.operands = nil
}

// link judges ln. What is written through a link changes what it leads to, so that counts as written too; a relative
// way up begins where the link is, which may be a directory that the line does not name.
func (c *call) link(g *arguments) {
	for _, w := range g.operands {
		if g.has("-s", "--symbolic") && !w.dynamic && !absolute(w.text) && strings.Contains(w.text, "..") {
			c.writes(word{dynamic: true})
		}
	}
}

// listed judges the binutils, which take arguments from a file that is named after an @; an option may load a library.
func (c *call) listed(name string, g *arguments) {
	for _, w := range g.operands {
		if strings.HasPrefix(w.text, "@") || w.mayBeOption() {
			c.unknown(name + " may take options from " + shownWord(w))
		}
	}
}

// unzip writes where it runs when it does not only list or print.
func (c *call) unzip(g *arguments) {
	if g.has("-l", "-v", "-Z", "-z", "-t", "-p", "-c") {
		return
	}
	if c.does(Writes, ""); !g.has("-d") {
		c.writes(word{text: "."})
	}
}
