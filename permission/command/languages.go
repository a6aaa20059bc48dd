package command

import (
	"slices"
	"strings"
)

// The harmless predicates of find, without and with an argument.
var (
	findAlone = strings.Fields(`( ) ! , -a -o -not -and -or -true -false -print -print0 -ls -quit -prune -depth -d -empty -mount -xdev -daystart
		-executable -readable -writable -follow -ignore_readdir_race -noleaf -nouser -nogroup -warn -nowarn -help --help -version --version
		-H -L -P -E -X -x -s`)
	findOne = strings.Fields(`-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime
		-ctime -mmin -amin -cmin -newer -anewer -cnewer -perm -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth -printf -used
		-fstype -lname -ilname -context -D -Olevel -flags`)
)

// judgeFind judges find, which reads its starting points. Some of its actions run programs or change files.
func judgeFind(c *call, _ string, _ *arguments) {
	args := c.words[1:]
	starts := []word{}
	expression := false
	files, lists := []word{}, true
	for i := 0; i < len(args); i++ {
		w := args[i]
		next := func() word {
			if i++; i < len(args) {
				return args[i]
			}
			return word{}
		}
		if w.is("-L", "-follow", "-ls", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-help", "--help", "-version", "--version") || w.is("-printf") && !(i+1 < len(args) && args[i+1].is(`%p\n`)) {
			lists = false // it prints more than names, or names in other directories
		}
		switch {
		case w.dynamic && expression:
			c.unknown("an argument that cannot be determined in advance may be an action of find")
		case w.is("-exec", "-execdir", "-ok", "-okdir"):
			lists = false
			i = findExec(c, w.text, args, i+1, starts)
		case w.is("-delete"):
			c.does(Writes|Destroys, "find -delete deletes files")
			files = append(files, w)
		case w.is("-fprint", "-fprint0", "-fls"):
			c.writes(next())
		case w.is("-fprintf"):
			c.writes(next())
			next()
		case w.is("-files0-from"):
			c.reads(next())
			starts = append(starts, word{dynamic: true})
		case slices.Contains(findAlone, w.text) || len(w.text) == 3 && strings.HasPrefix(w.text, "-O"):
			expression = expression || w.text != "-H" && w.text != "-L" && w.text != "-P"
		case slices.Contains(findOne, w.text) || strings.HasPrefix(w.text, "-newer") && len(w.text) == 8:
			expression = true
			if v := next(); v.splits {
				c.unknown("an argument that may become several words of find")
			}
		case strings.HasPrefix(w.text, "-"):
			c.unknown("unknown predicate " + shown(w.text) + " of find")
		case expression:
			c.unknown("unknown argument " + shown(w.text) + " of find")
		default:
			starts = append(starts, w)
		}
	}
	if len(starts) == 0 {
		starts = []word{{text: "."}}
	}
	if lists {
		c.printed = c.a.at(c.place).names(starts...)
		c.printed.zero = slices.ContainsFunc(args, func(w word) bool { return w.is("-print0") })
	}
	for _, w := range starts {
		if c.reads(w); len(files) > 0 {
			c.writes(w)
		}
	}
}

// findExec judges the program of -exec, and returns the index of its end.
func findExec(c *call, action string, args []word, i int, starts []word) int {
	end := i
	for end < len(args) && !args[end].is(";") && !(args[end].is("+") && end > i && args[end-1].is("{}")) {
		end++
	}
	if len(starts) == 0 {
		starts = []word{{text: "."}}
	}
	words := make([]word, 0, end-i)
	for _, w := range args[i:min(end, len(args))] {
		if w.is("{}") && action == "-exec" { // it begins like a starting point
			w = word{text: starts[0].text[:min(1, len(starts[0].text))], dynamic: true, below: starts}
		} else if before, _, ok := strings.Cut(w.text, "{}"); ok {
			w = word{text: before, dynamic: true}
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		c.unknown("find " + action + " without a program")
		return end
	}
	in := c.place.inner("find " + action)
	if in.in.known = false; strings.HasSuffix(action, "dir") {
		in.dirs = []string{""}
	}
	if words[0].splits || words[0].glob {
		c.unknown("the program cannot be determined in advance")
	}
	c.outside(in, words)
	return end
}

// judgeQuery judges jq and yq, whose programs can read files.
func judgeQuery(c *call, name string, g *arguments) {
	if g.has("-f", "--from-file") {
		c.reads(word{dynamic: true})
		return
	}
	if len(g.operands) == 0 {
		return
	}
	scripts := g.operands[:1]
	if name == "yq" { // the first may be a command such as eval
		scripts = g.operands
	}
	for _, script := range scripts {
		for _, verb := range []string{"import", "include", "load", "eval("} {
			if script.dynamic || script.glob || strings.Contains(strings.ReplaceAll(script.text, " ", ""), verb) {
				c.reads(word{dynamic: true})
			}
		}
		if name == "yq" && (script.dynamic || strings.Contains(script.text, "system")) {
			c.unknown("the program of yq may run programs")
		}
	}
}

// judgeScript judges interpreters: Tenon does not analyze the code that they run.
func judgeScript(c *call, name string, _ *arguments) {
	if len(c.words) == 1 {
		c.does(Executes, name+" runs its input")
		return
	}
	if len(c.words) == 3 && c.words[2].known() && !strings.HasPrefix(c.words[2].text, "-") {
		switch check := c.words[1]; {
		case name == "php" && check.is("-l"), name == "node" && check.is("-c", "--check"), name == "ruby" && check.is("-c"):
			c.argument(readPath, c.words[2], name) // and checks its syntax
			return
		}
	}
	if len(c.words) > 2 && strings.HasPrefix(name, "python") && c.words[1].is("-m") && c.words[2].is("json.tool", "pip") &&
		len(c.place.dirs) == 1 && c.place.dirs[0] != "" && !c.place.remote {
		c.cmd.Imports = c.place.dirs[0]
		p := c.a.table["pip"]
		if c.words[2].is("json.tool") {
			p = c.a.table["python json.tool"]
		}
		c.apply(p, c.words[2].text, c.words[3:])
		return
	}
	for _, w := range c.words[1:] {
		if w.is("-e", "-c", "-E", "-r", "-p", "--eval", "--print", "-pe", "-ne") {
			c.does(Executes, name+" "+w.text+" runs code that is in the line")
			return
		}
		if w.dynamic || !strings.HasPrefix(w.text, "-") {
			c.does(Executes, name+" runs "+shownWord(w))
			c.task(c.words[1:]...)
			if w.dynamic || strings.ContainsAny(w.text, "./") {
				c.reads(w)
			}
			return
		}
	}
	c.does(Executes, name+" runs code")
}

// judgeGo judges flags of the go command that name programs, and the network access of go list.
func judgeGo(c *call, name string, g *arguments) {
	for _, o := range g.options {
		if o.name == "-mod" && !o.text.is("vendor", "readonly") {
			c.does(Writes|Network, "may fetch modules and change go.mod")
		}
		if o.name == "-exec" || o.name == "-toolexec" || o.name == "-vettool" {
			if o.text.dynamic {
				c.unknown("the program of go " + o.name + " cannot be determined in advance")
				continue
			}
			c.text([]word{o.text}, "go "+o.name, c.place.inner("go "+o.name))
		}
	}
	for _, w := range g.operands {
		if name == "go list" && (w.dynamic || strings.Contains(w.text, "@")) {
			c.does(Network, "asks other machines about modules")
		}
	}
	g.operands = nil
}
