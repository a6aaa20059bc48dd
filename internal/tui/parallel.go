package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/transcript"
)

// parallel lets several agents work on a prompt, and then asks the person about the best result. Without arguments it asks again.
func parallel(a *app, _ conversation.Conversation, arg string) tea.Cmd {
	c := a.pane.opened.Contests
	switch {
	case c == nil:
		a.say("parallel runs need the terminal that has the session open, and not the view of an agent")
		return nil
	case a.pane.busy():
		a.say("a run is on; wait for its end")
		return nil
	}
	if arg == "" {
		last := conversation.Contest{}
		last.Selected, last.Worktrees = a.pane.fold.Parallel()
		return decide(a, c, last)
	}
	p, text := contest(arg)
	switch {
	case text == "":
		a.say("write the number of agents and the prompt: /parallel 3 PROMPT")
		return nil
	case a.pane.state.Mode == permission.AskMode:
		a.fail(errors.New("cannot run in parallel in mode ask: no one answers the questions of the agents; choose /mode edits or /mode plan first"))
		return nil
	}
	a.list.Bottom()
	host, dir, from := a.o.Host, here(a), a.pane
	return after(a, func(ctx context.Context) (r conversation.Contest, err error) {
		if p.Prompt, err = messageOf(ctx, host, dir, editor.Text(text)); err == nil {
			r, err = c.Parallel(ctx, p)
		}
		return r, err
	}, func(r conversation.Contest, err error) tea.Cmd {
		switch {
		case errors.Is(err, context.Canceled):
			a.say("cancelled; /parallel discards the worktrees")
			return nil
		case err != nil:
			a.fail(err)
			return nil
		case owner(a) != from:
			return nil
		}
		return decide(a, c, r)
	})
}

// contest reads the arguments of /parallel, and returns the prompt, too. The options are those of tenon run.
func contest(arg string) (p conversation.Parallel, prompt string) {
	for {
		word, rest := cutWord(arg)
		if value, after := cutWord(rest); word == "--models" {
			p.Models, arg = strings.Split(value, ","), after
		} else if word == "--judge" {
			p.Judges, arg = append(p.Judges, value), after
		} else if word == "--score" {
			p.Score, arg = value, after
		} else if n, err := strconv.Atoi(word); err == nil && p.Count == 0 && p.Models == nil {
			p.Count, arg = n, rest
		} else {
			return p, strings.TrimSpace(arg)
		}
	}
}

// cutWord cuts a word, or a text in quotation marks, from the start of a text.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if text != "" && (text[0] == '\'' || text[0] == '"') {
		if word, rest, ok := strings.Cut(text[1:], text[:1]); ok {
			return word, rest
		}
	}
	if end := strings.IndexAny(text, " \t\n"); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// decide shows the changes of the selected result of parallel runs. The person applies them, discards all results, or leaves them.
func decide(a *app, c conversation.Contests, r conversation.Contest) tea.Cmd {
	if len(r.Worktrees) == 0 {
		a.say("there are no parallel runs; /parallel 3 PROMPT begins them")
		return nil
	}
	return after(a, func(ctx context.Context) (m conversation.Merge, err error) {
		if r.Selected != "" {
			m, err = c.Merge(ctx, r.Selected, "")
		}
		return m, err
	}, func(m conversation.Merge, err error) tea.Cmd {
		if a.fail(err); err != nil {
			return nil
		}
		a.choosing = func(action keys.Action) tea.Cmd {
			if action == keys.Delete {
				return discard(a, r, transcript.Count(len(r.Worktrees), "worktree")+" discarded")
			}
			return after(a, func(ctx context.Context) (conversation.Merge, error) { return c.Merge(ctx, r.Selected, m.Plan) }, func(_ conversation.Merge, err error) tea.Cmd {
				switch applied := fmt.Sprintf("applied: %s; /undo reverts them", transcript.Count(len(m.Files), "file")); {
				case err != nil:
					a.fail(err)
					return nil
				case len(m.Conflicts) > 0:
					a.say(applied + "; the conflicts stay in the worktrees")
					return nil
				default:
					return discard(a, r, applied)
				}
			})
		}
		return a.show(dialog.NewContest(r, m, a.settings))
	})
}

// discard removes the worktrees of parallel runs.
func discard(a *app, r conversation.Contest, say string) tea.Cmd {
	host := a.o.Host
	return operation(a, say, func(ctx context.Context) (err error) {
		for _, name := range r.Worktrees {
			_, failed := host.Run(ctx, "", "run", "--discard", name)
			err = errors.Join(err, failed)
		}
		return err
	})
}
