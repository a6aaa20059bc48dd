package app

import (
	"context"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// permitted returns the tools with calls that may use the paths they were judged by, while they run, and no others outside.
func permitted(tools []tool.Tool, ws *workspace.Workspace) []tool.Tool {
	out := make([]tool.Tool, len(tools))
	for i, t := range tools {
		out[i] = permittedTool{t, ws}
	}
	return out
}

type permittedTool struct {
	tool.Tool
	ws *workspace.Workspace
}

// Prepare implements [tool.Tool].
func (t permittedTool) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	call, err := t.Tool.Prepare(ctx, arguments)
	if err != nil {
		return nil, err
	}
	reads, writes := names(call.Effects.Reads), names(call.Effects.Writes)
	run, preview := call.Run, call.Preview
	call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
		defer t.ws.Permit(reads, writes)()
		return run(ctx, report)
	}
	if preview != nil {
		call.Preview = func(ctx context.Context) (string, error) {
			defer t.ws.Permit(append(writes[:len(writes):len(writes)], reads...), nil)() // it only looks
			return preview(ctx)
		}
	}
	return call, nil
}

func names(paths []tool.Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, p.Name)
	}
	return out
}
