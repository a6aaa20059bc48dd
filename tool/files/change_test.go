package files_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/unprivileged"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
)

func multiEdit(t testing.TB, pairs ...string) string {
	t.Helper()
	var edits []map[string]string
	for i := 0; i < len(pairs); i += 2 {
		edits = append(edits, map[string]string{"old_text": pairs[i], "new_text": pairs[i+1]})
	}
	data, err := json.Marshal(map[string]any{"path": "f", "edits": edits})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestMultiEdit(t *testing.T) {
	tests := []struct {
		name, before string
		pairs        []string
		after, told  string
	}{
		{"one", "a\nb\n", []string{"a", "x"}, "x\nb\n", "edited f: 1 line added, 1 removed"},
		{"in order", "a\nb\n", []string{"a", "b2", "b2", "c", "b\n", "d\n"}, "c\nd\n", "edited f: 2 lines added, 2 removed"},
		{
			"an inexact match is reported with its number", "a \nb\n",
			[]string{"b", "x", "a\nx", "y\nx"},
			"y\nx\n",
			"edited f: 2 lines added, 2 removed\nedit 2 of 2: old_text fits line 1 only without regard to trailing white space; it was replaced there, and the lines are now:\n1\ty\n2\tx",
		},
		{"back and forth", "a\n", []string{"a", "b", "b", "a"}, "a\n", "the edits leave f as it was; nothing was changed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": test.before})
			p.call("read", `{"path":"f"}`)
			p.ok("multi_edit", multiEdit(t, test.pairs...), test.told)
			if got := p.get("f"); got != test.after {
				t.Errorf("content %q, want %q", got, test.after)
			}
		})
	}
	p := newProject(t, map[string]string{"f": "a\nb\n"})
	p.fails("multi_edit", multiEdit(t, "a", "x", "b ", "y"), "was not read yet")
	p.call("read", `{"path":"f"}`)
	p.fails("multi_edit", multiEdit(t, "a", "x", "a", "y"), "f: edit 2 of 2: old_text not found", "an earlier edit of this call changed it",
		"no edit was made")
	p.fails("multi_edit", `{"path":"f","edits":[]}`, "edits")
	if p.get("f") != "a\nb\n" {
		t.Errorf("the file became %q", p.get("f"))
	}
}

func TestDelete(t *testing.T) {
	p := newProject(t, map[string]string{"a": "1\n2\n", "b": "", "dir/x": "x\n", "dir/sub/.hidden": "", "dir/y.o": "", ".gitignore": "*.o\n", "keep": "k\n"})
	if err := errors.Join(os.Mkdir(filepath.Join(p.dir, "empty"), 0o777), os.Symlink("keep", filepath.Join(p.dir, "link")),
		os.Symlink("../keep", filepath.Join(p.dir, "dir/link"))); err != nil {
		t.Skip("no links here")
	}
	p.fails("delete", `{"paths":["a"]}`, "a exists and was not read yet")
	p.call("read", `{"path":"a","limit":1}`)
	p.call("read", `{"path":"b"}`)
	p.fails("delete", `{"paths":["a","none"]}`, "none not found")
	p.fails("delete", `{"paths":["dir"]}`, "dir is not empty; set recursive")
	p.fails("delete", `{"paths":["../x"]}`, "outside the workspace")
	p.fails("delete", `{"paths":["."],"recursive":true}`, "")
	if p.get("a") == "" || p.get("dir/x") == "" {
		t.Fatal("something is gone")
	}
	result := p.ok("delete", `{"paths":["a","b","link","empty"]}`, "deleted a\ndeleted b\ndeleted link link\ndeleted directory empty")
	if c := result.Diffs; len(c) != 4 || c[0].Removed != 2 || !c[0].Deleted || c[0].Text == "" || c[2].Text != "" {
		t.Errorf("diffs %+v", c)
	}
	p.ok("delete", `{"paths":"dir","recursive":true}`, "deleted link dir/link\ndeleted directory dir/sub\ndeleted dir/sub/.hidden\ndeleted dir/x\ndeleted dir/y.o\ndeleted directory dir")
	if entries, err := os.ReadDir(p.dir); err != nil || len(entries) != 2 || p.get("keep") != "k\n" {
		t.Errorf("left are %v, %v", entries, err)
	}
	// A file that was read and has changed since is not deleted with its directory.
	p.put("dir/x", "1\n")
	p.call("read", `{"path":"dir/x"}`)
	p.put("dir/x", "2\n")
	p.fails("delete", `{"paths":["dir"],"recursive":true}`, "dir/x has changed since it was read")
	for i := range 600 {
		p.put(fmt.Sprintf("many/%d", i), "")
		p.put(fmt.Sprintf("more/%d", i), "")
	}
	p.fails("delete", `{"paths":["many","more"],"recursive":true}`, "[tool.too_large]")
	call, err := p.tools["delete"].Prepare(t.Context(), `{"paths":["many"],"recursive":true}`)
	if err != nil || len(call.Effects.Writes) != 1 || !call.Effects.Writes[0].Tree {
		t.Errorf("effects %+v, %v", call.Effects, err)
	}
}

