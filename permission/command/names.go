package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A word may be the output of a command, or the value of a variable of the line. Of some of them enough is known to judge the word:
//
//   - names of files below known directories (word.named): find, ls, git ls-files. A file can have any name, and shells and xargs take a
//     name apart at spaces. So the analysis lists the directories in Command.Names, and its caller must look at the names there.
//   - numbers (word.number): wc -l, date +%s.
//   - names of commits (word.token): git merge-base.
//
// A variable has such a value if the line assigns it once. An assignment that the analysis finds later shakes that: Tenon then judges the
// line again and follows none.

// variable is a variable of the line that may be followed.
type variable struct {
	value word
	ended bool // its loop is over: the name may have another value
}

// printers are the programs and builtins whose output the analysis knows in part.
var printers = append(strings.Fields(`git find gfind ls rg grep egrep fgrep fd fdfind head tail sort uniq tac shuf wc tr date seq nproc id stat
	xargs gxargs read`), writers...)

// about is a word that lies below some absolute paths, as a program prints it in a directory.
func (e expander) about(words ...word) (w word, ok bool) {
	if len(e.place.dirs) != 1 || e.place.dirs[0] == "" || e.place.remote {
		return w, false
	}
	w = word{dynamic: true, dir: e.place.dirs[0], plain: true}
	for _, x := range words {
		for _, p := range e.paths(x) {
			if p == "" {
				return word{}, false
			}
			w.below = append(w.below, word{text: p})
		}
		w.plain = w.plain && !strings.HasPrefix(x.text, "-")
	}
	return w, len(w.below) > 0
}

// names is the output of a program that prints names of files below some words.
func (e expander) names(words ...word) word {
	w, ok := e.about(words...)
	if !ok || slices.ContainsFunc(words, func(w word) bool { return w.dynamic && !w.named }) {
		return word{}
	}
	w.named, w.splits, w.plain = true, true, true
	return w
}

// number is a word that is a number, or several ones.
func number() word { return word{dynamic: true, number: true, plain: true} }

// value is the value of a variable as a word without quotes, if the variable is followed.
func (v *variables) value(name string) (word, bool) {
	f := v.followed[name]
	if f == nil || f.ended || !f.value.dynamic {
		return word{}, false
	}
	v.relied = true
	return f.value, true
}

// set notes an assignment. Sure says that the variable has this value from here on.
func (v *variables) set(name string, value word, sure bool) {
	f := v.followed[name]
	switch {
	case name == "" || name[0] < 'a' || name[0] > 'z': // it may be special, or come from the environment
	case f == nil && sure:
		v.followed[name] = &variable{value: value}
	case f == nil:
		v.followed[name] = &variable{}
	case f.value.number && value.number && !f.ended:
	default:
		v.moved = v.moved || f.value.dynamic && (!f.ended || v.declares)
		f.value = word{}
	}
}

// splits notes an assignment after which the shell takes words apart elsewhere.
func (v *variables) splits(name string, value word) {
	v.moved = v.moved || name == "IFS" && !value.is("")
}

// follow sets the variable of a loop, and returns a function that ends this.
func (e expander) follow(name string, items []word) func() {
	v := e.any(items)
	if f := e.a.followed[name]; f != nil && f.ended && !e.a.declares {
		delete(e.a.followed, name)
	}
	e.a.set(name, v, true)
	f := e.a.followed[name]
	return func() {
		if f != nil {
			f.ended = true
		}
	}
}

// any is a word that is one of several.
func (e expander) any(items []word) word {
	all, plain, numbers, named := []word{}, true, len(items) > 0, false
	for _, w := range items {
		switch {
		case w.number, w.known() && isNumber(w.text):
			plain = plain && !strings.HasPrefix(w.text, "-") && (w.plain || !w.dynamic)
			all = append(all, word{text: "."})
			continue
		case w.named, w.token:
			named = named || w.named
		case w.dynamic, w.text == "", !w.glob && strings.ContainsAny(w.text, " \t\n*?[\\"), strings.Contains(w.text, "{"):
			return word{}
		}
		numbers, named = false, named || w.named || w.glob
		all = append(all, w)
	}
	if numbers {
		v := number()
		v.plain = plain
		return v
	}
	v, ok := e.about(all...)
	if !ok {
		return word{}
	}
	v.plain = named || v.plain && plain
	v.named, v.splits = named, named
	v.matched = named && !slices.ContainsFunc(items, func(w word) bool { return w.named && !w.matched })
	return v
}

