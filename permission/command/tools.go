package command

import (
	"slices"
	"strings"
)

// judgeTar judges the modes of tar. -C applies to the files after it, and not to the archive.
func judgeTar(c *call, _ string, g *arguments) {
	mode, archive := "", word{text: "-"}
	inside := c.place
	c.place = c.start
	for _, o := range g.options {
		switch o.name {
		case "-c", "-x", "-t", "-r", "-u", "-A":
			mode = o.name
		case "--create", "--extract", "--list", "--get", "--append", "--update", "--delete", "--concatenate", "--catenate", "--diff", "--compare":
			mode = "-" + o.name[2:3]
		case "-f", "--file":
			archive = o.text
		case "-C", "--directory":
			if mode == "-x" || mode == "-e" || mode == "-g" {
				c.writes(o.text)
			}
			c.place.dirs = c.a.at(c.place).enter(o.text)
		}
	}
	c.place = c.start
	if before, _, ok := strings.Cut(archive.text, ":"); ok && !strings.Contains(before, "/") && !g.has("--force-local") {
		c.does(Network|Executes, "tar reaches another machine")
	}
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
		c.unknown("an unknown mode of tar")
	}
	g.operands = nil
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

// judgeDD judges if=, of= and the other settings of dd.
func judgeDD(c *call, _ string, g *arguments) {
	for _, w := range g.operands {
		key, value, ok := strings.Cut(w.text, "=")
		v := word{text: value, dynamic: w.dynamic, tilde: strings.HasPrefix(value, "~")} // as bash reads an assignment
		switch {
		case !ok || w.splits || w.glob:
			c.unknown("an unknown setting of dd")
		case key == "if":
			c.reads(v)
		case key == "of":
			if c.writes(v); strings.HasPrefix(value, "/dev/") && !silent(value) {
				c.does(Destroys, "writes to a device")
			}
		case !slices.Contains(strings.Fields("bs ibs obs cbs count skip seek iseek oseek conv iflag oflag status"), key):
			c.unknown("an unknown setting of dd")
		}
	}
	g.operands = nil
}

// judgeDate judges date, which sets the clock if an operand does not start with +.
func judgeDate(c *call, _ string, g *arguments) {
	for _, w := range g.operands {
		if !strings.HasPrefix(w.text, "+") {
			c.does(Unknown, "date may set the clock")
		}
	}
	g.operands = nil
}

// judgeSplit judges split, which writes files whose names start with its second operand.
func judgeSplit(c *call, _ string, g *arguments) {
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

// judgePatch judges patch and git apply. The patch names their files.
func judgePatch(c *call, name string, g *arguments) {
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

// judgeLink judges ln. A write through a link changes its target, so the target counts as written. A relative target with ..
// starts at the directory of the link, which the line may not name.
func judgeLink(c *call, _ string, g *arguments) {
	for _, w := range g.operands {
		if g.has("-s", "--symbolic") && !w.dynamic && !absolute(w.text) && strings.Contains(w.text, "..") {
			c.writes(word{dynamic: true})
		}
	}
}

// judgeListed judges the binutils, which read arguments from a file after an @. An option may load a library.
func judgeListed(c *call, name string, g *arguments) {
	for _, w := range g.operands {
		if strings.HasPrefix(w.text, "@") || w.mayBeOption() {
			c.unknown(name + " may take options from " + shownWord(w))
		}
	}
}

// judgeUnzip judges unzip, which writes in its directory unless it only lists or prints.
func judgeUnzip(c *call, _ string, g *arguments) {
	if g.has("-l", "-v", "-Z", "-z", "-t", "-p", "-c") {
		return
	}
	if c.does(Writes, ""); !g.has("-d") {
		c.writes(word{text: "."})
	}
}

// judgeMan judges man and info. A page with a slash in its name is a file, which may include any other file.
func judgeMan(c *call, _ string, g *arguments) {
	for _, w := range g.operands {
		if w.dynamic || strings.Contains(w.text, "/") {
			c.reads(word{dynamic: true})
		}
	}
}
