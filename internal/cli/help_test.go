package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/term/termtest"
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
	tty := &termtest.Terminal{Columns: columns}
	if code := Main(t.Context(), append(slices.Clone(words), "--help"), command.Env{Stdout: tty, Stderr: tty}); code != command.ExitDone {
		t.Fatalf("%q: exit code %d", words, code)
	}
	return strings.Join(tty.Taken(), "")
}

// In every help, all lines fit but those that people copy, and nothing is lost.
func TestHelpKeepsToTheTerminal(t *testing.T) {
	for _, words := range commandLines(newRoot(&command.Env{}, "")) {
		var piped bytes.Buffer
		if code := Main(t.Context(), append(slices.Clone(words), "--help"), command.Env{Stdout: &piped}); code != command.ExitDone {
			t.Fatalf("%q: exit code %d", words, code)
		}
		for columns, most := range map[int]int{40: 40, 80: 80, 200: 100} {
			help := helpOn(t, columns, words...)
			if !slices.Equal(strings.Fields(help), strings.Fields(piped.String())) {
				t.Errorf("%q has other words in %d columns:\n%s", words, columns, help)
			}
			for line := range strings.Lines(help) {
				copied := strings.HasPrefix(line, "  ") && strings.Contains(line, "tenon ") && strings.Contains(piped.String(), line)
				if n := term.Cells(strings.TrimRight(line, "\n")); n > most && !copied {
					t.Errorf("%q in %d columns has a line of %d: %s", words, columns, n, line)
				}
			}
		}
	}
}

func TestHelpOfFlagsOnATerminal(t *testing.T) {
	for columns, want := range map[int]string{
		80: `
      --allow RULE         allow calls by RULE, such as 'shell(go test *)';
                           repeatable
`,
		40: `
      --allow RULE
          allow calls by RULE, such as
          'shell(go test *)'; repeatable
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

// Every flag and every command has a short description, in the form of a label.
func TestDescriptionsAreShort(t *testing.T) {
	const most = 60
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		if strings.HasSuffix(c.Short, ".") || len([]rune(c.Short)) > 65 {
			t.Errorf("%s: %q", c.CommandPath(), c.Short)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, usage := pflag.UnquoteUsage(f); strings.HasSuffix(usage, ".") || len([]rune(usage)) > most {
				t.Errorf("%s --%s: %d letters: %q", c.CommandPath(), f.Name, len([]rune(usage)), usage)
			}
		})
		for _, sub := range c.Commands() {
			check(sub)
		}
	}
	check(newRoot(&command.Env{}, ""))
}

func TestACommandAloneIsTheOneOfAll(t *testing.T) {
	env := &command.Env{}
	all := newRoot(env, "")
	for _, c := range commands() {
		alone := newRoot(env, c.name).Commands()
		whole, _, err := all.Find([]string{c.name})
		if err != nil || len(alone) != 1 || alone[0].Name() != c.name || alone[0].UsageString() != whole.UsageString() {
			t.Errorf("%s alone: %d commands, %v; want it, with the same usage", c.name, len(alone), err)
		}
	}
}
