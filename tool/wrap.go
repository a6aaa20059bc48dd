package tool

import "context"

// Wrap returns the tools with calls that wrap can change after Prepare, for example to run code before or after them. wrap must be safe
// for concurrent use.
func Wrap(tools []Tool, wrap func(*Call)) []Tool {
	out := make([]Tool, len(tools))
	for i, t := range tools {
		out[i] = wrapped{t, wrap}
	}
	return out
}

type wrapped struct {
	Tool
	wrap func(*Call)
}

// Prepare implements [Tool].
func (t wrapped) Prepare(ctx context.Context, arguments string) (*Call, error) {
	call, err := t.Tool.Prepare(ctx, arguments)
	if err == nil {
		t.wrap(call)
	}
	return call, err
}
