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
	files := []word{}
	for i := 0; i < len(args); i++ {
		w := args[i]
		next := func() word {
			if i++; i < len(args) {
				return args[i]
			}
			return word{}
		}
		switch {
		case w.dynamic && expression:
			c.unknown("an argument that cannot be determined in advance may be an action of find")
		case w.is("-exec", "-execdir", "-ok", "-okdir"):
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

// judgeSed judges the scripts of sed, whose commands w and e write files and run programs.
func judgeSed(c *call, _ string, g *arguments) {
	scripts := []word{}
	for _, o := range g.options {
		switch o.name {
		case "-e", "--expression":
			scripts = append(scripts, o.text)
		case "-f", "--file":
			c.unknown("the script of sed is in a file")
		case "-i", "--in-place":
			if strings.Contains(o.text.text, "/") {
				c.writes(word{dynamic: true})
			}
		}
	}
	if len(scripts) == 0 && !g.has("-f", "--file") && len(g.operands) > 0 {
		scripts, g.operands = g.operands[:1], g.operands[1:]
	}
	for _, w := range scripts {
		if w.dynamic || w.splits || w.glob {
			if !g.has("--sandbox") {
				c.unknown("the script of sed cannot be determined in advance")
			}
		} else if why := sedScript(w.text); why != "" && !g.has("--sandbox") {
			c.does(Unknown, why)
		}
	}
}

// sedScript parses a script of sed as far as needed to determine that it runs nothing and writes nothing. The result is the reason if
// it cannot.
func sedScript(s string) string {
	strange := "the script of sed may have unknown effects"
	for {
		s = strings.TrimLeft(s, " \t\n;{}!")
		if s == "" {
			return ""
		}
		rest, ok := sedAddress(s)
		if !ok {
			return strange
		}
		if s = strings.TrimLeft(rest, " \t!"); s == "" {
			return strange
		}
		name := s[0]
		s = s[1:]
		switch name {
		case '{':
			continue
		case '}', '#':
			if name == '#' {
				_, s, _ = strings.Cut(s, "\n")
			}
		case 'p', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'P', 'x', '=', 'z', 'F', 'l':
		case 'q', 'Q':
			s = strings.TrimLeft(s, " 0123456789")
		case 'a', 'i', 'c':
			s = sedText(s)
		case ':', 'b', 't', 'T':
			s = strings.TrimLeft(s, " \t")
			if end := strings.IndexAny(s, ";\n} \t"); end >= 0 {
				s = s[end:]
			} else {
				s = ""
			}
		case 's', 'y':
			rest, flags, ok := sedSubstitution(s)
			if !ok || name == 's' && strings.Trim(flags, "gpiImM0123456789") != "" {
				if ok && strings.Contains(flags, "e") {
					return "the script of sed runs its input (s///e)"
				}
				return strange
			}
			s = rest
		case 'w', 'W':
			return "the script of sed writes files"
		case 'e':
			return "the script of sed runs programs"
		default:
			return strange
		}
		if t := strings.TrimLeft(s, " \t"); t != "" && strings.IndexByte("\n;}#", t[0]) < 0 && strings.IndexByte("}#aic", name) < 0 {
			return strange
		}
	}
}

// sedText skips the text of a, i and c, which continues after a backslash at the end of a line.
func sedText(s string) string {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			return s[i+1:]
		}
	}
	return ""
}

// sedAddress skips the addresses in front of a command.
func sedAddress(s string) (string, bool) {
	for {
		switch {
		case s == "":
			return s, true
		case strings.IndexByte("0123456789$,~+ ", s[0]) >= 0:
			s = s[1:]
		case s[0] == '/' || s[0] == '\\' && len(s) > 1:
			if s[0] == '\\' {
				s = s[1:]
			}
			end := sedEnd(s[1:], s[0])
			if end < 0 {
				return s, false
			}
			s = strings.TrimLeft(s[1+end+1:], "IM")
		default:
			return s, true
		}
	}
}

// sedEnd finds the character that ends a pattern. It refuses a pattern with that character in brackets.
func sedEnd(s string, sign byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if end := strings.IndexByte(s[i:], ']'); end > 0 && strings.IndexByte(s[i:i+end], sign) >= 0 {
				return -1
			}
		case sign:
			return i
		}
	}
	return -1
}

// sedSubstitution reads /a/b/flags.
func sedSubstitution(s string) (rest, flags string, ok bool) {
	if s == "" || s[0] == '\\' || s[0] == '\n' {
		return "", "", false
	}
	sign := s[0]
	first := sedEnd(s[1:], sign)
	if first < 0 {
		return "", "", false
	}
	s = s[1+first+1:]
	second := -1
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == sign {
			second = i
			break
		}
	}
	if second < 0 {
		return "", "", false
	}
	s = s[second+1:]
	end := strings.IndexAny(s, ";\n} \t#")
	if end < 0 {
		end = len(s)
	}
	return s[end:], s[:end], true
}

// judgeAwk judges programs of awk: it searches the text for system, pipes and redirections.
func judgeAwk(c *call, _ string, g *arguments) {
	if g.has("-f", "--file", "-E", "--exec", "-i", "--include", "-l", "--load") {
		c.does(Executes, "the program of awk is in a file")
		return
	}
	if len(g.operands) == 0 {
		return
	}
	script := g.operands[0]
	g.operands = g.operands[1:]
	switch {
	case script.dynamic || script.splits || script.glob:
		c.unknown("the program of awk cannot be determined in advance")
	case awkActs(script.text):
		c.unknown("the program of awk may run programs or write files")
	}
	files := g.operands[:0:0]
	for _, w := range g.operands {
		if name, _, ok := strings.Cut(w.text, "="); !ok || strings.ContainsAny(name, "/.") {
			files = append(files, w)
		}
	}
	g.operands = files
}

// awkActs reports whether a program of awk may do more than read and print. It allows comparisons with > outside of actions that
// print, and nothing else that looks like a pipe or a redirection.
func awkActs(s string) bool {
	s, plain := awkPlain(s)
	for _, word := range []string{"system", "getline", "@", "extension", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "SYMTAB", "FUNCTAB"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	if strings.Contains(strings.ReplaceAll(s, "||", ""), "|") {
		return true
	}
	if !plain {
		return strings.Contains(s, ">") && strings.Contains(s, "print")
	}
	for _, part := range strings.Split(s, "print")[1:] {
		if end := strings.IndexAny(part, ";}"); end >= 0 {
			part = part[:end]
		}
		if strings.Contains(part, ">") {
			return true
		}
	}
	return false
}

// awkPlain removes the strings and regular expressions of a program of awk, if it can identify them.
func awkPlain(s string) (string, bool) {
	var b strings.Builder
	last := byte(';') // the last character that is no space
	for i := 0; i < len(s); i++ {
		switch sign := s[i]; {
		case sign == '\\' || sign == '#' || sign == '/' && strings.IndexByte("(,{};!~&|\n", last) < 0: // a division, perhaps
			return s, false
		case sign == '"' || sign == '/':
			n := sedEnd(s[i+1:], sign)
			if n < 0 || strings.Contains(s[i+1:i+1+n], "\n") {
				return s, false
			}
			b.WriteByte(' ')
			i, last = i+n+1, sign
		default:
			if b.WriteByte(sign); sign != ' ' && sign != '\t' {
				last = sign
			}
		}
	}
	return b.String(), true
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
