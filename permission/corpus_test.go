package permission

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

var rewrite = flag.Bool("rewrite", false, "write what is decided now to the corpus; then read the difference")

// written reads the signs that stand for those that a line of the corpus cannot have.
var written = strings.NewReplacer("⏎", "\n", "␍", "\r")

const corpus = "testdata/verdicts.txt"

var signs = map[Action]byte{Allow: '+', Ask: '?', Deny: '-'}

// TestCorpus judges every line of the corpus in every mode.
func TestCorpus(t *testing.T) {
	data, err := os.ReadFile(corpus)
	if err != nil {
		t.Fatal(err)
	}
	p := policy(t, "")
	n := 0
	var out strings.Builder
	for text := range strings.Lines(string(data)) {
		line := strings.TrimRight(text, "\n")
		if line == "" || line[0] == '#' {
			out.WriteString(text)
			continue
		}
		n++
		want, command, _ := strings.Cut(line, " ")
		var got []byte
		for _, m := range Modes() {
			c := p.Command(written.Replace(command))
			v := p.InMode(m).Judge(c)
			got = append(got, signs[v.Action])
			c.Effects.Analysis = nil
			if again := p.InMode(m).Judge(c); again.String() != v.String() {
				t.Errorf("%s: with the carried analysis\n%swithout\n%s", command, v, again)
			}
		}
		out.WriteString(string(got) + " " + command + "\n")
		if string(got) != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	if n < 300 {
		t.Errorf("the corpus has %d commands", n)
	}
	if *rewrite {
		if err := os.WriteFile(corpus, []byte(out.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A policy judges the line and the directory of a call, whatever analysis the call carries.
func TestAnAnalysisOfAnotherLine(t *testing.T) {
	p := policy(t, AskMode)
	harmless := p.Command("ls")
	if v := p.Judge(harmless); v.Action != Allow {
		t.Fatal(v)
	}
	for name, change := range map[string]func(*tool.Effects){
		"another line":      func(e *tool.Effects) { e.Command = "rm -rf /" },
		"another directory": func(e *tool.Effects) { e.Dir = "/etc" },
		"no analysis":       func(e *tool.Effects) { e.Command, e.Analysis = "rm -rf /", "ls" },
	} {
		c := harmless
		change(&c.Effects)
		got := p.Judge(c)
		c.Effects.Analysis = nil
		if want := p.Judge(c); got.String() != want.String() || got.Action == Allow {
			t.Errorf("%s: %s want %s", name, got, want)
		}
	}
	moved := p.Command("cat $HOME/x")
	other, err := New(Options{Root: p.options.Root, Home: "/elsewhere"})
	if err != nil {
		t.Fatal(err)
	}
	if v := other.Judge(moved); !strings.Contains(v.String(), "/elsewhere/x") {
		t.Errorf("the analysis of another home is used: %s", v)
	}
}

// A policy does not analyze a line again whose call carries the analysis.
func TestALineIsAnalyzedOnce(t *testing.T) {
	p := policy(t, AskMode)
	c := p.Command("for f in a b; do gofmt -l $f; done")
	if got := p.analyze(c.Effects); &got.Commands[0] != &c.Effects.Analysis.(*analyzed).Commands[0] {
		t.Error("the line was analyzed again")
	}
}
