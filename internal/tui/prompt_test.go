package tui

import (
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/llm/llmtest"
)

func TestAClickMovesTheCursorOfThePrompt(t *testing.T) {
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.shows("test/script")
	s.types("hello world")
	s.press("alt+b")
	y := s.row("› hello world")
	s.send(tea.MouseClickMsg{X: 4, Y: y, Button: tea.MouseLeft})
	s.types("X")
	s.shows("› heXllo world")
}

// row returns the row of the screen that contains a text.
func (s *stage) row(text string) int {
	s.t.Helper()
	for i, line := range strings.Split(s.screen(), "\n") {
		if strings.Contains(line, text) {
			return i
		}
	}
	s.t.Fatalf("no row has %q; the screen is\n%s", text, s.screen())
	return 0
}

func TestThePopupTakesItsKeysFirst(t *testing.T) {
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.shows("test/script")
	s.types("/rena")
	s.shows("› /rename")
	s.press("esc")
	s.hides("› /rename")
	s.shows("› /rena")
	s.types("m")
	s.press("tab")
	s.shows("› /rename")
	s.press("tab")
	s.types("x")
	s.shows("› /rename x")
}

func TestAMentionOfNoFileIsText(t *testing.T) {
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.shows("test/script")
	s.types("what is @param ")
	s.press("enter")
	s.shows("Hello.")
}

func TestAFileThatCannotBeAttachedKeepsThePrompt(t *testing.T) {
	s := play(t, &theater{client: llmtest.New(t, "text Hello.")}, 80, 24)
	s.shows("test/script")
	s.types("see @missing ")
	s.press("enter")
	s.shows("cannot attach missing")
	s.shows("› see @missing")
}

// kept returns the files of unsent prompts.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "unsent", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnUnsentPromptSurvivesTheEndOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	s := play(t, &theater{client: llmtest.New(t, ""), data: dir}, 80, 24)
	s.until("the lock", func(string) bool { return s.app.unsent.lock != nil })
	s.types("half a pro")
	s.until("a saved prompt", func(string) bool { return len(kept(t, dir)) == 1 && !s.app.unsent.saving })
	if err := s.app.unsent.lock.Unlock(); err != nil { // as the end of the process does
		t.Fatal(err)
	}
	s.app.unsent.lock = nil

	again := play(t, &theater{client: llmtest.New(t, "text Hello."), data: dir}, 80, 24)
	again.shows("› half a pro")
	again.shows("test/script")
	again.press("enter")
	again.shows("Hello.")
	again.until("no saved prompt", func(string) bool { return len(kept(t, dir)) == 0 })
}

func TestASecondTerminalKeepsNoPrompt(t *testing.T) {
	dir := t.TempDir()
	one := play(t, &theater{client: llmtest.New(t, ""), data: dir}, 80, 24)
	one.until("the lock", func(string) bool { return one.app.unsent.lock != nil })
	one.types("of the first")
	one.until("a saved prompt", func(string) bool { return len(kept(t, dir)) == 1 })
	two := play(t, &theater{client: llmtest.New(t, ""), data: dir}, 80, 24)
	two.shows("test/script")
	two.types("of the second")
	two.shows("› of the second")
	if two.app.unsent.lock != nil {
		t.Error("two terminals have the lock")
	}
}
