package files_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
)

func editArguments(t testing.TB, old, new string, all bool) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"path": "f", "old_text": old, "new_text": new, "replace_all": all})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEdit(t *testing.T) {
	const done = "edited f: 1 line added, 1 removed"
	tests := []struct {
		name, before, old, new string
		all                    bool
		after, told            string
	}{
		{"exact", "a\nb\nc\n", "b", "x", false, "a\nx\nc\n", done},
		{"all", "b\nb\n", "b", "x", true, "x\nx\n", "edited f: 2 lines added, 2 removed\n2 occurrences were replaced"},
		{"all of one", "a\nb\n", "b", "x", true, "a\nx\n", done},
		{"removed", "a\nb\n", "b\n", "", false, "a\n", "edited f: 0 lines added, 1 removed"},
		{"CRLF stays", "a\r\nb\r\nc\r\n", "a\nb\n", "x\n", false, "x\r\nc\r\n", "edited f: 1 line added, 2 removed"},
		{"mark stays", "\ufeffa\nb\n", "a\n", "x\n", false, "\ufeffx\nb\n", done},
		{"CRLF wished for a file without", "a\nb\n", "a\r\nb\r\n", "x\r\nb\r\n", false, "x\nb\n", done + "\nCRLF in the texts was read as the line ending of the file"},
		{"overlapping, all", "a\n\n\n\nb\n", "\n\n", "\n", true, "a\n\nb\n", "edited f: 0 lines added, 2 removed\n2 occurrences were replaced"},
		{"mixed line ends stay", "a\r\nb\nc\r\n", "b\n", "x\n", false, "a\r\nx\nc\r\n", done},
		{
			"punctuation", "say “hello” — now\n", `"hello" - now`, `"hello" - then`, false, "say “hello” — then\n",
			done + "\nold_text fits line 1 only without regard to Unicode punctuation; it was replaced there, and the lines are now:\n1\tsay “hello” — then",
		},
		{
			"ellipsis", "“wait…” and so on…\n", `"wait..." and so on...`, `"wait..." and not so on...`, false, "“wait…” and not so on…\n",
			done + "\nold_text fits line 1 only without regard to Unicode punctuation; it was replaced there, and the lines are now:\n1\t“wait…” and not so on…",
		},
		{
			"ellipsis in the wish", "wait... \n", "wait…", "stop…", false, "stop... \n",
			done + "\nold_text fits line 1 only without regard to Unicode punctuation; it was replaced there, and the lines are now:\n1\tstop... ",
		},
		{
			"long dash", "a — b\n", "a -- b", "a -- c", false, "a — c\n",
			done + "\nold_text fits line 1 only without regard to Unicode punctuation; it was replaced there, and the lines are now:\n1\ta — c",
		},
		{
			"removed in another form", "a\n  b\n", "   b\n", "", false, "a\n",
			"edited f: 0 lines added, 1 removed\nold_text fits line 2 only without regard to white space and indentation; it was removed there",
		},
		{"mixed line ends of several lines", "one\r\ntwo\nthree\r\n", "one\ntwo\n", "1\n2\n", false, "1\r\n2\nthree\r\n", "edited f: 2 lines added, 2 removed"},
		{"more lines with mixed ends", "one\r\ntwo\nthree\r\nfour\n", "one\n", "1\n1a\n1b\n", false, "1\r\n1a\r\n1b\r\ntwo\nthree\r\nfour\n", "edited f: 3 lines added, 1 removed"},
		{"fewer lines with mixed ends", "\ufeffone\r\ntwo\nthree\r\nfour\n", "one\ntwo\n", "", false, "\ufeffthree\r\nfour\n", "edited f: 1 line added, 3 removed"},
		{"mixed line ends, meant", "one\r\ntwo\n", "one\r\n", "one\n", false, "one\ntwo\n", done},
		{
			"no-break space", "a\u00a0b\n", "a b", "a c", false, "a\u00a0c\n",
			done + "\nold_text fits line 1 only without regard to Unicode punctuation; it was replaced there, and the lines are now:\n1\ta\u00a0c",
		},
		{
			"trailing white space", "a \t\nb\nc\n", "a\nb\n", "x\nb\n", false, "x\nb\nc\n",
			done + "\nold_text fits line 1 only without regard to trailing white space; it was replaced there, and the lines are now:\n1\tx\n2\tb",
		},
		{
			"indentation", "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", "if a {\n    b()\n}\n", "if a {\n    c()\n}\n", false,
			"func f() {\n\tif a {\n\t\tc()\n\t}\n}\n",
			done + "\nold_text fits line 2 only without regard to white space and indentation; it was replaced there, and the lines are now:\n2\t\tif a {\n3\t\t\tc()\n4\t\t}",
		},
		{
			"deeper indentation than before", "\tif a {\n\t\tb()\n\t}\n", "if a {\n  b()\n}", "if a {\n  for {\n    b()\n  }\n}", false,
			"\tif a {\n\t\tfor {\n\t\t  b()\n\t\t}\n\t}\n",
			"edited f: 3 lines added, 1 removed\nold_text fits line 1 only without regard to white space and indentation; it was replaced there, and the lines are now:\n1\t\tif a {\n2\t\t\tfor {\n3\t\t\t  b()\n4\t\t\t}\n5\t\t}",
		},
		{
			"no line end at the end", "a\n  b", "b\n", "x\n", false, "a\n  x",
			done + "\nold_text fits line 2 only without regard to white space and indentation; it was replaced there, and the lines are now:\n2\t  x",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": test.before})
			p.call("read", `{"path":"f"}`)
			p.TB = t
			p.ok("edit", editArguments(t, test.old, test.new, test.all), test.told)
			if got := p.get("f"); got != test.after {
				t.Errorf("content %q, want %q", got, test.after)
			}
		})
	}
}

