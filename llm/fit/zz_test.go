package fit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/fit"
)

func TestZZ(t *testing.T) {
	for _, exact := range []int{0, 9} {
		for _, unique := range []bool{true, false} {
			for _, n := range []int{1250, 2500, 5000, 10000} {
				var all []llm.Message
				all = append(all, llm.UserText("hi"))
				for i := range n {
					m := llm.Message{Role: llm.RoleAssistant, Model: "a/b"}
					for j := range 3 {
						id := fmt.Sprintf("call_%d", j)
						if unique { id = fmt.Sprintf("call_%d_%d", i, j) }
						m.Content = append(m.Content, llm.ToolCall{ID: id, Name: "read", Arguments: `{"path":"a/b/c.go","x":[1,2,3]}`})
					}
					all = append(all, m)
					for _, c := range m.Calls() {
						all = append(all, llm.ToolText(c, "some output", false))
					}
				}
				s := time.Now()
				fit.Messages(all, fit.Rules{ExactID: exact})
				fmt.Println("exact", exact, "unique", unique, n, time.Since(s))
			}
		}
	}
	for _, n := range []int{500, 1000, 2000} {
		m := llm.Message{Role: llm.RoleAssistant, Model: "a/b"}
		for range n { m.Content = append(m.Content, llm.ToolCall{ID: "x", Name: "read", Arguments: `{}`}) }
		all := []llm.Message{llm.UserText("hi"), m}
		for range n { all = append(all, llm.ToolText(m.Calls()[0], "out", false)) }
		s := time.Now()
		fit.Messages(all, fit.Rules{})
		fmt.Println("same id in one answer", n, time.Since(s))
		all = nil
		for range n*10 { all = append(all, llm.UserText("hi")) }
		s = time.Now()
		fit.Messages(all, fit.Rules{})
		fmt.Println("user messages in a row", n*10, time.Since(s))
	}
}
