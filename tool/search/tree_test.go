package search_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/search"
	"github.com/tenon-agent/tenon/workspace"
)

// On trees of all kinds of files grep finds the same lines as a search line by line with package regexp.
func TestGrepIsAsPlain(t *testing.T) {
	patterns := []string{
		"foo", "(?i)foo", "foo|bar", `\bk\w*`, "^$", "^x", `x$`, `fo+\s`, "(?i)ſ", `[^\x00-\x7f]`, `\d{2}`, "(foo|bar).*x", "\ufffd", `.`, `o\b.`, "zq",
	}
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 3))
		dir := t.TempDir()
		plant(t, random, dir, 0)
		p := openProject(t, dir)
		for _, pattern := range patterns {
			for _, around := range []int{0, 2} {
				got, _, err := p.call(t.Context(), "grep", args{"pattern": pattern, "context": around})
				if err != nil {
					t.Fatal(err)
				}
				if want := plain(t, p.ws, pattern, around); !strings.HasPrefix(got, want) && got != strings.TrimSuffix(want, "\n") {
					t.Fatalf("tree %d, %q with %d lines around\n got %q\nwant %q", seed, pattern, around, got, want)
				}
			}
		}
	}
}

// plain is the search in the simplest way, as far as there is room for it. It knows nothing of lines too long to be shown.
func plain(t *testing.T, ws *workspace.Workspace, pattern string, around int) string {
	re := regexp.MustCompile(pattern)
	var out strings.Builder
	files, matches := 0, 0
	for entry, err := range ws.Walk(t.Context(), ".", workspace.WalkOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !entry.Type.IsRegular() {
			continue
		}
		files++
		data, err := os.ReadFile(filepath.Join(ws.Dir(), filepath.FromSlash(entry.Path)))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
			continue
		}
		var lines [][]byte
		var hits []bool
		for line := range bytes.Lines(data) {
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			lines, hits = append(lines, line), append(hits, re.Match(line))
		}
		if !slices.Contains(hits, true) {
			continue
		}
		header, last := workspace.Quote(entry.Path)+"\n", -1
		if out.Len() > 0 {
			header = "\n" + header
		}
		for i, line := range lines {
			mark := ""
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				if hits[j] {
					mark = "-"
				}
			}
			if hits[i] {
				mark = ":"
			}
			if mark == "" {
				continue
			}
			text := fmt.Sprintf("%s%d%s%s\n", header, i+1, mark, strings.ToValidUTF8(string(line), string(utf8.RuneError)))
			if around > 0 && last >= 0 && i > last+1 {
				text = "--\n" + text
			}
			if out.Len()+len(text) > 12<<10 || mark == ":" && matches == 120 {
				return out.String()
			}
			out.WriteString(text)
			if mark == ":" {
				matches++
			}
			header, last = "", i
		}
	}
	if matches == 0 {
		return fmt.Sprintf("[no match in %d files]", files)
	}
	return out.String()
}

