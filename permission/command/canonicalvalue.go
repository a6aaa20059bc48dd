package command

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// values prints expansions, arithmetic and tests.
type values struct {
	*printer
	quoted bool // in double quotes, or in the text of a here-document
}

// expansion prints an expansion. Last says that nothing follows in the word or in the quotes.
func (p *printer) expansion(part syntax.WordPart, last, quoted bool) {
	switch x := part.(type) {
	case *syntax.ParamExp:
		values{p, quoted}.parameter(x, last)
	case *syntax.CmdSubst:
		values{p, quoted}.substitution(x)
	case *syntax.ArithmExp:
		if x.Unsigned {
			p.fail("arithmetic of other shells")
		}
		p.put("$(( ")
		values{p, true}.arithm(x.X)
		p.put(" ))")
	default:
		p.fail("an unknown kind of expansion")
	}
}

// within prints an expansion where shells read a text in another way than elsewhere.
func (p values) within(part syntax.WordPart, last, quoted bool, text string) {
	at := len(p.out)
	if p.expansion(part, last, quoted); strings.Contains(string(p.out[at:]), text) {
		p.fail("%s in a substitution that shells read in different ways", strconv.Quote(text))
	}
}

// substitution prints a command substitution as $(...). Backquotes with backslashes or quotes may have another meaning there.
func (p values) substitution(x *syntax.CmdSubst) {
	if x.TempFile || x.ReplyVar {
		p.fail("a substitution of other shells")
	}
	if x.Backquotes {
		from, to := int(x.Left.Offset())+1, int(x.Right.Offset())
		if from > to || to > len(p.source) || strings.ContainsAny(p.source[from:to], "\\`") || (p.quoted || p.inText) && strings.Contains(p.source[from:to], `"`) {
			p.fail("quotes or backslashes within backquotes; use $(...)")
		}
	}
	p.enclosed("$(", x.Stmts)
}

// parameter prints the expansion of a variable.
func (p values) parameter(x *syntax.ParamExp, last bool) {
	if x.Param == nil || x.Flags != nil || x.Width || x.IsSet || x.NestedParam != nil || len(x.Modifiers) > 0 ||
		x.Split != 0 || x.GlobSubst != 0 || x.RcExpand != 0 {
		p.fail("an expansion of other shells")
		return
	}
	name := x.Param.Value
	special := len(name) == 1 && strings.Contains("@*#?-$!", name)
	if !special && !syntax.ValidName(name) && (!isNumber(name) || name[0] == '-') {
		p.fail("the expansion of %q", name)
	}
	if !x.Excl && !x.Length && x.Index == nil && x.Slice == nil && x.Repl == nil && x.Names == 0 && x.Exp == nil {
		if special || last && (len(name) == 1 || !isNumber(name)) {
			p.put("$" + name)
		} else {
			p.put("${" + name + "}")
		}
		return
	}
	if special && (name != "@" && name != "*" || x.Excl || x.Exp != nil && !x.Length && p.lang == syntax.LangPOSIX) {
		p.fail("an expansion of $%s", name)
	}
	if !x.Dollar.IsValid() { // a[i] in arithmetic
		p.put(name)
		p.index(x.Index)
		return
	}
	p.put("${")
	if x.Excl {
		p.put("!")
	}
	if x.Length {
		p.put("#")
	}
	if p.put(name); x.Index != nil {
		p.index(x.Index)
	}
	if x.Names != 0 {
		p.put(x.Names.String())
	}
	p.operation(x)
	p.put("}")
}

// operation prints the part of an expansion after the variable.
func (p values) operation(x *syntax.ParamExp) {
	switch {
	case x.Slice != nil:
		p.put(": ")
		p.offset(x.Slice.Offset)
		if x.Slice.Length != nil {
			p.put(": ")
			p.offset(x.Slice.Length)
		}
	case x.Repl != nil:
		p.put("/")
		if x.Repl.All {
			p.put("/")
		}
		at := len(p.out)
		p.operand(x.Repl.Orig)
		if len(p.out) == at || p.out[at] == '/' {
			p.fail("a replacement that shells read in different ways")
		}
		if x.Repl.With != nil {
			p.put("/")
			p.operand(x.Repl.With)
		}
	case x.Exp != nil:
		p.put(x.Exp.Op.String())
		if x.Exp.Op >= syntax.RemSmallSuffix && x.Exp.Op <= syntax.RemLargePrefix { // quotes mean the same there
			p.quoted = false
		}
		p.operand(x.Exp.Word)
	}
}

