package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// commandLines are the words that name each command.
func commandLines(c *cobra.Command) [][]string {
	lines := [][]string{strings.Fields(c.CommandPath())[1:]}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			lines = append(lines, commandLines(sub)...)
		}
	}
	return lines
}

// helpOn is the help of a command on a terminal of so many columns.
func helpOn(t *testing.T, columns int, words ...string) string {
	t.Helper()
	tty := &terminal{columns: columns}
	if code := Main(t.Context(), append(slices.Clone(words), "--help"), Env{Stdout: tty, Stderr: tty}); code != exitDone {
		t.Fatalf("%q: exit code %d", words, code)
	}
	return strings.Join(tty.taken(), "")
}

// In every help, all lines fit but those that people copy, and nothing is lost.
func TestHelpKeepsToTheTerminal(t *testing.T) {
	for _, words := range commandLines((&program{}).root()) {
		var piped bytes.Buffer
		if code := Main(t.Context(), append(slices.Clone(words), "--help"), Env{Stdout: &piped}); code != exitDone {
			t.Fatalf("%q: exit code %d", words, code)
		}
		for columns, most := range map[int]int{40: 40, 80: 80, 200: 100} {
			help := helpOn(t, columns, words...)
			if !slices.Equal(strings.Fields(help), strings.Fields(piped.String())) {
				t.Errorf("%q has other words in %d columns:\n%s", words, columns, help)
			}
			for line := range strings.Lines(help) {
				copied := strings.HasPrefix(line, "  ") && strings.Contains(line, "tenon ") && strings.Contains(piped.String(), line)
				if n := cellsOf(strings.TrimRight(line, "\n")); n > most && !copied {
					t.Errorf("%q in %d columns has a line of %d: %s", words, columns, n, line)
				}
			}
		}
	}
}

func TestHelpOfFlagsOnATerminal(t *testing.T) {
	for columns, want := range map[int]string{
		80: `
      --allow rule                       a rule for what may be done, such as
                                         'shell(go test *)' or 'edit(docs/**)';
                                         may be repeated
`,
		40: `
      --allow rule
          a rule for what may be done,
          such as 'shell(go test *)' or
          'edit(docs/**)'; may be
          repeated
`,
	} {
		if help := helpOn(t, columns, "run"); !strings.Contains(help, want) {
			t.Errorf("in %d columns:\n%s", columns, help)
		}
	}
	const example = "  tenon run --mode edits --allow 'shell(go test *)' \"rename the type Foo to Bar\"\n"
	if help := helpOn(t, 40, "run"); !strings.Contains(help, example) {
		t.Errorf("the example is broken:\n%s", help)
	}
}
