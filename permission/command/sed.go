package command

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// judgeSed judges sed, whose scripts can write files and run programs. Only a plain script is harmless, see [sedScript].
func judgeSed(c *call, _ string, g *arguments) {
	if g.has("-f", "--file") {
		c.unknown("the script of sed is in a file")
	}
	scripts, given := []word{}, false
	for _, o := range g.options {
		switch o.name {
		case "-e", "--expression":
			scripts, given = append(scripts, o.text), true
		case "-f", "--file":
			given = true
		case "-i", "--in-place":
			if strings.Contains(o.text.text, "/") {
				c.writes(word{dynamic: true})
			}
		}
	}
	if !given && len(g.operands) > 0 {
		scripts, g.operands = g.operands[:1], g.operands[1:]
		if scripts[0].is("") && len(g.operands) > 0 { // sed -i '' SCRIPT on BSD
			scripts = append(scripts, g.operands[0])
		}
	}
	if jailed(c.words[1:]) {
		return
	}
	parts := make([]string, 0, len(scripts))
	for _, w := range scripts {
		if !w.known() || w.splits || strings.HasSuffix(w.text, "\\") { // the next one may continue it
			c.unknown("the script of sed cannot be determined in advance")
			return
		}
		parts = append(parts, w.text)
	}
	if why := sedScript(strings.Join(parts, "\n")); why != "" { // sed joins them too
		c.unknown(why)
	}
}

// jailed reports whether the first options of sed have --sandbox, with which its scripts neither run programs nor write files. After an
// operand, some systems read it as the name of a file.
func jailed(words []word) bool {
	i := slices.IndexFunc(words, func(w word) bool {
		return !w.known() || !strings.HasPrefix(w.text, "-") || w.is("--", "-e", "-f", "-l")
	})
	return slices.ContainsFunc(words[:max(i, 0)], func(w word) bool { return w.is("--sandbox") })
}

const strangeScript = "the script of sed may have unknown effects"

// sedScript returns why a script of sed is not plain, "" if it is. A plain script has one reading only, in all programs called sed, and
// in that reading it neither runs a program nor reads or writes another file.
func sedScript(s string) (why string) {
	if !utf8.ValidString(s) {
		return strangeScript
	}
	for {
		if s = strings.TrimLeft(s, " \t\n;"); s == "" {
			return ""
		}
		rest, ok := sedAddresses(s)
		if !ok || rest == "" {
			return strangeScript
		}
		name := rest[0]
		s = rest[1:]
		switch name {
		case '{':
			continue
		case '#':
			_, s, _ = strings.Cut(s, "\n")
			continue
		case 'a', 'i', 'c':
			if s, ok = sedText(s); !ok {
				return strangeScript
			}
			continue
		case '}', 'p', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'P', 'x', '=', 'z', 'F':
		case 'l', 'q', 'Q':
			s = strings.TrimLeft(strings.TrimLeft(s, " \t"), decimals)
		case ':', 'b', 't', 'T':
			s = strings.TrimLeft(strings.TrimLeft(s, " \t"), alphabet+decimals+"_")
		case 's', 'y':
			if s, why = sedSubstitution(s, name); why != "" {
				return why
			}
		case 'w', 'W':
			return "the script of sed writes files"
		case 'e':
			return "the script of sed runs programs"
		default:
			return strangeScript
		}
		if s = strings.TrimLeft(s, " \t"); s != "" && strings.IndexByte("\n;}#", s[0]) < 0 {
			return strangeScript
		}
	}
}

const (
	decimals = "0123456789"
	alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	signs    = "/|,#@%!:~_=" // delimiters without another meaning
)

// sedAddresses skips the addresses before a command.
func sedAddresses(s string) (rest string, ok bool) {
	rest, ok = sedAddress(s)
	if !ok {
		return "", false
	}
	rest = strings.TrimLeft(rest, " \t")
	if second, found := strings.CutPrefix(rest, ","); found && len(rest) < len(s) {
		second = strings.TrimLeft(second, " \t")
		end, ok := sedAddress(strings.TrimLeft(second, "+~"))
		if !ok || end == second {
			return "", false
		}
		rest = strings.TrimLeft(end, " \t")
	}
	return strings.TrimLeft(strings.TrimPrefix(rest, "!"), " \t"), true
}

