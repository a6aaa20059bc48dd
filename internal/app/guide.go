package app

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/tenon-agent/tenon/internal/guidance"
	"github.com/tenon-agent/tenon/tool"
)

// Guiding is which context files are told, and how much of them.
type Guiding struct {
	Names           []string // nil: those that are usual
	MaxFile, MaxAll int      // bytes; 0: as is usual, but no more than fits into a quarter of the window

	Personal []string // directories with the person's own, the first that has one counts
}

// newGuide makes the guide of an agent. It looks at no file yet.
func (a *Agent) newGuide(s Spec) *guidance.Guide {
	o := guidance.Options{
		Dir: s.Bounds.Root, Home: s.Bounds.Home, Personal: s.Guidance.Personal, Names: s.Guidance.Names,
		MaxFile: s.Guidance.MaxFile, MaxAll: s.Guidance.MaxAll, Refuse: a.refusal(s.Bounds.in(s.Policy.Mode()).Hidden),
	}
	if quarter := a.usable(); o.MaxAll == 0 && quarter < 100<<10 { // four bytes of a token
		o.MaxAll = quarter
	}
	if a.secrets != nil {
		o.Clean = a.secrets.Redact
	}
	return guidance.New(o)
}

// refusal says which files of the project are no context: those that are hidden, and those that a rule does not let be read.
func (a *Agent) refusal(hidden []string) func(string) error {
	return func(name string) error {
		for _, h := range hidden {
			if holds(h, name) {
				return fmt.Errorf("%s is hidden", h)
			}
		}
		return a.unreadable(name)
	}
}

// unreadable says which rule keeps a file from being read.
func (a *Agent) unreadable(name string) error {
	if a.Gate == nil {
		return nil
	}
	if r, denied := a.Gate.Policy().Unreadable(name); denied {
		return fmt.Errorf("the rule %s does not let it be read", r)
	}
	return nil
}

// guided returns the tools with calls that let the guide know where they have been: context files of folders count when something there was
// worked with.
func guided(tools []tool.Tool, g *guidance.Guide) []tool.Tool {
	out := make([]tool.Tool, len(tools))
	for i, t := range tools {
		out[i] = guidedTool{t, g}
	}
	return out
}

type guidedTool struct {
	tool.Tool
	guide *guidance.Guide
}

// Prepare implements [tool.Tool].
func (t guidedTool) Prepare(ctx context.Context, arguments string) (*tool.Call, error) {
	call, err := t.Tool.Prepare(ctx, arguments)
	if err != nil || len(call.Effects.Reads)+len(call.Effects.Writes) == 0 {
		return call, err
	}
	run, effects := call.Run, call.Effects
	call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
		result, err := run(ctx, report)
		if err == nil && !result.IsError {
			for _, paths := range [][]tool.Path{effects.Reads, effects.Writes} {
				for _, p := range paths {
					if p.Tree {
						t.guide.EnterDir(filepath.Clean(p.Name))
					} else {
						t.guide.Enter(p.Name)
					}
				}
			}
		}
		return result, err
	}
	return call, nil
}
