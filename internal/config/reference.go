package config

import (
	"fmt"
	"strings"
)

// part is a part of a string with references: a text, a variable or a command.
type part struct {
	text     string // literal
	variable string
	fallback []part // of the variable, used when it is unset or empty
	optional bool   // the variable has a fallback, which may be empty
	command  string
}

// deepest limits the nesting of fallbacks.
const deepest = 8

type referenceParser struct {
	s     string
	i     int
	depth int
}

// parseParts parses a string with references. Its errors do not quote the string.
func parseParts(s string) ([]part, error) {
	p := referenceParser{s: s}
	return p.parts(false)
}

// parts reads up to the end, or to the brace that ends a fallback.
func (p *referenceParser) parts(inBraces bool) ([]part, error) {
	var out []part
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			out = append(out, part{text: text.String()})
			text.Reset()
		}
	}
	for p.i < len(p.s) {
		n := strings.IndexAny(p.s[p.i:], "$}")
		if n < 0 {
			n = len(p.s) - p.i
		}
		text.WriteString(p.s[p.i : p.i+n])
		p.i += n
		rest := p.s[p.i:]
		switch {
		case rest == "":
		case rest[0] == '}' && inBraces:
			flush()
			return out, nil
		case rest[0] == '}':
			text.WriteByte('}')
			p.i++
		case strings.HasPrefix(rest, "$$"):
			text.WriteByte('$')
			p.i += 2
		default:
			flush()
			reference, err := p.reference()
			if err != nil {
				return nil, err
			}
			out = append(out, reference)
		}
	}
	flush()
	if inBraces {
		return nil, fmt.Errorf("a reference ${...} has no closing brace")
	}
	return out, nil
}

// reference reads a reference, which begins with a dollar.
func (p *referenceParser) reference() (part, error) {
	p.i++
	switch rest := p.s[p.i:]; {
	case strings.HasPrefix(rest, "{"):
		p.i++
		return p.braces()
	case strings.HasPrefix(rest, "("):
		n := closing(rest)
		if n < 0 {
			return part{}, fmt.Errorf("a reference $(...) has no closing parenthesis")
		}
		p.i += n + 1
		command := strings.TrimSpace(rest[1:n])
		if command == "" {
			return part{}, fmt.Errorf("a reference $() has no command")
		}
		return part{command: command}, nil
	}
	name := p.name()
	if name == "" {
		return part{}, fmt.Errorf("a $ begins no reference; write $$ for a dollar, or $NAME, ${NAME}, ${NAME:-fallback} or $(command)")
	}
	return part{variable: name}, nil
}

func (p *referenceParser) braces() (part, error) {
	name := p.name()
	rest := p.s[p.i:]
	switch {
	case name == "" || rest != "" && rest[0] != '}' && !strings.HasPrefix(rest, ":-"):
		return part{}, fmt.Errorf("a reference ${...} is neither ${NAME} nor ${NAME:-fallback}")
	case rest == "":
		return part{}, fmt.Errorf("a reference ${...} has no closing brace")
	case rest[0] == '}':
		p.i++
		return part{variable: name}, nil
	case p.depth == deepest:
		return part{}, fmt.Errorf("there are more than %d nested fallbacks", deepest)
	}
	p.i += len(":-")
	p.depth++
	fallback, err := p.parts(true)
	p.depth--
	p.i++ // the brace
	return part{variable: name, fallback: fallback, optional: true}, err
}

// name reads the name of a variable.
func (p *referenceParser) name() string {
	start := p.i
	for ; p.i < len(p.s); p.i++ {
		c := p.s[p.i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (p.i == start || !digit(c)) {
			break
		}
	}
	return p.s[start:p.i]
}

// closing returns the index of the parenthesis that closes the first one of s, or -1 if there is none. It ignores
// parentheses in shell quotes and after backslashes.
func closing(s string) int {
	open, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			open++
		case c == ')':
			if open--; open == 0 {
				return i
			}
		}
	}
	return -1
}

const hidden = "[hidden]"

// show returns a string with references with its secret parts hidden.
func show(is string, parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.variable != "" && p.optional:
			b.WriteString("${" + p.variable + ":-" + show(is, p.fallback) + "}")
		case p.variable != "":
			b.WriteString("${" + p.variable + "}")
		case p.command != "":
			b.WriteString(showCommand(p.command))
		case is == "secret":
			b.WriteString(hidden)
		default:
			b.WriteString(p.text)
		}
	}
	if is == "url" || is == "proxy" {
		return showURL(b.String())
	}
	return b.String()
}

// showCommand shows the program of a command with arguments. It hides the arguments, and a command of one word: they may be secret.
func showCommand(command string) string {
	program, _, more := strings.Cut(command, " ")
	if !more || !isName(strings.ReplaceAll(program, "/", "")) {
		return "$(" + hidden + ")"
	}
	return "$(" + program + " " + hidden + ")"
}

// showURL hides the name and the password of a URL, which end at its last at sign, and its query.
func showURL(s string) string {
	if before, _, ok := strings.Cut(s, "?"); ok {
		s = before + "?" + hidden
	}
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		start := 0
		if i := strings.Index(s[:at], "://"); i >= 0 {
			start = i + len("://")
		}
		s = s[:start] + hidden + s[at:]
	}
	return s
}
