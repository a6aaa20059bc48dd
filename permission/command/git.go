package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// safeSettings are settings of git that run nothing.
var safeSettings = strings.Fields(`color.* core.quotepath core.pager=cat core.pager= core.abbrev core.autocrlf core.safecrlf core.filemode
	core.ignorecase core.precomposeunicode advice.* user.name user.email commit.gpgsign=false tag.gpgsign=false
	gc.auto log.* diff.renames diff.renamelimit diff.noprefix diff.algorithm diff.mnemonicprefix diff.context pager.*=false
	merge.conflictstyle init.defaultbranch protocol.version column.* status.* blame.date blame.coloring push.default pull.rebase pull.ff fetch.prune
	http.postbuffer rebase.autostash rebase.autosquash`)

// judgeGit judges the options before the subcommand.
func judgeGit(c *call, _ string, g *arguments) {
	for _, o := range g.options {
		if o.name != "-c" {
			continue
		}
		if o.text.dynamic {
			c.mystery("git -c")
			continue
		}
		key, value, _ := strings.Cut(o.text.text, "=")
		gitSetting(c, key, value, true)
	}
}

// gitSetting judges a setting of git and its value.
func gitSetting(c *call, key, value string, given bool) {
	lower := strings.ToLower(key)
	if given && (listed(lower, safeSettings) || listed(lower+"="+value, safeSettings)) {
		return
	}
	if name, ok := strings.CutPrefix(lower, "alias."); ok {
		if text, shell := strings.CutPrefix(value, "!"); shell {
			c.nested(word{text: text}, "git alias", c.place.inner("git alias"), syntax.LangPOSIX)
		} else if c.place.depth < deepest/2 {
			c.nested(word{text: "git " + value}, "git alias", c.place.inner("git alias"), syntax.LangPOSIX)
		}
		c.does(Executes|Unknown, "redefines git "+shown(name))
		return
	}
	c.does(Executes, "sets "+shown(key)+" of git, which can change the programs that run")
}

// judgeGitConfig judges git config: with one name it reads, with a value it writes.
func judgeGitConfig(c *call, _ string, g *arguments) {
	words := g.operands
	reading := g.has("--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color", "--get-colorbool")
	if len(words) > 0 && words[0].is("list", "get") {
		reading = true
	} else if len(words) > 0 && words[0].is("set", "unset", "edit", "rename-section", "remove-section") {
		words = words[1:]
	} else if len(words) == 1 && words[0].known() && !g.has("--unset", "--unset-all", "--remove-section", "-e", "--edit", "--rename-section") {
		reading = true
	}
	g.operands = nil
	if reading {
		return
	}
	c.does(Writes, "")
	switch {
	case g.has("--global", "--system"):
		c.writes(word{dynamic: true})
	default:
		c.repository()
	}
	if len(words) == 0 || !words[0].known() {
		c.does(Executes, "changes settings of git")
		return
	}
	value := word{}
	if len(words) > 1 {
		value = words[1]
	}
	gitSetting(c, words[0].text, value.text, value.known())
}

// judgeCheckout judges git checkout, with paths after --; after git switch they are branches.
func judgeCheckout(c *call, name string, g *arguments) {
	for i, w := range g.operands {
		if name == "git checkout" && (i > 0 || !w.known() || w.is(".") || strings.HasPrefix(w.text, ":")) && !g.has("-b", "-B", "--orphan", "-t", "--track") {
			c.does(Destroys|Discards, "discards changes of files")
		}
	}
	for i, w := range c.words {
		if w.is("--") && name == "git checkout" {
			for _, file := range c.words[i+1:] {
				c.writes(file)
			}
			break
		}
	}
}

// judgeDiscards judges git restore and git clean, which discard work unless they restore only the index, or only list files.
func judgeDiscards(c *call, name string, g *arguments) {
	switch {
	case name == "git clean" && g.has("-n", "--dry-run"):
		g.operands = nil
	case name == "git restore" && g.has("-S", "--staged") && !g.has("-W", "--worktree"):
		c.does(Writes, "changes the index")
		c.repository()
		g.operands = nil
	case name == "git restore":
		c.does(Destroys|Discards, "discards changes of files")
	default:
		c.does(Writes|Destroys|Discards, "deletes files that git does not track")
		c.somewhere()
	}
}

// judgeBranch notes that -D, -M and -C are -d, -m and -c with -f.
func judgeBranch(c *call, _ string, g *arguments) {
	force := g.has("-f", "--force")
	for _, o := range [][]string{{"-D", "-d", "--delete"}, {"-M", "-m", "--move"}, {"-C", "-c", "--copy"}} {
		switch forced, plain := o[0], o[1:]; {
		case g.has(forced):
			c.implies(forced, plain...)
			c.implies(forced, "-f", "--force")
		case force && g.has(plain...):
			c.implies(plain[0]+" -f", forced)
		}
	}
}

// judgeForeach judges git submodule foreach.
func judgeForeach(c *call, _ string, g *arguments) {
	c.does(Executes, "")
	c.text(g.operands, "git submodule foreach", c.place.inner("git submodule foreach").lost())
}

// judgeArchive judges git archive, whose operands name commits.
func judgeArchive(_ *call, _ string, g *arguments) { g.operands = nil }

// judgeFilter judges git filter-branch, whose filters are shell commands.
func judgeFilter(c *call, _ string, g *arguments) {
	for i, w := range g.operands {
		if i > 0 && strings.HasSuffix(g.operands[i-1].text, "-filter") || strings.HasSuffix(g.operands[max(i-1, 0)].text, "-callback") {
			c.line(w, "git filter-branch")
		}
	}
	g.operands = nil
}

// judgeRemote judges fetch, push and similar commands, with the address in the line or in the settings of git.
func judgeRemote(c *call, name string, g *arguments) {
	if g.has("--mirror") {
		c.implies("--mirror", "-f", "--force")
	}
	for i, w := range g.operands {
		switch {
		case strings.HasPrefix(w.text, "ext::") || w.dynamic && w.text == "" && i == 0 || w.mayBeOption():
			c.unknown("the remote cannot be determined in advance, and addresses of remotes can run programs")
		case strings.Contains(w.text, "::"):
			c.unknown("git runs a helper for " + shown(w.text))
		case i > 0 && name == "git push" && (strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":")):
			c.does(Destroys, "replaces or removes a branch elsewhere")
			if c.implies(shown(w.text), "-f", "--force"); strings.HasPrefix(strings.TrimPrefix(w.text, "+"), ":") {
				c.implies(shown(w.text), "-d", "--delete")
			}
		case i == 0 && strings.Contains(w.text, ":"):
			c.host(w)
		}
	}
	g.operands = nil
}