// output notes what a statement prints into a pipe or a substitution.
func output(a *analyzer, s *syntax.Stmt) {
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(x.Args) == 0 {
			a.printed = word{}
		}
	case *syntax.BinaryCmd:
		if x.Op != syntax.Pipe {
			a.printed = word{}
		}
	default:
		a.printed = word{}
	}
	for _, r := range s.Redirs {
		input := r.N == nil || r.N.Value == "0"
		switch r.Op {
		case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		case syntax.RdrOut:
			input = r.N != nil && r.N.Value == "2" && r.Word.Lit() == "/dev/null"
		default:
			input = false
		}
		if !input {
			a.printed = word{}
		}
	}
	if s.Background || s.Coprocess || s.Disown {
		a.printed = word{}
	}
}

// only reports whether the command has no other options than these.
func (g *arguments) only(names string) bool {
	if !g.sorted || g.strange != "" || g.hidden {
		return false
	}
	return !slices.ContainsFunc(g.options, func(o given) bool { return !slices.Contains(strings.Fields(names), o.name) })
}

// Options of programs with which they print whole lines of their input, or names and nothing else.
const (
	findsLines = "-e -E -F -G -P -i -v -w -x --regexp --extended-regexp --fixed-strings --ignore-case --invert-match -z -m --max-count"
	findsFiles = findsLines + " -l -L --files-with-matches --files-without-match --include --exclude --exclude-dir -r --recursive -s -n --line-number" +
		" -t --type -T --type-not -g --glob -S --smart-case --hidden -u -uu -U --multiline --files -0 --null -Z --sort --no-ignore -H"
	listsFiles = "-z -c --cached -o --others -m --modified -d --deleted -i --ignored --exclude-standard -x --exclude -X --exclude-from --deduplicate"
	findsPaths = "-e --extension -t --type -H --hidden -I --no-ignore -g --glob -i -s --case-sensitive -E --exclude -d --max-depth -0 --print0 -F -u --min-depth"
)