// All of a file is replaced only when all of it was read.
func TestWriteNeedsTheWholeVersion(t *testing.T) {
	p := newProject(t, map[string]string{"f": "1\n2\n3\n4\n", "wide": strings.Repeat("x", 3000) + "\n", "link": ""})
	const write = `{"path":"f","content":"x\n"}`
	p.call("read", `{"path":"f","limit":2}`)
	p.fails("write", write, "f was read only in part (lines 1-2 of 4)")
	p.call("read", `{"path":"f","offset":4}`)
	p.fails("write", write, "f was not read whole")
	p.fails("patch", patchArguments(t, envelope("*** Add File: f\n+x\n")), "f was not read whole")
	p.ok("edit", `{"path":"f","old_text":"2","new_text":"two"}`, "edited f: 1 line added, 1 removed") // a part is enough
	p.fails("write", write, "f was not read whole")                                                   // and is still a part
	p.call("read", `{"path":"f","limit":2}`)
	p.call("read", `{"path":"f","offset":3,"limit":2}`) // the parts make a whole
	p.ok("write", write, "replaced f: 1 line added, 4 removed")
	p.ok("edit", `{"path":"f","old_text":"x","new_text":"y"}`, "edited f: 1 line added, 1 removed")
	p.ok("write", write, "replaced f: 1 line added, 1 removed") // the tool knows its own content
	p.call("read", `{"path":"wide"}`)
	p.fails("write", `{"path":"wide","content":"x"}`, "wide was not read whole")
}

// After a resume, the tools know from the details of the results which files were read.
func TestRecall(t *testing.T) {
	dir := t.TempDir()
	open := func() *project {
		ws, err := workspace.Open(dir, workspace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ws.Close() })
		p := &project{TB: t, dir: dir}
		p.use(files.NewSet(ws))
		return p
	}
	before := open()
	before.put("whole", "w\n")
	before.put("part", "1\n2\n3\n")
	before.put("parts", "1\n2\n3\n")
	before.put("gone", "g\n")
	before.put("changed", "c\n")
	before.put("unread", "a\n b\n")
	type record struct {
		tool    string
		details json.RawMessage
	}
	var journal []record
	did := func(tool, arguments string) {
		t.Helper()
		_, result, err := before.call(tool, arguments)
		data, err2 := json.Marshal(result.Details)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		journal = append(journal, record{tool, data})
	}
	did("read", `{"path":"whole"}`)
	did("read", `{"path":"part","limit":1}`)
	did("read", `{"path":"parts","limit":1}`)
	did("read", `{"path":"parts","offset":2}`)
	did("read", `{"path":"gone"}`)
	did("read", `{"path":"changed"}`)
	did("edit", `{"path":"unread","old_text":"a\n","new_text":"c\n"}`)
	did("write", `{"path":"made","content":"m\n"}`)
	did("patch", patchArguments(t, envelope("*** Update File: gone\n*** Move to: moved\n*** Update File: whole\n-w\n+W\n")))
	before.put("changed", "by someone else\n")

	after := open()
	for _, r := range journal {
		after.set.Recall(r.tool, r.details)
	}
	after.set.Recall("read", json.RawMessage("not JSON"))
	after.set.Recall("shell", json.RawMessage(`{"path":"changed"}`))
	after.ok("write", `{"path":"whole","content":"x\n"}`, "replaced whole: 1 line added, 1 removed")
	after.ok("write", `{"path":"made","content":"x\n"}`, "replaced made: 1 line added, 1 removed")
	after.ok("write", `{"path":"moved","content":"x\n"}`, "replaced moved: 1 line added, 1 removed")
	after.ok("write", `{"path":"parts","content":"x\n"}`, "replaced parts: 1 line added, 3 removed")
	after.fails("write", `{"path":"part","content":"x\n"}`, "part was read only in part (lines 1-1 of 3)")
	after.ok("edit", `{"path":"part","old_text":"1","new_text":"2"}`, "edited part: 1 line added, 1 removed")
	after.fails("edit", `{"path":"changed","old_text":"by  someone","new_text":"x"}`, "changed has changed since it was read")
	after.fails("edit", `{"path":"unread","old_text":"b  ","new_text":"x"}`, "unread exists and was not read yet")
}

