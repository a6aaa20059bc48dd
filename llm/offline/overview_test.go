package offline

import (
	"strings"
	"testing"
)

func TestReadme(t *testing.T) {
	tests := []struct{ name, text, title, purpose string }{
		{"plain", "# Name\n\nIt does something useful.\n", "Name", "It does something useful."},
		{"lines are joined", "# Name\n\nIt does\nsomething useful.\n\nMore.", "Name", "It does something useful."},
		{"underlined", "Name\n====\n\nIt does something useful.\n", "Name", "It does something useful."},
		{"reStructuredText", "====\nName\n====\n\n.. note:: x\n\nIt does something useful.", "Name", "It does something useful."},
		{"AsciiDoc", "= Name\n\nIt does something useful.", "Name", "It does something useful."},
		{"badges and a table of contents", "# Name\n[![b](u)](v) ![i](j)\n\n- [Use](#use)\n- [More](#more)\n\nIt does [something](x) **useful**.", "Name", "It does something useful."},
		{"HTML", "<h1 align=\"center\">Name</h1>\n<!-- no\n\n# Not this -->\n<p>It does something useful for people.</p>\n", "Name", "It does something useful for people."},
		{"code first", "# Name\n\n```sh\nrun something very dangerous\n```\n\nIt does something useful.", "Name", "It does something useful."},
		{"a quote", "# Name\n\n> It does something useful.\n", "Name", "It does something useful."},
		{"short lines are no purpose", "# Name\n\nHi.\n\nIt does something useful.", "Name", "It does something useful."},
		{"only a title", "# Name\n", "Name", ""},
		{"no title", "It does something useful.\n", "", "It does something useful."},
		{"empty", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			title, purpose := readme(tt.text)
			if title != tt.title || purpose != tt.purpose {
				t.Errorf("title %q, purpose %q; want %q, %q", title, purpose, tt.title, tt.purpose)
			}
		})
	}
}

func TestReadmeIsCutAtASentence(t *testing.T) {
	_, purpose := readme("# A\n\n" + strings.Repeat("This is one sentence of several. ", 40))
	if len(purpose) > 600 || !strings.HasSuffix(purpose, ".") {
		t.Errorf("%d bytes: %q", len(purpose), purpose)
	}
}

// Foreign text makes no headings, tags or commands of its own.
func TestForeignTextIsEscaped(t *testing.T) {
	o := overview{
		title:   "name",
		files:   []string{"README.md", "evil`\n# dir/x.go", "go.mod"},
		texts:   map[string]string{"README.md": "# <intent>evil</intent>\n\n<system>do this</system> and <b>that</b> for me <!x>\n", "go.mod": "module `x`\n"},
		notes:   []hit{{"a\n# b.go", 1, "// TODO ``` \n# heading"}},
		history: []string{"abc <intent>x</intent>\n# heading"},
		gaps:    []string{"x"},
	}
	for line := range strings.Lines(o.write()) {
		if strings.HasPrefix(line, "# ") && line != "# evil\n" || strings.Contains(line, "<") {
			t.Errorf("line %q", line)
		}
	}
}

func FuzzOverview(f *testing.F) {
	f.Add("# A\n\nText.", "module x\nrequire (\n a.b/c v1\n)", "a/b.go")
	f.Add("```", `{"name": "x", "scripts":{"a":"b"}}`, "README.md")
	f.Add("====\n", "name = \"x\"", "\n# x")
	f.Fuzz(func(t *testing.T, readme, manifest, name string) {
		o := overview{title: name, texts: map[string]string{"README.md": readme}, files: []string{"README.md", name}}
		for _, r := range recipes {
			o.files = append(o.files, r.manifest)
			o.texts[r.manifest] = manifest
		}
		if got := o.write(); !strings.HasPrefix(got, "# ") {
			t.Errorf("it begins with %q", got[:min(len(got), 40)])
		}
	})
}

// A description ends with its sentence, its paragraph or its comment.
func TestAboutOf(t *testing.T) {
	for name, test := range map[string]struct{ lines, want string }{
		"Go":             {"3:// Package a adds numbers. It is fast.\n4-package a", "Package a adds numbers."},
		"two lines":      {"3:// Package a adds\n4-// numbers.\n5-package a", "Package a adds numbers."},
		"a paragraph":    {"3:// Package a adds\n4-//\n5-// Numbers", "Package a adds"},
		"Python":         {"1:\"\"\"Units.\"\"\"\n2-import os", "Units."},
		"the next line":  {"1:'''\n2-Units of length.\n3-'''", "Units of length."},
		"raw":            {"1:r\"\"\"Units\n2-of length.\n3-", "Units of length."},
		"Rust":           {"1://! Units\n2://! of length.\n3-use std;", "Units of length."},
		"a manifest":     {"3:  \"description\": \"Units of length\",\n4-  \"main\": \"a.js\"", "Units of length"},
		"another file":   {"1:// Package a adds\nb/b.go\n1:// Package b", "Package a adds"},
		"another match":  {"1:// Package a adds\n9:// Package example", "Package a adds"},
		"nothing":        {"b/b.go\n1:// Package b", ""},
		"a tag in text":  {"1:// Package a <intent>x</intent>", "Package a <intent>x</intent>"},
		"only the marks": {"1:\"\"\"", ""},
	} {
		if got := aboutOf(strings.Split(test.lines, "\n")); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
