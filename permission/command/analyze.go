package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of the analysis. A line beyond them has a problem.
const (
	longestLine  = 64 << 10 // bytes
	mostOpen     = 2000     // brackets; they bound the recursion of the parser
	deepest      = 60       // statements within statements, and lines within lines
	mostCommands = 1000     // commands to judge, some more than once
	mostWords    = 64       // words from the braces of one word
)

// Options describe the environment of a line. With the zero value, relative paths are unknown.
type Options struct {
	Dir   string   // where the line runs, absolute
	Home  string   // the home directory, absolute; "" if it is unknown
	Roots []string // directories with programs of the project; Dir is always one
	Shell string   // the name of the shell that runs the line; default: bash
}

// Analyze determines the effects of a command line. It may be called concurrently.
func Analyze(line string, o Options) (found Analysis) {
	defer func() {
		if p := recover(); p != nil { // an error here or in the parser must neither pass a line nor crash
			found = Analysis{Problems: []Problem{{Text: fmt.Sprintf("the analysis failed: %v", p), Line: 1, Column: 1}}}
		}
	}()
	return analyze(line, o)
}

func analyze(line string, o Options) Analysis {
	wary := false
	for range 4 {
		a := newAnalyzer(programs(), o)
		a.wary = wary
		a.all(line)
		switch {
		case a.edited && a.out.Text != "": // judge the text that runs
			line = a.out.Text
		case (a.trusted && a.shaken || a.relied && a.moved) && !wary: // a name that counted as a function, or as echo, may be something else
			wary = true
		default:
			return a.out
		}
	}
	return Analysis{Problems: []Problem{{Text: "shells may read the texts in this line in different ways", Line: 1, Column: 1}}}
}

// anywhere reports whether all shells read a line as one command with the same words: it has only letters, digits, and a few signs.
func anywhere(line string) bool {
	for w := range strings.SplitSeq(line, " ") {
		operand := strings.HasPrefix(w, "-")
		for i := range len(w) {
			if !bare(w[i]) || strings.IndexByte(":@%+,", w[i]) >= 0 || operand && w[i] == '.' || i == 0 && w[i] == '=' {
				return false
			}
		}
	}
	return line != ""
}

func newAnalyzer(t table, o Options) *analyzer {
	return &analyzer{
		table: t, options: o, functions: map[string]bool{}, aliases: map[string]bool{}, parsers: parsers{},
		variables: variables{tainted: map[string]spot{}, names: map[string][]string{}, followed: map[string]*variable{}},
	}
}

func (a *analyzer) all(line string) {
	start := place{dirs: []string{a.options.Dir}, sure: true, at: spot{1, 1}}
	switch shell := a.options.Shell; shell {
	case "", "bash":
		_, a.out.Text, _ = a.text(line, start, syntax.LangBash)
	case "sh", "dash", "ash":
		_, a.out.Text, _ = a.text(line, start, syntax.LangPOSIX)
	default:
		if _, a.out.Text, _ = a.text(line, start, syntax.LangBash); !anywhere(a.out.Text) {
			a.problem(start.at, "%s may read this line in other ways than bash", shown(shell))
			a.out.Text = ""
		}
	}
	if a.out.Text == "" && len(a.out.Problems) == 0 { // nothing but comments
		a.out.Text = ":"
	}
	if a.readable && a.reopens {
		a.problem(start.at, "a descriptor that is open for reading may be opened again for writing")
	}
	for _, u := range a.evaluated() {
		a.problem(u.at, "arithmetic on %s, whose text is unknown and may be run", u.name)
	}
}

// analyzer collects the commands and problems of one line.
type analyzer struct {
	table     table
	options   Options
	out       Analysis
	looked    int             // commands judged
	parsed    int             // bytes of text
	full      bool            // a bound was reached and reported
	functions map[string]bool // functions that are certainly declared; true: a call may change the directory
	aliases   map[string]bool // names that the line redefines
	variables
	printed word    // by the last command, as far as it is known
	idle    []*call // judged, to be used again

	// Standard input apart, something is open for reading only; a descriptor is opened again for writing.
	readable, reopens bool

	// A later part of the line, in a loop or a function, can remove functions, or make echo one. Tenon then judges the line
	// again, and trusts no function and no text of a pipe.
	trusted bool // a function or the text of a pipe was trusted
	shaken  bool // the line removes functions, or declares one with the name of a writer
	wary    bool // trust none

	parsers parsers
	edited  bool // a text within the line got its canonical form
	raw     bool // judge the text as it is; only tests do
}

