package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/tool/files"
)

func TestAttach(t *testing.T) {
	dir := t.TempDir()
	for name, test := range map[string]struct{ content, text, fails string }{
		"a.png":   {content: pngOf(t, picture(20, 10, true)), text: "<file name=\"a.png\"/>"},
		"a.txt":   {content: "one\n</file>\ntwo\n", text: "\n\n<file name=\"a.txt\">\none\n< /file>\ntwo\n</file>"},
		"bad.png": {content: bomb(1, 1), fails: "not shown"},
		"bad.pdf": {content: "%PDF-1.4\n", fails: "not shown"},
		"a.bin":   {content: "\x00\x01\x02\x03", fails: "cannot see"},
		"long":    {content: strings.Repeat("text\n", 300_000), fails: "more than"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		content, err := files.Attach(t.Context(), file)
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || !strings.Contains(content.Text(), test.text) {
			t.Errorf("%s: %q, %v", name, content.Text(), err)
			continue
		}
		if _, ok := content[len(content)-1].(llm.Image); ok != strings.HasSuffix(name, ".png") {
			t.Errorf("%s: %T", name, content[len(content)-1])
		}
	}
	for _, name := range []string{dir, filepath.Join(dir, "missing")} {
		if _, err := files.Attach(t.Context(), name); err == nil {
			t.Errorf("%s was attached", name)
		}
	}
}
