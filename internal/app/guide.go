package app

import (
	"context"
	"fmt"
	"slices"

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
		MaxFile: s.Guidance.MaxFile, Refuse: a.refusal(s.Bounds.in(s.Policy.Mode()).Hidden),
	}
	if a.secrets != nil {
		o.Clean = a.secrets.Redact
	}
	return guidance.New(o)
}

// guideRoom is how many bytes all context files may have, with the model that answers now.
func (a *Agent) guideRoom() int {
	const usual = 100 << 10
	if most := a.spec.Guidance.MaxAll; most > 0 {
		return most
	}
	return min(usual, a.usable()) // a quarter of the window, as a token has four bytes
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
	return wrapped(tools, func(call *tool.Call) {
		run, paths := call.Run, slices.Concat(call.Effects.Reads, call.Effects.Writes)
		if len(paths) == 0 {
			return
		}
		call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
			result, err := run(ctx, report)
			if err == nil && !result.IsError {
				enter(g, paths)
			}
			return result, err
		}
	})
}

// enter tells the guide where a call has been.
func enter(g *guidance.Guide, paths []tool.Path) {
	for _, p := range paths {
		if p.Tree {
			g.EnterDir(p.Name)
		} else {
			g.Enter(p.Name)
		}
	}
}
