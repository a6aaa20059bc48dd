package app

import (
	"context"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// permitted returns the tools with calls that may use the paths they were judged by, while they run, and no others outside.
func permitted(tools []tool.Tool, ws *workspace.Workspace) []tool.Tool {
	return wrapped(tools, func(call *tool.Call) {
		reads, writes := names(call.Effects.Reads), names(call.Effects.Writes)
		run, preview := call.Run, call.Preview
		call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
			defer ws.Permit(reads, writes)()
			return run(ctx, report)
		}
		if preview != nil {
			call.Preview = func(ctx context.Context) (string, error) {
				defer ws.Permit(append(writes[:len(writes):len(writes)], reads...), nil)() // it only looks
				return preview(ctx)
			}
		}
	})
}

func names(paths []tool.Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, p.Name)
	}
	return out
}