func TestEditThatFails(t *testing.T) {
	tests := []struct {
		name, before, old, new string
		want                   []string
	}{
		{"ambiguous", "x\na\nb\na\n", "a", "y", []string{"occurs 2 times, at lines 2, 4", "replace_all"}},
		{"ambiguous many times", strings.Repeat("a\n", 100), "a", "y", []string{"occurs 100 times", "18, 19, 20 and more"}},
		{"overlapping", "{\n}\n}\n}\n", "}\n}\n", "y", []string{"occurs 2 times, at lines 2, 3"}},
		{"a byte order mark alone", "ab\n", "\ufeff", "x", []string{"old_text not found"}},
		{"ambiguous up to white space", "  a()\nb\n\ta()\n", "    a()\n", "c()\n", []string{"without regard to white space and indentation it occurs 2 times, at lines 1, 3"}},
		{"same", "a\n", "a", "a", []string{"are the same"}},
		{"nothing like it", "a\nb\n", "zzzzzz", "y", []string{"no line of the file is similar"}},
		{"line numbers", "a\nb\n", "1\ta\n2\tb\n", "y", []string{"contains the line numbers of read"}},
		{"done before", "a\nthe new line\n", "the old line\n", "the new line\n", []string{"its new text is already at line 2"}},
		{"a short text is there by chance", "a\nx = y\n", "x  = z", "x", []string{"the most similar lines are 2-2:\n2\tx = y"}},
		{"a part of the old text is there, too", "b = 1\nreturn b + 1, nil\n", "b = 1\nc = 2\n", "return b + 1, nil", []string{"the most similar lines are 1-2:\n1\tb = 1"}},
		{"nearly", "package x\n\nfunc sum(a, b int) int {\n\treturn a + b\n}\n", "func sum(a, c int) int {\n\treturn a + b\n}\n", "y", []string{
			"the most similar lines are 3-5:\n3\tfunc sum(a, b int) int {\n4\t\treturn a + b\n5\t}\n",
			`line 3 is "func sum(a, b int) int {", old_text has "func sum(a, c int) int {"`,
		}},
		{"nearly, in one line", "one\nconst limit = 10\nthree\n", "const limit = 20", "y", []string{"are 2-2", `line 2 is "const limit = 10", old_text has "const limit = 20"`}},
		{"other case", "Const Limit\n", "const limit\n", "y", []string{"only upper and lower case differ"}},
		{"too long", "a long first line\n", "a long first line\nand another\n", "y", []string{"old_text has 2 lines; the first 1 are the same"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": test.before})
			p.call("read", `{"path":"f"}`)
			p.TB = t
			p.fails("edit", editArguments(t, test.old, test.new, false), test.want...)
			if got := p.get("f"); got != test.before {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

// A text that fits exactly and only once proves that the model knows what it changes. For everything else it must have read the version.
func TestEditNeedsTheVersionOrProof(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a  b\nc\nc\n", "dos": "a\r\nb\r\n"})
	const unread = "does not fit exactly and only once, and f exists and was not read yet; read it first"
	p.fails("edit", editArguments(t, "a b", "x", false), unread)
	p.fails("edit", editArguments(t, "c", "x", true), unread)
	p.fails("edit", editArguments(t, "c", "x", false), "occurs 2 times, at lines 2, 3", "was not read yet")
	p.fails("edit", editArguments(t, "a  bb", "x", false), "the most similar lines are 1-1", "was not read yet")
	p.ok("edit", editArguments(t, "a  b", "a  x", false), "edited f: 1 line added, 1 removed")
	p.ok("edit", `{"path":"dos","old_text":"a\nb","new_text":"x\ny"}`, "edited dos: 2 lines added, 2 removed")
	p.ok("multi_edit", multiEdit(t, "a  x", "a  y", "a  y\nc", "a  b\nd"), "edited f: 2 lines added, 2 removed")
	// The proof is about its place only.
	p.fails("edit", editArguments(t, "a b", "x", false), unread)
	p.fails("delete", `{"paths":["f"]}`, "f exists and was not read yet")
	p.fails("write", `{"path":"f","content":""}`, "f exists and was not read yet")
	if _, result, err := p.call("edit", editArguments(t, "d", "c", false)); err != nil || result.Details.([]files.Change)[0].Hash != "" {
		t.Errorf("details %+v, %v", result.Details, err)
	}

	p.call("read", `{"path":"f"}`)
	p.put("f", "a  b\nc\nc\nmore\n") // a formatter of the model, or another program
	p.fails("edit", editArguments(t, "a b", "x", false), "does not fit exactly and only once, and f has changed since it was read; read it again")
	p.fails("write", `{"path":"f","content":""}`, "f has changed since it was read")
	p.ok("edit", editArguments(t, "more", "less", false), "edited f: 1 line added, 1 removed")
	p.fails("edit", editArguments(t, "a b", "x", false), "f has changed since it was read")
	p.call("read", `{"path":"f"}`)
	p.ok("edit", editArguments(t, "less", "least", false), "edited f: 1 line added, 1 removed")
	p.ok("edit", editArguments(t, "a b", "x", false), "edited f: 1 line added, 1 removed\n"+
		"old_text fits line 1 only without regard to white space and indentation; it was replaced there, and the lines are now:\n1\tx") // its own change it has seen
	if err := os.Remove(filepath.Join(p.dir, "f")); err != nil {
		t.Fatal(err)
	}
	p.fails("edit", editArguments(t, "c", "d", false), "f not found")
}

func TestEditKeepsTheModeAndTellsTheDifference(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\nb\n"})
	if err := os.Chmod(filepath.Join(p.dir, "f"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.call("read", `{"path":"f"}`)
	result := p.ok("edit", editArguments(t, "b", "c\nd", false), "edited f: 2 lines added, 1 removed")
	want := tool.FileDiff{Path: "f", Added: 2, Removed: 1, Text: "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"}
	if !slices.Equal(result.Diffs, []tool.FileDiff{want}) {
		t.Errorf("diffs %+v, want %+v", result.Diffs, want)
	}
	if info, err := os.Stat(filepath.Join(p.dir, "f")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// The whole of a large file is rewritten: the counts are right, and the difference that is kept is bounded.
func TestTheDifferenceIsBounded(t *testing.T) {
	p := newProject(t, nil)
	p.call("write", `{"path":"f","content":"x"}`)
	arguments, err := json.Marshal(map[string]string{"path": "f", "content": strings.Repeat("a line of the new text\n", 20_000)})
	if err != nil {
		t.Fatal(err)
	}
	_, result, err := p.call("write", string(arguments))
	if err != nil || len(result.Diffs) != 1 {
		t.Fatal(result, err)
	}
	if d := result.Diffs[0]; d.Added != 20_000 || d.Removed != 1 || len(d.Text) > 64<<10 || !d.Cut {
		t.Errorf("%d added, %d removed, %d bytes of difference", d.Added, d.Removed, len(d.Text))
	}
}

// Two edits of one file at once, as two agents make them: one of them wins, and no change is lost unseen.
func TestEditsAtOnce(t *testing.T) {
	p := newProject(t, map[string]string{"f": "0\n"})
	p.call("read", `{"path":"f"}`)
	results := make(chan error)
	for i := range 8 {
		go func() {
			call, err := p.tools["edit"].Prepare(t.Context(), editArguments(t, "0", fmt.Sprintf("%d won", i+1), false))
			if err == nil {
				_, err = call.Run(t.Context(), nil)
			}
			results <- err
		}()
	}
	won := 0
	for range 8 {
		if err := <-results; err == nil {
			won++
		}
	}
	if got := p.get("f"); won != 1 || !strings.HasSuffix(got, " won\n") {
		t.Errorf("%d edits succeeded, the file is %q", won, got)
	}
}

// Whatever the texts are, edit does not panic, and either changes the file or says why not.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\n", "b", "c", false)
	f.Add("a\r\n  b\r\n", "a\nb\n", "x\n", true)
	f.Add("“a” — b\n", `"a" - b`, `"a" - c`, false)
	f.Add("\tif x {\n\t}\n", "if x {\n}", "if y {\n}", false)
	f.Add("a…b\r\n—…\n", "a...b\n--.", "a…\r\n", true)
	f.Add("\ufeff\xff\x00", "\xff", "é", false)
	p := newProject(f, nil)
	f.Fuzz(func(t *testing.T, before, old, new string, all bool) {
		p.TB = t
		p.put("f", before)
		p.call("read", `{"path":"f"}`)
		text, _, err := p.call("edit", editArguments(t, old, new, all))
		if (err == nil) == (text == "") {
			t.Errorf("text %q, error %v", text, err)
		}
		if err != nil && p.get("f") != before {
			t.Errorf("%v, but the file became %q", err, p.get("f"))
		}
	})
}