// sedAddress skips one address, if there is one.
func sedAddress(s string) (rest string, ok bool) {
	switch {
	case s == "":
		return s, true
	case s[0] == '$':
		return s[1:], true
	case s[0] == '/':
		rest, ok = plainPart(s[1:], '/')
	case s[0] == '\\' && len(s) > 1 && strings.IndexByte(signs, s[1]) >= 0:
		rest, ok = plainPart(s[2:], s[1])
	default:
		rest = strings.TrimLeft(s, decimals)
		if step, found := strings.CutPrefix(rest, "~"); found && len(rest) < len(s) {
			rest = strings.TrimLeft(step, decimals)
		}
		return rest, true
	}
	return strings.TrimLeft(rest, "IM"), ok
}

// sedSubstitution skips /a/b/flags.
func sedSubstitution(s string, name byte) (rest, why string) {
	if s == "" || strings.IndexByte(signs, s[0]) < 0 {
		return "", strangeScript
	}
	rest, ok := plainPart(s[1:], s[0])
	if ok {
		rest, ok = plainPart(rest, s[0])
	}
	if !ok || name == 'y' && strings.Contains(s[:len(s)-len(rest)], "[") {
		return "", strangeScript
	}
	after := strings.TrimLeft(rest, alphabet+decimals)
	switch flags := rest[:len(rest)-len(after)]; {
	case strings.Contains(flags, "e"):
		return "", "the script of sed runs its input (s///e)"
	case strings.Contains(flags, "w"):
		return "", "the script of sed writes files"
	case strings.Trim(flags, "gpiImM"+decimals) != "", name == 'y' && flags != "":
		return "", strangeScript
	}
	return after, ""
}

// sedText skips the text of a, i and c, which continues after a backslash at the end of a line.
func sedText(s string) (rest string, ok bool) {
	s = strings.TrimLeft(s, " \t")
	if after, found := strings.CutPrefix(s, "\\"); found {
		if s, found = strings.CutPrefix(after, "\n"); !found && strings.HasPrefix(strings.TrimLeft(after, " \t"), "\n") {
			return "", false // a space after the backslash
		}
	}
	if s == "" || s[0] == '\n' {
		return "", false
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i == len(s) {
				return "", false
			}
		case '\n':
			return s[i+1:], true
		}
	}
	return "", true
}

// plainPart skips a regular expression or a replacement up to its delimiter. It fails if programs may find another end.
func plainPart(s string, sign byte) (rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case sign:
			return s[i+1:], true
		case '\n':
			return "", false
		case '\\':
			if i++; i == len(s) || s[i] == 'c' { // \cX
				return "", false
			}
		case '[':
			n := bracket(s[i:], sign)
			if n < 0 {
				return "", false
			}
			i += n - 1
		}
	}
	return "", false
}

// bracket returns the length of the bracket expression at the start of a text, -1 if programs may read it in several ways: the delimiter
// must not be in it, nor brackets other than those of [:alpha:].
func bracket(s string, sign byte) int {
	i := 1
	if strings.HasPrefix(s, "[^") {
		i++
	}
	for first := i; i < len(s); i++ {
		switch c := s[i]; c {
		case ']':
			if i == first {
				return -1
			}
			return i + 1
		case sign, '\n':
			return -1
		case '\\': // itself, or an escape of the next one
			if i+1 == len(s) || s[i+1] == sign || strings.IndexByte("][\nc", s[i+1]) >= 0 {
				return -1
			}
			if s[i+1] == '\\' {
				i++
			}
		case '[':
			name, _, ok := strings.Cut(s[i+1:], "]")
			if !ok || sign == ':' || !slices.Contains(classes, name) {
				return -1
			}
			i += len(name) + 1
		}
	}
	return -1
}

var classes = strings.Fields(":alpha: :digit: :alnum: :upper: :lower: :space: :blank: :punct: :print: :graph: :cntrl: :xdigit:")
