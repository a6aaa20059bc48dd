package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
		v := word{text: value, dynamic: w.dynamic}
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

// script judges interpreters: all they run is code that is not in the line, or not for us to read.
func (c *call) script(name string) {
	if len(c.words) == 1 {
		c.does(Executes, name+" runs what comes on its input")
		return
	}
	for _, w := range c.words[1:] {
		if w.is("-e", "-c", "-E", "-r", "-p", "--eval", "--print", "-pe", "-ne") {
			c.does(Executes, name+" "+w.text+" runs code that is in the line")
			return
		}
		if w.dynamic || !strings.HasPrefix(w.text, "-") {
			c.does(Executes, name+" runs "+shownWord(w))
			if w.dynamic || strings.ContainsAny(w.text, "./") {
				c.reads(w)
			}
			return
		}
	}
	c.does(Executes, name+" runs code")
}

// safeSettings are settings of git that run nothing.
var safeSettings = strings.Fields(`color.* core.quotepath core.pager=cat core.pager= core.abbrev core.autocrlf core.safecrlf core.filemode
	core.ignorecase core.precomposeunicode advice.* user.name user.email commit.gpgsign=false tag.gpgsign=false
	gc.auto log.* diff.renames diff.renamelimit diff.noprefix diff.algorithm diff.mnemonicprefix diff.context pager.*=false
	merge.conflictstyle init.defaultbranch protocol.version column.* status.* blame.* push.default pull.rebase pull.ff fetch.prune
	safe.directory http.postbuffer rebase.autostash rebase.autosquash`)

// git judges what stands before the subcommand.
func (c *call) git(g *arguments) {
	for _, o := range g.options {
		if o.name != "-c" {
			continue
		}
		if o.text.dynamic {
			c.unknown("a setting of git is not known before it runs")
			continue
		}
		key, value, _ := strings.Cut(o.text.text, "=")
		c.setting(key, value, true)
	}
}

// setting judges giving a setting of git a value.
func (c *call) setting(key, value string, given bool) {
	lower := strings.ToLower(key)
	if given && (listed(lower, safeSettings) || listed(lower+"="+value, safeSettings)) {
		return
	}
	if name, ok := strings.CutPrefix(lower, "alias."); ok {
		if text, shell := strings.CutPrefix(value, "!"); shell {
			c.nested(text, "git alias", c.place.inner("git alias"), syntax.LangPOSIX)
		} else if c.place.depth < deepest/2 {
			c.nested("git "+value, "git alias", c.place.inner("git alias"), syntax.LangPOSIX)
		}
		c.does(Executes|Unknown, "gives git "+shown(name)+" another meaning")
		return
	}
	c.does(Executes, "sets "+shown(key)+" of git, which can change what programs run")
}

// gitConfig judges git config: with one name it reads, with a value it writes.
func (c *call) gitConfig(g *arguments) {
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
	c.setting(words[0].text, value.text, value.known())
}

// remote judges fetch, push and their like: the address is in the line, or in git's settings.
func (c *call) remote(name string, g *arguments) {
	if g.has("--mirror") {
		c.implies("--mirror", "-f", "--force")
	}
	for i, w := range g.operands {
		switch {
		case strings.HasPrefix(w.text, "ext::") || w.dynamic && w.text == "" && i == 0 || w.mayBeOption():
			c.unknown("where git goes is not known, and addresses can run programs")
		case strings.Contains(w.text, "::"):
			c.unknown("git runs a helper for " + shown(w.text))
		case i > 0 && name == "git push" && (strings.HasPrefix(w.text, "+") || strings.HasPrefix(w.text, ":")):
			c.does(Destroys, "replaces or removes a branch elsewhere")
			if c.implies(shown(w.text), "-f", "--force"); strings.TrimPrefix(w.text, "+")[:1] == ":" {
				c.implies(shown(w.text), "-d", "--delete")
			}
		case i == 0 && strings.Contains(w.text, ":"):
			c.host(w)
		}
	}
	g.operands = nil
}

// checkout judges git checkout, where what follows -- is paths; after git switch it is a branch.
func (c *call) checkout(name string) {
	for i, w := range c.words {
		if w.is("--") && name == "git checkout" {
			for _, file := range c.words[i+1:] {
				c.writes(file)
			}
			break
		}
	}
}

