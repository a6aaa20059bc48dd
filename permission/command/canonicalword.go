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

// word prints a word, or several if it has braces.
func (p *printer) word(w *syntax.Word, c role) {
	if c == inField || c == inName || c == inTarget {
		if l := loneLit(w); l != "" && !strings.Contains(l, "{") {
			// the common case: no copy of the word
		} else if p.lang == syntax.LangBash && hasBrace(w) {
			p.braces(w, c)
			return
		}
	}
	p.parts(w.Parts, c)
}

func loneLit(w *syntax.Word) string {
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok {
			return l.Value
		}
	}
	return ""
}

func hasBrace(w *syntax.Word) bool {
	return slices.ContainsFunc(w.Parts, func(q syntax.WordPart) bool {
		l, ok := q.(*syntax.Lit)
		return ok && strings.Contains(l.Value, "{")
	})
}

// braces prints the words that a word with braces stands for.
func (p *printer) braces(w *syntax.Word, c role) {
	split := *w
	syntax.SplitBraces(&split)
	all, ok := alternatives(split.Parts)
	switch {
	case !ok || len(all) > mostWords:
		p.fail("too many words from braces")
	case len(all) == 1:
		p.parts(all[0], c)
	case c == inTarget:
		p.fail("braces that shells read in different ways")
	default:
		at := len(p.out)
		for _, parts := range all {
			if len(parts) == 0 { // a shell drops it
				continue
			}
			if len(p.out) > at {
				p.put(" ")
				c = inField
			}
			p.parts(parts, c)
		}
		if len(p.out) == at {
			p.fail("braces without words")
		}
	}
}

// alternatives expands the braces of a word. Sequences stay.
func alternatives(parts []syntax.WordPart) (all [][]syntax.WordPart, ok bool) {
	all = [][]syntax.WordPart{nil}
	for _, part := range parts {
		next := [][]syntax.WordPart{{part}}
		if b, isBrace := part.(*syntax.BraceExp); isBrace && !b.Sequence {
			next = next[:0]
			for _, e := range b.Elems {
				more, ok := alternatives(e.Parts)
				if next = append(next, more...); !ok {
					return nil, false
				}
			}
		}
		if len(all)*len(next) > mostWords {
			return nil, false
		}
		product := make([][]syntax.WordPart, 0, len(all)*len(next))
		for _, x := range all {
			for _, y := range next {
				product = append(product, append(slices.Clip(x), y...))
			}
		}
		all = product
	}
	return all, true
}

// parts prints the parts of one word. Text without special meaning is quoted as a whole unless all of it is bare.
func (p *printer) parts(parts []syntax.WordPart, c role) {
	if text, quotes, ok := fixed(parts, c); ok {
		plain := text != "" && !quotes
		for i := 0; plain && i < len(text); i++ {
			plain = bare(text[i])
		}
		switch {
		case text == "[" && !quotes && (c == inName || c == inField), text == "]" && !quotes && c == inField:
		case c == inName && (strings.ContainsAny(text, "=") || text != "" && strings.IndexByte("-+%", text[0]) >= 0 || slices.Contains(reserved, text)),
			c == inPattern && slices.Contains(reserved, text), c == inTest && strings.HasPrefix(text, "-"), !plain:
			p.quote(text)
			return
		}
		p.put(text)
		return
	}
	m := mixed{p: p, c: c}
	for i, part := range parts {
		m.part(part, ended(parts[i+1:]), len(parts) == 1)
	}
	m.close()
}

// fixed returns the text of parts that a shell does not expand, and whether it has quotes.
func fixed(parts []syntax.WordPart, c role) (text string, quotes, ok bool) {
	if len(parts) == 1 {
		if l, isLit := parts[0].(*syntax.Lit); isLit && (!strings.ContainsAny(l.Value, "\\*?[]~") || l.Value == "[[") {
			return l.Value, false, true
		}
	}
	var b strings.Builder
	for _, part := range parts {
		switch q := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(q.Value); i++ {
				switch ch := q.Value[i]; {
				case ch == '\\':
					quotes = true
					if i++; i < len(q.Value) && q.Value[i] != '\n' {
						b.WriteByte(q.Value[i])
					}
					continue
				case ch == '~' && tilde(b.String(), i, q.Value, c), c.globs() && strings.IndexByte("*?[]", ch) >= 0 && !(len(parts) == 1 && (q.Value == "[" || q.Value == "]")):
					return "", false, false
				}
				b.WriteByte(q.Value[i])
			}
		case *syntax.SglQuoted:
			v := word{text: q.Value}
			if q.Dollar {
				v = ansi(q.Value)
			}
			if v.dynamic {
				return "", false, false
			}
			quotes = true
			b.WriteString(v.text)
		case *syntax.DblQuoted:
			quotes = true
			for _, d := range q.Parts {
				l, isLit := d.(*syntax.Lit)
				if !isLit || joined(l.Value) {
					return "", false, false
				}
				b.WriteString(doubleQuoted(l.Value))
			}
		default:
			return "", false, false
		}
	}
	return b.String(), quotes, true
}

