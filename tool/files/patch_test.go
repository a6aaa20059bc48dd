package files_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func patchArguments(t testing.TB, patch string) string {
	t.Helper()
	data, err := json.Marshal(map[string]string{"patch": patch})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// envelope is a whole patch.
func envelope(body string) string { return "*** Begin Patch\n" + body + "*** End Patch\n" }

const program = `package main

import "fmt"

func first() {
	fmt.Println("a")
	return
}

func second() {
	fmt.Println("a")
	return
}
`

func TestPatchOfOneFile(t *testing.T) {
	const head = "*** Update File: f\n"
	const done = "edited f: 1 line added, 1 removed"
	tests := []struct {
		name, before, patch, after, told string
	}{
		{"context", program, head + "@@\n import \"fmt\"\n \n-func first() {\n+func primary() {\n", strings.Replace(program, "first", "primary", 1), done},
		{"without @@", "a\nb\nc\n", head + " a\n-b\n+x\n c\n", "a\nx\nc\n", done},
		{"an empty line without its space", "a\n\nb\n", head + "@@\n a\n\n-b\n+x\n", "a\n\nx\n", done},
		{
			"the line behind @@ says which of two", program, head + "@@ func second() {\n-\tfmt.Println(\"a\")\n+\tfmt.Println(\"b\")\n",
			program[:strings.LastIndex(program, `"a"`)] + `"b"` + program[strings.LastIndex(program, `"a"`)+3:], done,
		},
		{
			"and when there are more behind it, the first is meant", program, head + "@@ func first()\n-\tfmt.Println(\"a\")\n+\tfmt.Println(\"b\")\n",
			strings.Replace(program, `"a"`, `"b"`, 1),
			done + "\nf: hunk 1 (line 3 of the patch) was applied at line 6: the first place after its @@ line; it also fits at lines 11",
		},
		{"several lines behind @@", "class A\n def f\n  x\nclass B\n def f\n  x\n", head + "@@ class B\n@@ def f\n-  x\n+  y\n", "class A\n def f\n  x\nclass B\n def f\n  y\n", done},
		{
			"line numbers of a unified diff", "x\na\nx\na\nx\n", head + "--- a/f\n+++ b/f\n@@ -3,2 +3,2 @@\n x\n-a\n+b\n", "x\na\nx\nb\nx\n",
			done + "\nf: hunk 1 (line 5 of the patch) was applied at line 3: the place nearest to line 3; it fits at lines 1, 3",
		},
		{"two hunks, the second in what is behind the first", "x\na\nx\na\n", head + "@@\n-x\n-a\n+1\n@@\n-x\n-a\n+2\n", "", ""},
		{"hunks in order", "h\na\nx\na\n", head + "@@\n-h\n+H\n a\n@@\n x\n-a\n+b\n", "H\na\nx\nb\n", "edited f: 2 lines added, 2 removed"},
		{"hunks out of order", "a\nb\nc\nd\n", head + "@@\n-d\n+D\n@@\n-a\n+A\n", "A\nb\nc\nD\n", "edited f: 2 lines added, 2 removed"},
		{"one file twice", "a\nb\n", head + "@@\n-a\n+A\n" + head + "@@\n-b\n+B\n", "A\nB\n", "edited f: 2 lines added, 2 removed"},
		{"the end of the file", "a\nb\na\n", head + "@@\n-a\n+x\n*** End of File\n", "a\nb\nx\n", done},
		{
			"only new lines right before a hunk that came earlier", "a\nb\nc\n", head + "@@\n-b\n-c\n+x\n@@ a\n+y\n", "a\ny\nx\n",
			"edited f: 2 lines added, 2 removed",
		},
		{"only new lines behind a line", "a\nb\n", head + "@@ a\n+x\n", "a\nx\nb\n", "edited f: 1 line added, 0 removed"},
		{
			"only new lines", "a\n", head + "@@\n+x\n", "a\nx\n",
			"edited f: 1 line added, 0 removed\nf: hunk 1 (line 3 of the patch) has no line of the file; its lines were added at the end",
		},
		{"into an empty file", "", head + "+x\n", "x\n", "edited f: 1 line added, 0 removed\nf: hunk 1 (line 3 of the patch) has no line of the file; its lines were added at the end"},
		{"CRLF stays", "a\r\nb\r\n", head + "@@\n a\n-b\n+x\n", "a\r\nx\r\n", done},
		{"a patch in CRLF", "a\nb\n", strings.ReplaceAll(head+"@@\n a\n-b\n+x\n", "\n", "\r\n"), "a\nx\n", done},
		{"mixed line ends stay", "a\r\nb\nc\n", head + "@@\n-a\n+x\n b\n", "x\r\nb\nc\n", done},
		{"a byte order mark stays", "\ufeffa\nb\n", head + "@@\n-a\n+x\n", "\ufeffx\nb\n", done},
		{"no line end at the end stays", "a\nb", head + "@@\n-b\n+x\n", "a\nx", done},
		{
			"trailing white space", "a \t\nb\n", head + "@@\n a\n-b\n+x\n", "a \t\nx\n",
			done + "\nf: hunk 1 (line 3 of the patch) was applied at line 1: it fits only without regard to trailing white space; it was replaced there, and the lines are now:\n1\ta \t\n2\tx",
		},
		{
			"indentation", "func f() {\n\tif a {\n\t\tb()\n\t}\n}\n", head + "@@\n if a {\n-    b()\n+    c()\n }\n", "func f() {\n\tif a {\n\t\tc()\n\t}\n}\n",
			done + "\nf: hunk 1 (line 3 of the patch) was applied at line 2: it fits only without regard to indentation; it was replaced there, and the lines are now:\n2\t\tif a {\n3\t\t\tc()\n4\t\t}",
		},
		{
			"Unicode punctuation", "say “hello”\nb\n", head + "@@\n say \"hello\"\n-b\n+x\n", "say “hello”\nx\n",
			done + "\nf: hunk 1 (line 3 of the patch) was applied at line 1: it fits only without regard to white space and Unicode punctuation; it was replaced there, and the lines are now:\n1\tsay “hello”\n2\tx",
		},
		{"empty lines around a hunk that are not there", "a\nb\n", head + "@@\n\n-b\n+x\n\n", "a\nx\n", done},
		{"a line that stays without its space", "a\nb\n", head + "@@\na\n-b\n+x\n", "a\nx\n", done},
		{
			"a line behind @@ that is not there", "a\nb\n", head + "@@ zzz\n-b\n+x\n", "a\nx\n",
			done + "\nf: hunk 1 (line 3 of the patch): no line matches \"zzz\" after @@",
		},
		{"no difference", "a\n", head + "@@\n-a\n+a\n", "a\n", "the patch leaves f as it was"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": test.before})
			p.call("read", `{"path":"f"}`)
			if test.told == "" {
				p.fails("patch", patchArguments(t, envelope(test.patch)), "fits in 2 places, at lines 1, 3")
				return
			}
			p.ok("patch", patchArguments(t, envelope(test.patch)), test.told)
			if got := p.get("f"); got != test.after {
				t.Errorf("content %q, want %q", got, test.after)
			}
		})
	}
}

