package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// effect is the effect of a redirection on its command.
type effect struct {
	does  Does
	path  word
	op    string
	hosts []string
	why   string
}

type effects []effect

// redirects judges the redirections of a statement, and notes its standard input.
func (a *analyzer) redirects(list []*syntax.Redirect, c *place) (all effects) {
	for _, r := range list {
		if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
			a.at(*c).assigned(r, strings.Trim(r.N.Value, "{}"), word{text: "10"})
		}
		stdin := r.N == nil || r.N.Value == "0"
		e := effect{op: r.Op.String(), path: a.at(*c).value(r.Word)}
		if globs(r.Word) {
			e.path = word{dynamic: true}
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			if in := a.at(*c).document(r); stdin {
				c.in = in
			}
			continue
		case syntax.DplIn, syntax.DplOut:
			if isNumber(strings.TrimSuffix(e.path.text, "-")) && !e.path.dynamic || e.path.is("-") {
				a.readable = a.readable || !stdin && strings.TrimSuffix(e.path.text, "-") == "0"
				if r.Op == syntax.DplIn && stdin {
					c.in = input{other: true}
				}
				continue
			}
			e.does = Writes
		case syntax.RdrIn:
			if e.does = Reads; stdin {
				if c.in = (input{other: true}); len(r.Word.Parts) == 1 {
					if _, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok {
						c.in.prints = a.printed
					}
				}
			}
			a.readable = a.readable || !stdin
		case syntax.RdrInOut:
			if e.does = Reads | Writes; stdin {
				c.in = input{other: true}
			}
		default:
			e.does = Writes
		}
		e.device(a.at(*c))
		if e.does != 0 {
			all = append(all, e)
		}
	}
	return all
}

// device notes that a path is a connection, or no file at all.
func (e *effect) device(x expander) {
	connects := strings.HasPrefix(e.path.text, "/dev/tcp/") || strings.HasPrefix(e.path.text, "/dev/udp/")
	switch {
	case connects && e.path.dynamic:
		e.does, e.why, e.hosts = e.does|Network, "opens a connection", []string{""}
	case connects:
		parts := strings.SplitN(e.path.text, "/", 5)
		e.does, e.why = Network, "opens a connection"
		if len(parts) == 5 {
			e.hosts = []string{parts[3] + ":" + parts[4]}
		}
	case !e.path.dynamic && silent(path.Clean(e.path.text)):
		if e.does&Writes != 0 && len(x.written(e.path)) > 0 { // standard input
			e.path = word{dynamic: true}
			return
		}
		e.does = 0
	}
}

// silent reports whether writing to or reading from a path touches no file.
func silent(p string) bool {
	switch p {
	case "/dev/null", "/dev/tty", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/full":
		return true
	}
	return again(p)
}

// again reports whether opening a path opens again what the command has open.
func again(p string) bool {
	switch p {
	case "/dev/stdout", "/dev/stderr", "/dev/stdin":
		return true
	}
	n, ok := strings.CutPrefix(p, "/dev/fd/")
	return ok && isNumber(n)
}

// globs reports whether a shell may expand the target of a redirection to file names: some do, and to one name only.
func globs(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if unquoted(p.Value, false).glob || strings.Contains(p.Value, "{") {
				return true
			}
		case *syntax.ExtGlob:
			return true
		}
	}
	return false
}

// document returns the text of a here-document or here-string.
func (e expander) document(r *syntax.Redirect) input {
	if r.Op == syntax.WordHdoc {
		v := e.value(r.Word)
		return input{text: v.text + "\n", known: !v.dynamic, other: true}
	}
	if r.Hdoc == nil {
		return input{known: true, other: true}
	}
	literal := false
	for _, p := range r.Word.Parts {
		l, ok := p.(*syntax.Lit)
		literal = literal || !ok || strings.Contains(l.Value, "\\")
	}
	all := word{}
	for _, p := range r.Hdoc.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			text := l.Value
			if !literal {
				text = hereText(text)
			}
			all = all.then(word{text: text})
		} else {
			all = all.then(e.part(p, false))
		}
	}
	return input{text: all.text, known: !all.dynamic, other: true}
}

