package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
)

// The test of the shells runs any range of seeds:
//
//	go test ./permission/command -run TestShellsRunWhatWasJudged -v -timeout 0 -seed 1000000 -lines 10000000
var (
	firstSeed = flag.Uint64("seed", 1, "the first seed of the lines that shells run")
	lineCount = flag.Uint64("lines", 1500, "the number of lines that shells run")
)

// realShell is a shell that runs lines, and writes every program that it would start to descriptor 9: \1 number \1 word... \1 \2.
type realShell struct{ name, setup string }

// The shells have the programs t, f, sh and bash as functions, which is fast. No other program exists: bash calls a function with its words, and dash
// writes its name as an error.
var realShells = []realShell{
	{"bash", `exec 9>&1 >/dev/null 2>&1
FUNCNEST=9
bash() { sh "${@}"; }
NEW_=$'\n' SIGN_=$'\3'
command_not_found_handle() { printf '\1%s' "$LINE_" "$@" "$END_" >&9; return 127; }
`},
	{"dash", "exec 9>&1 >/dev/null 2>&9\nbash() { :; }\n"},
}

const commonSetup = `END_=$(printf '\2')
t() { printf '\1%s' "$LINE_" t "$@" "$END_" >&9; [ $((RUNS_ = RUNS_ + 1)) -lt 50 ] || exit 9; }
f() { printf '\1%s' "$LINE_" f "$@" "$END_" >&9; [ $((RUNS_ = RUNS_ + 1)) -lt 50 ] || exit 9; return 1; }
sh() {
	[ "$1" = -c ] || return 0
	while :; do case $1 in [-+]*) shift ;; *) break ;; esac done
	( eval "$1" )
}
x='a b'
RUNS_=0
ulimit -t 1
`

// run runs texts in a directory, each in a child of one shell, and returns the programs of each. A name alone is a program whose arguments
// are not known. A text that does not end is killed.
func (s realShell) run(t *testing.T, dir string, texts []string) [][][]string {
	ran := make([][][]string, len(texts))
	setup := s.setup + commonSetup
	if s.name == "bash" { // it writes line by line, and children write at the same time
		setup = strings.ReplaceAll(setup, `"$@"`, `"${@//$NEW_/$SIGN_}"`)
	}
	for first, end := 0, 0; first < len(texts); {
		end = min(first+250, len(texts))
		var script strings.Builder
		script.WriteString(setup)
		for i, text := range texts[first:end] {
			fmt.Fprintf(&script, "LINE_=%d\nprintf '\\1%%s' $LINE_ \"$END_\" >&9\n( : a; eval %s )\n", first+i, quoted(text))
		}
		out, ended := s.output(t, dir, script.String())
		last := first
		for record := range strings.SplitSeq(out, "\x01\x02") {
			message, record, ok := strings.Cut(record, "\x01")
			for m := range strings.SplitSeq(message, scriptName+": ") {
				if m := notFound.FindStringSubmatch(m); m != nil {
					for name := range strings.SplitSeq(m[1], ": not found\n") { // two children may write at the same time
						if !strings.HasPrefix(name, ".: ") { // a file for the builtin .
							ran[last] = append(ran[last], []string{name})
						}
					}
				}
			}
			if !ok {
				continue
			}
			words := strings.Split(strings.ReplaceAll(record, "\x03", "\n"), "\x01")
			i, err := strconv.Atoi(words[0])
			switch {
			case err != nil || i < first || i >= end: // a word may have the signs, such as $_
			case len(words) == 1:
				last = i
			default:
				ran[i] = append(ran[i], words[1:])
			}
		}
		if first = last + 1; ended {
			first = end
		}
	}
	return ran
}

// scriptName is the file that shells run, which starts each of their messages.
const scriptName = "judged-lines"

var notFound = regexp.MustCompile(`(?s)^[0-9]+: (?:eval: )?(.*): not found\n[^\n]*$`)