// What models write around a patch is not what counts.
func TestPatchForms(t *testing.T) {
	const body = "*** Update File: f\n@@\n-a\n+b\n"
	const done = "edited f: 1 line added, 1 removed"
	tests := []struct{ name, patch, told string }{
		{"exact", envelope(body), done},
		{"without Begin Patch", body + "*** End Patch", "\"*** Begin Patch\" was missing"},
		{"without End Patch", "*** Begin Patch\n" + body, "\"*** End Patch\" was missing; is the patch complete?"},
		{"in a fence", "```diff\n" + envelope(body) + "```\n", done},
		{"in a fence that is all there is around it", "```\n" + body + "```\n", "\"*** Begin Patch\" was missing"},
		{"in a here-document", "apply_patch <<'EOF'\n" + envelope(body) + "EOF\n", done},
		{"in other words", "*** begin patch\n***modify file: `f`\n@@ @@\n-a\n+b\n*** end patch", done},
		{"with empty lines between", "\n\n*** Begin Patch\n\n\n" + body + "\n\n*** End Patch\n\n", done},
		{"no newline at end of file", envelope(body + "\\ No newline at end of file\n"), done},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": "a\n"})
			p.call("read", `{"path":"f"}`)
			text, _, err := p.call("patch", patchArguments(t, test.patch))
			if err != nil || !strings.HasPrefix(text, done) || !strings.Contains(text, test.told) || p.get("f") != "b\n" {
				t.Errorf("%q, %v, file %q", text, err, p.get("f"))
			}
		})
	}
}