// joined reports whether a text in double quotes has a line continuation after a dollar sign, where shells see an expansion.
func joined(s string) bool { return strings.Contains(s, "$\\\n") }

// tilde reports whether a shell may replace the ~ at an index of a literal.
func tilde(before string, i int, lit string, c role) bool {
	if i == 0 {
		return before == ""
	}
	return lit[i-1] == ':' && (c == inValue || c == inField) || lit[i-1] == '=' && c == inField
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

// mixed prints a word with expansions. It collects quoted text to print it as one.
type mixed struct {
	p      *printer
	c      role
	text   []byte
	quoted bool // text is to be printed, also if it is empty
	class  bool // a bracket expression may be open
	begun  bool
}

func (m *mixed) hold(s string) {
	m.text, m.quoted = append(m.text, s...), true
}

func (m *mixed) close() {
	if m.quoted {
		m.p.quote(string(m.text))
		m.text, m.quoted, m.begun = m.text[:0], false, true
	}
}

func (m *mixed) part(part syntax.WordPart, last, alone bool) {
	p := m.p
	switch q := part.(type) {
	case *syntax.Lit:
		m.lit(q.Value)
	case *syntax.SglQuoted:
		v := word{text: q.Value}
		if q.Dollar {
			if v = ansi(q.Value); v.dynamic {
				p.fail("an escape in $'...' that shells read in different ways")
			}
		}
		m.hold(v.text)
	case *syntax.DblQuoted:
		if text, _, ok := fixed([]syntax.WordPart{q}, m.c); ok {
			m.hold(text)
			return
		}
		m.close()
		p.doubleQuoted(q)
		m.begun = true
	case *syntax.BraceExp:
		m.close()
		p.sequence(q)
		m.begun = true
	case *syntax.ExtGlob:
		p.fail("an extended pattern, which shells read in different ways")
	case *syntax.ProcSubst:
		if m.close(); m.begun || !alone || m.c == inName || m.c == inPattern {
			p.fail("a process substitution within a word")
		}
		p.process(q)
	default:
		m.close()
		p.expansion(part, last, false)
		m.begun = true
	}
}

// lit prints literal text outside of quotes.
func (m *mixed) lit(s string) {
	for i := 0; i < len(s); i++ {
		ch := s[i]
		active := false
		switch {
		case ch == '\\':
			if i++; i < len(s) && s[i] != '\n' {
				m.hold(s[i : i+1])
			}
			continue
		case strings.IndexByte("*?[]", ch) >= 0:
			if active = m.c.globs(); ch == '[' && m.c == inName {
				m.p.fail("a pattern for the name of a program")
			}
			m.class = m.class && ch != ']' || ch == '['
		case ch == '!' || ch == '^':
			active = m.c.globs() && m.class && i > 0 && s[i-1] == '['
		case ch == '~':
			before := ""
			if m.begun || m.quoted {
				before = "x"
			}
			active = tilde(before, i, s, m.c)
		case m.c == inName && (ch == '=' || !m.begun && !m.quoted && strings.IndexByte("-+%", ch) >= 0):
		default:
			active = bare(ch)
		}
		if !active {
			m.hold(s[i : i+1])
			continue
		}
		m.close()
		m.p.put(s[i : i+1])
		m.begun = true
	}
}

// sequence prints a sequence of numbers or letters, such as {1..5}.
func (p *printer) sequence(b *syntax.BraceExp) {
	p.put("{")
	for i, e := range b.Elems {
		if i > 0 {
			p.put("..")
		}
		text := e.Lit()
		if text == "" || strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
			p.fail("a sequence in braces that shells read in different ways")
		}
		p.put(text)
	}
	p.put("}")
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
			if joined(l.Value) {
				p.fail("a line continuation after a dollar sign")
			}
			p.put(escaped(doubleQuoted(l.Value)))
			continue
		}
		p.expansion(part, ended(q.Parts[i+1:]), true)
	}
	p.put(`"`)
}
