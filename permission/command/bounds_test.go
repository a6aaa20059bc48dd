package command

import (
	"runtime"
	"strings"
	"testing"
)

// TestBounds gives the analysis lines that are long, deep or many. None takes memory out of proportion.
func TestBounds(t *testing.T) {
	long := func(s string) string { return strings.Repeat(s, longestLine/len(s)) }
	deep := func(a, b string, n int) string { return strings.Repeat(a, n) + "ls" + strings.Repeat(b, n) }
	for name, s := range map[string]string{
		"longer than allowed":    long("a") + "aa",
		"words":                  long("a "),
		"commands":               long("ls;"),
		"brackets":               long("("),
		"substitutions":          long("$("),
		"in quotes":              long(`"$(`),
		"backticks":              long("`"),
		"braces":                 "ls " + long("{a,b}")[:1000],
		"braces in braces":       long("{"),
		"parameters":             long("${a:-"),
		"negations":              long("! "),
		"arithmetic":             "((" + long("-") + "1))",
		"not":                    "((" + long("!") + "1))",
		"tests":                  "[[ " + long("! ") + " a ]]",
		"conditions":             long("if "),
		"loops":                  long("while "),
		"times":                  long("time "),
		"pipes":                  long("a|"),
		"and":                    long("a&&"),
		"assignments":            long("a=b "),
		"here-documents":         long("cat <<a\n"),
		"functions":              long("a() { "),
		"cases":                  long("case a in a) "),
		"ternaries":              "((" + long("a?") + "))",
		"powers":                 "((" + long("a**") + "1))",
		"commas":                 "((" + long("a,") + "1))",
		"equals":                 "((" + long("a=") + "1))",
		"brackets in arithmetic": "((" + long("(") + "))",
		"subscripts":             long("a["),
		"subshells":              deep("( ", " )", 500),
		"wrappers":               long("env "),
		"sudo":                   long("sudo "),
		"eval":                   long("eval "),
		"xargs":                  long("xargs "),
		"loops that move":        deep("while true; do cd a; ", "; done", 30),
		"find":                   "find . " + long("-exec a ; ")[:60000],
		"sed":                    "sed '" + long("s/a/b/;") + "'",
		"awk":                    "awk '" + long("print ") + "'",
		"ansi":                   "ls $'" + long(`\x61`) + "'",
		"closed and open":        long("$()"),
		"coproc":                 long("coproc "),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := analyze(s, here)
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 200<<20 {
				t.Errorf("took %d MB", grown>>20)
			}
			if stack := after.StackSys; stack > 64<<20 {
				t.Errorf("has a stack of %d MB", stack>>20)
			}
			if len(a.Commands) > mostCommands {
				t.Errorf("%d commands", len(a.Commands))
			}
		})
	}
	if a := Analyze(strings.Repeat("ls;", 2000), here); a.Harmless() {
		t.Error("no problem for the commands beyond the bound")
	}
	if a := Analyze(deep("( ", " )", 100), here); a.Harmless() {
		t.Error("no problem for the nesting beyond the bound")
	}
}

func BenchmarkAnalyze(b *testing.B) {
	for name, s := range map[string]string{
		"short":   "git status --short",
		"typical": `cd internal/app && go test ./... 2>&1 | grep -n "FAIL" | head -20`,
		"nested":  `find . -name '*.go' -exec sh -c 'grep -l "$1" a | xargs wc -l' _ {} \; > /tmp/out`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Analyze(s, here)
			}
		})
	}
}

// TestPlacesOfProblems holds that a problem of the text has its position.
func TestPlacesOfProblems(t *testing.T) {
	for line, want := range map[string]string{
		"ls\necho a\rb": "2:7", "\x00": "1:1", "ls; bash -c $'ls\\rrm'": "1:5", "ls " + strings.Repeat("x", longestLine): "1:1",
	} {
		if a := analyze(line, here); len(a.Problems) == 0 || !strings.HasPrefix(a.Problems[0].String(), want+": ") {
			t.Errorf("%.20q: %v, want %s", line, a.Problems, want)
		}
	}
}
