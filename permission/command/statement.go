package command

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// ends are the possible directories of the shell after a statement: if it succeeds, and if it fails.
type ends struct{ ok, bad []string }

func (e ends) both() []string { return union(e.ok, e.bad) }

// union merges lists of directories. Too many are one unknown directory.
func union(x, y []string) []string {
	all := slices.Clone(x)
	for _, d := range y {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	if len(all) > 4 {
		return []string{""}
	}
	return all
}

func (a *analyzer) stmts(list []*syntax.Stmt, c place) ends {
	e := ends{c.dirs, c.dirs}
	defer func() {
		if len(list) != 1 {
			a.printed = word{}
		}
	}()
	for i, s := range list {
		if i > 0 {
			a.chained(s, c, "more than one command")
		}
		c.dirs = e.both()
		e = a.stmt(s, c)
	}
	return e
}

func (a *analyzer) stmt(s *syntax.Stmt, c place) ends {
	stay := ends{c.dirs, c.dirs}
	if c.depth++; a.full || c.depth > deepest && a.enough(c.spot(s), "nested too deep") {
		return stay
	}
	if s.Background || s.Coprocess || s.Disown {
		a.chained(s, c, "&")
		c = c.apart()
		c.in.prints = word{}
	}
	redirected := a.redirects(s.Redirs, &c)
	before := len(a.out.Commands)
	if len(s.Redirs) > 0 {
		c.sure = false // if one fails, the command does not run
	}
	if _, alone := s.Cmd.(*syntax.CallExpr); !alone {
		c.in.known = false // several commands share it
	}
	main, e := a.command(s.Cmd, c)
	output(a, s)
	redirected.apply(a, s, c, main, before)
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return stay
	case s.Negated:
		return ends{e.bad, e.ok}
	}
	return e
}

// command walks the command of a statement. The first result is the index if it is a simple command, or -1.
func (a *analyzer) command(cmd syntax.Command, c place) (int, ends) {
	stay := ends{c.dirs, c.dirs}
	part := c // the context of parts that run never, once or several times
	part.sure = false
	switch x := cmd.(type) {
	case nil:
		return -1, stay
	case *syntax.CallExpr:
		return a.simple(x, c)
	case *syntax.DeclClause:
		return a.declaration(x, c), stay
	case *syntax.BinaryCmd:
		return -1, a.binary(x, c)
	case *syntax.Block:
		return -1, a.stmts(x.Stmts, c)
	case *syntax.Subshell:
		a.stmts(x.Stmts, c.apart())
		return -1, stay
	case *syntax.IfClause:
		return -1, a.conditional(x, part)
	case *syntax.WhileClause:
		return -1, a.loop(part, func(c place) ends {
			e := a.stmts(x.Cond, c)
			c.dirs = e.both()
			return a.stmts(x.Do, c)
		})
	case *syntax.ForClause:
		return -1, a.forLoop(x, part)
	case *syntax.CaseClause:
		return -1, a.choice(x, part)
	case *syntax.FuncDecl:
		a.function(x, c)
		return -1, stay
	case *syntax.TimeClause:
		if x.Stmt == nil {
			return -1, stay
		}
		return -1, a.stmt(x.Stmt, c)
	case *syntax.CoprocClause:
		a.chained(x, c, "coproc")
		if x.Name != nil {
			a.at(c).assigned(x, a.at(c).value(x.Name).text, word{text: "0"})
		}
		co := c.apart()
		co.in.prints = word{}
		a.stmt(x.Stmt, co)
		return -1, stay
	case *syntax.ArithmCmd:
		a.at(c).arithm(x.X)
	case *syntax.LetClause:
		for _, e := range x.Exprs {
			a.at(c).arithm(e)
		}
	case *syntax.TestClause:
		a.test(x.X, c)
	default:
		a.problem(c.spot(x), "an unknown kind of command")
	}
	return -1, stay
}

func (a *analyzer) binary(x *syntax.BinaryCmd, c place) ends {
	switch x.Op {
	case syntax.AndStmt:
		a.chained(x.Y, c, "&&")
		first := a.stmt(x.X, c)
		c.dirs, c.sure = first.ok, false
		second := a.stmt(x.Y, c)
		return ends{second.ok, union(first.bad, second.bad)}
	case syntax.OrStmt:
		first := a.stmt(x.X, c)
		c.dirs, c.sure = first.bad, false
		second := a.stmt(x.Y, c)
		return ends{union(first.ok, second.ok), second.bad}
	}
	a.printed = word{}
	a.stmt(x.X, c.apart())
	printed, last := a.printed, c.apart()
	if last.in = a.at(c).piped(x.X); x.Op == syntax.Pipe {
		last.in.prints = printed
	}
	e := a.stmt(x.Y, last)
	return ends{union(c.dirs, e.ok), union(c.dirs, e.bad)} // some shells run the last one themselves
}

