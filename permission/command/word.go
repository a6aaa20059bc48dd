package command

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// word is what the shell makes of a word, as far as that is known before it runs.
type word struct {
	text    string // without quotes and backslashes; when it is dynamic, what comes before the first unknown part
	dynamic bool   // a part of it is not known
	splits  bool   // it may become no word or several
	glob    bool   // the shell may replace it by file names; text is the pattern
	tilde   bool   // it begins with a ~ that the shell replaces
	below   []word // when it is not known: where all that it may be lies
}

func (w word) known() bool { return !w.dynamic && !w.glob }

// mayBeOption reports whether a word that is not known may turn out to begin with a dash.
func (w word) mayBeOption() bool {
	if w.known() || w.tilde && !w.splits {
		return false
	}
	return w.splits || w.text == "" || strings.IndexByte("-*?[@+!", w.text[0]) >= 0
}

// is reports whether the word is surely one of these.
func (w word) is(texts ...string) bool { return w.known() && slices.Contains(texts, w.text) }

// then is the word followed by another part.
func (w word) then(p word) word {
	if !w.dynamic {
		w.text += p.text
	}
	w.dynamic, w.splits, w.glob = w.dynamic || p.dynamic, w.splits || p.splits, w.glob || p.glob
	w.tilde = w.tilde || p.tilde
	return w
}

// fields returns the words that one word becomes, and walks the commands in it.
func (a *analyzer) fields(w *syntax.Word, c place) []word {
	split := *w // what the parser made stays as it is: the tree may be walked again
	syntax.SplitBraces(&split)
	return a.parts(split.Parts, c, true)
}

// value returns a word where the shell makes exactly one of it: in assignments, redirections and quotes.
func (a *analyzer) value(w *syntax.Word, c place) word {
	if w == nil {
		return word{}
	}
	all := word{}
	for i, p := range w.Parts {
		all = all.then(a.part(p, c, i == 0))
	}
	all.splits, all.glob = false, false
	return all
}

func (a *analyzer) parts(parts []syntax.WordPart, c place, start bool) []word {
	all := []word{{}}
	for i, p := range parts {
		next := []word{}
		if b, ok := p.(*syntax.BraceExp); ok {
			next = a.braces(b, c, start && i == 0)
		} else {
			next = append(next, a.part(p, c, start && i == 0))
		}
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

func (a *analyzer) braces(b *syntax.BraceExp, c place, start bool) (all []word) {
	for _, e := range b.Elems {
		all = append(all, a.parts(e.Parts, c, start)...)
	}
	if b.Sequence {
		return []word{{dynamic: true, splits: true}}
	}
	return all
}

// part returns what one part of a word stands for. start says that it begins the word.
func (a *analyzer) part(p syntax.WordPart, c place, start bool) word {
	switch p := p.(type) {
	case *syntax.Lit:
		return unquoted(p.Value, start)
	case *syntax.SglQuoted:
		if p.Dollar {
			return ansi(p.Value)
		}
		return word{text: p.Value}
	case *syntax.DblQuoted:
		return a.quoted(p, c)
	case *syntax.ParamExp:
		return a.parameter(p, c)
	case *syntax.CmdSubst:
		a.chained(p, c, "a substitution")
		sub := c.apart().inner("$(...)")
		a.stmts(p.Stmts, sub)
		return word{dynamic: true, splits: true}
	case *syntax.ProcSubst:
		a.chained(p, c, "a substitution")
		sub := c.apart().inner("<(...)")
		sub.in = input{other: true}
		a.stmts(p.Stmts, sub)
		return word{text: "/dev/fd/63"}
	case *syntax.ArithmExp:
		a.arithm(p.X, c)
		return word{dynamic: true}
	case *syntax.ExtGlob:
		return word{text: p.Op.String(), glob: true, dynamic: true}
	case *syntax.BraceExp:
		return word{dynamic: true, splits: true}
	}
	a.problem(a.spot(p, c), "a part of a word that is not known here")
	return word{dynamic: true, splits: true}
}

func (a *analyzer) quoted(q *syntax.DblQuoted, c place) word {
	all := word{}
	for _, p := range q.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			all = all.then(word{text: doubleQuoted(l.Value)})
			continue
		}
		w := a.part(p, c, false)
		if x, ok := p.(*syntax.ParamExp); !ok || !many(x) {
			w.splits = false
		}
		all = all.then(w)
	}
	all.glob, all.tilde = false, all.tilde && all.text != ""
	return all
}

// many reports whether an expansion becomes several words even in quotes: "$@", "${a[@]}".
func many(p *syntax.ParamExp) bool {
	if p.Param != nil && p.Param.Value == "@" || p.Names != 0 {
		return true
	}
	i, ok := p.Index.(*syntax.Word)
	return ok && i.Lit() == "@"
}

// unquoted takes the backslashes from text outside of quotes.
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

// doubleQuoted takes the backslashes from text in double quotes.
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

// ansi reads $'...'. Escapes that shells read in different ways make it dynamic.
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
