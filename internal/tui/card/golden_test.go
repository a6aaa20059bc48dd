package card_test

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const prose = "I found **two** problems in `parse.go`, and [a description](https://example.com/bug) of the first. This sentence is here so that the paragraph needs more than one line at most widths.\n\n" +
	"1. The buffer is too *small*.\n2. The error is lost:\n\n```go\nfunc parse(s string) error {\n\t_, err := strconv.Atoi(s) // the error\n\treturn nil\n}\n```\n\n" +
	"| file | lines |\n|---|---|\n| parse.go | 120 |\n| main.go | 40 |\n\n> Fix the second first.\n\n- [x] read\n- [ ] fix\n"

const change = "--- a/parse.go\n+++ b/parse.go\n@@ -1,4 +1,4 @@ package main\n func parse(s string) error {\n \t_, err := strconv.Atoi(s) // the error\n-\treturn nil\n+\treturn err\n }\n"

// conversation is a session with most of what people see.
func conversation() []*transcript.Item {
	call := func(id, name, arguments string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: name, Arguments: arguments}
	}
	result := func(id string, m session.Message, text string) session.Message {
		m.Message.Role, m.Message.CallID, m.Message.Content = llm.RoleTool, id, llm.Content{llm.Text{Text: text}}
		return m
	}
	var picture bytes.Buffer
	_ = png.Encode(&picture, image.NewGray(image.Rect(0, 0, 640, 480)))
	prompt := session.Message{Message: llm.UserText("Please fix the parser.\nIt loses errors, see the picture. This line is long enough that it does not fit into eighty columns, so it is broken."), Speaker: person}
	prompt.Content = append(prompt.Content, llm.Image{MIME: "image/png", Data: picture.Bytes()})
	think := session.Partial{Content: llm.Content{llm.Thinking{Text: "The person wants a fix.\n\nFirst I read the file."}}}
	first := answer(prose, call("c1", "edit", `{"path":"parse.go","old":"return nil","new":"return err"}`), call("c2", "bash", `{"command":"go test ./..."}`),
		call("c3", "bash", `{"command":"rm -rf build"}`), call("c4", "read", `{"path":"missing.go"}`))
	first.Content = append(llm.Content{llm.Thinking{Text: "The person wants a fix.\n\nFirst I read the file."}}, first.Content...)
	first.Usage = llm.Usage{Input: 1200, Output: 90, Cost: 0.02}
	output := "ok  \tone\t0.1s\nok  \ttwo\t0.2s\n" + strings.Repeat("ok  \tmore\t0.3s\n", 100)
	second := answer("", call("c5", "bash", `{"command":"make"}`))
	return fold(
		prompt,
		think, think, think,
		first,
		session.CallStarted{Call: "c1", Tool: "edit", Title: "parse.go", Arguments: []byte(`{"path":"parse.go","old":"return nil","new":"return err"}`)},
		result("c1", session.Message{Brief: "1 change", Diffs: []session.FileDiff{{Path: "parse.go", Added: 1, Removed: 1, Text: change}}}, "done"),
		session.CallStarted{Call: "c2", Tool: "bash", Title: "go test ./..."},
		result("c2", session.Message{}, output),
		session.Decision{Call: "c3", Verdict: "deny", By: "rule deny bash(rm:*)", Reason: "the rule deny bash(rm:*) applies"},
		result("c3", session.Message{Outcome: session.OutcomeDenied}, "This call was denied: the rule deny bash(rm:*) applies; remove it from the configuration to allow the call."),
		session.CallStarted{Call: "c4", Tool: "read", Title: "missing.go"},
		result("c4", session.Message{Outcome: session.OutcomeFailed, Failed: true, Brief: "cannot read missing.go: not found; did you mean message.go?"}, "cannot read missing.go"),
		session.Todo{Items: []session.TodoItem{{Text: "read the parser", Status: "completed"}, {Text: "return the error", Status: "in_progress"}, {Text: "run the tests", Status: "pending"}}},
		session.Asking{ID: "q1", Calls: []ask.Call{{Call: "c5", Tool: "bash", Reason: "mode ask needs approval of commands"}}},
		session.Answered{ID: "q1", Answers: []ask.Answer{{Allow: true, Grant: 1}}, By: session.Speaker{Kind: session.SpeakerPerson, Name: "web"}},
		session.Asked{ID: "q1", Reason: "answered"},
		session.Asking{ID: "q2", Questions: []ask.Question{{Text: "Which branch?", Options: []ask.Option{{Label: "main"}, {Label: "next", Description: "the coming release"}}}}},
		session.Summarized{Summary: "The parser was **fixed**.", By: "test/m", Before: 90_000, After: 12_000},
		session.Message{Message: llm.UserText("The job has ended with exit code 0."), Speaker: session.Speaker{Kind: session.SpeakerJob, Name: "job1"}},
		second,
		session.CallStarted{Call: "c5", Tool: "bash", Title: "make"},
		live.Progress{Call: "c5", Text: "compiling one\ncompiling two\ncompiling three\ncompiling four\n"},
		live.Waiting{Attempt: 2, Of: 5, Delay: 2 * time.Second, Cause: &llm.Error{Kind: llm.KindOverloaded, Message: "too busy"}},
		session.RunEnded{Reason: session.ReasonError, Message: "the provider is overloaded", Turns: 2, Usage: llm.Usage{Input: 9000, Output: 300, Cost: 0.12}, Elapsed: session.Duration(63 * time.Second)},
		session.Head{Reason: "rewind"},
		live.MessageStarted{Model: "test/m"},
		live.Delta{Type: live.DeltaThinking, Text: "Hm."},
		live.Delta{Type: live.DeltaText, Text: "I begin"},
		session.RunEnded{Reason: session.ReasonCancelled, Turns: 1},
		session.RunStarted{},
	)
}

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		theme  string
		widths []int
		set    func(*card.Options)
	}{
		{"dark", []int{80, 120, 200}, func(*card.Options) {}},
		{"light", []int{80, 120, 200}, func(*card.Options) {}},
		{"plain", []int{20, 80, 120, 200}, func(*card.Options) {}},
		{"plain-unfolded", []int{80, 200}, func(o *card.Options) { o.Folded, o.Times = false, true }},
		{"plain-ascii", []int{80}, func(o *card.Options) { o.Theme.ASCII = true }},
		{"plain-reader", []int{80}, func(o *card.Options) { o.Reader = true }},
	} {
		for _, width := range test.widths {
			name, _, _ := strings.Cut(test.theme, "-")
			o := options(name)
			th := *theme.New(name, name == "dark")
			o.Theme, o.Zone = &th, time.UTC
			test.set(o)
			var b strings.Builder
			for _, it := range conversation() {
				lines := card.New(it, o).Lines(width)
				checkLines(t, lines, width)
				for _, line := range lines {
					b.WriteString(strings.ReplaceAll(line, "\x1b", "^") + "\n")
				}
			}
			golden(t, fmt.Sprintf("%s-%d.txt", test.theme, width), b.String())
		}
	}
}

// golden compares a text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs; run the test with -update and look at the difference. Got:\n%s", path, got)
	}
}
