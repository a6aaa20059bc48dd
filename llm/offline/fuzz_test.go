package offline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

// Whatever is said and whatever the tools answer, the model comes to an end, within its bounds, and never makes the same
// failing call twice in a row.
func FuzzConversation(f *testing.F) {
	f.Add("describe this project", "a.go\ngo.mod\n", "1\tmodule x\n", uint8(0))
	f.Add("replace foo with bar everywhere", "a.go:1:foo\nb.go:2:foo", "[lines 1-2 of 9]", uint8(3))
	f.Add("count lines in a.txt then append x to a.txt", "a.txt", "1\tx\n[lines 1-1 of 99999999999]", uint8(0))
	f.Add("run a then run a then run a", "denied", "", uint8(255))
	f.Add("1. list files\n2. create it with x\n3. overwrite x.y with z", "x.y\nit", "\x00\xff", uint8(85))
	f.Add("count lines in x.go", "5\tx\n6\ty\n[more lines: go on with offset 7]", "7\tz\n[truncated]", uint8(0))
	tools := newBench(f, nil).tools()
	f.Fuzz(func(t *testing.T, text, one, two string, failing uint8) {
		if len(text)+len(one)+len(two) > 4<<10 {
			return
		}
		messages := []llm.Message{llm.UserText(text)}
		results := []string{one, two, one + two, ""}
		calls, failed := 0, ""
		for turn := 0; ; turn++ {
			if turn > 4*maxInstructions {
				t.Fatalf("no end after %d turns", turn)
			}
			m, err := llm.Collect(t.Context(), New(), &llm.Request{Messages: messages, Tools: tools})
			if err != nil {
				if e := llm.AsError(err); e.Kind != llm.KindContextOverflow {
					t.Fatal(err)
				}
				return
			}
			messages = append(messages, m)
			if len(m.Calls()) == 0 {
				if strings.TrimSpace(m.Text()) == "" {
					t.Fatal("the last answer is empty")
				}
				return
			}
			for _, c := range m.Calls() {
				if wish := c.Name + c.Arguments; wish == failed && !repeats(text) {
					t.Fatalf("%s again, which has just failed", wish)
				}
				bad := failing>>(calls%8)&1 == 1
				if failed = ""; bad {
					failed = c.Name + c.Arguments
				}
				messages = append(messages, llm.ToolText(c, results[calls%len(results)], bad))
				calls++
			}
			if calls > maxCalls {
				t.Fatalf("%d calls", calls)
			}
		}
	})
}

// repeats reports whether a person asks for the same thing twice.
func repeats(text string) bool {
	seen := map[string]bool{}
	for _, in := range parse(text) {
		in.text = ""
		k := fmt.Sprintf("%+v", in)
		if seen[k] {
			return true
		}
		seen[k] = true
	}
	return false
}
