package command

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// generator writes lines for a shell from a seed. It puts together the fragments of testdata/fragments.txt: all constructs of the shell, in
// spellings that shells and parsers may read in different ways. In a fragment, @L is a list of commands, @C one command, @W a word, @R a
// redirection, @A arithmetic, @T a test of [[, and @D a here-document.
//
// Lines run in real shells. The only programs are t, which succeeds, f, which fails, and the shells. Every path is a name in the current directory: a
// slash is only in expansions that no reading turns into the name of a file elsewhere.
type generator struct {
	*rand.Rand
	fragments map[string][]string
	depth     int
	docs      []string // the texts of here-documents that the next new line starts
}

const mostDepth = 4

// fragments returns the lists of the file by their names.
func fragments(tb testing.TB) map[string][]string {
	text, err := os.ReadFile("testdata/fragments.txt")
	if err != nil {
		tb.Fatal(err)
	}
	signs := strings.NewReplacer("⏎", "\n", "⇥", "\t", "␣", " ")
	lists, name := map[string][]string{}, ""
	for l := range strings.Lines(string(text)) {
		l = strings.TrimRight(l, "\r\n")
		if heading, ok := strings.CutPrefix(l, "== "); ok {
			name = heading
		} else if l != "" {
			lists[name] = append(lists[name], signs.Replace(l))
		}
	}
	return lists
}

// generate returns the line of a seed.
func generate(seed uint64, fragments map[string][]string) string {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), fragments: fragments}
	s := g.list()
	for len(g.docs) > 0 || g.chance(10) {
		s = g.texts(s + "\n")
		if g.chance(50) {
			s += g.form("commands", "t b")
		}
	}
	return g.mutated(s)
}

func (g *generator) of(list string) string {
	all := g.fragments[list]
	return all[g.IntN(len(all))]
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) list() string {
	s := g.form("commands", "t a")
	for g.chance(30) {
		s += g.texts(g.of("separators")) + g.form("commands", "t b")
	}
	return s
}

// texts puts the texts of here-documents after the first new line.
func (g *generator) texts(s string) string {
	at := strings.Index(s, "\n")
	if at < 0 || len(g.docs) == 0 || g.chance(2) {
		return s
	}
	s = s[:at+1] + strings.Join(g.docs, "") + s[at+1:]
	g.docs = nil
	return s
}

// form returns a fragment of a list with its parts filled in, or the text for great depth.
func (g *generator) form(list, shallow string) string {
	if g.depth >= mostDepth {
		return shallow
	}
	g.depth++
	defer func() { g.depth-- }()
	form := g.of(list)
	var b strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '@' || i+1 == len(form) {
			b.WriteString(g.texts(form[i : i+1]))
			continue
		}
		i++
		switch form[i] {
		case 'L':
			b.WriteString(g.list())
		case 'C':
			b.WriteString(g.form("commands", "t a"))
		case 'W':
			b.WriteString(g.word())
		case 'R':
			b.WriteString(g.form("redirections", " 2>&1"))
		case 'A':
			b.WriteString(g.form("arithmetic", "1"))
		case 'T':
			b.WriteString(g.form("tests", "a"))
		case 'D':
			b.WriteString(g.document())
		default:
			b.WriteString(form[i-1 : i+1])
		}
	}
	return b.String()
}

func (g *generator) word() string {
	s := g.form("words", "a")
	for g.chance(25) {
		s += g.form("words", "b")
	}
	return s
}

// document returns the operator of a here-document, and notes its text.
func (g *generator) document() string {
	delimiter, text := g.of("delimiters"), ""
	before := g.docs
	for g.chance(60) {
		g.docs = nil
		text += g.form("texts", "a") + "\n"
	}
	end, op := "E", " <<"
	if g.chance(20) {
		end = strings.NewReplacer("'", "", `"`, "", "\\\n", "", `\`, "").Replace(delimiter)
	}
	if g.chance(20) {
		if op = " <<-"; g.chance(50) {
			end = "\t" + end
		}
	}
	g.docs = append(before, text+end+"\n")
	return op + delimiter
}

// mutated changes a few places of some lines.
func (g *generator) mutated(s string) string {
	if g.chance(60) || strings.Contains(s, "/") {
		return s
	}
	for range 1 + g.IntN(3) {
		at := g.IntN(len(s) + 1)
		switch to := min(len(s), at+1+g.IntN(3)); g.IntN(4) {
		case 0:
			s = s[:at] + s[to:]
		case 1:
			s = s[:to] + s[at:]
		default:
			s = s[:at] + g.of("inserts") + s[at:]
		}
	}
	return s
}
