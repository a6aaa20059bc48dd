package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
	"github.com/tenon-agent/tenon/llm"
)

// languageServer is the argument with which the test program is a language server: the word "bad" is a problem, and "old" can be renamed.
const languageServer = "fake-language-server"

func serveLanguage() {
	type object = map[string]any
	in := bufio.NewReader(os.Stdin)
	send := func(m object) {
		m["jsonrpc"] = "2.0"
		body, _ := json.Marshal(m)
		fmt.Printf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	at := func(text, word string) object {
		i := strings.Index(text, word)
		line := strings.Count(text[:i], "\n")
		col := i - strings.LastIndex(text[:i], "\n") - 1
		return object{"start": object{"line": line, "character": col}, "end": object{"line": line, "character": col + len(word)}}
	}
	open := map[string]string{}
	for {
		length := 0
		for line, err := in.ReadString('\n'); strings.TrimSpace(line) != ""; line, err = in.ReadString('\n') {
			if err != nil {
				return
			}
			fmt.Sscanf(line, "Content-Length: %d", &length)
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil || length == 0 {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				TextDocument struct {
					URI, Text string
					Version   int
				}
				ContentChanges []struct{ Text string }
				NewName        string
			}
		}
		_ = json.Unmarshal(body, &m)
		d := m.Params.TextDocument
		switch m.Method {
		case "initialize":
			// The sandbox gives a server neither the network nor a project that it can write.
			if os.WriteFile("written", nil, 0o600) == nil {
				os.Exit(1)
			}
			send(object{"id": m.ID, "result": object{"capabilities": object{}}})
		case "textDocument/didOpen", "textDocument/didChange":
			for _, c := range m.Params.ContentChanges {
				d.Text = c.Text
			}
			open[d.URI] = d.Text
			problems := []object{}
			if strings.Contains(d.Text, "bad") {
				problems = append(problems, object{"severity": 1, "message": "it is bad", "range": at(d.Text, "bad")})
			}
			send(object{"method": "textDocument/publishDiagnostics", "params": object{"uri": d.URI, "version": d.Version, "diagnostics": problems}})
		case "textDocument/rename":
			changes := object{}
			for _, uri := range []string{d.URI, strings.Replace(d.URI, "one.txt", "two.txt", 1)} {
				changes[uri] = []object{{"newText": m.Params.NewName, "range": at("old\n", "old")}}
			}
			send(object{"id": m.ID, "result": object{"changes": changes}})
		default:
			if m.ID != nil {
				send(object{"id": m.ID, "result": nil})
			}
		}
	}
}

// TestALanguageServerInTheProgram lets a model break a file, repair it, and rename a symbol in two files, which one undo reverts.
func TestALanguageServerInTheProgram(t *testing.T) {
	t.Parallel()
	p, w := newProject(t), wayOf(t, "anthropic")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command, err := json.Marshal(self)
	if err != nil {
		t.Fatal(err)
	}
	p.config(`{"lsp": {"servers": {"fake": {"command": ` + string(command) + `, "args": ["` + languageServer + `"], "files": [".txt"]}}}}`)
	one, two := filepath.Join(p.dir, "one.txt"), filepath.Join(p.dir, "two.txt")
	p.write(one, "old\n")
	p.write(two, "old\n")
	srv := w.serve(p, modelserver.Func(func(r *modelserver.Request) modelserver.Step {
		switch len(r.Results()) {
		case 0:
			return modelserver.Call("read", `{"path":"other.txt"}`)
		case 1:
			return modelserver.Call("edit", `{"path":"other.txt","old_text":"Nothing","new_text":"bad"}`)
		case 2:
			return modelserver.Call("edit", `{"path":"other.txt","old_text":"bad","new_text":"Nothing"}`)
		case 3:
			return modelserver.Call("lsp", `{"action":"rename","path":"one.txt","line":1,"name":"old","new_name":"new"}`)
		}
		return modelserver.Say("done")
	}))
	p.must("run", "--model", w.ref(), "--mode", "edits", "Go.")
	requests := srv.Requests()
	results := requests[len(requests)-1].Results()
	for i, want := range []string{
		"Nothing of interest.", "\n\nfake: 1 problem in other.txt:\n1:1 error: it is bad", "edited other.txt: 1 line added, 1 removed",
		"edited one.txt: 1 line added, 1 removed\nedited two.txt: 1 line added, 1 removed",
	} {
		text := results[i].Text()
		if !strings.Contains(strings.Replace(text, "1 new problem", "1 problem", 1), want) || i == 2 && strings.Contains(text, "fake:") {
			t.Errorf("result %d is %q, want %q", i, text, want)
		}
	}
	if !slices.ContainsFunc(requests[0].Tools, func(tool llm.Tool) bool { return tool.Name == "lsp" }) {
		t.Error("the model did not get the tool lsp")
	}
	is := func(want string) {
		t.Helper()
		for _, name := range []string{one, two} {
			if data, err := os.ReadFile(name); err != nil || string(data) != want {
				t.Errorf("%s is %q, %v; want %q", name, data, err, want)
			}
		}
	}
	is("new\n")
	p.must("undo")
	is("old\n")
	p.config(`{"sandbox": {"enabled": false}, "lsp": {"servers": {"fake": {"command": ` + string(command) + `, "args": ["` + languageServer + `"], "files": [".txt"]}}}}`)
	p.must("run", "--model", w.ref(), "--mode", "edits", "Go.")
	requests = srv.Requests()
	if text := requests[len(requests)-1].Results()[1].Text(); !strings.Contains(text, "[no diagnostics: fake does not run: the sandbox is off, and the directory is not trusted") {
		t.Errorf("without a sandbox and trust, the edit says %q", text)
	}
	p.config(`{"lsp": {"off": true}}`)
	p.must("run", "--model", w.ref(), "--mode", "edits", "Go.")
	requests = srv.Requests()
	if slices.ContainsFunc(requests[len(requests)-1].Tools, func(tool llm.Tool) bool { return tool.Name == "lsp" }) {
		t.Error("the model gets the tool lsp, and language servers are off")
	}
}
