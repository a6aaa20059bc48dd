package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// mistake is a mistake that models make, and the call that follows from the answer.
type mistake struct {
	name    string
	files   map[string]string
	read    string // a file that the model has read before
	then    string // its content after that, by another program
	tool    string
	call    map[string]any
	raw     string   // instead of call: text that is no JSON
	answer  []string // parts of the answer
	next    string   // the tool of the next call
	with    map[string]any
	from    string // a regular expression: the path of the next call is its first group in the answer
	outcome string // a part of the next result
	content string // of f.txt at the end; empty: any
}

var mistakes = []mistake{
	{
		name: "a tool that does not exist", tool: "edit_lines", call: m{"path": "f.txt"}, answer: []string{`no tool named "edit_lines"; did you mean edit(file_path, old_string, new_string, replace_all?)?`},
		next: "edit", with: m{"path": "f.txt", "old_text": "two", "new_text": "2"}, outcome: "edited f.txt", content: "one\n2\nthree\n",
	},
	{
		name: "a misspelled tool", tool: "raed", call: m{"path": "f.txt"}, answer: []string{"did you mean read(file_path, offset?, limit?)"},
		next: "read", with: m{"file_path": "f.txt"}, outcome: "2\ttwo",
	},
	{
		name: "an argument that does not exist", tool: "grep", call: m{"regex": "two"}, answer: []string{`unknown field "regex"`, "pattern: missing"},
		next: "grep", with: m{"pattern": "two"}, outcome: "2:two",
	},
	{
		name: "an old text that has changed", read: "f.txt", then: "one\ntwo and a half\nthree\n", tool: "edit", call: m{"path": "f.txt", "old_text": "two\nthree", "new_text": "2\n3"},
		answer: []string{"the most similar lines are 2-3:\n2\ttwo and a half\n3\tthree", "f.txt has changed since it was read"},
		next:   "edit", with: m{"path": "f.txt", "old_text": "two and a half", "new_text": "2"}, outcome: "edited f.txt", content: "one\n2\nthree\n",
	},
	{
		name: "an old text in two places", files: m1("f.txt", "a\nx\nb\nx\n"), tool: "edit", call: m{"path": "f.txt", "old_text": "x", "new_text": "y"},
		answer: []string{"old_text occurs 2 times, at lines 2, 4; include more of the lines around the one you mean, or set replace_all"},
		next:   "edit", with: m{"path": "f.txt", "old_text": "b\nx", "new_text": "b\ny"}, outcome: "edited f.txt", content: "a\nx\nb\ny\n",
	},
	{
		name: "an old text with line numbers", tool: "edit", call: m{"path": "f.txt", "old_text": "2\ttwo\n3\tthree", "new_text": "2"},
		answer: []string{"it contains the line numbers of read: leave out each number and the tab after it"},
		next:   "edit", with: m{"path": "f.txt", "old_text": "two\nthree", "new_text": "2"}, outcome: "edited f.txt", content: "one\n2\n",
	},
	{
		name: "an old text in other words", read: "f.txt", tool: "edit", call: m{"path": "f.txt", "old_text": "the second", "new_text": "2"},
		answer: []string{"old_text not found, and no line of the file is similar; read the file again"},
		next:   "read", with: m{"path": "f.txt"}, outcome: "2\ttwo",
	},
	{
		name: "an empty old text", tool: "edit", call: m{"path": "f.txt", "old_text": "", "new_text": "zero\n"}, answer: []string{"old_text: must not be empty"},
		next: "edit", with: m{"path": "f.txt", "old_text": "one\n", "new_text": "zero\none\n"}, outcome: "edited f.txt", content: "zero\none\ntwo\nthree\n",
	},
	{
		name: "an edit that was made before", files: m1("f.txt", "one\nthe second line\n"), read: "f.txt", tool: "edit", call: m{"path": "f.txt", "old_text": "two\n", "new_text": "the second line\n"},
		answer: []string{"its new text is already at line 2; was this edit made before?"},
		next:   "read", with: m{"path": "f.txt"}, outcome: "2\tthe second line",
	},
	{
		name: "CRLF in the file, LF in the text", files: m1("f.txt", "one\r\ntwo\nthree\r\n"), tool: "edit", call: m{"path": "f.txt", "old_text": "one\ntwo  ", "new_text": "1\n2"},
		answer: []string{"the old text does not fit exactly and only once, and f.txt exists and was not read yet; read it first"},
		next:   "edit", with: m{"path": "f.txt", "old_text": "one\ntwo", "new_text": "1\n2"}, outcome: "edited f.txt", content: "1\r\n2\nthree\r\n",
	},
	{
		name: "a file that was not read is replaced", tool: "write", call: m{"path": "f.txt", "content": "new\n"}, answer: []string{"f.txt exists and was not read yet; read it first"},
		next: "read", with: m{"path": "f.txt"}, outcome: "2\ttwo",
	},
	{
		name: "a hunk of a patch that does not fit", tool: "patch", call: m{"patch": "*** Begin Patch\n*** Update File: f.txt\n@@\n one\n-zwei\n+2\n*** End Patch"},
		answer: []string{"hunk 1 (line 3 of the patch) not found; the most similar lines are 1-2:\n1\tone\n2\ttwo", "no part of the patch was applied"},
		next:   "patch", with: m{"patch": "*** Begin Patch\n*** Update File: f.txt\n@@\n one\n-two\n+2\n*** End Patch"}, outcome: "edited f.txt", content: "one\n2\nthree\n",
	},
	{
		name: "the output of a command is huge", tool: "shell", call: m{"command": "seq 1 100000"}, answer: []string{"left out", "100000"},
		next: "read", with: m{"offset": 50000, "limit": 1}, from: `"path":"([^"]+)"`, outcome: "50000\t50000",
	},
	{
		name: "a syntax error", tool: "shell", call: m{"command": `wc -l "f.txt`}, answer: []string{"the shell cannot read the command, and ran nothing of it"},
		next: "shell", with: m{"command": `wc -l "f.txt"`}, outcome: "3 f.txt",
	},
	{
		name: "a directory that does not exist", tool: "shell", call: m{"command": "ls", "dir": "sorce"}, answer: []string{"sorce"},
		next: "shell", with: m{"command": "ls", "dir": "source"}, outcome: "main.go",
	},
	{
		name: "a file in another directory", tool: "read", call: m{"path": "src/main.go"}, answer: []string{"src/main.go not found; did you mean source/main.go?"},
		next: "read", with: m{"path": "source/main.go"}, outcome: "1\tpackage main",
	},
	{
		name: "a directory is read as a file", tool: "read", call: m{"path": "source"}, answer: []string{"source is a directory", "list it with glob"},
		next: "glob", with: m{"pattern": "source/*"}, outcome: "source/main.go",
	},
	{
		name: "a binary file", files: m1("data.bin", "\x00\x01\x02\x03"), tool: "read", call: m{"path": "data.bin"}, answer: []string{"[binary file, application/octet-stream, 4 bytes, not shown]"},
		next: "shell", with: m{"command": "od -c data.bin"}, outcome: "\\0 001 002 003",
	},
	{
		name: "an offset beyond the end", tool: "read", call: m{"path": "f.txt", "offset": 100}, answer: []string{"the file has 3 lines; line 100 is past its end"},
		next: "read", with: m{"path": "f.txt", "offset": 2}, outcome: "2\ttwo",
	},
	{
		name: "a path outside", tool: "write", call: m{"path": "../other.txt", "content": "x"}, answer: []string{"denied", "outside the workspace"},
		next: "write", with: m{"path": "other.txt", "content": "x\n"}, outcome: "created other.txt",
	},
	{
		name: "a command that needs approval", tool: "shell", call: m{"command": "git push && wc -l f.txt"}, answer: []string{"denied", "git push", "--allow"},
		next: "shell", with: m{"command": "wc -l f.txt"}, outcome: "3 f.txt",
	},
	{
		name: "a command that waits for a person", tool: "shell", call: m{"command": "vim f.txt"}, answer: []string{"vim"},
		next: "edit", with: m{"path": "f.txt", "old_text": "two", "new_text": "2"}, outcome: "edited f.txt", content: "one\n2\nthree\n",
	},
	{
		name: "a regular expression that is not one", files: m1("f.txt", "call(x\n"), tool: "grep", call: m{"pattern": "call("}, answer: []string{"1:call(x", "the pattern was read as plain text"},
		next: "edit", with: m{"path": "f.txt", "old_text": "call(x", "new_text": "call(x)"}, outcome: "edited f.txt", content: "call(x)\n",
	},
	{
		name: "a search in no file", tool: "grep", call: m{"pattern": "package", "type": "python"}, answer: []string{"no file was searched; check path, include and type"},
		next: "grep", with: m{"pattern": "package", "type": "go"}, outcome: "1:package main",
	},
	{
		name: "arguments that end early", tool: "edit", raw: `{"path": "f.txt", "old_text": "two", "new_text": "2`, answer: []string{"the arguments are not valid JSON", "the text ends within the JSON"},
		next: "edit", with: m{"path": "f.txt", "old_text": "two", "new_text": "2"}, outcome: "edited f.txt", content: "one\n2\nthree\n",
	},
	{
		name: "a job that does not exist", tool: "job", call: m{"action": "output", "id": "job7"}, answer: []string{`job "job7" not found; there are no jobs; shell starts one with background: true`},
		next: "shell", with: m{"command": "true", "background": true}, outcome: "started as job1",
	},
	{
		name: "a word that is not in the list", tool: "todo", call: m{"items": []m{{"text": "a", "status": "done"}}}, answer: []string{"items[0].status", "completed"},
		next: "todo", with: m{"items": []m{{"text": "a", "status": "completed"}}}, outcome: "1 completed",
	},
}

