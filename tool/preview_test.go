package tool_test

import (
	"context"
	"testing"

	"github.com/tenon-agent/tenon/tool"
)

func TestWithPreview(t *testing.T) {
	type named struct {
		Name string `json:"name"`
	}
	run := func(_ context.Context, args named, _ tool.Report) (tool.Result, error) {
		return tool.TextResult("made " + args.Name), nil
	}
	shows := tool.New("make", "Make it.", nil, run,
		tool.WithPreview(func(_ context.Context, args named) (string, error) { return "+" + args.Name, nil }))
	call, err := shows.Prepare(t.Context(), `{"name":"x"}`)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := call.Preview(t.Context()); err != nil || text != "+x" {
		t.Errorf("%q, %v", text, err)
	}
	if call, err := tool.New("make", "Make it.", nil, run).Prepare(t.Context(), `{"name":"x"}`); err != nil || call.Preview != nil {
		t.Errorf("%+v, %v", call, err)
	}
}
