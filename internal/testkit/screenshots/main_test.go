package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/cli"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// TestMain lets the test binary be the program, too.
func TestMain(m *testing.M) {
	sandbox.Main()
	if filepath.Base(os.Args[0]) == "tenon" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], cli.System()))
	}
	os.Exit(m.Run())
}

func TestAnAlbumWithoutABrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("screenshots need the pseudo-terminals of Linux")
	}
	work, out := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(work, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "tenon")); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	if err := album(t.Context(), work, bin, out, "", &log, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "There is no Chromium") {
		t.Errorf("it reports %q", log.String())
	}
	for _, columns := range []string{"80", "120"} {
		for _, s := range scenes {
			text := read(t, filepath.Join(out, s.name+"-"+columns+".txt"))
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' }) || !strings.HasPrefix(text, "$ tenon ") {
				t.Errorf("%s at %s columns:\n%s", s.name, columns, text)
			}
			for shade := range palettes {
				if image := read(t, filepath.Join(out, s.name+"-"+columns+"-"+shade+".svg")); !strings.HasSuffix(image, "</svg>\n") {
					t.Errorf("%s at %s columns, %s: the image has no end", s.name, columns, shade)
				}
			}
		}
		run := read(t, filepath.Join(out, "run-"+columns+".txt"))
		for _, want := range []string{`-func Greet(name string) string { return "Helo, " + name }`, "✗ shell sh check.sh", "denied", "日本", "--allow"} {
			if !strings.Contains(run, want) {
				t.Errorf("the run at %s columns lacks %q:\n%s", columns, want, run)
			}
		}
	}
	if text := read(t, filepath.Join(out, "terminal-answer-80x24-dark.txt")); !strings.Contains(text, "done") {
		t.Errorf("the terminal shows\n%s", text)
	}
	for _, s := range pages {
		if page := read(t, filepath.Join(out, s.name+".html")); !strings.Contains(page, "</html>") {
			t.Errorf("%s has no end", s.name)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

func TestScreen(t *testing.T) {
	const text = "busy\r\x1b[Kabc\x1b[1mdef\x1b[0m 日本\r\n\tend\n\n"
	lines, err := show(text, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plain(lines), "abcdef\n日本\n        \nend\n"; strings.ReplaceAll(got, "\n\n", "\n        \n") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !lines[0][3].bold || lines[0][2].bold {
		t.Errorf("the wrong characters are bold: %v", lines[0])
	}
	for _, bad := range []string{"\x1b[2J", "\x1b[38;5;1mred", "\x07", "\x1b]0;title\x07"} {
		if _, err := show(bad, 80); err == nil {
			t.Errorf("%q is shown without an error", bad)
		}
	}
	var parts []string
	for r := range lines[1].runs {
		parts = append(parts, r.text)
	}
	if strings.Join(parts, "|") != "日|本" {
		t.Errorf("the parts are %q", parts)
	}
}
