package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-agent/tenon/llm"
)

func BenchmarkMessageJSON(b *testing.B) {
	calls := llm.Message{Role: llm.RoleAssistant, Stop: llm.StopCalls}
	for i := range 5 {
		calls.Content = append(calls.Content, llm.ToolCall{
			ID: fmt.Sprintf("call_%d", i), Name: "read", Arguments: `{"path":"internal/session/store.go","offset":120,"limit":80}`,
		})
	}
	for name, m := range map[string]llm.Message{
		"text of 2 KB": llm.AssistantText(strings.Repeat("A line of an answer, \"quoted\" here.\n", 2048/36)),
		"five calls":   calls,
	} {
		b.Run("encode "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encode(b, m)
			}
		})
		data := encode(b, m)
		b.Run("decode "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var back llm.Message
				if err := json.Unmarshal(data, &back); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
