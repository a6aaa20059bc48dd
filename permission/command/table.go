package command

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed programs/*.txt
var programFiles embed.FS

// program is what the table says of a program or of a subcommand of one. programs/README.txt explains the table.
type program struct {
	operands []string // the kind of each operand
	does     Does     // what it does whatever it is given
	git      bool     // it changes what git keeps
	by       string   // the name of a special rule
	style    string   // how options are written: "", "go", "plain"
	stop     bool     // the first operand ends the options
	only     []string // given as its only argument, these make it harmless
	sub      bool     // the first operand names a subcommand, which is in the table as "git log"
	options  string   // " -a,--all -o,--output=W "
	here     bool     // without paths it reads the directory where it runs
	fills    bool     // what it writes may become a directory with files in it
	copies   bool     // where what it reads is one
	danger   danger   // what an argument can do that turns out to be an option
	why      string   // what it does, when that needs own words
}

// option is what the table says of an option.
type option struct {
	name     string // as it was asked for
	names    string // all its spellings: "-r,-R,--recursive"
	value    bool   // it takes a value
	optional bool   // only when the value is attached
	kind     byte   // what the value is
	effects  string // what giving it does
}

// programs returns the table. It is read once, when the first command is judged.
var programs = sync.OnceValue(func() map[string]*program {
	table, err := readPrograms()
	if err != nil {
		panic(err) // a test reads the same files
	}
	return table
})

func readPrograms() (map[string]*program, error) {
	table := make(map[string]*program, 600)
	names, err := fs.Glob(programFiles, "programs/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(programFiles, name)
		if err != nil {
			return nil, err
		}
		if err := readTable(table, string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return table, nil
}

func readTable(table map[string]*program, text string) error {
	var p *program
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			if p == nil {
				return fmt.Errorf("line %d: options without a program", n)
			}
			p.options += strings.TrimSpace(line) + " "
			p.danger = max(p.danger, dangerOf(line))
		default:
			head, rest, ok := strings.Cut(line+" ", ": ")
			if !ok {
				return fmt.Errorf("line %d: no colon after the names", n)
			}
			var err error
			if p, err = readProgram(rest); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			for name := range strings.SplitSeq(head, ",") {
				if name = strings.TrimSpace(name); table[name] != nil {
					return fmt.Errorf("line %d: %s is there already", n, name)
				}
				table[name] = p
			}
		}
	}
	return nil
}

// danger is what an option can do that was not seen to be one.
type danger uint8

const (
	cannotHarm danger = iota
	canWrite          // it writes, or destroys
	canRun            // it can run programs
)

// dangerOf says what the worst of the options does.
func dangerOf(options string) (worst danger) {
	for o := range strings.FieldsSeq(options) {
		d := readOption(o)
		switch {
		case strings.Trim(d.effects, "rRhetwWDMOf") != "" || d.value && strings.IndexByte("_RLWBS23", d.kind) < 0:
			return canRun
		case strings.Trim(d.effects, "rRhe") != "" || d.value && strings.IndexByte("_RL23", d.kind) < 0:
			worst = canWrite
		}
	}
	return worst
}

var letters = map[rune]Does{'R': Reads, 'W': Writes, 'N': Network, 'X': Executes, 'D': Destroys, 'U': Unknown}

func readProgram(s string) (*program, error) {
	p := &program{options: " "}
	s, why, _ := strings.Cut(s, `"`)
	why, rest, _ := strings.Cut(why, `"`)
	p.why = why
	for f := range strings.FieldsSeq(s + rest) {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "does":
			for _, l := range value {
				if p.git = p.git || l == 'M'; l != 'M' && letters[l] == 0 {
					return nil, fmt.Errorf("%q does nothing that is known", l)
				}
				p.does |= letters[l]
			}
		case "by":
			p.by = value
		case "style":
			p.style = value
		case "only":
			p.only = strings.Split(value, ",")
		case "here":
			p.here = true
		case "fills":
			p.fills, p.copies = true, value == "read"
		case "stop":
			p.stop = true
		case "sub":
			p.sub, p.stop = true, true
		default:
			if len(key) > 2 || strings.IndexByte("_RWBMNCPXFGUSLp", key[0]) < 0 || len(key) == 2 && key[1] != '*' {
				return nil, fmt.Errorf("%q is no kind of operand", f)
			}
			p.operands = append(p.operands, key)
			p.stop = p.stop || key[0] == 'P'
			if strings.IndexByte("_RLpWBM", key[0]) < 0 {
				p.danger = canRun
			}
		}
	}
	return p, nil
}

// readOption reads a word of a list of options: -a,--all, -o=W, --color=?_, -D!D.
func readOption(s string) (o option) {
	s, o.effects, _ = strings.Cut(s, "!")
	o.names, s, o.value = strings.Cut(s, "=")
	if s, o.optional = strings.CutPrefix(s, "?"); s != "" {
		o.kind = s[0]
	} else {
		o.kind = '_'
	}
	o.name, _, _ = strings.Cut(o.names, ",")
	return o
}

// option finds an option by one of its whole names.
func (p *program) option(name string) (option, bool) {
	for from := 0; ; {
		i := strings.Index(p.options[from:], name)
		if i < 0 || name == "" {
			return option{}, false
		}
		i += from
		from = i + len(name)
		if i > 0 && strings.IndexByte(" ,", p.options[i-1]) >= 0 && from < len(p.options) && strings.IndexByte(" ,=!", p.options[from]) >= 0 {
			start := strings.LastIndexByte(p.options[:i], ' ') + 1
			word, _, _ := strings.Cut(p.options[start:], " ")
			o := readOption(word)
			o.name = name
			return o, true
		}
	}
}

// abbreviated finds a long option by its beginning. Where several begin so, they must be the same to the analysis.
func (p *program) abbreviated(name string) (option, bool) {
	var found []option
	for word := range strings.FieldsSeq(p.options) {
		o := readOption(word)
		for n := range strings.SplitSeq(o.names, ",") {
			if strings.HasPrefix(n, name) {
				o.name = n
				found = append(found, o)
			}
		}
	}
	if len(found) == 0 {
		return option{}, false
	}
	same := func(o option) bool {
		return o.value == found[0].value && o.optional == found[0].optional && o.kind == found[0].kind && o.effects == found[0].effects
	}
	return found[0], !slices.ContainsFunc(found, func(o option) bool { return !same(o) })
}
