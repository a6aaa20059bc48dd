package command

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// doubtful words may become options of the program that gets them.
var doubtful = []string{`*`, `?x`, `[-a]x`, `-*`, `@(a|b)`, `$x`, `"$x"`, `"$x".txt`, `$(cat a)`, `"$(cat a)"`, "`cat a`", `${x:-a}`, `$((x))`, `"-$x"`, `-o$x`, `"${a[@]}"`, `"$@"`}

// An operand that may be an option is decided before any rule of a program: of all programs in the table, only the options of those that
// the table calls safe may come from a word that is not known.
func TestAnOperandMayBeAnOption(t *testing.T) {
	table := programs()
	count := 0
	for _, name := range slices.Sorted(maps.Keys(table)) {
		p := table[name]
		if p.safe || strings.HasSuffix(name, " *") || strings.HasSuffix(name, " -") || name == "let" { // a keyword of the parser
			continue
		}
		count++
		for _, word := range doubtful {
			for _, line := range []string{name + " " + word, name + " -- " + word, name + " a " + word} {
				separated := strings.Contains(line, " -- ")
				if p.stop && !strings.HasPrefix(line, name+" "+word) || separated && p.style != "plain" {
					continue
				}
				if analyze(line, here).Harmless() {
					t.Errorf("called harmless: %s", line)
				}
			}
		}
	}
	t.Logf("%d entries", count)
}

// A safe program has no listed option that writes or runs anything.
func TestSafePrograms(t *testing.T) {
	for _, text := range []string{"a: safe\n\t-o=write\n", "a: safe\n\t-x!executes\n", "a: safe code\n", "a: safe\n\t-o=code\nb: safe\n"} {
		if err := (table{}).read(text, rules()); err == nil {
			t.Errorf("no error: %q", text)
		}
	}
}
