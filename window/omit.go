package window

import (
	"context"
	"fmt"

	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
)

// omit replaces everything before the last message, or before the last answer and its results, by a summary that needs no model. It is the
// last resort: what stays is the context, the last message, and as much of the summary and of the pinned messages as fits. If that does
// not shorten the request, omit does nothing.
func (d *draft) omit(ctx context.Context, reason string) error {
	v := d.view
	cut, through := v.cutBefore(v.latest())
	if cut == 0 {
		before, ok := v.Summary.Body.(session.Summarized)
		if !ok {
			return nil
		}
		through = before.Through // only the beginning of the view can get shorter
	}
	pins, err := d.pinned(ctx)
	if err != nil {
		return err
	}
	kept, task := v.keep(cut, 0, pins), v.task(cut)
	summary := session.Summarized{Through: through, Reason: reason, Context: v.again(nil), Todo: task.Todo, Before: int64(d.estimate().Tokens)}
	var notices []live.Notice
	for share := d.usable / pinsShare; ; share /= 2 {
		task.Limit = max(share, 1)
		written, _ := Extract{}.Summarize(ctx, task) // it never fails
		summary.Summary, summary.Files = written.Summary, written.Files
		summary.Verbatim, summary.Omitted, notices = boundPins(kept, share)
		after, err := d.with(ctx, summary)
		if err != nil {
			return err
		}
		summary.After = int64(after.Estimate(d.header).Tokens)
		if share == 0 || summary.After <= int64(d.usable) {
			break
		}
	}
	if summary.After >= summary.Before {
		return nil
	}
	d.begin("compaction")
	d.add(summary)
	d.notices = append(notices, live.Notice{Text: fmt.Sprintf("the conversation is too long for the context window of %s: the model sees a short "+
		"summary of it, and the last message; use a model with a larger context window", d.header.Model.Ref())})
	return d.look(ctx)
}
