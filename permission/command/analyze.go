package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of what is analysed. What is beyond is a problem.
const (
	longestLine  = 64 << 10 // bytes
	mostOpen     = 2000     // brackets, which bound how deep the parser calls itself
	deepest      = 60       // statements within statements, and lines within lines
	mostCommands = 1000     // commands that are looked at, some more than once
	mostWords    = 64       // words that one word becomes by its braces
)

// Options say where a line would run. The zero value is possible: relative paths are then not known.
type Options struct {
	Dir   string   // where the line runs, absolute
	Home  string   // the home directory, absolute; "" when it is not known
	Roots []string // directories whose programs are the work's own; Dir is always one
}

// Analyze says what the line does. It may be called concurrently.
func Analyze(line string, o Options) (found Analysis) {
	defer func() {
		if p := recover(); p != nil { // a mistake here or in the parser must not let a line pass, nor end the program
			found = Analysis{Problems: []Problem{{Text: fmt.Sprintf("the analysis failed: %v", p), Line: 1, Column: 1}}}
		}
	}()
	return analyze(line, o)
}

func analyze(line string, o Options) Analysis {
	a := newAnalyzer(o)
	a.all(line)
	if a.trusted && a.shaken { // what was taken for a function, or for the text of echo, may have been something else
		a = newAnalyzer(o)
		a.wary = true
		a.all(line)
	}
	return a.out
}

func newAnalyzer(o Options) *analyzer {
	return &analyzer{
		options: o, functions: map[string]bool{}, aliases: map[string]bool{}, tainted: map[string]spot{}, names: map[string][]string{},
	}
}

func (a *analyzer) all(line string) {
	a.text(line, place{dirs: []string{a.options.Dir}, sure: true, at: spot{1, 1}}, syntax.LangBash)
	a.arithmetic()
}

// analyzer collects what is found in one line.
type analyzer struct {
	options   Options
	out       Analysis
	looked    int                 // commands looked at
	parsed    int                 // bytes of text
	full      bool                // a bound was reached, and told
	functions map[string]bool     // functions that are surely declared; whether calling one may change the directory
	aliases   map[string]bool     // names that mean something else since the line said so
	tainted   map[string]spot     // variables whose text is not known, and where they get it
	names     map[string][]string // the names in a variable's text, with which arithmetic over it goes on
	counted   []use               // variables that arithmetic evaluates

	// Functions may be taken away, and echo be one, by what stands later in the line: in a loop, or in another function. Then
	// the line is judged again, and no function is taken for what it is called.
	trusted bool // a function was, or the text of a pipe
	shaken  bool // functions are taken away, or have the name of what writes the text of a pipe
	wary    bool // judge so
}

// spot is a place in the line.
type spot struct{ line, column int }

// use is a variable in arithmetic.
type use struct {
	name string
	at   spot
}

// place is where a command stands: all that its surroundings say about it. It is passed by value; its slices are never
// changed in place.
type place struct {
	dirs   []string // where it may run; "" is a directory that is not known
	via    []string
	in     input
	depth  int
	nested bool // the text is within a word of the line
	at     spot // where that word stands
	sure   bool // it runs once, in this shell, before all that comes later in the line
	remote bool // it runs on another machine, or in another view of this one: its paths are not ours
	adds   Does // what its wrappers add to all it does
	why    string
}

// input is what a command reads when it reads its standard input.
type input struct {
	text  string
	known bool // text is all of it
	other bool // something is there: a pipe, a file
}

func (a *analyzer) spot(n syntax.Node, c place) spot {
	if c.nested || n == nil {
		return c.at
	}
	return spot{int(n.Pos().Line()), int(n.Pos().Col())}
}

func (a *analyzer) problem(at spot, format string, args ...any) {
	a.out.Problems = append(a.out.Problems, Problem{Text: fmt.Sprintf(format, args...), Line: at.line, Column: at.column})
}

// enough reports that a bound was reached, and says so once.
func (a *analyzer) enough(at spot, what string) bool {
	if !a.full {
		a.full = true
		a.problem(at, "%s; the rest was not judged", what)
	}
	return true
}

// chained notes what inspect mode does not allow.
func (a *analyzer) chained(n syntax.Node, c place, what string) {
	if at := a.spot(n, c); !c.nested {
		a.out.chain = append(a.out.chain, Problem{Text: what + " is not allowed when inspecting", Line: at.line, Column: at.column})
	}
}

// text parses and walks a text of shell commands.
func (a *analyzer) text(text string, c place, lang syntax.LangVariant) ends {
	switch {
	case a.full:
		return ends{c.dirs, c.dirs}
	case len(text) > longestLine || a.parsed > 4*longestLine:
		a.enough(c.at, fmt.Sprintf("more than %d bytes", longestLine))
		return ends{c.dirs, c.dirs}
	case openings(text) > mostOpen:
		a.enough(c.at, "too many brackets")
		return ends{c.dirs, c.dirs}
	case strings.ContainsRune(text, 0):
		a.problem(c.sign(text, 0), "a zero byte, which shells read in different ways")
	case strings.ContainsRune(text, '\r'): // to the parser it is a space or the end of a line, to a shell a letter
		a.problem(c.sign(text, '\r'), "a carriage return, which shells read in different ways")
	}
	a.parsed += len(text)
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	if err != nil {
		a.unparsed(err, c)
	}
	if file == nil {
		return ends{c.dirs, c.dirs}
	}
	c.depth++
	return a.stmts(file.Stmts, c)
}

// sign is where a sign stands first in a text.
func (c place) sign(text string, sign byte) spot {
	if c.nested {
		return c.at
	}
	before, _, _ := strings.Cut(text, string(sign))
	return spot{1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')}
}

// openings bounds how deep the parser can call itself: by brackets, and by words and signs that take what follows.
func openings(text string) (n int) {
	n = strings.Count(text, "(") + strings.Count(text, "{") + strings.Count(text, "`") + strings.Count(text, "[")
	for _, word := range []string{"if", "while", "until", "for", "case", "select", "time", "coproc", "function", "do"} {
		n += strings.Count(text, word) / 2
	}
	for _, sign := range []string{"!", "~", "+", "-", "|", "&", "="} {
		n += strings.Count(text, sign) / 8
	}
	return n
}

func (a *analyzer) unparsed(err error, c place) {
	at, text := c.at, err.Error()
	var parse syntax.ParseError
	if errors.As(err, &parse) {
		text = parse.Text
		if !c.nested {
			at = spot{int(parse.Pos.Line()), int(parse.Pos.Col())}
		}
	} else if _, after, ok := strings.Cut(text, ": "); ok {
		text = after
	}
	a.problem(at, "this is no shell command that can be read: %s", text)
}

// outside judges what another process does: it has none of the functions of this shell.
func (a *analyzer) outside(judge func()) {
	functions := a.functions
	a.functions = map[string]bool{}
	judge()
	a.functions = functions
}

// inner is the place of commands within one that stands here.
func (c place) inner(via string) place {
	c.via = append(slices.Clip(c.via), via)
	return c
}

// apart is the place of commands whose changes of the shell are lost: subshells, pipes, substitutions.
func (c place) apart() place {
	c.sure = false
	return c
}
