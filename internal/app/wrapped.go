package app

import (
	"context"

	"github.com/tenon-agent/tenon/tool"
)

// wrapped returns the tools with calls that wrap has changed after they were prepared.
func wrapped(tools []tool.Tool, wrap func(*tool.Call)) []tool.Tool {
	out := make([]tool.Tool, len(tools))
	for i, t := range tools {
		out[i] = wrappedTool{t, wrap}
	}
	return out
}

type wrappedTool struct {
	tool.Tool
	wrap func(*tool.Call)
}

// Prepare implements [tool.Tool].
func (t wrappedTool) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	call, err := t.Tool.Prepare(ctx, arguments)
	if err == nil {
		t.wrap(call)
	}
	return call, err
}
