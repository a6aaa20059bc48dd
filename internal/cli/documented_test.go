package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
)

var (
	codeBlock   = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$|`(tenon [^`\n]+)`")
	commandLine = regexp.MustCompile(`(?:^|[|&$(] ?)tenon ([^|&#\n]+)`)
	quoted      = regexp.MustCompile(`"[^"\n]*"|'[^'\n]*'`)
	flagWord    = regexp.MustCompile(`^(?:--[a-z][a-z-]*|-[a-zA-Z])$`)
)

// Every command and flag that a document for users shows exists.
func TestDocumentedCommandsExist(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	root, n := newRoot(&command.Env{}, ""), 0
	root.InitDefaultHelpFlag()
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range codeBlock.FindAllStringSubmatch(string(text), -1) {
			for line := range strings.Lines(block[1] + block[2]) {
				for _, g := range commandLine.FindAllStringSubmatch(quoted.ReplaceAllString(line, "Q"), -1) {
					n++
					checkLine(t, page, root, strings.Fields(g[1]))
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("the documents have %d command lines: the pattern does not find them", n)
	}
}

func checkLine(t *testing.T, page string, root *cobra.Command, words []string) {
	t.Helper()
	c, rest, err := root.Find(words)
	if err != nil || c == root && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		t.Errorf("%s: tenon %s: no such command (%v)", page, strings.Join(words, " "), err)
		return
	}
	c.InitDefaultHelpFlag()
	for _, word := range rest {
		if word == "--" {
			return
		}
		word, _, _ = strings.Cut(word, "=")
		name := strings.TrimLeft(strings.TrimRight(word, ",;:.)"), "-")
		switch {
		case !flagWord.MatchString(word), word == "-p" && c == root:
		case c.Flag(name) == nil && (len(name) != 1 || c.Flags().ShorthandLookup(name) == nil):
			t.Errorf("%s: tenon %s: no flag %s", page, strings.Join(words, " "), word)
		}
	}
}
