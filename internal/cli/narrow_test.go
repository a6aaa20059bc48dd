package cli

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/term/termtest"
	"github.com/tenon-agent/tenon/llm/llmtest"
)

// Lists are cut to the width of a narrow terminal: broken lines would be ambiguous.
func TestListsOnANarrowTerminal(t *testing.T) {
	vars := isolated(t.TempDir())
	vars["NO_COLOR"] = "1"
	env := func(tty *termtest.Terminal) command.Env {
		return command.Env{Stdout: tty, Stderr: tty, Getenv: func(name string) string { return vars[name] }}
	}
	first := env(&termtest.Terminal{Columns: 80})
	first.Client = llmtest.New(t, "text "+strings.Repeat("There is much to say about zebras. ", 5))
	if code := Main(t.Context(), []string{"run", strings.Repeat("tell me more about zebras ", 5)}, first); code != command.ExitDone {
		t.Fatalf("exit code %d", code)
	}
	for line, want := range map[string]string{
		"sessions list --all": "tell ", "sessions search --all zebras": "tell ", "sessions prune --larger 1 --dry-run": "tell ",
		"models": "CTX", "models --all claude": "anthropic/", "permissions explain": "read in the workspace", "auth list": "no keys yet",
	} {
		const columns = 40
		tty := &termtest.Terminal{Columns: columns}
		code := Main(t.Context(), strings.Fields(line), env(tty))
		got := strings.Join(tty.Taken(), "")
		if code != command.ExitDone || !strings.Contains(got, want) {
			t.Errorf("%s: exit code %d\n%s", line, code, got)
		}
		for text := range strings.Lines(got) {
			if n := term.Cells(strings.TrimRight(text, "\n")); n > columns {
				t.Errorf("%s: a line of %d columns: %s", line, n, text)
			}
		}
	}
}