// offset prints the start or the length of a slice.
func (p values) offset(x syntax.ArithmExpr) {
	switch b := x.(type) {
	case nil:
		p.fail("an empty slice")
		return
	case *syntax.BinaryArithm:
		if b.Op != syntax.Add && b.Op != syntax.Sub {
			p.fail("a slice that shells read in different ways")
		}
	}
	p.arithm(x)
}

// index prints a subscript: @, *, or arithmetic.
func (p values) index(x syntax.ArithmExpr) {
	p.put("[")
	if w, ok := x.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		p.put(w.Lit())
	} else {
		p.arithm(x)
	}
	p.put("]")
}

// operand prints a word within ${...}. Shells differ in how they read quotes there, so that only some characters are allowed.
func (p values) operand(w *syntax.Word) {
	if w == nil {
		return
	}
	for _, part := range w.Parts {
		switch q := part.(type) {
		case *syntax.Lit:
			p.raw(q.Value)
		case *syntax.SglQuoted, *syntax.DblQuoted:
			text, ok := literal(q)
			d, double := q.(*syntax.DblQuoted)
			switch {
			case p.quoted || p.inText || ok && strings.ContainsAny(text, "'{}"):
				p.fail("quotes within ${...}")
			case ok:
				p.put(`"` + escaped(text) + `"`)
			case double:
				p.doubleQuoted(d)
			default:
				p.fail("quotes within ${...}")
			}
		default:
			p.within(part, false, p.quoted, "<<")
		}
	}
}

