package command

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// word is the result of expanding a word, as far as it can be determined in advance.
type word struct {
	text    string       // without quotes and backslashes; if dynamic, the text before the first unknown part
	dynamic bool         // a part of it is unknown
	splits  bool         // it may expand to no word or several
	glob    bool         // the shell may replace it by file names; text is the pattern
	tilde   bool         // it begins with a ~ that the shell replaces
	below   []word       // if unknown: the words below which it lies
	dir     string       // the directory from which that is true, "" for every one
	plain   bool         // if unknown: it does not start with a dash, or will be looked at
	named   bool         // it is the name of a file below them, see names.go
	number  bool         // it is a number
	token   bool         // it is the name of a commit
	zero    bool         // zero bytes separate the names
	matched bool         // it is named by a pattern: in quotes it is one name, and needs no look if it may be an option
	from    *syntax.Word // the word of the line with exactly this text, if there is one
}

func (w word) known() bool { return !w.dynamic && !w.glob }

// mayBeOption reports whether an unknown word may start with a dash.
func (w word) mayBeOption() bool {
	if w.known() || w.plain && !(w.named && w.splits) || w.tilde && !w.splits {
		return false
	}
	return w.splits || w.text == "" || strings.IndexByte("-*?[@+!", w.text[0]) >= 0
}

// whole reports whether a word of the line is exactly this text.
func (w word) whole() bool {
	if w.from == nil {
		return false
	}
	all := ""
	for _, part := range w.from.Parts {
		text, ok := literal(part)
		if all += text; !ok {
			return false
		}
	}
	return all == w.text
}

// is reports whether the word is certainly one of these.
func (w word) is(texts ...string) bool { return w.known() && slices.Contains(texts, w.text) }

// then is the word followed by another part.
func (w word) then(p word) word {
	switch {
	case w.blank():
		return p
	case p.blank():
		return w
	case !w.token || p.dynamic || strings.Contains(p.text, "/"):
		w.below = nil
	}
	w.named, w.number, w.token = false, w.number && p.number, w.below != nil
	w.plain = w.dynamic && w.plain && !w.splits && !p.splits
	if !w.dynamic {
		w.text += p.text
	}
	w.dynamic, w.splits, w.glob = w.dynamic || p.dynamic, w.splits || p.splits, w.glob || p.glob
	w.tilde = w.tilde || p.tilde
	return w
}

// blank reports whether the word is empty: two quotes.
func (w word) blank() bool { return w.text == "" && !w.dynamic && !w.splits && !w.glob && !w.tilde }

// expander expands the words of a command at a place as the shell does, and walks the commands within them.
type expander struct {
	a     *analyzer
	place place
}

// fields expands one word to several, and walks the commands in it.
func (e expander) fields(w *syntax.Word) []word {
	split := *w // keeps the syntax tree, which may be walked again
	syntax.SplitBraces(&split)
	all := e.parts(split.Parts, true)
	for i := range all {
		if len(all) > 1 && all[i].blank() {
			all[i] = word{dynamic: true, splits: true} // as in {,a}: without quotes, a shell removes it
		}
	}
	if len(all) == 1 && all[0].known() {
		all[0].from = w
	}
	return all
}

// value expands a word to exactly one: in assignments, redirections and quotes.
func (e expander) value(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	all := word{}
	for i, p := range w.Parts {
		all = all.then(e.part(p, i == 0))
	}
	all.splits, all.glob = false, false
	return all
}

func (e expander) parts(parts []syntax.WordPart, start bool) []word {
	all := []word{{}}
	for i, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			next := e.part(p, start && i == 0)
			for j, x := range all {
				all[j] = x.then(next)
			}
			continue
		}
		next := e.braces(b, start && i == 0)
		if len(all)*len(next) > mostWords {
			return []word{{dynamic: true, splits: true}}
		}
		product := make([]word, 0, len(all)*len(next))
		for _, x := range all {
			for _, y := range next {
				product = append(product, x.then(y))
			}
		}
		all = product
	}
	return all
}

func (e expander) braces(b *syntax.BraceExp, start bool) (all []word) {
	for _, elem := range b.Elems {
		all = append(all, e.parts(elem.Parts, start)...)
	}
	if b.Sequence {
		return []word{{dynamic: true, splits: true}}
	}
	return all
}

