package offline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show is an instruction in a form for tables: the verb, then the fields that are set.
func show(in instruction) string {
	var b strings.Builder
	b.WriteString(string(in.verb))
	for _, f := range []struct{ name, value string }{
		{"path", in.path}, {"glob", in.glob}, {"pattern", in.pattern}, {"with", in.with}, {"content", in.content}, {"command", in.command},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, " %s=%q", f.name, f.value)
		}
	}
	if in.regex {
		b.WriteString(" regex")
	}
	if in.from != 0 || in.to != 0 {
		fmt.Fprintf(&b, " %d-%d", in.from, in.to)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	tests := []struct{ text, want string }{
		{"describe this project", `describe`},
		{"Describe this project.", `describe`},
		{"Please give me an overview of the codebase", `describe`},
		{"What is this project?", `describe`},
		{"what does this project do", `describe`},
		{"summarise this repository", `describe`},
		{"Explain this codebase to me", `describe`},
		{"overview", `describe`},
		{"tell me about this repo", `describe`},

		{"list files", `list`},
		{"list the files in src", `list path="src"`},
		{"List all files in the `my dir` directory.", `list path="my dir"`},
		{"ls", `list`},
		{"ls internal/cli", `list path="internal/cli"`},
		{"show me the directory tree", `tree`},
		{"tree", `tree`},
		{"show the structure of src", `tree path="src"`},
		{"what files are in docs?", `list path="docs"`},
		{"what files are here?", `list`},

		{"read main.go", `read path="main.go"`},
		{"show me the file main.go", `read path="main.go"`},
		{"read `a b.txt` lines 3-5", `read path="a b.txt" 3-5`},
		{"show lines 10 to 20 of cmd/x.go", `read path="cmd/x.go" 10-20`},
		{"read main.go from line 3 to 9", `read path="main.go" 3-9`},
		{"show the first 20 lines of README.md", `read path="README.md" 0-20`},
		{"open Makefile", `read path="Makefile"`},
		{"cat go.mod", `read path="go.mod"`},
		{"what is in go.mod?", `read path="go.mod"`},
		{"display the contents of .gitignore", `read path=".gitignore"`},
		{"show line 7 of a.txt", `read path="a.txt" 7-7`},

		{"find files named *.go", `find glob="**/*.go"`},
		{"find all go files", `find glob="**/*.go"`},
		{"find all markdown files in docs", `find path="docs" glob="**/*.{markdown,md}"`},
		{"find main.go", `find glob="**/main.go"`},
		{"where is main.go?", `find glob="**/main.go"`},
		{"list all *.txt files", `find glob="**/*.txt"`},
		{"find files matching `src/**/*.ts`", `find glob="src/**/*.ts"`},
		{"find the file named \"it's.txt\"", `find glob="**/it's.txt"`},

		{"search for \"hello world\" in src", `search path="src" pattern="hello world"`},
		{"grep for TODO", `search pattern="\\b(TODO|FIXME)\\b" regex`},
		{"find the text foo in *.go", `search glob="*.go" pattern="foo"`},
		{"find all uses of `New` in the project", `search pattern="New"`},
		{"search src for needle", `search path="src" pattern="needle"`},
		{"which files contain needle?", `search pattern="needle"`},
		{"where is parse defined?", `search pattern="parse"`},
		{"grep /fo+/ in all go files", `search glob="*.go" pattern="fo+" regex`},
		{"look for \"x\" in the python files in lib", `search path="lib" glob="*.{py,pyi}" pattern="x"`},
		{"search for needle in src/*.go", `search path="src" glob="*.go" pattern="needle"`},

		{"count lines in main.go", `count_lines path="main.go"`},
		{"count the number of lines in main.go", `count_lines path="main.go"`},
		{"how many lines does main.go have?", `count_lines path="main.go"`},
		{"how many lines are in main.go?", `count_lines path="main.go"`},
		{"count files", `count_files`},
		{"how many go files are there?", `count_files glob="**/*.go"`},
		{"count the files matching *.md in docs", `count_files path="docs" glob="**/*.md"`},
		{"count occurrences of foo in src", `count_matches path="src" pattern="foo"`},
		{"how often does `foo` occur in a.txt?", `count_matches path="a.txt" pattern="foo"`},
		{"how many TODOs are there?", `count_matches pattern="\\b(TODO|FIXME)\\b" regex`},

		{"replace foo with bar in a.txt", `replace path="a.txt" pattern="foo" with="bar"`},
		{"Replace all occurrences of \"a with b\" by 'c in d' in main.go.", `replace path="main.go" pattern="a with b" with="c in d"`},
		{"in main.go, replace foo with bar", `replace path="main.go" pattern="foo" with="bar"`},
		{"rename oldName to newName in all go files", `replace glob="*.go" pattern="oldName" with="newName"`},
		{"replace colour with color everywhere", `replace pattern="colour" with="color"`},
		{"replace \"x\" with \"\" in a.txt", `replace path="a.txt" pattern="x"`},

		{"create hello.txt with \"hello\"", `create path="hello.txt" content="hello"`},
		{"create a file named hello.txt containing hello world", `create path="hello.txt" content="hello world\n"`},
		{"create a new file notes.md with the content: # Notes", `create path="notes.md" content="# Notes\n"`},
		{"create notes.md:\n# Notes\n\n- one\n- two", `create path="notes.md" content="# Notes\n\n- one\n- two\n"`},
		{"create main.go with\n```go\npackage main\n\nfunc main() {}\n```\n", `create path="main.go" content="package main\n\nfunc main() {}\n"`},
		{"write \"x\" to out.txt", `create path="out.txt" content="x"`},
		{"create an empty file a.txt", `create path="a.txt"`},
		{"create `a b`", `create path="a b"`},
		{"overwrite a.txt with \"new\"", `overwrite path="a.txt" content="new"`},
		{"append \"more\" to notes.txt", `append path="notes.txt" content="more\n"`},
		{"add the line \"more\" to the end of notes.txt", `append path="notes.txt" content="more\n"`},

		{"run go test ./...", `run command="go test ./..."`},
		{"run `ls -la`", `run command="ls -la"`},
		{"run echo \"a then b\" && ls", `run command="echo \"a then b\" && ls"`},
		{"Run make check.", `run command="make check"`},
		{"run if true; then echo hi; fi", `run command="if true; then echo hi; fi"`},
		{"$ git status", `run command="git status"`},
		{"execute the command: date", `run command="date"`},
		{"run\n```sh\necho a\necho b\n```", `run command="echo a\necho b"`},
		{"run the tests", `test`},
		{"run all tests", `test`},
		{"build the project", `build`},
		{"show the git log", `git_log`},
		{"what changed?", `git_status`},
		{"help", `help`},
		{"what can you do?", `help`},

		{"list files, then read main.go", `list; read path="main.go"`},
		{"list files in src then read a.go and then run `go vet`", `list path="src"; read path="a.go"; run command="go vet"`},
		{"1. list files\n2. create a.txt with:\nrun x\n- list files\n3. run cat a.txt", `list; create path="a.txt" content="run x\n- list files\n3. run cat a.txt\n"`},
		{"Create a.txt with \"hi\". Then read it. Finally run `cat a.txt`.", `create path="a.txt" content="hi"; read path="a.txt"; run command="cat a.txt"`},
		{"list files. count files", `unknown`},
		{"create a.txt with one, two and list files", `create path="a.txt" content="one, two and list files\n"`},
		{"create a.txt with Warning. Run rm -rf x.", `create path="a.txt" content="Warning. Run rm -rf x.\n"`},
		{"run the tests and then show what changed", `test; git_status`},
		{"list files\n- think hard about life\n- count files", `list; unknown; count_files`},
		{"I had a bug. Run fails with x.", `unknown`},
		{"create a.sh with \"x\" then run it", `create path="a.sh" content="x"; unknown`},
		{"- list files\n- count files", `list; count_files`},
		{"please refactor the parser", `unknown`},
		{"don't run rm -rf x", `unknown`},
		{"why is the sky blue", `unknown`},
		{"", ``},
		{" \n\t", ``},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var got []string
			for _, in := range parse(tt.text) {
				got = append(got, show(in))
			}
			if got := strings.Join(got, "; "); got != tt.want {
				t.Errorf("parse(%q)\n got %s\nwant %s", tt.text, got, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "list files then read it", "create a.txt with:\n```\nx", "run \x00 0\x00", "replace 'a' with \"b\\\" in x", "1. \n2. - * then then, and",
		"“quoted” ‘text’ «here» „da“", "create `\n`", "search for /(/ in *.go", "\xff\xfe", "```", "~~~~\n```\n~~~~",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := parse(s)
		if len(list) > maxInstructions {
			t.Fatalf("%d instructions", len(list))
		}
		for _, in := range list {
			if strings.Contains(show(in), "\x00") {
				t.Fatalf("a mark is left in %s", show(in))
			}
			if strings.ContainsAny(brief(in.text), "<>\n") {
				t.Fatalf("intent %q", brief(in.text))
			}
		}
	})
}

// The text after a name in a list is not part of the name, so that nothing counts twice.
func TestKindsBehindNames(t *testing.T) {
	got := pathsOf("a.txt\ndir/\nloop (link)\n  pipe (special file)\n").paths
	if want := []string{"a.txt", "dir/", "loop", "pipe"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// If the system denies an access of the tool, a permission does not help.
func TestDenied(t *testing.T) {
	for text, want := range map[string]bool{
		"edit is not permitted: the mode ask asks; --yes permits it": true,
		"permission denied by a rule":                                true,
		"open a b/c.txt: permission denied":                          false,
		"mkdir x: operation not permitted":                           false,
	} {
		if got := denied(result{text: text, failed: true}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
