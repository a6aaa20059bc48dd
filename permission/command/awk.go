package command

import "strings"

// judgeAwk judges programs of awk. Only a plain one is harmless, see [awkActs].
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
	case !script.known() || script.splits:
		c.unknown("the program of awk cannot be determined in advance")
	case awkActs(script.text):
		c.unknown("the program of awk may run programs or write files")
	}
	files := g.operands[:0:0]
	for _, w := range g.operands {
		if name, _, ok := strings.Cut(w.text, "="); !ok || strings.Trim(name, alphabet+decimals+"_") != "" {
			files = append(files, w)
		}
	}
	g.operands = files
}

// awkWords can run programs or open files, or change the list of files.
var awkWords = []string{"system", "getline", "@", "extension", "ENVIRON", "PROCINFO", "ARGV", "ARGC", "SYMTAB", "FUNCTAB"}

// awkActs reports whether a program of awk may do more than read its input and print. If the text has several readings, nothing in it may
// look like an action. Otherwise its strings, regular expressions and comments may have any text, and > is a comparison unless a print
// comes before.
func awkActs(s string) bool {
	code, plain := awkPlain(s)
	if !plain {
		code = s
	}
	for _, word := range awkWords {
		if strings.Contains(code, word) {
			return true
		}
	}
	if strings.Contains(strings.ReplaceAll(code, "||", ""), "|") {
		return true
	}
	if !plain {
		return strings.Contains(code, ">") && strings.Contains(code, "print")
	}
	for _, part := range strings.Split(code, "print")[1:] {
		if end := strings.IndexAny(part, ";}"); end >= 0 {
			part = part[:end]
		}
		if strings.Contains(part, ">") {
			return true
		}
	}
	return false
}

// slash is the meaning of a slash in a program of awk.
type slash int

const (
	startsRegexp slash = iota
	divides
	unsure // programs read it in several ways
)

// awkPlain removes the strings, regular expressions and comments of a program of awk. It fails if programs may find other ones.
func awkPlain(s string) (string, bool) {
	var b strings.Builder
	next := startsRegexp
	var open []slash // the meaning after each open parenthesis is closed
	after := ""      // the word before
	for i := 0; i < len(s); i++ {
		c, word := s[i], after
		if c != ' ' && c != '\t' {
			after = ""
		}
		switch {
		case c == ' ' || c == '\t':
		case c == '"':
			n := awkString(s[i+1:])
			if n < 0 {
				return "", false
			}
			i, c, next = i+n, ' ', unsure
		case c == '/' && next == startsRegexp:
			rest, ok := plainPart(s[i+1:], '/')
			if !ok {
				return "", false
			}
			i, c, next = len(s)-len(rest)-1, ' ', unsure
		case c == '/':
			if next == unsure || strings.HasPrefix(s[i+1:], "=") {
				return "", false
			}
			next = startsRegexp
		case c == '#':
			end := strings.IndexByte(s[i:]+"\n", '\n')
			if strings.Contains(s[i:i+end], "\\") {
				return "", false
			}
			i, c = i+end-1, ' '
		case strings.IndexByte(alphabet+decimals+"_.", c) >= 0:
			rest := strings.TrimLeft(s[i:], alphabet+decimals+"_.")
			after = s[i : len(s)-len(rest)]
			b.WriteString(after[:len(after)-1])
			i = len(s) - len(rest) - 1
			c = s[i]
			if next = divides; awkKeyword[after] {
				next = unsure
			}
		case c == '(':
			closed := divides
			if awkKeyword[word] && word != "length" { // of if, or of while
				closed = unsure
			}
			open, next = append(open, closed), startsRegexp
		case c == ')':
			if len(open) == 0 {
				return "", false
			}
			next, open = open[len(open)-1], open[:len(open)-1]
		case c == ']':
			next = divides
		case c == '\n' && len(open) > 0:
			next = unsure
		case (c == '+' || c == '-') && i > 0 && s[i-1] == c, c == '$':
			next = unsure
		case strings.IndexByte("{};,!~&|=<>?:*%^+-[\n@", c) >= 0:
			next = startsRegexp
		default: // a backslash, or no character of the language
			return "", false
		}
		b.WriteByte(c)
	}
	return b.String(), true
}

// awkString returns the length of a string with the quote at its end, -1 if it does not end in its line.
func awkString(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i + 1
		case '\n':
			return -1
		case '\\':
			if i++; i < len(s) && s[i] == '\n' {
				return -1
			}
		}
	}
	return -1
}

// awkKeyword has the words after which a slash may start a regular expression, or which a parenthesis after them does not call.
var awkKeyword = map[string]bool{
	"if": true, "while": true, "for": true, "switch": true, "print": true, "printf": true, "return": true, "else": true, "do": true, "in": true,
	"case": true, "exit": true, "delete": true, "length": true, "next": true, "nextfile": true, "function": true, "func": true, "BEGIN": true, "END": true,
}