// plant fills a directory with what trees have in them.
func plant(t *testing.T, random *rand.Rand, dir string, depth int) {
	t.Helper()
	words := []string{
		"foo", "Foo", "bar", "x", "k", "Kelvin \u212a", "ſ", "42", " ", "\t", "", "é", "\xff", "\xe2\x84", "fooo x", "\r", "quux", "zq", "\u2028",
	}
	for i := range 2 + random.IntN(10) {
		name := filepath.Join(dir, fmt.Sprintf("%s%d", []string{"a", ".hidden", "b.o", "ignored", "sp ace", "é"}[random.IntN(6)], i))
		if depth < 3 && random.IntN(4) == 0 {
			if err := os.Mkdir(name, 0o777); err != nil {
				t.Fatal(err)
			}
			plant(t, random, name, depth+1)
			continue
		}
		var data []byte
		for range random.IntN(40) {
			for range random.IntN(6) {
				data = append(data, words[random.IntN(len(words))]...)
			}
			data = append(data, []string{"\n", "\n", "\r\n", "\n\n"}[random.IntN(4)]...)
		}
		switch random.IntN(8) {
		case 0:
			data = append(data, "foo\x00"...)
		case 1:
			data = append(bytes.Repeat([]byte("- ordinary text\n"), 600), "foo\x00 behind what tells a binary file\n"...)
		case 2:
			data = append(data, "foo and no end"...)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if random.IntN(3) == 0 {
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.o\nignored*\n!ignored1\nfoo\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A search does not find hidden files, whatever path it starts from.
func TestHiddenIsNotSearched(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a/key": "needle", "a/b/x": "needle", "c": "needle"} {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	p := openProjectWith(t, dir, workspace.Options{Hidden: []string{"a/key", "a/b"}})
	for _, test := range []struct {
		tool      string
		arguments args
		want      string
	}{
		{"grep", args{"pattern": "needle"}, "c\n1:needle"},
		{"grep", args{"pattern": "needle", "path": "a"}, "[no file was searched; check path, include and type]"},
		{"glob", args{"pattern": "**"}, "c"},
		{"glob", args{"pattern": "*", "path": "a"}, "[no matching file]"},
	} {
		if text, _, err := p.call(t.Context(), test.tool, test.arguments); err != nil || text != test.want {
			t.Errorf("%s %v: %q, %v; want %q", test.tool, test.arguments, text, err, test.want)
		}
	}
	for _, path := range []string{"a/key", "a/b", "a/b/x"} {
		for _, one := range []string{"grep", "glob"} {
			if text, _, err := p.call(t.Context(), one, args{"pattern": "n", "path": path}); err == nil || !strings.Contains(err.Error(), "secret") {
				t.Errorf("%s below %s: %q, %v", one, path, text, err)
			}
		}
	}
}

func TestUnreadableFilesAreReported(t *testing.T) {
	if !unprivileged.Is(t) {
		return
	}
	p := newProject(t, map[string]string{"a/x": "needle", "b/c/x": "needle", "d": "needle", "e": "needle"})
	for _, name := range []string{"b/c", "e"} {
		full := filepath.Join(p.ws.Dir(), filepath.FromSlash(name))
		if err := os.Chmod(full, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(full, fs.ModePerm) })
	}
	if _, err := os.ReadFile(filepath.Join(p.ws.Dir(), "e")); err == nil {
		t.Skip("modes close no file here")
	}
	text, details, err := p.call(t.Context(), "grep", args{"pattern": "needle"})
	if want := "a/x\n1:needle\n\nd\n1:needle\n[not searched: b/c/ (permission denied), e (permission denied)]"; err != nil || text != want {
		t.Errorf("%q, %v; want %q", text, err, want)
	}
	if m := details.(search.Matched); m.Searched != 2 || m.Skipped != 2 {
		t.Errorf("%+v", m)
	}
	text, details, err = p.call(t.Context(), "glob", args{"pattern": "x"})
	if want := "a/x\n[not searched: b/c/ (permission denied)]"; err != nil || text != want || details.(search.Found).Unseen != 1 {
		t.Errorf("%q, %+v, %v; want %q", text, details, err, want)
	}
}

// A line of a megabyte is shown around what matches.
func TestGrepInAVeryLongLine(t *testing.T) {
	filler := strings.Repeat("abc ", 1<<18)
	p := newProject(t, map[string]string{"min.js": filler + "needle" + filler})
	for _, pattern := range []string{"needle", `n\w+e`, `(?i)NEE`} {
		text, _, err := p.call(t.Context(), "grep", args{"pattern": pattern})
		if err != nil || len(text) > 400 || !strings.Contains(text, "…") || !strings.Contains(text, "needle") {
			t.Errorf("%s: %q, %v", pattern, text, err)
		}
	}
}

func openProjectWith(t testing.TB, dir string, o workspace.Options) *project {
	t.Helper()
	ws, err := workspace.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	p := &project{t, ws, map[string]tool.Tool{}}
	for _, one := range search.New(ws) {
		p.tools[one.Spec().Name] = one
	}
	return p
}