// output runs a script, and reports whether it ended in time.
func (s realShell) output(t *testing.T, dir, script string) (string, bool) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		_ = os.RemoveAll(filepath.Join(dir, e.Name()))
	}
	_ = os.WriteFile(filepath.Join(dir, "a"), []byte("a\n"), 0o600)
	file := filepath.Join(t.TempDir(), scriptName)
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.name, file)
	cmd.Dir, cmd.Stdout = dir, write
	cmd.Env = []string{"PATH=" + dir + "/none", "HOME=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	const most = 1 << 20
	out, err := io.ReadAll(io.LimitReader(read, most))
	if err != nil {
		t.Fatal(err)
	}
	ended := len(out) < most && ctx.Err() == nil
	cancel()
	_ = cmd.Wait()
	return string(out), ended
}

// judged returns the text that runs for a line and its analysis; ok is false if the line cannot be judged. Raw is the analysis without
// the canonical form.
func judged(line, shell string, raw bool) (text string, a Analysis, ok bool) {
	o := Options{Dir: "/w", Home: "/home/me", Shell: shell}
	if raw {
		r := newAnalyzer(programs(), o)
		r.raw = true
		r.all(line)
		a, text = r.out, line
	} else {
		a = analyze(line, o)
		text = a.Text
	}
	return text, a, text != "" && len(a.Problems) == 0 && !slices.ContainsFunc(a.Commands, func(c Command) bool {
		return c.Words[0] == "" || c.Does&(Unknown|Executes) != 0 && Known(c.Words[0]) // such as eval of an unknown text, and alias
	})
}

// foreseen reports whether an analysis has a program that ran.
func foreseen(a Analysis, ran []string, nameOnly bool) bool {
	return slices.ContainsFunc(a.Commands, func(c Command) bool {
		words := slices.Clone(c.Words)
		for i, w := range words {
			if strings.ContainsAny(w, "*?[~") { // a pattern, perhaps
				words[i] = ""
			}
		}
		switch {
		case slices.ContainsFunc(c.Via, func(via string) bool { return via == ran[0] || via == ran[0]+" -c" }): // it runs the rest
			return true
		case nameOnly:
			words = words[:1]
		}
		return fits(words, ran)
	})
}

// fits reports whether words, of which "" stands for any number, can be the words of a program.
func fits(words, ran []string) bool {
	switch {
	case len(words) == 0:
		return len(ran) == 0
	case len(ran) > 0 && words[0] == "/dev/fd/63" && strings.HasPrefix(ran[0], "/dev/fd/"): // the number of a process substitution
		return fits(words[1:], ran[1:])
	case words[0] == "":
		return fits(words[1:], ran) || len(ran) > 0 && fits(words, ran[1:])
	}
	return len(ran) > 0 && words[0] == ran[0] && fits(words[1:], ran[1:])
}

// surprise is a program that ran without having been judged.
type surprise struct {
	seed                    uint64
	shell, line, text, what string
}

func (s surprise) String() string {
	return fmt.Sprintf("seed %d: %s ran %s, which was not judged, in\n%s\nwhich is printed as\n%s", s.seed, s.shell, s.what, s.line, s.text)
}

// differ runs the lines of seeds, and returns what ran and was not judged, and how many lines could be judged.
func differ(t *testing.T, shells []realShell, lists map[string][]string, dir string, from, to uint64, raw bool) (found []surprise, count int) {
	for _, shell := range shells {
		if _, err := exec.LookPath(shell.name); err != nil && shell.name != "bash" {
			continue
		}
		var all []surprise
		var texts []string
		var analyses []Analysis
		for seed := from; seed < to; seed++ {
			line := generate(seed, lists)
			if text, a, ok := judged(line, shell.name, raw); ok {
				all = append(all, surprise{seed, shell.name, line, text, ""})
				texts, analyses = append(texts, text), append(analyses, a)
			}
		}
		count += len(texts)
		for i, ran := range shell.run(t, dir, texts) {
			what := shell.unforeseen(analyses[i], ran)
			for try := 0; what != "" && try < 3; try++ { // programs that run at the same time mix what they write
				what = shell.unforeseen(analyses[i], shell.run(t, dir, texts[i:i+1])[0])
			}
			if all[i].what = what; what != "" {
				found = append(found, all[i])
			}
		}
	}
	return found, count
}

