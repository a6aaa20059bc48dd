package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// role is where a word is, which decides what a shell expands in it.
type role int

const (
	inField   role = iota // an argument: braces, patterns, tildes
	inName                // the first word of a command
	inValue               // the value of a variable: tildes
	inTarget              // the target of a redirection: patterns, tildes
	inPattern             // a pattern of case and [[: patterns, tildes
	inTest                // an operand of [[: tildes
)

func (c role) globs() bool { return c != inValue && c != inTest }

// bare reports whether a character never needs quotes within a word.
func bare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_./:@%+,-=", c) >= 0
}

// word prints a word.
func (p *printer) word(w *syntax.Word, c role) {
	switch l := loneLit(w); {
	case l == "[" && (c == inName || c == inField), l == "]" && c == inField:
		p.put(l)
		return
	case slices.Contains(reserved, l) && (c == inName || c == inPattern), strings.HasPrefix(l, "-") && c == inTest:
		p.quote(l)
		return
	}
	parts := w.Parts
	if p.lang == syntax.LangBash && (c == inField || c == inName || c == inTarget) {
		split := *w // keeps the syntax tree
		syntax.SplitBraces(&split)
		parts = split.Parts
	}
	m := mixed{printer: p, role: c}
	m.parts(parts)
}

func loneLit(w *syntax.Word) string {
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok {
			return l.Value
		}
	}
	return ""
}

// literal returns the text of a part that a shell does not expand.
func literal(part syntax.WordPart) (text string, ok bool) {
	switch q := part.(type) {
	case *syntax.Lit:
		var b strings.Builder
		for i := 0; i < len(q.Value); i++ {
			if q.Value[i] == '\\' {
				if i++; i == len(q.Value) || q.Value[i] == '\n' {
					continue
				}
			}
			b.WriteByte(q.Value[i])
		}
		return b.String(), !strings.ContainsAny(q.Value, "*?[]~{")
	case *syntax.SglQuoted:
		if q.Dollar {
			v := ansi(q.Value)
			return v.text, !v.dynamic
		}
		return q.Value, true
	case *syntax.DblQuoted:
		for _, d := range q.Parts {
			l, isLit := d.(*syntax.Lit)
			if !isLit {
				return "", false
			}
			text += doubleQuoted(l.Value)
		}
		return text, true
	}
	return "", false
}

// ended reports whether the name of a variable ends in front of these parts.
func ended(next []syntax.WordPart) bool {
	if len(next) == 0 {
		return true
	}
	switch q := next[0].(type) {
	case *syntax.Lit:
		return q.Value != "" && strings.IndexByte("/.:,-@%+=", q.Value[0]) >= 0
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// mixed prints the parts of a word. It collects text without special meaning, to print it in quotes as a whole unless all of it is bare.
type mixed struct {
	*printer
	role
	text   []byte
	quoted bool // text had quotes
	class  bool // a bracket expression may be open
	begun  bool // something was printed
}

func (m *mixed) parts(parts []syntax.WordPart) {
	for i, part := range parts {
		m.part(part, ended(parts[i+1:]), len(parts) == 1)
	}
	m.flush()
}

func (m *mixed) flush() {
	if len(m.text) == 0 && !m.quoted {
		return
	}
	text := string(m.text)
	odd := m.role == inName && (strings.Contains(text, "=") || !m.begun && text != "" && strings.IndexByte("-+%", text[0]) >= 0)
	if m.quoted || odd || strings.ContainsFunc(text, func(r rune) bool { return r > '~' || !bare(byte(r)) }) {
		m.quote(text)
	} else {
		m.put(text)
	}
	m.text, m.quoted, m.begun = m.text[:0], false, true
}

func (m *mixed) part(part syntax.WordPart, last, alone bool) {
	if l, ok := part.(*syntax.Lit); ok {
		m.lit(l.Value)
		return
	}
	if text, ok := literal(part); ok {
		m.text, m.quoted = append(m.text, text...), true
		return
	}
	m.flush()
	switch q := part.(type) {
	case *syntax.SglQuoted:
		m.fail("an escape in $'...' that shells read in different ways")
	case *syntax.DblQuoted:
		m.doubleQuoted(q)
	case *syntax.BraceExp:
		m.braces(q)
	case *syntax.ExtGlob:
		m.fail("an extended pattern, which shells read in different ways")
	case *syntax.ProcSubst:
		if m.begun || !alone || m.role == inName || m.role == inPattern || q.Op != syntax.CmdIn && q.Op != syntax.CmdOut {
			m.fail("a process substitution that shells read in different ways")
		}
		m.enclosed(q.Op.String(), q.Stmts)
	default:
		m.expansion(part, last, false)
	}
	m.begun = true
}

// lit prints literal text outside of quotes.
func (m *mixed) lit(s string) {
	for i := 0; i < len(s); i++ {
		ch := s[i]
		first := i == 0 && !m.begun && !m.quoted && len(m.text) == 0
		switch {
		case ch == '\\':
			if i++; i < len(s) && s[i] != '\n' {
				m.text, m.quoted = append(m.text, s[i]), true
			}
			continue
		case m.globs() && strings.IndexByte("*?[]", ch) >= 0:
			if ch == '[' && m.role == inName {
				m.fail("a pattern for the name of a program")
			}
			m.class = m.class && ch != ']' || ch == '['
		case m.globs() && m.class && (ch == '!' || ch == '^') && i > 0 && s[i-1] == '[':
		case ch == '~' && (first || i > 0 && (s[i-1] == ':' && (m.role == inValue || m.role == inField) || s[i-1] == '=' && m.role == inField)):
		default:
			m.text = append(m.text, ch)
			continue
		}
		m.flush()
		m.put(s[i : i+1])
		m.begun = true
	}
}

// braces prints a list such as {a,b}, or a sequence of numbers or letters such as {1..5}.
func (m *mixed) braces(b *syntax.BraceExp) {
	if m.role == inTarget {
		m.fail("braces that shells read in different ways")
	}
	separator := "{"
	for _, e := range b.Elems {
		if m.put(separator); b.Sequence {
			text := e.Lit()
			if text == "" || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
				m.fail("a sequence in braces that shells read in different ways")
			}
			m.put(text)
			separator = ".."
			continue
		}
		inner := mixed{printer: m.printer, role: m.role, begun: true}
		inner.parts(e.Parts)
		separator = ","
	}
	m.put("}")
}

// quote prints text in quotes: in single ones, or in double ones if it has a single quote.
func (p *printer) quote(s string) {
	if !strings.Contains(s, "'") {
		p.put("'" + s + "'")
		return
	}
	p.put(`"` + escaped(s) + `"`)
}

// escaped protects the characters that are special in double quotes.
func escaped(s string) string { return doubleEscapes.Replace(s) }

var doubleEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`")

// doubleQuoted prints text with expansions in double quotes.
func (p *printer) doubleQuoted(q *syntax.DblQuoted) {
	p.put(`"`)
	for i, part := range q.Parts {
		if l, ok := part.(*syntax.Lit); ok {
			p.put(escaped(doubleQuoted(l.Value)))
			continue
		}
		p.expansion(part, ended(q.Parts[i+1:]), true)
	}
	p.put(`"`)
}
