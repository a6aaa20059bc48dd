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

// program is the entry of a program, or of a subcommand of one.
type program struct {
	operands []operand
	does     Does     // effects in every case
	git      bool     // it changes what git stores
	group    string   // of hosts that it reaches, unless an option keeps it offline
	by       string   // the name of the rule
	rule     rule     // judges the parts that the table cannot describe; may be nil
	style    string   // how options are written: "", "go", "tar", "plain"
	stop     bool     // the first operand ends the options
	only     []string // arguments that make it harmless if alone
	sub      bool     // the first operand names a subcommand, which is in the table as "git log"
	options  string   // in the short form: " -a,--all -o,--output=W "
	here     bool     // without paths it reads the current directory
	fills    bool     // a path that it writes may become a directory with files in it
	copies   bool     // only if it reads a directory
	replaces bool     // it replaces a path that it writes, also a device
	safe     bool     // none of its options, listed or not, writes or runs anything
	danger   danger   // the danger of an argument that turns out to be an option
	why      string   // explains its effects, "" for the usual words
}

// operand is the kind of one operand, or of any number of them.
type operand struct {
	kind kind
	many bool
}

// option is the entry of an option.
type option struct {
	name     string // the requested spelling
	names    string // all its spellings: "-r,-R,--recursive"
	value    bool   // it takes a value
	optional bool   // only if the value is attached
	kind     kind   // of the value
	effects  string // the letters of its effects
}

// kind is the meaning of an operand, or of the value of an option.
type kind byte

// The kinds, see programs/README.txt. A program keeps its options as a text with one letter for each kind and each effect.
const (
	anyText     kind = '_'
	readPath    kind = 'R'
	writePath   kind = 'W'
	editPath    kind = 'B'
	outputPath  kind = 'S'
	fileList    kind = 'L'
	maybePath   kind = 'p'
	gitState    kind = 'M'
	netHost     kind = 'N'
	directory   kind = 'G'
	shellLine   kind = 'C'
	subprogram  kind = 'P'
	scriptFile  kind = 'F'
	code        kind = 'X'
	tarAction   kind = 'A'
	unjudged    kind = 'U'
	twoTexts    kind = '2'
	textAndRead kind = '3'
)

var kinds = map[string]kind{
	"_": anyText, "read": readPath, "write": writePath, "edit": editPath, "output": outputPath, "list": fileList, "maybe": maybePath,
	"git": gitState, "host": netHost, "dir": directory, "line": shellLine, "program": subprogram, "script": scriptFile, "code": code,
	"action": tarAction, "unknown": unjudged, "two": twoTexts, "two-read": textAndRead,
}

// The letters of effects that are not in [Does].
const (
	changesGit = 'M'
	onlyReads  = 'r'
	edits      = 'w'
	readsHere  = 'h'
	noPattern  = 'e'
	noTarget   = 't'
	writesHere = 'O'
	fills      = 'f'
	replaces   = 'v'
	follows    = 'l'
)

var effectNames = map[string]string{
	"reads": "R", "writes": "W", "network": "N", "executes": "X", "destroys": "D", "unknown": "U", "publishes": "P", "discards": "L", "queries": "Q",
	"git": string(changesGit), "only-reads": string(onlyReads), "edits": string(edits), "here": string(readsHere),
	"no-pattern": string(noPattern), "no-target": string(noTarget), "writes-here": string(writesHere), "fills": string(fills), "replaces": string(replaces),
	"follows": string(follows),
}

// table is the programs and their subcommands by name.
type table map[string]*program

// programs returns the table of the embedded files. It is read once, when the first command is judged.
var programs = sync.OnceValue(func() table {
	t, err := readPrograms()
	if err != nil {
		panic(err) // a test reads the same files
	}
	return t
})

func readPrograms() (table, error) {
	t := make(table, 600)
	rules := rules()
	names, err := fs.Glob(programFiles, "programs/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(programFiles, name)
		if err != nil {
			return nil, err
		}
		if err := t.read(string(text), rules); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return t, nil
}

func (t table) read(text string, rules map[string]rule) error {
	var p *program
	options := []byte{' '} // of p, in the short form
	n := 0
	end := func() error {
		p.options, options = string(options), options[:1]
		switch {
		case p.safe && p.danger > cannotHarm:
			return fmt.Errorf("line %d: the entry above is safe, but an option writes or runs", n)
		case !p.safe && p.danger == cannotHarm:
			p.danger = canRun // an option without an entry may do anything
		}
		return nil
	}
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \r\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			if p == nil {
				return fmt.Errorf("line %d: options without a program", n)
			}
			for word := range strings.FieldsSeq(line) {
				o, err := readOption(word)
				if err != nil {
					return fmt.Errorf("line %d: %w", n, err)
				}
				p.danger = max(p.danger, o.danger())
				options = o.short(options)
			}
		default:
			if p != nil {
				if err := end(); err != nil {
					return err
				}
			}
			head, rest, ok := strings.Cut(line+" ", ": ")
			if !ok {
				return fmt.Errorf("line %d: no colon after the names", n)
			}
			var err error
			if p, err = readProgram(rest, rules); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
			for name := range strings.SplitSeq(head, ",") {
				if name = strings.TrimSpace(name); t[name] != nil {
					return fmt.Errorf("line %d: %s is there already", n, name)
				}
				t[name] = p
			}
		}
	}
	if p == nil {
		return nil
	}
	return end()
}

