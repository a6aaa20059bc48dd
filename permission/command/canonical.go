package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// The analysis judges a syntax tree, and a shell reads a text. Wherever the parser and a shell read a text in different ways, a shell could
// run something else than what was judged. Tenon therefore prints the tree in a canonical form, judges what the parser reads in
// the printed text, and runs that text.
//
// The canonical form has no comments and no line continuations. Text is bare if it consists of letters, digits and a few signs, and in
// quotes otherwise. Only patterns, leading tildes and numeric sequences in braces stay bare, and brace expansions are expanded.
// Here-documents have a delimiter of Tenon's own. Text for here-documents, parameters, arithmetic and regular expressions is limited
// to characters that shells read alike. The printer rejects all else.

// parsers are the parsers of the languages that shells read.
type parsers map[syntax.LangVariant]*syntax.Parser

func (p parsers) parse(text string, lang syntax.LangVariant) (*syntax.File, error) {
	if p[lang] == nil {
		p[lang] = syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true))
	}
	return p[lang].Parse(strings.NewReader(text), "")
}

// settle returns the canonical form of a text with its tree. The last result is why there is none: it must print to itself and keep the
// tree, and a text for sh must be the same in bash.
func (p parsers) settle(file *syntax.File, text string, lang syntax.LangVariant) (tree *syntax.File, printed, bad string) {
	if printed, bad = canonical(file, text, lang); bad != "" {
		return file, "", bad
	}
	tree = file
	langs := []syntax.LangVariant{lang, syntax.LangBash}
	if lang == syntax.LangBash {
		langs = langs[1:]
	}
	if printed == text { // it prints to itself
		langs = langs[1:]
	}
	for _, l := range langs {
		again, err := p.parse(printed, l)
		if err != nil {
			return file, "", "its canonical form cannot be read again"
		}
		if second, why := canonical(again, printed, l); second != printed || why != "" || shape(again) != shape(file) {
			return file, "", "its canonical form changes when it is read again"
		}
		if l == lang {
			tree = again
		}
	}
	return tree, printed, ""
}

// shape lists the commands, operators, expansions and arguments of a tree, as far as they are the same in every spelling.
func shape(file *syntax.File) string {
	var b strings.Builder
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			fmt.Fprint(&b, ";", n.Negated, n.Background)
		case *syntax.CallExpr:
			for _, w := range n.Args {
				b.WriteString(" ")
				for _, part := range w.Parts {
					text, _ := literal(part)
					b.WriteString(text)
				}
			}
		case *syntax.BinaryCmd:
			b.WriteString(n.Op.String())
		case *syntax.Redirect:
			b.WriteString(strings.Replace(n.Op.String(), "<<-", "<<", 1))
		case nil, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.Assign, syntax.Command, syntax.WordPart, syntax.ArithmExpr, syntax.TestExpr:
			if _, word := n.(*syntax.Word); !word {
				fmt.Fprintf(&b, "%T", n)
			}
		}
		return true
	})
	return b.String()
}

// printer prints a syntax tree. The first construct without a canonical form ends the print.
type printer struct {
	out     []byte
	source  string
	lang    syntax.LangVariant
	pending []document // here-documents of the current line, whose text follows at its end
	inText  bool       // within the text of a here-document
	depth   int        // indentation
	bad     string     // why there is no canonical form
}

// document is a here-document in print.
type document struct{ text, end string }

// canonical prints the syntax tree of a text. The second result is why that is impossible.
func canonical(file *syntax.File, source string, lang syntax.LangVariant) (text, bad string) {
	p := &printer{source: source, lang: lang, out: make([]byte, 0, len(source)+16)}
	if strings.Contains(source, "$\\\n") { // shells see an expansion
		p.fail("a line continuation after a dollar sign")
	}
	if strings.Contains(source, "#") && strange(file, source) {
		p.fail("a comment that shells read in different ways")
	}
	p.list(file.Stmts)
	p.flush()
	if p.bad == "" && !plainText(string(p.out)) {
		p.bad = "control characters, or bytes that are no UTF-8"
	}
	return string(p.out), p.bad
}

// plainText reports whether a text has only characters that all shells keep.
func plainText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f })
}

// fail notes why there is no canonical form.
func (p *printer) fail(format string, args ...any) {
	if p.bad == "" {
		p.bad = fmt.Sprintf(format, args...)
	}
}

func (p *printer) put(s string) {
	if len(p.pending) > 0 && strings.Contains(s, "\n") {
		p.fail("a new line between a here-document and its text")
	}
	p.out = append(p.out, s...)
}

