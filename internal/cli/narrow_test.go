package cli

import (
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm/llmtest"
)

// Lists are cut to a narrow terminal, where broken lines could not be told apart.
func TestListsOnANarrowTerminal(t *testing.T) {
	vars := isolated(t.TempDir())
	vars["NO_COLOR"] = "1"
	env := func(tty *terminal) Env {
		return Env{Stdout: tty, Stderr: tty, Getenv: func(name string) string { return vars[name] }}
	}
	first := env(&terminal{columns: 80})
	first.Client = llmtest.New(t, "text "+strings.Repeat("There is much to say about zebras. ", 5))
	if code := Main(t.Context(), []string{"run", strings.Repeat("tell me more about zebras ", 5)}, first); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	for _, line := range []string{"sessions list --all", "sessions search --all zebras", "sessions prune --larger 1 --dry-run"} {
		const columns = 40
		tty := &terminal{columns: columns}
		code := Main(t.Context(), strings.Fields(line), env(tty))
		got := strings.Join(tty.taken(), "")
		if code != exitDone || !strings.Contains(got, "tell ") {
			t.Errorf("%s: exit code %d\n%s", line, code, got)
		}
		for text := range strings.Lines(got) {
			if n := cellsOf(strings.TrimRight(text, "\n")); n > columns {
				t.Errorf("%s: a line of %d columns: %s", line, n, text)
			}
		}
	}
}
