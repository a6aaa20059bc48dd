package files_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

// What people see of a call comes from the tool: a title before it runs, one line and the diffs after it.
func TestFactsForPeople(t *testing.T) {
	p := newProject(t, nil)
	p.put("a.txt", strings.Repeat("line\n", 40))
	p.put("b.txt", "one\n")
	for _, test := range []struct{ tool, arguments, title, brief, diffs string }{
		{"read", `{"path":"a.txt"}`, "a.txt", "40 lines", ""},
		{"read", `{"path":"a.txt","offset":3,"limit":5}`, "a.txt:3-7", "lines 3 to 7 of 40", ""},
		{"read", `{"path":"b.txt"}`, "b.txt", "1 line", ""},
		{"list", `{}`, ".", "2 entries", ""},
		{"edit", `{"path":"b.txt","old_text":"one","new_text":"1\n2"}`, "b.txt", "+2 -1", "b.txt +2 -1"},
		{"write", `{"path":"c.txt","content":"x\n"}`, "c.txt", "+1 -0, new", "c.txt +1 -0 created"},
		{"delete", `{"paths":["b.txt","c.txt"]}`, "b.txt c.txt", "+0 -3, 2 files", "b.txt +0 -2 deleted, c.txt +0 -1 deleted"},
	} {
		call, err := p.tools[test.tool].Prepare(t.Context(), test.arguments)
		if err != nil {
			t.Fatalf("%s %s: %v", test.tool, test.arguments, err)
		}
		result, err := call.Run(t.Context(), func(string) {})
		if err != nil {
			t.Fatalf("%s %s: %v", test.tool, test.arguments, err)
		}
		if call.Title != test.title || result.Brief != test.brief || shortDiffs(result.Diffs) != test.diffs {
			t.Errorf("%s %s: title %q, brief %q, diffs %q", test.tool, test.arguments, call.Title, result.Brief, shortDiffs(result.Diffs))
		}
	}
}

// shortDiffs is diffs without their texts, which must have the lines that they count.
func shortDiffs(all []tool.FileDiff) string {
	var words []string
	for _, d := range all {
		word := fmt.Sprintf("%s +%d -%d", d.Path, d.Added, d.Removed)
		if d.Created {
			word += " created"
		}
		if d.Deleted {
			word += " deleted"
		}
		if d.Cut || strings.Count(d.Text, "\n+") != d.Added+1 || !strings.HasPrefix(d.Text, "--- ") {
			word += fmt.Sprintf(" with the text %q", d.Text)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}