// part expands one part of a word. Start says that it is the first one.
func (e expander) part(p syntax.WordPart, start bool) word {
	switch p := p.(type) {
	case *syntax.Lit:
		return unquoted(p.Value, start)
	case *syntax.SglQuoted:
		if p.Dollar {
			return ansi(p.Value)
		}
		return word{text: p.Value}
	case *syntax.DblQuoted:
		return e.quoted(p)
	case *syntax.ParamExp:
		return e.parameter(p)
	case *syntax.CmdSubst:
		e.a.chained(p, e.place, "a substitution")
		sub := e.place.apart().inner("$(...)")
		e.a.printed = word{}
		if e.a.stmts(p.Stmts, sub); e.a.printed.dynamic && !e.a.printed.zero && !e.a.wary {
			e.a.relied = true
			return e.a.printed
		}
		return word{dynamic: true, splits: true}
	case *syntax.ProcSubst:
		e.a.chained(p, e.place, "a substitution")
		sub := e.place.apart().inner("<(...)")
		sub.in = input{other: true}
		if e.a.stmts(p.Stmts, sub); len(p.Stmts) == 0 {
			return word{dynamic: true, splits: true} // bash removes it
		}
		return word{text: "/dev/fd/63"}
	case *syntax.ArithmExp:
		e.arithm(p.X)
		return word{dynamic: true, number: true}
	case *syntax.ExtGlob:
		return word{text: p.Op.String(), glob: true, dynamic: true}
	case *syntax.BraceExp:
		return word{dynamic: true, splits: true}
	}
	e.a.problem(e.place.spot(p), "an unknown kind of expansion")
	return word{dynamic: true, splits: true}
}

func (e expander) quoted(q *syntax.DblQuoted) word {
	all := word{}
	for _, p := range q.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			all = all.then(word{text: doubleQuoted(l.Value)})
			continue
		}
		w := e.part(p, false)
		if x, ok := p.(*syntax.ParamExp); !ok || !many(x) {
			w.splits = false
		}
		all = all.then(w)
	}
	if all.matched {
		all.named, all.plain = false, false
	}
	all.glob, all.tilde = false, all.tilde && all.text != ""
	return all
}

// many reports whether an expansion results in several words even in quotes: "$@", "${a[@]}".
func many(p *syntax.ParamExp) bool {
	if p.Param != nil && p.Param.Value == "@" || p.Names != 0 {
		return true
	}
	i, ok := p.Index.(*syntax.Word)
	return ok && i.Lit() == "@"
}

// unquoted removes the backslashes from text outside of quotes.
func unquoted(s string, start bool) word {
	w := word{tilde: start && strings.HasPrefix(s, "~")}
	if !strings.ContainsAny(s, "\\*?[") {
		w.text = s
		return w
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case '*', '?', '[':
			w.glob = true
		}
		b.WriteByte(s[i])
	}
	if w.text = b.String(); w.text == "[" || w.text == "[[" {
		w.glob = false
	}
	return w
}

// doubleQuoted removes the backslashes from text in double quotes.
func doubleQuoted(s string) string {
	if !strings.Contains(s, "\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansi expands $'...'. Escapes that shells read in different ways make it dynamic.
func ansi(s string) word {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abefnrtvE\'"?`, s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b\\'\"?"[at])
			continue
		}
		base, from, most := 16, i+1, 0
		switch s[i] {
		case 'x':
			most = 2
		case 'u':
			most = 4
		case 'U':
			most = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, from, most = 8, i, 3
		}
		to := from
		for to < len(s) && to < from+most && isDigit(s[to], base) {
			to++
		}
		n, err := strconv.ParseUint(s[from:to], base, 32)
		if err != nil || n == 0 || n > utf8.MaxRune {
			return word{dynamic: true}
		}
		if most > 3 {
			b.WriteRune(rune(n))
		} else {
			b.WriteByte(byte(n))
		}
		i = to - 1
	}
	return word{text: b.String()}
}

func isDigit(c byte, base int) bool {
	return c >= '0' && c <= '7' || base == 16 && (c >= '8' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f')
}