type m = map[string]any

func m1(name, text string) map[string]string { return map[string]string{name: text} }

// The answer to each mistake leads to the right call: the model makes it, and it succeeds.
func TestMistakes(t *testing.T) {
	for _, one := range mistakes {
		t.Run(one.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (one.tool == "shell" || one.next == "shell") {
				t.Skip("a command of Unix")
			}
			w := newWorkplace(t)
			w.write("repo/f.txt", "one\ntwo\nthree\n")
			w.write("repo/source/main.go", "package main\n")
			for name, text := range one.files {
				w.write("repo/"+name, text)
			}
			step := 0
			if one.read == "" {
				step = 1
			}
			w.answer = func(req *llm.Request) llm.Message {
				step++
				switch step {
				case 1:
					return calls("read", encoded(t, m{"path": one.read}))
				case 2:
					if one.then != "" {
						w.write("repo/"+one.read, one.then)
					}
					if one.raw != "" {
						return calls(one.tool, one.raw)
					}
					return calls(one.tool, encoded(t, one.call))
				case 3:
					if one.from != "" {
						answer := req.Messages[len(req.Messages)-1].Text()
						found := regexp.MustCompile(one.from).FindStringSubmatch(answer)
						if found == nil {
							t.Errorf("no %s in %s", one.from, answer)
							return llm.AssistantText("Lost.")
						}
						one.with["path"] = found[1]
					}
					return calls(one.next, encoded(t, one.with))
				}
				return llm.AssistantText("Done.")
			}
			w.open()
			var results []session.Message
			for e, err := range w.agent.Run(t.Context(), llm.UserText("go")) {
				if err != nil {
					t.Fatal(err)
				}
				if r, ok := e.Body.(session.Message); ok && r.Role == llm.RoleTool {
					results = append(results, r)
				}
			}
			answer, last := results[len(results)-2], results[len(results)-1]
			for _, part := range one.answer {
				if !strings.Contains(answer.Text(), part) {
					t.Errorf("the answer does not have %q:\n%s", part, answer.Text())
				}
			}
			if last.IsError || last.Failed || !strings.Contains(last.Text(), one.outcome) {
				t.Errorf("the next call did not succeed: %s", last.Text())
			}
			if got, err := os.ReadFile(filepath.Join(w.repo, "f.txt")); err != nil || one.content != "" && string(got) != one.content {
				t.Errorf("f.txt is %q, %v, want %q", got, err, one.content)
			}
		})
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