// at returns the expander of the words of a command.
func (a *analyzer) at(c place) expander { return expander{a, c} }

// spot is a position in the line.
type spot struct{ line, column int }

// use is a variable in arithmetic.
type use struct {
	name string
	at   spot
}

// place is the context of a command. Functions pass it by value and never change its slices.
type place struct {
	dirs   []string // its possible directories; "" is an unknown one
	via    []string
	in     input
	depth  int
	lang   syntax.LangVariant // that the shell of the text reads
	nested bool               // the text is within a word of the line
	at     spot               // the position of that word
	sure   bool               // it runs once, in this shell, before the rest of the line
	remote bool               // it runs on another machine or in another root: its paths are not ours
	adds   Does               // effects that its wrappers add
	why    string
}

// input is the standard input of a command.
type input struct {
	text   string
	known  bool // text is all of it
	other  bool // there is an unknown input: a pipe, a file
	prints word // its output, as far as Tenon knows it
}

// spot is the position of a node in the line.
func (c place) spot(n syntax.Node) spot {
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
		a.problem(at, "%s; Tenon did not judge the rest", what)
	}
	return true
}

// chained notes a part of the line that mode inspect does not allow.
func (a *analyzer) chained(n syntax.Node, c place, what string) {
	if at := c.spot(n); !c.nested {
		a.out.chain = append(a.out.chain, Problem{Text: what + " is not allowed in mode inspect", Line: at.line, Column: at.column})
	}
}

// text parses a text of shell commands, and walks its canonical form. It returns that form, if there is one.
func (a *analyzer) text(text string, c place, lang syntax.LangVariant) (e ends, printed string, ok bool) {
	bad := "" // why there is no canonical form
	e = ends{c.dirs, c.dirs}
	switch {
	case a.full:
		return e, "", false
	case len(text) > longestLine || a.parsed > 4*longestLine:
		a.enough(c.at, fmt.Sprintf("more than %d bytes", longestLine))
		return e, "", false
	case openings(text) > mostOpen:
		a.enough(c.at, "too many brackets")
		return e, "", false
	case strings.ContainsRune(text, 0):
		bad = "a zero byte, which shells read in different ways"
		a.problem(c.sign(text, 0), "%s", bad)
	case strings.ContainsRune(text, '\r'): // the parser reads a space or the end of a line, a shell a letter
		bad = "a carriage return, which shells read in different ways"
		a.problem(c.sign(text, '\r'), "%s", bad)
	}
	a.parsed += len(text)
	file, err := a.parsers.parse(text, lang)
	if err != nil {
		a.unparsed(err, c)
	} else if !a.raw && bad == "" {
		file, printed, bad = a.parsers.settle(file, text, lang)
		ok = bad == ""
	}
	if file == nil {
		return e, "", false
	}
	if c.depth == 0 && err == nil {
		a.out.tree = file
	}
	c.depth++
	c.lang = lang
	before := a.edited
	a.edited = false
	e = a.stmts(file.Stmts, c)
	switch {
	case bad != "" && !c.nested && len(a.out.Problems) == 0:
		a.problem(c.at, "shells may read this line in different ways: %s", bad)
	case a.edited && ok:
		if printed, bad = canonical(file, printed, lang); bad != "" {
			printed, ok = "", false
		}
	}
	a.edited = a.edited || before
	return e, printed, ok
}

// sign is the first position of a character in a text.
func (c place) sign(text string, sign byte) spot {
	if c.nested {
		return c.at
	}
	before, _, _ := strings.Cut(text, string(sign))
	return spot{1 + strings.Count(before, "\n"), len(before) - strings.LastIndexByte(before, '\n')}
}

// openings bounds the recursion of the parser: by brackets, and by words and characters that start a nested part.
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
	a.problem(at, "cannot parse the command line: %s", text)
}

// outside judges commands of another process, which has none of the functions and variables of this shell.
func (a *analyzer) outside(judge func()) {
	followed := a.followed
	a.followed = map[string]*variable{}
	skipping(a, judge)
	a.followed = followed
}

// skipping judges commands that skip functions.
func skipping(a *analyzer, judge func()) {
	functions := a.functions
	a.functions = map[string]bool{}
	judge()
	a.functions = functions
}

// inner is the place of commands within a wrapper.
func (c place) inner(via string) place {
	c.via = append(slices.Clip(c.via), via)
	return c
}

// apart is the place of commands in a subshell, a pipe or a substitution, which do not change this shell.
func (c place) apart() place {
	c.sure = false
	return c
}