func (s realShell) unforeseen(a Analysis, ran [][]string) string {
	for _, words := range ran {
		if !foreseen(a, words, s.name == "dash" && words[0] != "t" && words[0] != "f") {
			if at := strings.LastIndex(words[0], "\n"); len(words) == 1 && at >= 0 && foreseen(a, []string{words[0][at+1:]}, true) {
				continue // the message of another child was in between
			}
			return fmt.Sprintf("%q", words)
		}
	}
	return ""
}

// Every program that bash and dash run for a line is in the analysis of the line.
func TestShellsRunWhatWasJudged(t *testing.T) {
	t.Parallel()
	lists := fragments(t)
	var next, lines, surprises atomic.Uint64
	var all sync.WaitGroup
	start := time.Now()
	for range runtime.GOMAXPROCS(0) {
		dir := t.TempDir()
		all.Go(func() {
			const batch = 500
			for surprises.Load() < 20 {
				from := next.Add(batch) - batch
				if from >= *lineCount {
					return
				}
				found, n := differ(t, realShells, lists, dir, *firstSeed+from, *firstSeed+min(from+batch, *lineCount), false)
				lines.Add(uint64(n))
				surprises.Add(uint64(len(found)))
				for _, s := range found {
					t.Error(s)
				}
			}
		})
	}
	all.Wait()
	t.Logf("seeds %d to %d: shells ran %d lines, %.0f in a second", *firstSeed, *firstSeed+*lineCount-1, lines.Load(), float64(lines.Load())/time.Since(start).Seconds())
}

// The ways in which the parser and a shell are known to read a line differently. Text hides a program.
var knownDifferences = []struct {
	what string
	form *regexp.Regexp // finds it in a generated line
	line string
}{
	{"a comment that ends in a backslash", regexp.MustCompile(`#[^\n]*\\\n`), "t a # \\\nt b"},
	{"a comment right after the delimiter of a here-document", regexp.MustCompile(`<<-? *['"]E['"]#`), "t <<'E'# ; t b\na\nE"},
	{"an operator within let", regexp.MustCompile(`let \S*[|&;]`), "let x=1|t b"},
	{"a new line between $ and ( in quotes", regexp.MustCompile(`(?s)"[^"]*\$\\\n\(`), "t \"$\\\n(t b)\""},
	{"a new line between $ and ( in a here-document", regexp.MustCompile(`(?s)<<.*\n\$\\\n\(`), "t <<E\n$\\\n(t b)\nE"},
}

// Without the canonical form, the comparison with the shells finds every known difference: in its plainest line, and, where
// every case runs, in generated lines.
func TestShellsRunOtherTextWithoutTheCanonicalForm(t *testing.T) {
	t.Parallel()
	dir, lists := t.TempDir(), fragments(t)
	bash := realShells[0]
	for _, known := range knownDifferences {
		_, raw, ok := judged(known.line, "bash", true)
		if ran := bash.run(t, dir, []string{known.line})[0]; !ok || bash.unforeseen(raw, ran) == "" {
			t.Errorf("%s: bash ran %q, all of which was judged", known.what, ran)
		}
		if text, a, ok := judged(known.line, "bash", false); ok {
			if ran := bash.run(t, dir, []string{text})[0]; bash.unforeseen(a, ran) != "" {
				t.Errorf("%s: bash ran %q for the canonical form\n%s", known.what, ran, text)
			}
		}
	}
	if !sample.All() {
		return
	}
	found, _ := differ(t, realShells[:1], lists, dir, 1, 2500, true)
	for _, known := range knownDifferences {
		if !slices.ContainsFunc(found, func(s surprise) bool { return known.form.MatchString(s.line) }) {
			t.Errorf("no generated line of %d surprising ones has %s", len(found), known.what)
		}
	}
}