func TestPreview(t *testing.T) {
	tests := []struct{ name, tool, arguments, want string }{
		{"write", "write", `{"path":"new","content":"x\n"}`, "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n"},
		{"edit", "edit", `{"path":"f","old_text":"b","new_text":"x"}`, "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+x\n"},
		{"multi_edit", "multi_edit", multiEdit(t, "b", "x", "x", "y"), "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+y\n"},
		{"delete", "delete", `{"paths":["f","dir"]}`, "--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\ndelete directory dir\n"},
		{
			"patch", "patch", patchArguments(t, envelope("*** Update File: f\n*** Move to: g\n-b\n+x\n*** Add File: empty\n")),
			"rename from f\nrename to g\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+x\ncreate empty\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": "a\nb\n"})
			if err := os.Mkdir(filepath.Join(p.dir, "dir"), 0o777); err != nil {
				t.Fatal(err)
			}
			call, err := p.tools[test.tool].Prepare(t.Context(), test.arguments)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := call.Preview(t.Context()); (err == nil) != (test.tool != "delete") {
				t.Errorf("before the read: %v", err)
			}
			p.call("read", `{"path":"f"}`)
			for range 2 {
				if got, err := call.Preview(t.Context()); err != nil || got != test.want {
					t.Errorf("%v\n got %q\nwant %q", err, got, test.want)
				}
			}
			if p.get("f") != "a\nb\n" {
				t.Error("showing it has changed it")
			}
			if _, err := call.Run(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	p := newProject(t, nil)
	if call, err := p.tools["read"].Prepare(t.Context(), `{"path":"f"}`); err != nil || call.Preview != nil {
		t.Errorf("read has a preview, %v", err)
	}
}

// Edits of different places of one file, each made from what the one before left: none is lost.
func TestNoUpdateIsLost(t *testing.T) {
	p := newProject(t, nil)
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "line <%d>\n", i)
	}
	p.put("f", text.String())
	p.call("read", `{"path":"f"}`)
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			for {
				call, err := p.tools["edit"].Prepare(t.Context(), editArguments(t, fmt.Sprintf("<%d>", i), fmt.Sprintf("(%d)", i), false))
				if err != nil {
					t.Error(err)
					return
				}
				_, err = call.Run(t.Context(), nil)
				if err == nil {
					return
				}
				if !strings.Contains(err.Error(), "has changed") {
					t.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	if want := strings.NewReplacer("<", "(", ">", ")").Replace(text.String()); p.get("f") != want {
		t.Errorf("the file became %q", p.get("f"))
	}
}

// A link that is put in the way after the arguments were judged leads nowhere.
func TestSwappedForALink(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ tool, arguments string }{
		{"write", `{"path":"f","content":"x\n"}`},
		{"edit", `{"path":"f","old_text":"a","new_text":"x"}`},
		{"patch", patchArguments(t, envelope("*** Update File: f\n-a\n+x\n"))},
		{"read", `{"path":"f"}`},
		{"delete", `{"paths":["d/f"]}`},
		{"patch", patchArguments(t, envelope("*** Add File: d/new\n+x\n"))},
	} {
		p := newProject(t, map[string]string{"f": "a\n", "d/f": "a\n"})
		p.call("read", `{"path":"f"}`)
		p.call("read", `{"path":"d/f"}`)
		call, err := p.tools[test.tool].Prepare(t.Context(), test.arguments)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Remove(filepath.Join(p.dir, "f")), os.RemoveAll(filepath.Join(p.dir, "d"))); err != nil {
			t.Fatal(err)
		}
		if errors.Join(os.Symlink(outside, filepath.Join(p.dir, "f")), os.Symlink(filepath.Dir(outside), filepath.Join(p.dir, "d"))) != nil {
			t.Skip("no links here")
		}
		result, err := call.Run(t.Context(), nil)
		if err == nil {
			t.Errorf("%s %s: %q", test.tool, test.arguments, result.Content.Text())
		}
		if data, err := os.ReadFile(outside); err != nil || string(data) != "secret\n" {
			t.Errorf("%s: outside is %q, %v", test.tool, data, err)
		}
		if entries, err := os.ReadDir(filepath.Dir(outside)); err != nil || len(entries) != 1 {
			t.Errorf("%s: outside has %v, %v", test.tool, entries, err)
		}
	}
}

