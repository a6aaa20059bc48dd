package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/sample"
)

// The commands of the corpus do the same in bash in their canonical form: they run the same programs, with the same words, output and exit
// codes. No program exists, so that every command is safe to run, except for a few builtins and redirections.
func TestCanonicalFormDoesTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var lines, texts []string
	for i, line := range corpus(t) {
		if !sample.Takes(i, 4, 4) {
			continue
		}
		a := analyze(line, Options{Dir: dir, Home: dir})
		if a.Text == "" || strings.HasPrefix(line, "until false") || strings.HasPrefix(line, "while true") || strings.Contains(line, "/proc/") || slices.ContainsFunc(a.Commands, func(c Command) bool {
			return slices.Contains([]string{"kill", "exec", "exit", "time"}, c.Words[0]) || slices.ContainsFunc(c.Redirects, func(p string) bool {
				return p == "" || !strings.HasPrefix(p, dir)
			}) || slices.ContainsFunc(c.Via, func(via string) bool { return strings.HasSuffix(via, " -c") }) // its text is spelled in another way
		}) {
			continue
		}
		lines = append(lines, line)
		for _, text := range []string{line, a.Text} {
			texts = append(texts, fmt.Sprintf("OUT_=$(eval %s; echo \"exit $?\")\nt \"$OUT_\"", quoted(text)))
		}
	}
	shell := realShells[0]
	shell.setup += "enable -n kill\n"
	ran := shell.run(t, dir, texts)
	for i, line := range lines {
		was, is := fmt.Sprintf("%q", sorted(ran[2*i])), fmt.Sprintf("%q", sorted(ran[2*i+1]))
		if was != is || len(ran[2*i]) == 0 {
			t.Errorf("%s\ndid       %s\nnow does  %s\nin        %s", line, was, is, texts[2*i+1])
		}
	}
	if len(lines) < 200 {
		t.Errorf("%d commands, too few to mean something", len(lines))
	}
	t.Logf("%d commands", len(lines))
}

// sorted returns programs that may have run at the same time in one order.
func sorted(ran [][]string) [][]string {
	slices.SortFunc(ran, slices.Compare)
	return ran
}

// Scripts with all constructs of bash have the same output and exit code, and leave the same files, in their canonical form.
func TestScriptsDoTheSame(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/scripts.txt")
	if err != nil {
		t.Fatal(err)
	}
	count, without := 0, map[string]bool{"let x=1+2; echo $x": true, "shopt -s extglob\ntouch ab ac; echo a@(b|c) !(ab)": true}
	for script := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n--\n") {
		count++
		a := analyze(script, here)
		if a.Text == "" {
			if !without[script] && !strings.HasPrefix(script, "coproc") {
				t.Errorf("%s\nhas no canonical form: %v", script, a.Problems)
			}
			continue
		}
		if was, is := resultOf(t, script), resultOf(t, a.Text); was != is {
			t.Errorf("%s\nin its canonical form\n%s\ndid\n%s\nand now does\n%s", script, a.Text, was, is)
		}
	}
	t.Logf("%d scripts", count)
}

// resultOf runs a script of bash in a new directory, and returns its output, its exit code and the files that it leaves.
func resultOf(t *testing.T, script string) string {
	dir := t.TempDir()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "GIT_CONFIG_GLOBAL=/dev/null")
	out, _ := cmd.Output()
	var b strings.Builder
	fmt.Fprintf(&b, "%sexit %d\n", out, cmd.ProcessState.ExitCode())
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		content, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %q\n", path[len(dir):], content)
		return err
	})
	return strings.ReplaceAll(b.String(), dir, "DIR")
}