// danger is the worst effect of an option.
type danger uint8

const (
	cannotHarm danger = iota
	canWrite          // it writes, or destroys
	canRun            // it can run programs
)

// The letters of effects without danger, and of effects that at most write.
const (
	noHarm = "R" + string(onlyReads) + string(readsHere) + string(noPattern) + string(follows)
	noRun  = noHarm + "WDL" + string(changesGit) + string(edits) + string(noTarget) + string(writesHere) + string(fills) + string(replaces)
)

// danger returns the danger of the option.
func (o option) danger() danger {
	value := cannotHarm
	switch o.kind {
	case 0, anyText, readPath, fileList, twoTexts, textAndRead:
	case writePath, editPath, outputPath:
		value = canWrite
	default:
		value = canRun
	}
	switch {
	case strings.Trim(o.effects, noRun) != "":
		return canRun
	case strings.Trim(o.effects, noHarm) != "":
		return max(value, canWrite)
	}
	return value
}

var letters = map[rune]Does{'R': Reads, 'W': Writes, 'N': Network, 'X': Executes, 'D': Destroys, 'U': Unknown, 'P': Publishes, 'L': Destroys | Discards, 'Q': Queries}

func readProgram(s string, rules map[string]rule) (*program, error) {
	p := &program{}
	s, why, _ := strings.Cut(s, `"`)
	why, rest, _ := strings.Cut(why, `"`)
	p.why = why
	for f := range strings.FieldsSeq(s + rest) {
		key, value, _ := strings.Cut(f, "=")
		switch key {
		case "does":
			effects, err := readEffects(value)
			if err != nil {
				return nil, err
			}
			for _, l := range effects {
				if p.git = p.git || l == changesGit; l != changesGit && letters[l] == 0 {
					return nil, fmt.Errorf("%q is the effect of an option", f)
				}
				p.does |= letters[l]
			}
		case "group":
			p.group = value
		case "by":
			if p.by, p.rule = value, rules[value]; p.rule == nil {
				return nil, fmt.Errorf("there is no rule %q", value)
			}
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
		case "safe":
			p.safe = true
		case "replaces":
			p.replaces = true
		case "sub":
			p.sub, p.stop = true, true
		default:
			name, many := strings.CutSuffix(f, "*")
			k, ok := kinds[name]
			if !ok {
				return nil, fmt.Errorf("unknown kind of operand %q", f)
			}
			p.operands = append(p.operands, operand{k, many})
			if p.stop = p.stop || k == subprogram; !slices.Contains(safeOperands, k) {
				p.danger = canRun
			}
		}
	}
	return p, nil
}

// safeOperands are the kinds of operands that run nothing if one of them turns out to be an option.
var safeOperands = []kind{anyText, readPath, fileList, maybePath, writePath, editPath, gitState}

// readOption reads a word of a list of options, such as -a,--all, -o=write, --color=?_ or -D!destroys.
func readOption(s string) (o option, err error) {
	s, effects, _ := strings.Cut(s, "!")
	if o.effects, err = readEffects(effects); err != nil {
		return o, err
	}
	name := ""
	if o.names, name, o.value = strings.Cut(s, "="); !o.value {
		return o, nil
	}
	name, o.optional = strings.CutPrefix(name, "?")
	if o.kind = kinds[name]; o.kind == 0 {
		return o, fmt.Errorf("unknown kind of value %q", s)
	}
	return o, nil
}

// readEffects turns names of effects, separated by commas, into their letters.
func readEffects(s string) (letters string, err error) {
	if s == "" {
		return "", nil
	}
	for name := range strings.SplitSeq(s, ",") {
		l := effectNames[name]
		if l == "" {
			return "", fmt.Errorf("unknown effect %q", name)
		}
		letters += l
	}
	return letters, nil
}

// short appends the short form of the option, with a space after it.
func (o option) short(to []byte) []byte {
	to = append(to, o.names...)
	if o.value {
		to = append(to, '=')
		if o.optional {
			to = append(to, '?')
		}
		to = append(to, byte(o.kind))
	}
	if o.effects != "" {
		to = append(append(to, '!'), o.effects...)
	}
	return append(to, ' ')
}

// optionOf reads the short form of an option.
func optionOf(s string) (o option) {
	s, o.effects, _ = strings.Cut(s, "!")
	o.names, s, o.value = strings.Cut(s, "=")
	if s, o.optional = strings.CutPrefix(s, "?"); s != "" {
		o.kind = kind(s[0])
	} else {
		o.kind = anyText
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
			o := optionOf(word)
			o.name = name
			return o, true
		}
	}
}

// abbreviated finds a long option by a prefix. If several match, they must have the same effects.
func (p *program) abbreviated(name string) (option, bool) {
	var found []option
	for word := range strings.FieldsSeq(p.options) {
		o := optionOf(word)
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