// branch notes that -D, -M and -C are -d, -m and -c with -f.
func (c *call) branch(g *arguments) {
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

// copy judges scp, sftp and rsync: operands with a colon are on another machine.
func (c *call) copy(name string, g *arguments) {
	for i, w := range g.operands {
		before, _, far := strings.Cut(w.text, ":")
		switch last := i == len(g.operands)-1; {
		case far && before != "" && !strings.Contains(before, "/"):
			c.does(Network, "")
			c.host(w)
		case strings.Contains(w.text, "://"):
			c.does(Network, "")
			c.host(w)
		case last && len(g.operands) > 1 || w.splits:
			c.writes(w)
		default:
			c.reads(w)
		}
	}
	if name != "rsync" {
		c.does(Network, "")
	}
	g.operands = nil
}

// applet judges busybox and toybox: the first operand is the program.
func (c *call) applet(name string, g *arguments) {
	if len(g.operands) > 0 && !strings.Contains(g.operands[0].text, "/") {
		c.wrapped(name, g.operands, c.place.inner(name))
		return
	}
	c.unknown("nothing is known of this " + name)
}

// goBuild judges flags of the go command that name programs.
func (c *call) goBuild(g *arguments) {
	for _, o := range g.options {
		if o.name == "-exec" || o.name == "-toolexec" || o.name == "-vettool" {
			if o.text.dynamic {
				c.unknown("the program of go " + o.name + " is not known before it runs")
				continue
			}
			c.text([]word{o.text}, "go "+o.name, c.place.inner("go "+o.name))
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

// download judges curl and wget.
func (c *call) download(name string, g *arguments) {
	c.does(Network, "")
	for _, w := range g.operands {
		c.host(w)
		if s := w.text; strings.HasPrefix(strings.ToLower(s), "file:") {
			c.reads(word{text: strings.TrimPrefix(s[5:], "//"), dynamic: w.dynamic})
		}
	}
	for _, o := range g.options {
		switch {
		case o.name == "-d" || strings.HasPrefix(o.name, "--data") || o.name == "-F" || o.name == "--form" || o.name == "-H" || o.name == "--header" || o.name == "--json":
			if _, file, ok := strings.Cut(o.text.text, "@"); ok && o.name != "--data-raw" && (strings.HasPrefix(o.text.text, "@") || strings.Contains(o.text.text, "=@") || strings.HasPrefix(o.name, "--data-u")) {
				c.reads(word{text: file, dynamic: o.text.dynamic})
			} else if o.text.dynamic {
				c.reads(word{dynamic: true})
			}
		case o.name == "--url":
			c.host(o.text)
		}
	}
	if name == "wget" && !g.has("-O", "--output-document", "--spider", "-P", "--directory-prefix") {
		c.writes(word{text: "."})
	}
	g.operands = nil
}

// patch judges patch and git apply, whose files are named in the patch.
func (c *call) patch(name string, g *arguments) {
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

// filter judges git filter-branch, whose filters are shell commands.
func (c *call) filter(g *arguments) {
	for i, w := range g.operands {
		if i > 0 && strings.HasSuffix(g.operands[i-1].text, "-filter") || strings.HasSuffix(g.operands[max(i-1, 0)].text, "-callback") {
			c.line(w, "git filter-branch")
		}
	}
	g.operands = nil
}

// packages notes the addresses among the names of packages.
func (c *call) packages(g *arguments) {
	for _, w := range g.operands {
		if strings.Contains(w.text, "://") {
			c.host(w)
		}
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

// query judges jq and yq, whose programs can read files.
func (c *call) query(name string, g *arguments) {
	if g.has("-f", "--from-file") {
		c.reads(word{dynamic: true})
		return
	}
	if len(g.operands) == 0 {
		return
	}
	script := g.operands[0]
	for _, verb := range []string{"import", "include", "load"} {
		if script.dynamic || script.glob || strings.Contains(script.text, verb) {
			c.reads(word{dynamic: true})
		}
	}
	if name == "yq" && (script.dynamic || strings.Contains(script.text, "system")) {
		c.unknown("the program of yq may run programs")
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
