package command

import (
	"path"
	"slices"
	"strings"
)

// publishing are names of tasks and scripts that publish something.
var publishing = strings.Fields("publish release deploy upload push")

// task notes that the names of a task, or of a script with its first argument, say that it publishes: release, deploy:prod,
// scripts/publish.sh.
func (c *call) task(words ...word) {
	seen := 0
	for _, w := range words {
		if strings.HasPrefix(w.text, "-") {
			continue
		}
		parts := strings.FieldsFunc(strings.ToLower(path.Base(w.text)), func(r rune) bool { return strings.ContainsRune(":._-", r) })
		if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(publishing, p) }) {
			c.does(Publishes, "by its name, "+shownWord(w)+" publishes something")
		}
		if seen++; seen == 2 {
			return
		}
	}
}

// judgeTask judges tools that run tasks of the project: make, npm run.
func judgeTask(c *call, name string, g *arguments) {
	all := c.words[1:]
	if _, verb, sub := strings.Cut(name, " "); sub {
		for i, w := range all {
			if w.is(verb) {
				all = all[i+1 : min(i+2, len(all))]
				break
			}
		}
	}
	c.task(all...)
}

// judgeShow judges programs with objects that they show or change, such as ip addr.
func judgeShow(c *call, name string, g *arguments) {
	if len(g.operands) > 0 && !g.operands[0].is("show", "list", "ls", "get") {
		c.unknown(name + " may change something")
	}
	g.operands = nil
}

// judgeForge judges questions of gh to its forge. Addresses, and repositories with a host, are those of any machine.
func judgeForge(c *call, name string, g *arguments) {
	for _, o := range g.options {
		if (o.name == "-R" || o.name == "--repo") && strings.Count(o.text.text, "/") != 1 {
			c.argument(netHost, o.text, name)
		}
	}
	judgePackages(c, name, g)
}

// judgeWide judges kubectl get, which prints whole objects, with the keys in them, in other formats than a table.
func judgeWide(c *call, name string, g *arguments) {
	for _, o := range g.options {
		if o.name == "-o" || o.name == "--output" {
			if !o.text.is("wide", "name") {
				c.does(Network, name+" may print keys")
			}
		}
	}
}
