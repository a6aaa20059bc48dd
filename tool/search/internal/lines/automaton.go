package lines

import (
	"regexp/syntax"
	"unicode"
)

// automaton is a program that reads a line rune by rune, and each only once. It says whether a line has a match, and nothing else.
type automaton struct {
	*classes
	prog  *syntax.Prog
	words bool // the program asks for the bounds of words
	begin bool // or for the start of the line
}

// newAutomaton is nil for what is too large.
func newAutomaton(re *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(re)
	if err != nil {
		return nil
	}
	c, ok := newClasses(prog)
	if !ok {
		return nil
	}
	a := &automaton{classes: c, prog: prog}
	for _, inst := range prog.Inst {
		if inst.Op == syntax.InstEmptyWidth {
			a.words = a.words || syntax.EmptyOp(inst.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
			a.begin = a.begin || syntax.EmptyOp(inst.Arg)&beginning != 0
		}
	}
	return a
}

const beginning = syntax.EmptyBeginLine | syntax.EmptyBeginText

func simpleFold(inst *syntax.Inst, r rune) rune {
	if syntax.Flags(inst.Arg)&syntax.FoldCase == 0 {
		return r
	}
	return unicode.SimpleFold(r)
}
