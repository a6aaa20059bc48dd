package workspace

import (
	"path"
	"regexp"
	"strings"
)

// rule is one line of an ignore file, as gitignore(5) describes it.
type rule struct {
	text     string // the line
	negated  bool
	dirOnly  bool
	anchored bool // the pattern is about the path from the directory of its file, not about a name anywhere below it
	literal  string
	suffix   string // of a name: *.o
	pattern  *regexp.Regexp
}

// parseRules reads the lines of an ignore file. A line that is no pattern matches nothing, as in git.
func parseRules(text string) []rule {
	var out []rule
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if r, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			out = append(out, r)
		}
	}
	return out
}

func parseRule(line string) (r rule, ok bool) {
	r.text = line
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line = trimSpaces(line)
	if line, r.negated = strings.CutPrefix(line, "!"); line == "" {
		return r, false
	}
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	switch {
	case line == "":
		return r, false
	case !strings.ContainsAny(line, `*?[\`):
		r.literal = line
	case !r.anchored && line[0] == '*' && len(line) > 1 && !strings.ContainsAny(line[1:], `*?[\`):
		r.suffix = line[1:]
	default:
		expr, valid := translate(line)
		if !valid {
			return r, false
		}
		var err error
		if r.pattern, err = regexp.Compile(expr); err != nil {
			return r, false
		}
	}
	return r, true
}

// trimSpaces takes the spaces from the end of a line, but those behind a backslash.
func trimSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	slashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
	if slashes%2 == 1 && len(trimmed) < len(line) {
		return trimmed + " "
	}
	return trimmed
}

// match reports whether the rule is about a path, given from the directory of its file.
func (r *rule) match(rel string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if !r.anchored {
		rel = path.Base(rel)
	}
	switch {
	case r.literal != "":
		return rel == r.literal
	case r.suffix != "":
		return strings.HasSuffix(rel, r.suffix)
	}
	return r.pattern.MatchString(rel)
}

// translate turns a pattern into a regular expression over a path with slashes. Not valid is what can match nothing.
func translate(pattern string) (expr string, valid bool) {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for i := 0; i < len(pattern); {
		rest := pattern[i:]
		starts := i == 0 || pattern[i-1] == '/'
		switch c := pattern[i]; {
		case starts && strings.HasPrefix(rest, "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 3
		case starts && rest == "**":
			b.WriteString(`.+`)
			i += 2
		case c == '*':
			b.WriteString(`[^/]*`)
			i += len(rest) - len(strings.TrimLeft(rest, "*"))
		case c == '?':
			b.WriteString(`[^/]`)
			i++
		case c == '[':
			n, ok := class(&b, rest)
			if !ok {
				return "", false
			}
			i += n
		case c == '\\':
			if len(rest) == 1 {
				return "", false
			}
			b.WriteString(regexp.QuoteMeta(rest[1:2]))
			i += 2
		default:
			b.WriteString(quoteByte(c))
			i++
		}
	}
	b.WriteString(`$`)
	return b.String(), true
}

func quoteByte(c byte) string {
	if c >= 0x80 {
		return string([]byte{c}) // part of a rune, which the next bytes continue
	}
	return regexp.QuoteMeta(string([]byte{c}))
}

// class translates a bracket expression at the start of text and returns its length.
func class(b *strings.Builder, text string) (n int, ok bool) {
	var body strings.Builder
	i, negated := 1, false
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(text) {
			return 0, false
		}
		c := text[i]
		if c == ']' && !first {
			break
		}
		if name := namedClass.FindString(text[i:]); name != "" {
			body.WriteString(name)
			i += len(name)
			continue
		}
		if c == '\\' {
			if i++; i >= len(text) {
				return 0, false
			}
			c = text[i]
			if c < 0x80 {
				body.WriteString(regexp.QuoteMeta(string([]byte{c})))
				i++
				continue
			}
		}
		if c == '[' || c == ']' || c == '^' || c == '&' || c == '~' || c == '-' && first {
			body.WriteByte('\\')
		}
		body.WriteByte(c)
		i++
	}
	if negated {
		b.WriteString("[^/" + body.String() + "]")
		return i + 1, true
	}
	b.WriteString("[" + body.String() + "]")
	return i + 1, true
}

var namedClass = regexp.MustCompile(`^\[:(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit):\]`)
