package tui

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/tool"
)

type answer = ask.Answer

func size(width, height int) tea.Msg { return tea.WindowSizeMsg{Width: width, Height: height} }

type path struct {
	Path string `json:"path"`
}

// look is a tool that needs no approval.
func look() tool.Tool {
	return tool.New("look", "Look at a path.",
		func(context.Context, path) (tool.Effects, error) { return tool.Effects{None: true}, nil },
		func(_ context.Context, a path, report tool.Report) (tool.Result, error) {
			report("looking\n")
			return tool.TextResult("seen " + a.Path), nil
		})
}

// change is a tool that needs approval.
func change() tool.Tool {
	return tool.New("change", "Change a path.",
		func(_ context.Context, a path) (tool.Effects, error) {
			return tool.Effects{Writes: []tool.Path{tool.File("/src/" + a.Path)}}, nil
		},
		func(_ context.Context, a path, _ tool.Report) (tool.Result, error) {
			r := tool.TextResult("changed " + a.Path)
			r.Brief = "1 change"
			r.Diffs = []tool.FileDiff{{Path: a.Path, Added: 1, Removed: 1, Text: "--- a/" + a.Path + "\n+++ b/" + a.Path + "\n@@ -1,2 +1,2 @@\n package parse\n-var limit = 10\n+var limit = 20\n"}}
			return r, nil
		})
}

// wait is a tool that runs until it is cancelled or the channel is closed.
func wait(until <-chan struct{}) tool.Tool {
	return tool.New("wait", "Wait.", func(context.Context, path) (tool.Effects, error) { return tool.Effects{None: true}, nil },
		func(ctx context.Context, a path, _ tool.Report) (tool.Result, error) {
			select {
			case <-until:
				return tool.TextResult("waited for " + a.Path), nil
			case <-ctx.Done():
				return tool.Result{}, context.Cause(ctx)
			}
		})
}

func policy(t testing.TB) permission.Judge {
	t.Helper()
	p, err := permission.New(permission.Options{Root: "/src", Home: t.TempDir(), Mode: permission.AskMode}, permission.Layer{Config: permission.Config{Mode: permission.AskMode}, Scope: permission.User})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
