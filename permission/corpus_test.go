package permission

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write what is decided now to the corpus; then read the difference")

// written reads the signs that stand for those that a line of the corpus cannot have.
var written = strings.NewReplacer("⏎", "\n", "␍", "\r")

const corpus = "testdata/verdicts.txt"

var signs = map[Verdict]byte{Allow: '+', Ask: '?', Deny: '-'}

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
			got = append(got, signs[p.InMode(m).Judge(c).Verdict])
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
