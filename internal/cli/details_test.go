package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// A person who watches a run sees the diff of an edit, the end of a failed command, and the tasks.
func TestAPersonSeesWhatCallsDo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := llmtest.New(t, `
		call read {"path":"a.txt"}
		---
		call edit {"path":"a.txt","old_text":"two","new_text":"2"}
		---
		call shell {"command":"seq 1 30; echo broken >&2; exit 3"}
		---
		call todo {"items":[{"text":"mend it","status":"in_progress"},{"text":"test it","status":"pending"}]}
		---
		text Done.
		---
		text No more.
	`)
	code, lines := onTerminal(t, client, map[string]string{"NO_COLOR": "1"}, "run", "--yes", "-C", dir, "mend it")
	want := regexp.MustCompile(`(?s)✓ edit a\.txt · \+1 -1 · TIME
    @@ .*
     one
    -two
    \+2
     three
✗ shell seq 1 30.* · exit code 3.*
    … \d+ lines before
    22
.*    30
    broken
✓ todo .*
    \[ \] mend it
    \[ \] test it
Done\.
`)
	if got := steady(lines); code != command.ExitDone || !want.MatchString(got) {
		t.Errorf("exit code %d, shows\n%s", code, got)
	}
}

// The answer is drawn block by block on a terminal, and is unchanged elsewhere.
func TestAnAnswerInMarkdownOnATerminal(t *testing.T) {
	client := llmtest.New(t, `text "Look **here**:\n\n- one\n- two\n\n`+"```"+`\ncode\n`+"```"+`\n"`)
	code, lines := onTerminal(t, client, map[string]string{"NO_COLOR": "1"}, "run", "hello")
	want := regexp.MustCompile(`(?s)Look here:\n\n• one\n• two\n\n  code\ndone`)
	if got := steady(lines); code != command.ExitDone || !want.MatchString(got) {
		t.Errorf("exit code %d, shows\n%s", code, got)
	}
}
