package files

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
)

// Rewrite is a new text of a file, for a tool that computes changes of files, such as the rename of a symbol.
type Rewrite struct {
	Path   string // absolute
	Before string // the text from which the change was computed; if the file has another, the rewrite fails
	After  string
}

// Rewrite gives files new texts: all of them, as one change, or none. The result has the diffs. The model knows of a changed file what it
// knew before.
func (s *Set) Rewrite(ctx context.Context, all []Rewrite) (tool.Result, error) {
	e := editor{s.seen}
	p, err := planRewrites(ctx, e, all)
	if err == nil && len(p.steps) > 0 {
		err = e.apply(ctx, p)
	}
	if err != nil {
		return tool.Result{}, err
	}
	result := tool.TextResult(p.text()).With(p.brief(), nil)
	result.Diffs = p.diffs()
	return result, nil
}

// PreviewRewrite returns the diff that Rewrite would make, and changes nothing.
func (s *Set) PreviewRewrite(ctx context.Context, all []Rewrite) (string, error) {
	p, err := planRewrites(ctx, editor{s.seen}, all)
	return p.preview(), err
}

func planRewrites(ctx context.Context, e editor, all []Rewrite) (p plan, err error) {
	for _, one := range all {
		f, err := e.open(ctx, one.Path)
		if err != nil {
			return plan{}, err
		}
		if f.text != one.Before {
			return plan{}, tool.Codef("tool.changed", "%s has changed just now; call the tool again", workspace.Quote(e.ws.Rel(f.abs)))
		}
		step, err := e.replaced(f, one.After)
		if err != nil {
			return plan{}, fmt.Errorf("cannot plan the change: %w", err)
		}
		p.steps = append(p.steps, step)
	}
	return p, nil
}
