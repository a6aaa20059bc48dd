package window

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/session"
)

// apply lets a digest take effect in a draft, if it still fits and makes the window smaller.
func (w *Window) apply(ctx context.Context, d *draft, done *work) (applied bool, _ error) {
	task := done.plan.task
	over := func(problem string) {
		w.announce(session.Compacting{Reason: task.Reason, Done: true, Error: problem})
	}
	if d.view.Digest.ID != done.plan.before || !d.has(done.plan.through) {
		w.wasted(done)
		over("the conversation has gone another way meanwhile")
		return false, nil
	}
	digest, problem := done.digest, ""
	if done.err != nil {
		problem = w.failure(done.err)
		w.wasted(done)
		digest, _ = Outline{}.Digest(ctx, task) // it never fails
	}
	after, err := w.complete(ctx, d, done.plan, &digest)
	if err != nil {
		return false, err
	}
	before := d.estimate().Tokens
	if after >= before*9/10 {
		if problem == "" {
			w.wasted(done)
			problem = w.failure(fmt.Errorf("it would not make the window smaller: %d tokens instead of %d", after, before))
		}
		over(problem)
		return false, nil
	}
	digest.Before, digest.After = int64(before), int64(after)
	d.begin("compaction")
	d.add(digest)
	w.mu.Lock()
	w.last, w.stuck = time.Now(), false
	if done.err == nil && !done.plain {
		w.failed = 0
	}
	w.mu.Unlock()
	if problem != "" {
		problem += "; this one was made without a model"
	}
	over(problem)
	return true, d.look(ctx)
}

// complete adds to a digest what holds as it takes effect: somebody may have pinned more since it was begun, and files have changed. It
// returns about how many tokens a request has then. Files are told as far as they leave half of the window free, an eighth of it at most.
func (w *Window) complete(ctx context.Context, d *draft, p plan, digest *session.Digest) (after int, err error) {
	pins, err := d.kept(ctx)
	if err != nil {
		return 0, err
	}
	digest.Reason, digest.Focus, digest.Through = p.task.Reason, p.task.Focus, p.through
	var told []session.Notice
	digest.Kept, told = boundPins(d.view.keep(p.cut, w.keepTurns(d.usable), pins), d.usable/pinsShare)
	w.tellAll(told)
	digest.Todo = d.view.todos()
	digest.Context = d.view.again(nil)
	if after, err = d.with(ctx, *digest); err != nil || w.options.Files == nil {
		return after, err
	}
	const least = 200 // tokens of a file: fewer are of no use
	room := min(d.usable/2-after, d.usable/8)
	if room < least {
		return after, nil
	}
	files, err := w.options.Files(ctx, d.view.notBehind(p.cut, digest.Files, d.reads), room)
	if err != nil {
		return 0, fmt.Errorf("window: tell of the files in work: %w", err)
	}
	digest.Context = d.view.again(files)
	return d.with(ctx, *digest)
}

// with is about how many tokens the request has in an epoch that begins with a digest.
func (d *draft) with(ctx context.Context, digest session.Digest) (int, error) {
	v, err := Look(ctx, extended{d.path, []session.Body{digest, d.header.epoch("compaction")}})
	if err != nil {
		return 0, err
	}
	return v.Estimate(d.header).Tokens, nil
}

// again is what a digest tells again: what holds of the place, files in work, and what is to be done.
func (v *View) again(files []session.ContextBlock) []session.ContextBlock {
	held := slices.DeleteFunc(slices.Clone(v.Context), func(b session.ContextBlock) bool {
		return b.Name == todoBlock || strings.HasPrefix(b.Name, fileBlock)
	})
	held = append(held, files...)
	if text := todoText(v.todos()); text != "" {
		held = append(held, session.ContextBlock{Name: todoBlock, Text: text})
	}
	return held
}

// notBehind is the files of a list but for those that a read shows which stays word for word: it stands behind a cut.
func (v *View) notBehind(cut int, names, reads []string) []string {
	stays := make(map[session.ID]bool, len(v.entries)-cut)
	for _, e := range v.entries[cut:] {
		stays[e.ID] = true
	}
	shown := make(map[string]bool)
	for _, r := range v.results(reads) {
		for _, name := range r.writes {
			delete(shown, name)
		}
		if r.file != "" && !r.reduced && stays[r.entry] {
			shown[r.file] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return shown[name] })
}

// failure notes that the Digester was asked in vain, and says what people are told.
func (w *Window) failure(err error) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed++
	if w.failed < maxFailures {
		return err.Error()
	}
	return err.Error() + "; until somebody asks for a digest, they are made without a model, and only when the window is full"
}