// hereText removes the backslashes of a here-document whose word is not quoted. A quote is a plain character there.
func hereText(s string) string { return doubleQuoted(strings.ReplaceAll(s, `\"`, `\\"`)) }

// apply adds the redirections to the command at index main. Without one they are a command of their own.
func (all effects) apply(a *analyzer, s *syntax.Stmt, c place, main, before int) {
	for _, e := range all {
		why := e.why
		at := main
		if at < before || at >= len(a.out.Commands) {
			at = a.emit(s, c, []word{{text: e.op}, e.path}, 0, "")
			if at < 0 {
				return
			}
		}
		cmd := &a.out.Commands[at]
		cmd.Does |= e.does
		cmd.Hosts = append(cmd.Hosts, e.hosts...)
		paths := a.at(c).paths(e.path)
		if len(paths) == 0 && !c.remote {
			paths = []string{""}
		}
		if e.path.named {
			cmd.Names = add(cmd.Names, a.at(c).below(e.path))
		}
		cmd.Redirects, cmd.Adds = add(cmd.Redirects, paths), cmd.Adds|e.does&^(Reads|Writes)
		if e.does&Reads != 0 {
			cmd.ReadPaths = add(cmd.ReadPaths, paths)
		}
		if e.does&Writes != 0 {
			cmd.WritePaths = add(cmd.WritePaths, paths)
			why = "writes " + shownWord(e.path)
		} else if e.does&Reads != 0 {
			why = "reads " + shownWord(e.path)
		}
		if cmd.Why == quiet || cmd.Why == "" {
			cmd.Why = why
		} else if !strings.Contains(cmd.Why, why) {
			cmd.Why += "; " + why
		}
	}
}

// piped returns the text that a statement writes into a pipe, if it is known.
func (e expander) piped(s *syntax.Stmt) input {
	unknown := input{other: true}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || s.Negated || s.Background {
		return unknown
	}
	var words []string
	for _, w := range call.Args {
		lone := true
		for _, p := range w.Parts {
			switch p := p.(type) {
			case *syntax.Lit, *syntax.SglQuoted:
			case *syntax.DblQuoted:
				for _, q := range p.Parts {
					_, ok := q.(*syntax.Lit)
					lone = lone && ok
				}
			default:
				lone = false
			}
		}
		if !lone {
			return unknown
		}
		v := e.value(w)
		if v.dynamic || globs(w) || v.tilde {
			return unknown
		}
		words = append(words, v.text)
	}
	if e.a.wary || e.a.aliases[words[0]] {
		return unknown
	}
	e.a.trusted = e.a.trusted || slices.Contains(writers, words[0])
	switch {
	case words[0] == "echo" && len(s.Redirs) == 0 && (len(words) < 2 || !strings.HasPrefix(words[1], "-")):
		text := strings.Join(words[1:], " ")
		return input{text: text + "\n", known: !strings.Contains(text, "\\"), other: true}
	case words[0] == "printf" && len(s.Redirs) == 0 && len(words) == 2 && !strings.ContainsAny(words[1], `%\`) && !strings.HasPrefix(words[1], "-"):
		return input{text: words[1], known: true, other: true}
	case words[0] == "printf" && len(s.Redirs) == 0 && len(words) == 3 && (words[1] == "%s" || words[1] == `%s\n`):
		return input{text: words[2] + "\n", known: true, other: true}
	case words[0] == "cat" && len(words) == 1 && len(s.Redirs) == 1 && s.Redirs[0].N == nil:
		if op := s.Redirs[0].Op; op == syntax.Hdoc || op == syntax.DashHdoc || op == syntax.WordHdoc {
			quiet := newAnalyzer(e.a.table, e.a.options)
			quiet.functions, quiet.aliases = e.a.functions, e.a.aliases
			return quiet.at(e.place).document(s.Redirs[0])
		}
	}
	return unknown
}