func (a *analyzer) conditional(x *syntax.IfClause, c place) ends {
	var out []string
	for ; x != nil; x = x.Else {
		last := len(x.Cond) == 0 // else
		e := a.stmts(x.Cond, c)
		then := c
		then.dirs = e.ok
		if last {
			then.dirs = c.dirs
		}
		out = union(out, a.stmts(x.Then, then).both())
		c.dirs = e.bad
		if x.Else == nil && !last {
			out = union(out, e.bad)
		}
	}
	return ends{out, out}
}

// loop walks the body of a loop, and walks it again if it changes the directory, where the next round starts.
func (a *analyzer) loop(c place, body func(place) ends) ends {
	start, problems, chain := len(a.out.Commands), len(a.out.Problems), len(a.out.chain)
	e := body(c)
	out := union(c.dirs, e.both())
	if len(out) > len(c.dirs) && !a.full {
		a.out.Commands, a.out.Problems = a.out.Commands[:start], a.out.Problems[:problems]
		a.out.chain = a.out.chain[:chain]
		c.dirs = []string{""}
		body(c)
		out = c.dirs
	}
	return ends{out, out}
}

func (a *analyzer) forLoop(x *syntax.ForClause, c place) ends {
	switch l := x.Loop.(type) {
	case *syntax.WordIter:
		items := []word{}
		for _, w := range l.Items {
			items = append(items, a.at(c).fields(w)...)
		}
		if !l.InPos.IsValid() {
			items = append(items, word{dynamic: true})
		}
		for _, item := range items {
			a.at(c).assigned(l, l.Name.Value, item)
		}
		if !x.Select {
			defer a.at(c).follow(l.Name.Value, items)()
		}
		if x.Select {
			a.at(c).assigned(l, "REPLY", word{dynamic: true})
		}
	case *syntax.CStyleLoop:
		for _, e := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			a.at(c).arithm(e)
		}
	}
	return a.loop(c, func(c place) ends { return a.stmts(x.Do, c) })
}

func (a *analyzer) choice(x *syntax.CaseClause, c place) ends {
	a.at(c).value(x.Word)
	out := c.dirs
	for _, item := range x.Items {
		for _, p := range item.Patterns {
			a.at(c).value(p)
		}
		c.dirs = out // ;& continues in the next one
		out = union(out, a.stmts(item.Stmts, c).both())
	}
	return ends{out, out}
}

// Builtins that POSIX shells prefer to functions, and builtins whose text in a pipe the analysis reads.
var (
	strongest = []string{
		".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "source", "times", "trap", "unset",
	}
	writers = []string{"echo", "printf", "cat"}
)

// function walks the body of a function at its declaration. Any part of the line may call it.
func (a *analyzer) function(x *syntax.FuncDecl, c place) {
	names := x.Names
	if x.Name != nil {
		names = append(names, x.Name)
	}
	_, joined := x.Body.Cmd.(*syntax.BinaryCmd) // the parser takes f() { :; } | cat for the body, and a shell then declares no function
	sure := c.sure && !joined
	body := c.apart()
	if body.dirs = []string{""}; len(names) == 0 {
		a.problem(c.spot(x), "a function without a name")
	}
	for _, n := range names {
		body = body.inner(n.Value + "()")
	}
	a.chained(x, c, "a function")
	a.declares = true
	e := a.stmt(x.Body, body)
	moves := slices.ContainsFunc(e.both(), func(d string) bool { return d != "" }) || movesAway(x.Body, a.functions)
	for _, n := range names {
		a.shaken = a.shaken || slices.Contains(writers, n.Value)
		a.moved = a.moved || slices.Contains(printers, n.Value)
		if sure && !slices.Contains(strongest, n.Value) {
			a.functions[n.Value] = moves || a.functions[n.Value]
		}
	}
}

// movesAway reports whether a function may change the directory. It only needs to contain such a command.
func movesAway(n syntax.Node, functions map[string]bool) (moves bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.CallExpr); ok && len(w.Args) > 0 {
			switch w.Args[0].Lit() {
			case "cd", "pushd", "popd", "eval", "source", ".", "command", "builtin", "":
				moves = true
			}
			moves = moves || functions[w.Args[0].Lit()]
		}
		return !moves
	})
	return moves
}

// test walks [[ ... ]].
func (a *analyzer) test(x syntax.TestExpr, c place) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, e := range []syntax.TestExpr{x.X, x.Y} {
				if w, ok := e.(*syntax.Word); ok {
					a.at(c).arithm(w)
				}
			}
			return
		}
		a.test(x.X, c)
		a.test(x.Y, c)
	case *syntax.UnaryTest:
		if w, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			a.at(c).subscript(w, a.at(c).value(w))
			return
		}
		a.test(x.X, c)
	case *syntax.ParenTest:
		a.test(x.X, c)
	case *syntax.Word:
		a.at(c).value(x)
	}
}
