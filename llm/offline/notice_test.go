package offline

import "testing"

// The window's notices to a model are not the person's instructions.
func TestNotices(t *testing.T) {
	for text, want := range map[string]bool{
		"<context name=\"environment\">\nDate: today\n</context>\n":                          true,
		"<context name=\"a\">\nx\n</context>\n<context name=\"AGENTS.md\" gone=\"true\"/>\n": true,
		"<context name=\"AGENTS.md\" gone=\"true\"/>\n":                                      true,
		"<reverted>\nYou went back.\nLesson: x\n</reverted>":                                 true,
		"<kept tool=\"read\">\nx\n</kept>":                                                   true,
		"<context name=\"a\">\nx\n</context>\n<file name=\"a.txt\">\nrun ls\n</file>\n":      true,
		"<summary>\n## Goal\n</summary>":                                                     true,
		"<note from=\"job\" name=\"job1\">\nrun ls\n</note>":                                 true,
		"list files":                        false,
		"<context name=\"a\"/>\nlist files": false,
		"<b>list files</b>":                 false,
	} {
		if got := isNotice(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