// strange reports whether a tree has comments that a shell may not read as such: those that do not start a word, and those that end in a
// backslash.
func strange(file *syntax.File, source string) (found bool) {
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			at := int(c.Hash.Offset())
			found = found || strings.HasSuffix(c.Text, `\`) || strings.Contains(c.Text, "\n") ||
				at > 0 && (at > len(source) || strings.IndexByte(" \t\n;&|()", source[at-1]) < 0)
		}
		return !found
	})
	return found
}

// line starts a new line, after the texts of the here-documents.
func (p *printer) line() {
	if len(p.pending) > 0 {
		p.flush()
	} else {
		p.put("\n")
	}
	for range p.depth {
		p.put("  ")
	}
}

// gap starts a new line if there must be one.
func (p *printer) gap(newline bool, otherwise string) {
	if newline || len(p.pending) > 0 {
		p.line()
	} else {
		p.put(otherwise)
	}
}

// flush prints the texts of the here-documents. The line ends there.
func (p *printer) flush() {
	if len(p.pending) == 0 {
		return
	}
	p.out = append(p.out, '\n')
	for _, d := range p.pending {
		p.out = append(append(append(p.out, d.text...), d.end...), '\n')
	}
	p.pending = p.pending[:0]
}

// list prints statements. Those on different lines stay on different lines.
func (p *printer) list(stmts []*syntax.Stmt) {
	for i, s := range stmts {
		if i > 0 {
			p.gap(s.Pos().Line() > stmts[i-1].End().Line(), after(stmts[i-1]))
		}
		p.stmt(s)
	}
}

// after is what follows a statement on its line.
func after(s *syntax.Stmt) string {
	if s.Background {
		return " "
	}
	return "; "
}

// body prints the statements between two words of a compound command, such as do and done.
func (p *printer) body(open string, from syntax.Pos, stmts []*syntax.Stmt, end string, to syntax.Pos) {
	if p.put(open); len(stmts) == 0 {
		p.fail("a compound command without commands")
		return
	}
	last := stmts[len(stmts)-1]
	p.depth++
	p.gap(stmts[0].Pos().Line() > from.Line(), " ")
	p.list(stmts)
	p.depth--
	p.gap(to.Line() > last.End().Line(), after(last))
	p.put(end)
}

// enclosed prints statements in parentheses.
func (p *printer) enclosed(open string, stmts []*syntax.Stmt) {
	if p.put(open); len(p.pending) > 0 {
		p.fail("a substitution after a here-document")
	}
	if open != "(" && strings.Contains(p.source, "<<") && crowded(stmts) {
		p.fail("a here-document in a substitution of several commands")
	}
	at := len(p.out)
	if p.list(stmts); len(p.out) > at && p.out[at] == '(' {
		p.out = slices.Insert(p.out, at, ' ')
	}
	p.gap(false, "")
	p.put(")")
}

// crowded reports whether there is a here-document among several commands. In a substitution, bash 5.2 loses a separator after its text.
func crowded(stmts []*syntax.Stmt) bool {
	document, several := false, len(stmts) > 1
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.Redirect:
				document = document || x.Op == syntax.Hdoc || x.Op == syntax.DashHdoc
			case *syntax.CmdSubst:
				several = several || len(x.Stmts) > 1
			case *syntax.ProcSubst:
				several = several || len(x.Stmts) > 1
			case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl:
				several = true
			}
			return true
		})
	}
	return document && several
}

func (p *printer) stmt(s *syntax.Stmt) {
	if p.bad != "" {
		return
	}
	b, binary := s.Cmd.(*syntax.BinaryCmd)
	_, function := s.Cmd.(*syntax.FuncDecl)
	switch {
	case s.Coprocess || s.Disown:
		p.fail("an operator of other shells")
	case s.Cmd == nil && (s.Negated || len(s.Redirs) == 0):
		p.fail("a statement without a command")
	case binary && (s.Negated && logical(b) || len(s.Redirs) > 0), function && (s.Negated || len(s.Redirs) > 0):
		p.fail("a statement that shells read in different ways")
	}
	if s.Negated {
		p.put("! ")
	}
	if s.Cmd != nil {
		p.command(s.Cmd)
	}
	for i, r := range s.Redirs {
		if i > 0 || s.Cmd != nil {
			p.put(" ")
		}
		p.redirect(r)
	}
	if s.Background {
		p.put(" &")
	}
}

func logical(b *syntax.BinaryCmd) bool { return b.Op == syntax.AndStmt || b.Op == syntax.OrStmt }

func (p *printer) command(cmd syntax.Command) {
	switch x := cmd.(type) {
	case *syntax.CallExpr:
		p.call(x)
	case *syntax.DeclClause:
		p.declaration(x)
	case *syntax.BinaryCmd:
		p.binary(x)
	case *syntax.Block:
		p.body("{", x.Lbrace, x.Stmts, "}", x.Rbrace)
	case *syntax.Subshell:
		if len(x.Stmts) == 0 {
			p.fail("a compound command without commands")
		}
		p.enclosed("(", x.Stmts)
	case *syntax.IfClause:
		p.conditional(x)
	case *syntax.WhileClause:
		word := "while"
		if x.Until {
			word = "until"
		}
		p.body(word, x.WhilePos, x.Cond, "", x.DoPos)
		p.body("do", x.DoPos, x.Do, "done", x.DonePos)
	case *syntax.ForClause:
		p.loop(x)
	case *syntax.CaseClause:
		p.choice(x)
	case *syntax.FuncDecl:
		p.function(x)
	case *syntax.TimeClause:
		if p.put("time"); x.PosixFormat {
			p.put(" -p")
		}
		if x.Stmt != nil {
			if _, again := x.Stmt.Cmd.(*syntax.TimeClause); again || x.Stmt.Background || x.Stmt.Cmd == nil {
				p.fail("time that shells read in different ways")
			}
			p.put(" ")
			p.stmt(x.Stmt)
		}
	case *syntax.ArithmCmd:
		if x.Unsigned {
			p.fail("arithmetic of other shells")
		}
		p.put("(( ")
		values{p, true}.arithm(x.X)
		p.put(" ))")
	case *syntax.TestClause:
		p.put("[[ ")
		values{p, false}.test(x.X)
		p.put(" ]]")
	case *syntax.LetClause:
		p.fail("let, whose arguments shells read in different ways; use ((...))")
	case *syntax.CoprocClause:
		p.fail("coproc")
	default:
		p.fail("an unknown kind of command")
	}
}

func (p *printer) binary(x *syntax.BinaryCmd) {
	for _, s := range []*syntax.Stmt{x.X, x.Y} {
		b, nested := s.Cmd.(*syntax.BinaryCmd)
		_, timed := s.Cmd.(*syntax.TimeClause)
		if s.Background || s == x.Y && nested && logical(b) || !logical(x) && (nested && logical(b) || s == x.Y && (s.Negated || timed)) {
			p.fail("a list of commands that shells read in different ways")
		}
	}
	p.stmt(x.X)
	p.put(" " + x.Op.String())
	p.gap(x.Y.Pos().Line() > x.OpPos.Line(), " ")
	p.stmt(x.Y)
}

func (p *printer) conditional(x *syntax.IfClause) {
	p.body("if", x.Position, x.Cond, "", x.ThenPos)
	for {
		next := x.Else
		if next == nil {
			p.body("then", x.ThenPos, x.Then, "fi", x.FiPos)
			return
		}
		p.body("then", x.ThenPos, x.Then, "", next.Position)
		if len(next.Cond) == 0 {
			p.body("else", next.Position, next.Then, "fi", next.FiPos)
			return
		}
		p.body("elif", next.Position, next.Cond, "", next.ThenPos)
		x = next
	}
}

func (p *printer) loop(x *syntax.ForClause) {
	word := "for "
	if x.Select {
		word = "select "
	}
	p.put(word)
	switch l := x.Loop.(type) {
	case *syntax.WordIter:
		p.name(l.Name)
		if l.InPos.IsValid() {
			p.put(" in")
			for _, w := range l.Items {
				p.put(" ")
				p.word(w, inField)
			}
			p.put(";")
		}
		p.put(" ")
	case *syntax.CStyleLoop:
		p.put("((")
		for i, e := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if i > 0 {
				p.put(";")
			}
			if e != nil {
				p.put(" ")
				values{p, true}.arithm(e)
			}
		}
		p.put(" )); ")
	default:
		p.fail("an unknown kind of loop")
	}
	p.body("do", x.DoPos, x.Do, "done", x.DonePos)
}

// name prints the name of a variable or function.
func (p *printer) name(l *syntax.Lit) {
	if !syntax.ValidName(l.Value) || slices.Contains(reserved, l.Value) {
		p.fail("the name %q", l.Value)
	}
	p.put(l.Value)
}

func (p *printer) choice(x *syntax.CaseClause) {
	p.put("case ")
	p.word(x.Word, inValue)
	p.put(" in")
	p.depth++
	for _, item := range x.Items {
		if item.Op == syntax.ResumeKorn {
			p.fail("an operator of other shells")
		}
		p.gap(item.Pos().Line() > x.Case.Line(), " ")
		for i, w := range item.Patterns {
			p.put(map[bool]string{true: "(", false: " | "}[i == 0])
			p.word(w, inPattern)
		}
		if p.put(")"); len(item.Stmts) > 0 {
			p.put(" ")
			p.list(item.Stmts)
		}
		p.gap(false, " ")
		p.put(item.Op.String())
	}
	p.depth--
	p.gap(x.Esac.Line() > x.Case.Line(), " ")
	p.put("esac")
}

// function prints a declaration. The parser takes more for the body than a shell does, so that it must be plain.
func (p *printer) function(x *syntax.FuncDecl) {
	if x.Name == nil || len(x.Names) > 0 || x.Body == nil || x.Body.Negated || x.Body.Background {
		p.fail("a function that shells read in different ways")
		return
	}
	switch x.Body.Cmd.(type) {
	case *syntax.Block, *syntax.Subshell:
	default:
		p.fail("a function that shells read in different ways")
	}
	p.name(x.Name)
	p.put("() ")
	p.stmt(x.Body)
}

// reserved are the words that a shell reads in other ways than as the name of a program.
var reserved = strings.Fields(`! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while
	declare typeset local export readonly nameref let @test`)

func (p *printer) call(x *syntax.CallExpr) {
	for i, as := range x.Assigns {
		if i > 0 {
			p.put(" ")
		}
		p.assign(as)
		if as.Array != nil && len(x.Args) > 0 {
			p.fail("an array in front of a command")
		}
	}
	for i, w := range x.Args {
		if i > 0 || len(x.Assigns) > 0 {
			p.put(" ")
		}
		if i == 0 {
			p.word(w, inName)
		} else {
			p.word(w, inField)
		}
	}
}

func (p *printer) assign(as *syntax.Assign) {
	if as.Name == nil {
		p.word(as.Value, inField)
		return
	}
	p.name(as.Name)
	if as.Index != nil {
		values{p, true}.index(as.Index)
	}
	switch {
	case as.Naked:
		if as.Index != nil {
			p.fail("an element of an array as an argument")
		}
		return
	case as.Append:
		p.put("+=")
	default:
		p.put("=")
	}
	if as.Value != nil {
		p.word(as.Value, inValue)
	}
	if as.Array == nil {
		return
	}
	p.put("(")
	for i, e := range as.Array.Elems {
		if i > 0 {
			p.gap(e.Pos().Line() > as.Array.Elems[i-1].End().Line(), " ")
		}
		if e.Index != nil {
			values{p, true}.index(e.Index)
			p.put("=")
		}
		if e.Value != nil {
			p.word(e.Value, map[bool]role{true: inField, false: inValue}[e.Index == nil])
		}
	}
	p.put(")")
}

func (p *printer) declaration(x *syntax.DeclClause) {
	if x.Variant.Value == "nameref" {
		p.fail("nameref")
	}
	p.put(x.Variant.Value)
	for _, as := range x.Args {
		p.put(" ")
		p.assign(as)
		if as.Index != nil {
			p.fail("an element of an array in a declaration")
		}
		if as.Value != nil && as.Name != nil && slices.ContainsFunc(as.Value.Parts, func(w syntax.WordPart) bool {
			l, ok := w.(*syntax.Lit)
			return ok && strings.Contains(l.Value, "{")
		}) {
			p.fail("braces in a declaration, which shells read in different ways")
		}
	}
}

// redirect prints a redirection. The text of a here-document follows at the end of the line.
func (p *printer) redirect(r *syntax.Redirect) {
	if r.N != nil {
		n := r.N.Value
		named := strings.HasPrefix(n, "{") && strings.HasSuffix(n, "}") && syntax.ValidName(n[1:len(n)-1])
		if !named && (!isNumber(n) || len(n) > 3 || len(n) > 1 && p.lang == syntax.LangPOSIX) {
			p.fail("the file descriptor %q", n)
		}
		p.put(n)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		values{p, true}.document(r)
		return
	case syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrInOut, syntax.DplIn, syntax.DplOut, syntax.RdrClob, syntax.WordHdoc,
		syntax.RdrAll, syntax.AppAll:
	default:
		p.fail("the redirection %s", r.Op)
	}
	p.put(r.Op.String())
	if r.Op == syntax.WordHdoc {
		p.put(" ")
		p.word(r.Word, inValue)
		return
	}
	if to := loneLit(r.Word); (r.Op == syntax.DplIn || r.Op == syntax.DplOut) && to != "-" && (to == "" || strings.Trim(to, "0123456789") != "") {
		if r.Op == syntax.DplIn || to == "" || strings.IndexByte("-0123456789", to[0]) >= 0 || p.lang == syntax.LangPOSIX {
			p.fail("a redirection that shells read in different ways")
		}
	}
	_, process := r.Word.Parts[0].(*syntax.ProcSubst)
	if process || r.Word.Pos().Offset() > r.OpPos.Offset()+uint(len(r.Op.String())) {
		p.put(" ")
	}
	p.word(r.Word, inTarget)
}