// raw prints text within ${...} as it is, if all shells read it alike.
func (p values) raw(s string) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`/.*?[]\`, s[i+1]) >= 0:
			i++
		case !bare(s[i]) && strings.IndexByte(" *?#^![]", s[i]) < 0:
			p.fail("%s within ${...}", strconv.Quote(s[i:i+1]))
			return
		}
	}
	p.put(s)
}

// arithm prints arithmetic. The tree has its own parentheses.
func (p values) arithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		p.arithm(x.X)
		p.put(" " + x.Op.String() + " ")
		p.arithm(x.Y)
	case *syntax.UnaryArithm:
		if x.Post {
			p.arithm(x.X)
			p.put(x.Op.String())
			return
		}
		if p.put(x.Op.String()); x.Op != syntax.Inc && x.Op != syntax.Dec {
			if _, again := x.X.(*syntax.UnaryArithm); again {
				p.put(" ")
			}
		}
		p.arithm(x.X)
	case *syntax.ParenArithm:
		p.put("(")
		p.arithm(x.X)
		p.put(")")
	case *syntax.Word:
		p.number(x)
	default:
		p.fail("arithmetic that shells read in different ways")
	}
}

// number prints an operand of arithmetic.
func (p values) number(w *syntax.Word) {
	for i, part := range w.Parts {
		l, ok := part.(*syntax.Lit)
		if !ok {
			p.within(part, i == len(w.Parts)-1, true, "<<")
			continue
		}
		for j := range len(l.Value) {
			if c := l.Value[j]; c != '#' && (strings.IndexByte("./:@%+,-=", c) >= 0 || !bare(c)) {
				p.fail("%s in arithmetic", strconv.Quote(l.Value[j:j+1]))
			}
		}
		p.put(l.Value)
	}
}

// document prints the operator of a here-document, and notes its text. Without expansions the text is literal.
func (p values) document(r *syntax.Redirect) {
	if p.inText {
		p.fail("a here-document within a here-document")
	}
	literal := false
	for _, part := range r.Word.Parts {
		l, ok := part.(*syntax.Lit)
		literal = literal || !ok || strings.Contains(l.Value, `\`)
	}
	var parts []syntax.WordPart
	if r.Hdoc != nil {
		parts = r.Hdoc.Parts
	}
	inner := values{&printer{source: p.source, lang: p.lang, inText: true}, true}
	text, expands := inner.content(parts, literal, r.Op == syntax.DashHdoc)
	if inner.bad != "" {
		p.fail("%s", inner.bad)
	}
	end := "EOF"
	for i := 1; strings.HasPrefix(text, end) || strings.Contains(text, "\n"+end); i++ { // in $(...) some shells accept EOF)
		end = "EOF" + strconv.Itoa(i)
	}
	if p.put("<<"); expands {
		p.put(end)
	} else {
		p.put("'" + end + "'")
	}
	p.pending = append(p.pending, document{text, end})
}

// content prints the text of a here-document, and reports whether it has expansions.
func (p values) content(parts []syntax.WordPart, literal, tabs bool) (text string, expands bool) {
	for _, part := range parts {
		_, ok := part.(*syntax.Lit)
		expands = expands || !ok
	}
	begin := true // of a line
	for i, part := range parts {
		l, ok := part.(*syntax.Lit)
		if !ok {
			at := len(p.out)
			p.within(part, ended(parts[i+1:]), true, "\\\n") // the shell removes it before it reads the substitution
			if tabs && strings.Contains(string(p.out[at:]), "\n") {
				p.fail("a substitution of several lines in a here-document without tabs")
			}
			begin = false
			continue
		}
		if !literal && strings.Contains(l.Value, "\\\n") {
			p.fail("a line continuation in a here-document")
		}
		s := l.Value
		if tabs {
			s, begin = withoutTabs(s, begin)
		}
		if !literal {
			s = hereText(s)
		}
		if expands {
			s = hereEscapes.Replace(s)
		}
		p.put(s)
	}
	if len(p.out) > 0 && p.out[len(p.out)-1] != '\n' {
		p.fail("a here-document without an end")
	}
	return string(p.out), expands
}

var hereEscapes = strings.NewReplacer(`\`, `\\`, "$", `\$`, "`", "\\`")

// withoutTabs removes the tabs at the start of lines, and reports whether the text ends with the start of one.
func withoutTabs(s string, begin bool) (string, bool) {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if begin {
			line = strings.TrimLeft(line, "\t")
		}
		b.WriteString(line)
		begin = strings.HasSuffix(line, "\n")
	}
	return b.String(), begin
}

// test prints an expression of [[ ... ]].
func (p values) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		p.test(x.X)
		p.put(" " + x.Op.String() + " ")
		w, ok := x.Y.(*syntax.Word)
		switch {
		case ok && x.Op == syntax.TsReMatch:
			p.regexp(w)
		case ok && (x.Op == syntax.TsMatch || x.Op == syntax.TsMatchShort || x.Op == syntax.TsNoMatch):
			p.word(w, inPattern)
		default:
			p.test(x.Y)
		}
	case *syntax.UnaryTest:
		p.put(x.Op.String() + " ")
		p.test(x.X)
	case *syntax.ParenTest:
		p.put("( ")
		p.test(x.X)
		p.put(" )")
	case *syntax.Word:
		p.word(x, inTest)
	default:
		p.fail("an unknown kind of test")
	}
}

// regexp prints a regular expression of characters that need no quotes there.
func (p values) regexp(w *syntax.Word) {
	for i, part := range w.Parts {
		switch q := part.(type) {
		case *syntax.Lit:
			p.rawRegexp(q.Value, i == len(w.Parts)-1)
		case *syntax.SglQuoted, *syntax.DblQuoted:
			if text, ok := literal(q); ok {
				p.quote(text)
				continue
			}
			if d, ok := q.(*syntax.DblQuoted); ok {
				p.doubleQuoted(d)
				continue
			}
			p.fail("quotes in a regular expression")
		default:
			p.expansion(part, false, false)
		}
	}
}

func (p values) rawRegexp(s string, last bool) {
	open := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`./*+?[]$^-`, s[i+1]) >= 0:
			i++
		case c == '(':
			open++
		case c == ')' && open > 0:
			open--
		case c == '|' && open > 0:
		case c == '$' && (i+1 < len(s) && s[i+1] == ')' || i+1 == len(s) && last):
		case !bare(c) && strings.IndexByte("^*?[]", c) < 0:
			p.fail("%s in a regular expression", strconv.Quote(s[i:i+1]))
			return
		}
	}
	if open != 0 {
		p.fail("a group in a regular expression")
	}
	p.put(s)
}