// A link within the workspace is followed by what changes content, and stays a link.
func TestLinksInside(t *testing.T) {
	p := newProject(t, map[string]string{"real": "a\n"})
	if os.Symlink("real", filepath.Join(p.dir, "link")) != nil {
		t.Skip("no links here")
	}
	p.call("read", `{"path":"link"}`)
	p.ok("edit", `{"path":"link","old_text":"a","new_text":"b"}`, "edited real: 1 line added, 1 removed")
	p.ok("patch", patchArguments(t, envelope("*** Update File: link\n-b\n+c\n")), "edited real: 1 line added, 1 removed")
	p.fails("patch", patchArguments(t, envelope("*** Update File: link\n*** Move to: other\n-c\n+d\n")), "link is a link; a patch moves only files")
	if target, err := os.Readlink(filepath.Join(p.dir, "link")); err != nil || target != "real" || p.get("real") != "c\n" {
		t.Errorf("link leads to %q, %v; real is %q", target, err, p.get("real"))
	}
	p.fails("patch", patchArguments(t, envelope("*** Update File: link\n-c\n+d\n*** Delete File: real\n")), "changed twice at once")
}

func TestReadOnlyFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a read-only file is replaced here")
	}
	if !unprivileged.Is(t) {
		return
	}
	p := newProject(t, map[string]string{"f": "a\n", "g": "a\n"})
	if err := os.Chmod(filepath.Join(p.dir, "f"), 0o444); err != nil {
		t.Fatal(err)
	}
	p.call("read", `{"path":"f"}`)
	p.call("read", `{"path":"g"}`)
	p.fails("edit", `{"path":"f","old_text":"a","new_text":"b"}`, "permission denied")
	p.fails("patch", patchArguments(t, envelope("*** Update File: g\n-a\n+b\n*** Update File: f\n-a\n+b\n")), "permission denied")
	if p.get("f")+p.get("g") != "a\na\n" {
		t.Error("something was changed")
	}
}

func TestHiddenAndProtectedFiles(t *testing.T) {
	dir := t.TempDir()
	ws, err := workspace.Open(dir, workspace.Options{Hidden: []string{"secret"}, Protected: []string{"fixed"}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	p := &project{TB: t, dir: dir}
	p.use(files.NewSet(ws))
	p.put("secret", "s\n")
	p.put("fixed", "a\n")
	p.put("f", "a\n")
	p.call("read", `{"path":"f"}`)
	p.ok("read", `{"path":"fixed"}`, "1\ta\n[lines 1-1 of 1]")
	for _, name := range []string{"secret", "fixed"} {
		p.fails("edit", `{"path":"`+name+`","old_text":"a","new_text":"b"}`, name+" is")
		p.fails("write", `{"path":"`+name+`","content":"b"}`, name+" is")
		p.fails("delete", `{"paths":["`+name+`"]}`, name+" is")
		p.fails("patch", patchArguments(t, envelope("*** Add File: "+name+"\n+x\n")), "is")
		p.fails("patch", patchArguments(t, envelope("*** Update File: f\n*** Move to: "+name+"/x\n-a\n+b\n")), "is")
	}
	p.fails("read", `{"path":"secret"}`, "is kept secret")
	if p.get("f")+p.get("fixed")+p.get("secret") != "a\na\ns\n" {
		t.Error("something was changed")
	}
}