// prints notes what the command prints, if it is known. In mode inspect and in every other, only words that are read profit.
func (c *call) prints(name string, g *arguments) {
	at, in := c.a.at(c.place), c.place.in.prints
	operands := g.operands
	here := []word{{text: "."}}
	tracked := append(here, word{text: ".git"}) // also files that are not on disk
	below := func(words []word) []word {
		if len(words) == 0 {
			return here
		}
		return words
	}
	if g.hidden && len(operands) > 0 && (name == "ls" || operands[0].known()) && !slices.ContainsFunc(operands, func(w word) bool { return w.dynamic && !w.named }) {
		looked := *g // names, of which none will be an option
		looked.hidden = false
		g = &looked
	}
	patterned := operands[min(1, len(operands)):]
	if g.effect(noPattern) {
		patterned = operands
	}
	switch name {
	case "ls":
		if g.only("-1 -A -t -r -S -U -d --almost-all --reverse --directory --sort") {
			c.printed = at.names(append(here, operands...)...) // it prints what is in a directory by its name alone
		}
	case "git ls-files":
		if g.only(listsFiles) && !slices.ContainsFunc(operands, outward) {
			c.printed = at.names(tracked...)
		}
	case "git grep":
		if g.has("-l", "--files-with-matches", "--name-only") && g.only(findsLines+" -l --files-with-matches --name-only -z --null") && len(patterned) == 0 {
			c.printed = at.names(here...)
		}
	case "git diff":
		if g.has("--name-only") && g.only("--name-only -z --diff-filter") && len(operands) == 0 {
			c.printed = at.names(tracked...)
		}
	case "grep", "egrep", "fgrep":
		switch {
		case g.has("-l", "-L", "--files-with-matches", "--files-without-match") && g.only(findsFiles) && (len(patterned) > 0 || g.has("-r", "--recursive")):
			c.printed = at.names(below(patterned)...)
		case g.has("-c", "--count") && g.only(findsLines+" -c --count") && (len(patterned) == 0 || len(patterned) == 1 && patterned[0].known()):
			c.printed = number()
		case g.only(findsLines) && len(patterned) == 0:
			c.printed = in
		}
	case "rg":
		if g.has("-l", "--files-with-matches", "--files-without-match", "--files") && g.only(findsFiles) {
			c.printed = at.names(below(patterned)...)
		}
	case "fd", "fdfind":
		if g.only(findsPaths) {
			c.printed = at.names(below(patterned)...)
		}
	case "head", "tail", "sort", "uniq", "tac", "shuf":
		if g.only("-# -n --lines -r --reverse -u --unique -V --version-sort -f -R -z --zero-terminated -d -h -g") && len(operands) == 0 {
			c.printed = in
		}
	case "cat":
		if g.only("") && len(operands) == 0 {
			c.printed = in
		}
	case "tr":
		if in.number && g.has("-d", "--delete") && g.only("-d --delete") {
			c.printed = in
		}
	case "wc":
		if g.only("-l --lines -w --words -c --bytes -m --chars") && len(g.options) == 1 && len(operands) == 0 {
			c.printed = number()
		}
	case "date":
		if g.only("-u --utc") && len(operands) == 1 && operands[0].is("+%s", "+%Y", "+%m", "+%d", "+%H", "+%M", "+%S", "+%j", "+%s%N", "+%Y%m%d", "+%Y%m%d%H%M%S") {
			c.printed = number()
		}
	case "seq":
		if g.only("") && len(operands) > 0 && !slices.ContainsFunc(operands, func(w word) bool { return !w.number && !(w.known() && isNumber(w.text)) }) {
			c.printed = number()
		}
	case "nproc", "id":
		if name == "nproc" && g.only("--all --ignore") || g.has("-u", "-g") && g.only("-u -g -r") {
			c.printed = number()
		}
	case "stat":
		if len(operands) == 1 && operands[0].known() && len(g.options) == 1 && g.options[0].text.is("%s", "%Y", "%X", "%h") && g.has("-c", "--format") {
			c.printed = number()
		}
	case "git merge-base", "git rev-parse", "git rev-list":
		if name == "git rev-list" && g.has("--count") {
			c.printed = number()
			return
		}
		known := !slices.ContainsFunc(operands, func(w word) bool { return !w.known() || strings.HasPrefix(w.text, "-") })
		if known && len(operands) > 0 && g.only("--verify --short -q --quiet -a --all --octopus --fork-point -1 -n --max-count") {
			c.printed, _ = at.about(here...)
			c.printed.token = c.printed.dynamic
		}
	}
}

// zeros notes whether zero bytes separate the output. A filter keeps the lines of its input only if it takes them apart at the same bytes.
func (c *call) zeros(name string, g *arguments) {
	zero := g.has("-z", "--null-data", "--zero-terminated") || g.has("-0", "-Z", "--null", "--print0")
	switch name {
	case "grep", "egrep", "fgrep":
		if c.printed.named && g.has("-l", "-L", "--files-with-matches", "--files-without-match") {
			c.printed.zero = g.has("-Z", "--null")
			return
		}
		fallthrough
	case "head", "tail", "sort", "uniq", "tac", "shuf", "cat":
		if c.printed.zero != zero {
			c.printed = word{}
		}
	default:
		c.printed.zero = zero && c.printed.named
	}
}

// outward reports whether a path of git may lie outside the directory.
func outward(w word) bool {
	return w.dynamic || strings.HasPrefix(w.text, ":") || up(w.text) || absolute(w.text)
}

// fed is the word that xargs appends, from what it reads.
func (c *call) fed(g *arguments) word {
	w := c.place.in.prints
	if w.zero != g.has("-0", "--null") {
		return word{dynamic: true, splits: true}
	}
	for _, o := range g.options {
		if o.name == "-a" || o.name == "--arg-file" || (o.name == "-d" || o.name == "--delimiter") && !o.text.is("\\n", "\n", "\\0") {
			return word{dynamic: true, splits: true}
		}
	}
	if !w.dynamic || c.a.wary {
		return word{dynamic: true, splits: true}
	}
	c.a.relied = true
	w.splits = true
	return w
}
