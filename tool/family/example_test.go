package family_test

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/family"
)

func Example() {
	type arguments struct {
		Path   string `json:"path"`
		Offset int    `json:"offset,omitempty"`
		Limit  int    `json:"limit,omitempty"`
	}
	read := tool.New("read", "Read a file.", nil, func(context.Context, arguments, tool.Report) (tool.Result, error) { return tool.Result{}, nil })
	tools := []llm.Tool{read.Spec()}

	dialect := family.New(models.FamilyClaude, tools)
	fmt.Println(dialect.Offer(tools)[0].Name)
	call, err := dialect.Call(llm.ToolCall{Name: "ReadFile", Arguments: `{"absolute_path": "a.go", "start_line": 10, "end_line": 12}`})
	fmt.Println(call.Name, call.Arguments, err)
	// Output:
	// Read
	// read {"limit":3,"offset":10,"path":"a.go"} <nil>
}
