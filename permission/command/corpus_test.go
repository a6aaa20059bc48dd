package command

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var rewrite = flag.Bool("rewrite", false, "write the results into the corpus; review the difference")

// written reads the signs that stand for those that a line of the corpus cannot have.
var written = strings.NewReplacer("⏎", "\n", "␍", "\r")

const corpusFile = "testdata/commands.txt"

// here is where the commands of the tests run.
var here = Options{Dir: "/w", Home: "/home/me"}

// TestCorpus holds the analysis against testdata/commands.txt, which says of each command what it does.
func TestCorpus(t *testing.T) {
	text, err := os.ReadFile(corpusFile)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	count, section, line := 0, "", ""
	for l := range strings.Lines(string(text)) {
		l = strings.TrimRight(l, "\r\n")
		want, isAnswer := strings.CutPrefix(l, "\t")
		switch {
		case strings.HasPrefix(l, "# "):
			section = l
		case isAnswer:
			count++
			a := analyze(written.Replace(line), here)
			got := describe(a)
			if got != want && !*rewrite {
				t.Errorf("%s\n\tgot  %s\n\twant %s", line, got, want)
			}
			if allowed := strings.HasPrefix(section, "# Harmless"); allowed != a.Harmless() {
				t.Errorf("%s\n\tis harmless: %v, which does not fit %q", line, !allowed, section)
			}
			l = "\t" + got
		case l != "":
			line = l
		}
		out.WriteString(l + "\n")
	}
	if count < 300 {
		t.Errorf("%d commands, too few to mean something", count)
	}
	if *rewrite {
		if err := os.WriteFile(corpusFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d commands", count)
}

// corpus returns the commands of the file.
func corpus(tb testing.TB) (all []string) {
	text, err := os.ReadFile(corpusFile)
	if err != nil {
		tb.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		if l[0] != '\t' && l[0] != '\n' && !strings.HasPrefix(l, "# ") {
			all = append(all, written.Replace(strings.TrimRight(l, "\n")))
		}
	}
	return all
}

// describe writes an analysis as the corpus has it.
func describe(a Analysis) string {
	var reads, writes, hosts, via []string
	for _, c := range a.Commands {
		reads, writes, hosts = add(reads, c.ReadPaths), add(writes, c.WritePaths), add(hosts, c.Hosts)
		via = add(via, c.Via)
	}
	all := strings.ReplaceAll(a.Does().String(), ",", "")
	for _, l := range []struct {
		name string
		list []string
	}{{"r", reads}, {"w", writes}, {"h", hosts}, {"via", via}} {
		if len(l.list) == 0 {
			continue
		}
		for i, s := range l.list {
			if l.list[i] = strings.ReplaceAll(s, " ", "_"); s == "" {
				l.list[i] = "?"
			}
		}
		slices.Sort(l.list)
		all += " " + l.name + "=" + strings.Join(l.list, ",")
	}
	if len(a.Problems) > 0 {
		all += " problem"
	}
	return all
}
