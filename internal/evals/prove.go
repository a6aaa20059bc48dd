package main

import (
	"context"
	"errors"
	"fmt"
)

// prove shows that the check of a task decides: it fails without work and an answer, and it passes with the reference solution.
func prove(ctx context.Context, t *Task, top string) error {
	p, err := prepare(ctx, t, top)
	if err != nil {
		return err
	}
	solved, _, _, err := p.judge(ctx, "")
	if err != nil {
		return err
	}
	if solved {
		return fmt.Errorf("the check of task %s passes without work; it must fail", t.Name)
	}
	if err := removeAll(top); err != nil { // the check may have left files
		return err
	}
	if p, err = prepare(ctx, t, top); err != nil {
		return err
	}
	if err := p.solve(ctx); err != nil {
		return err
	}
	solved, out, _, err := p.judge(ctx, t.Answer)
	if err == nil && !solved {
		err = errors.New(out)
	}
	if err != nil {
		return fmt.Errorf("the check of task %s fails with the reference solution: %w", t.Name, err)
	}
	return nil
}