// Several patches in one text are one patch, and what a file says of patches is not the end of one.
func TestPatchEnvelopes(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\n*** End Patch\nb\nc\n", "g": "a\n"})
	p.call("read", `{"path":"f"}`)
	p.call("read", `{"path":"g"}`)
	p.ok("patch", patchArguments(t, envelope("*** Update File: f\n@@\n a\n *** End Patch\n-b\n+B\n c\n")), "edited f: 1 line added, 1 removed")
	p.ok("patch", patchArguments(t, envelope("*** Update File: f\n@@\n-a\n+A\n")+"\n"+envelope("*** Update File: g\n@@\n-a\n+A\n")),
		"edited f: 1 line added, 1 removed\nedited g: 1 line added, 1 removed")
	if f, g := p.get("f"), p.get("g"); f != "A\n*** End Patch\nB\nc\n" || g != "A\n" {
		t.Errorf("f is %q, g is %q", f, g)
	}
}

func TestPatchThatFails(t *testing.T) {
	const head = "*** Update File: f\n"
	tests := []struct {
		name, before, patch string
		want                []string
	}{
		{"nothing", "a\n", "", []string{"the patch has no", "Update File"}},
		{"no header", "a\n", "@@\n-a\n+b\n", []string{`line 2 of the patch is "@@"`, "[tool.patch]"}},
		{"no path", "a\n", "*** Update File:\n-a\n", []string{"line 2 of the patch names no file"}},
		{"no changes", "a\n", head, []string{"line 2 of the patch updates f, but no changes follow"}},
		{"a new line without +", "a\n", "*** Add File: g\n+a\nb\n", []string{`line 4 of the patch, "b", belongs to the new file g and must begin with +`}},
		{
			"nearly", "package x\n\nfunc sum(a, b int) int {\n\treturn a + b\n}\n", head + "@@\n-func sum(a, c int) int {\n \treturn a + b\n",
			[]string{
				"f: hunk 1 (line 3 of the patch) not found; the most similar lines are 3-4:\n3\tfunc sum(a, b int) int {\n4\t\treturn a + b\n",
				`line 3 is "func sum(a, b int) int {", hunk 1 (line 3 of the patch) has "func sum(a, c int) int {"`, "no part of the patch was applied",
			},
		},
		{"done before", "the new line\n", head + "@@\n-the old line\n+the new line\n", []string{"its new text is already at line 1"}},
		{"nothing like it", "a\n", head + "@@\n-zzzzz\n+b\n", []string{"no line of the file is similar"}},
		{"several hunks", "a\n", head + "@@\n-zzzzz\n+b\n@@\n-yyyyy\n+b\n", []string{"hunk 1 (line 3", "hunk 2 (line 6"}},
		{"line numbers of read", "a\nb\n", head + "@@\n-1\ta\n 2\tb\n", []string{"contains the line numbers of read"}},
		{
			"only new lines in the midst of another hunk", "a\nb\nc\n", head + "@@\n-a\n-b\n+x\n@@ a\n+y\n",
			[]string{"hunk 2 (line 7 of the patch) adds lines between those that an earlier hunk changes; join the two hunks"},
		},
		{"ambiguous", "x\na\nx\na\n", head + "@@\n-a\n+b\n", []string{"hunk 1 (line 3 of the patch) fits in 2 places, at lines 2, 4; include more of the lines around it"}},
		{"two hunks for one place", "a\n", head + "@@\n-a\n+b\n@@\n-a\n+c\n", []string{"hunk 2"}},
		{"only new lines behind a line that is not there", "a\n", head + "@@ zz\n+b\n", []string{"the line after its @@ is not in the file"}},
		{"a file that is not there", "a\n", "*** Update File: othe\n-a\n+b\n", []string{"othe not found; did you mean other?"}},
		{"deleted, but not there", "a\n", "*** Delete File: g\n", []string{"g not found"}},
		{"deletes a directory", "a\n", "*** Delete File: dir\n", []string{"dir is a directory; a patch deletes only files"}},
		{"updates a directory", "a\n", "*** Update File: dir\n-a\n", []string{"is a directory"}},
		{"outside", "a\n", "*** Add File: ../g\n+a\n", []string{"outside the workspace"}},
		{"moved outside", "a\n", head + "*** Move to: ../g\n", []string{"outside the workspace"}},
		{"moved to what is there", "a\n", head + "*** Move to: other\n@@\n-a\n+b\n", []string{"cannot move f: other exists"}},
		{"one file in two ways", "a\n", head + "@@\n-a\n+b\n*** Delete File: f\n", []string{"f is changed twice at once"}},
		{"added over what was not read", "a\n", "*** Add File: other\n+b\n", []string{"other exists and was not read yet"}},
		{"loosely in a file that was not read", "a\n", "*** Update File: other\n-x \n+b\n", []string{"other exists and was not read yet"}},
		{"only new lines in a file that was not read", "a\n", "*** Update File: other\n@@ x\n+b\n", []string{"other exists and was not read yet"}},
		{"deletes what was not read", "a\n", "*** Delete File: other\n", []string{"other exists and was not read yet"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": test.before, "other": "x\n", "dir/x": ""})
			p.call("read", `{"path":"f"}`)
			p.fails("patch", patchArguments(t, envelope(test.patch)), test.want...)
			if p.get("f") != test.before || p.get("other") != "x\n" {
				t.Errorf("the files became %q and %q", p.get("f"), p.get("other"))
			}
		})
	}
}

// Hunks that fit exactly and only once prove that the model knows what it changes, also in files that a formatter changed after a patch.
func TestPatchOfFilesThatWereNotRead(t *testing.T) {
	p := newProject(t, map[string]string{"f": "a\nb\nc\nd\nb\n", "g": "x\r\ny\r\n", "h": "1\n"})
	first := "*** Update File: f\n@@\n a\n-b\n+B\n c\n@@\n d\n-b\n+D\n*** Update File: g\n@@\n-x\n+X\n*** Update File: h\n*** Move to: i\n"
	p.ok("patch", patchArguments(t, envelope(first)), "edited f: 2 lines added, 2 removed\nedited g: 1 line added, 1 removed\nmoved h to i")
	p.put("f", "a\n\nB\nc\nd\nD\n")
	p.ok("patch", patchArguments(t, envelope("*** Update File: f\n@@\n \n-B\n+b\n")), "edited f: 1 line added, 1 removed")
	if f, g := p.get("f"), p.get("g"); f != "a\n\nb\nc\nd\nD\n" || g != "X\r\ny\r\n" {
		t.Errorf("f is %q, g is %q", f, g)
	}
	p.fails("patch", patchArguments(t, envelope("*** Delete File: f\n")), "f exists and was not read yet")
}

func TestPatchOfSeveralFiles(t *testing.T) {
	p := newProject(t, map[string]string{"edit": "a\nb\n", "move": "m\n", "both": "1\n2\n", "gone": "x\n", "full": "old\n"})
	for _, name := range []string{"edit", "move", "both", "gone", "full"} {
		p.call("read", `{"path":"`+name+`"}`)
	}
	if err := os.Chmod(filepath.Join(p.dir, "both"), 0o755); err != nil {
		t.Fatal(err)
	}
	patch := envelope("*** Update File: edit\n@@\n-b\n+B\n" +
		"*** Update File: move\n*** Move to: sub/moved\n" +
		"*** Update File: both\n*** Move to: sub/changed\n@@\n-2\n+two\n" +
		"*** Delete File: gone\n" +
		"*** Add File: new/file\n+n\n" +
		"*** Add File: full\n+new\n" +
		"*** Add File: empty\n")
	result := p.ok("patch", patchArguments(t, patch), strings.Join([]string{
		"edited edit: 1 line added, 1 removed", "moved move to sub/moved", "moved both to sub/changed: 1 line added, 1 removed", "deleted gone",
		"created new/file: 1 line added, 0 removed", "replaced full: 1 line added, 1 removed", "created empty: 0 lines added, 0 removed",
	}, "\n"))
	for name, want := range map[string]string{"edit": "a\nB\n", "sub/moved": "m\n", "sub/changed": "1\ntwo\n", "new/file": "n\n", "full": "new\n", "empty": ""} {
		if got := p.get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"move", "both", "gone"} {
		if _, err := os.Lstat(filepath.Join(p.dir, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Stat(filepath.Join(p.dir, "sub/changed")); err != nil || info.Mode().Perm() != 0o755 && filepath.Separator == '/' {
		t.Errorf("the mode became %v, %v", info.Mode(), err)
	}
	diffs := result.Diffs
	if len(diffs) != 7 || diffs[2].From != "both" || !diffs[3].Deleted || diffs[3].Removed != 1 ||
		diffs[3].Text != "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" {
		t.Errorf("diffs %+v", diffs)
	}
	// The tool knows the files that a patch made.
	p.ok("patch", patchArguments(t, envelope("*** Update File: sub/changed\n@@\n-1\n+one\n*** Add File: full\n+newer\n")),
		"edited sub/changed: 1 line added, 1 removed\nreplaced full: 1 line added, 1 removed")
}

// When one file cannot be changed, none is.
func TestPatchIsAllOrNothing(t *testing.T) {
	p := newProject(t, map[string]string{"a": "a\n", "b": "b\n"})
	p.call("read", `{"path":"a"}`)
	p.call("read", `{"path":"b"}`)
	call, err := p.tools["patch"].Prepare(t.Context(), patchArguments(t, envelope("*** Update File: a\n-a\n+A\n*** Add File: sub/new\n+n\n*** Update File: b\n-zzz\n+B\n*** Delete File: c\n")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = call.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "b: hunk 1") || !strings.Contains(err.Error(), "c not found") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Lstat(filepath.Join(p.dir, "sub")); p.get("a") != "a\n" || err == nil {
		t.Errorf("a is %q, sub: %v", p.get("a"), err)
	}
	// The directory of the second one is a file: that is seen only when it is written.
	p.put("file", "")
	p.fails("patch", patchArguments(t, envelope("*** Update File: a\n-a\n+A\n*** Add File: file/new\n+n\n")), "file")
	if p.get("a") != "a\n" {
		t.Errorf("a is %q", p.get("a"))
	}
	// And what was not written is not taken for known.
	p.ok("patch", patchArguments(t, envelope("*** Update File: a\n-a\n+A\n")), "edited a: 1 line added, 1 removed")
}

func TestPatchEffects(t *testing.T) {
	p := newProject(t, map[string]string{"a": "a\n"})
	call, err := p.tools["patch"].Prepare(t.Context(), patchArguments(t, envelope("*** Update File: a\n*** Move to: b\n*** Add File: c\n*** Delete File: d\n")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range call.Effects.Writes {
		got = append(got, filepath.Base(w.Name))
	}
	if !slices.Equal(got, []string{"a", "b", "c", "d"}) || call.Effects.Idempotent || len(call.Effects.Reads) > 0 {
		t.Errorf("effects %+v", call.Effects)
	}
	if _, err := p.tools["patch"].Prepare(t.Context(), patchArguments(t, "nothing")); err == nil {
		t.Error("a text that is no patch is taken")
	}
}

// Whatever the patch is, it does not panic, and either all of it is applied or nothing.
func FuzzPatch(f *testing.F) {
	f.Add("a\nb\n", envelope("*** Update File: f\n@@\n a\n-b\n+c\n"))
	f.Add("a\r\n", envelope("*** Update File: f\n@@ -1 +1 @@ a\n-a\n+c\n*** End of File\n*** Add File: g\n+x\n"))
	f.Add("\ufeffa", "```\n*** Update File: f\n*** Move to: g\n@@ a\n+b\n```")
	f.Add("caf\xe9\n", envelope("*** Update File: f\n@@\n-café\n+thé\n"))
	f.Add("", envelope("*** Delete File: f\n"))
	p := newProject(f, nil)
	f.Fuzz(func(t *testing.T, before, patch string) {
		p.TB = t
		p.put("f", before)
		p.call("read", `{"path":"f"}`)
		call, err := p.tools["patch"].Prepare(t.Context(), patchArguments(t, patch))
		if err != nil {
			return
		}
		_, previewErr := call.Preview(t.Context())
		_, err = call.Run(t.Context(), nil)
		if previewErr != nil && err == nil {
			t.Errorf("it was applied, but could not be shown: %v", previewErr)
		}
		if err != nil && p.get("f") != before {
			t.Errorf("%v, but the file became %q", err, p.get("f"))
		}
	})
}
