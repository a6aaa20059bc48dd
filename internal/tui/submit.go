package tui

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

// submit sends a prompt, or runs the slash command that it is.
func submit(a *app, m editor.Submitted) tea.Cmd {
	text := strings.TrimSpace(m.Draft.Text)
	if name, arg, ok := slashOf(text); ok {
		return slash(a, name, arg, m)
	}
	return send(a, m)
}

// send sends a prompt.
func send(a *app, m editor.Submitted) tea.Cmd {
	c := a.pane.conversation()
	if c == nil && a.failed != nil {
		a.editor.SetValue(m.Draft)
		a.say("there is no open session; /sessions lists them, /new begins one")
		return nil
	}
	if c == nil || a.gen != a.pane.gen { // the session that the prompt is for is still opening
		a.pending = append(a.pending, m.Draft)
		return nil
	}
	if t, ok := viewedTask(a); ok && t.Report != nil { // no one would read the prompt
		a.editor.SetValue(m.Draft)
		a.say("the task is settled; ask the agent that gave it")
		return nil
	}
	a.list.Bottom()
	lane := session.FromFollowUp
	if m.Lane == editor.Steer {
		lane = session.FromSteering
	}
	ctx, host, dir, editing := a.ctx, a.o.Host, a.pane.opened.Dir, a.editing
	a.editing = ""
	return func() tea.Msg {
		message, err := messageOf(ctx, host, dir, m.Draft)
		switch {
		case err != nil:
		case editing != "":
			err = c.Edit(ctx, editing, message)
		default:
			_, err = c.Prompt(ctx, conversation.Prompt{Message: message, Lane: lane})
		}
		if err == nil {
			return nil
		}
		return then(func(a *app) tea.Cmd { // the prompt comes back
			if a.editor.Empty() {
				a.editor.SetValue(m.Draft)
			}
			a.fail(err)
			return nil
		})
	}
}

// messageOf returns the message of a prompt: its text with its pastes, and the files that it names.
func messageOf(ctx context.Context, h Host, dir string, d editor.Draft) (llm.Message, error) {
	text := d.Expanded()
	message := llm.UserText(text)
	add := func(name string, from, to int) error {
		content, err := h.Attach(ctx, dir, name, from, to)
		message.Content = append(message.Content, content...)
		return err
	}
	for _, p := range d.Attachments() {
		if len(p.Data) > 0 {
			message.Content = append(message.Content, llm.Image{MIME: p.MediaType, Data: p.Data})
		} else if err := add(p.Path, 0, 0); err != nil {
			return message, err
		}
	}
	for _, m := range complete.Mentions(d.Shown()) {
		unknown := new(fs.PathError)
		if err := add(m.Path, m.From, m.To); errors.As(err, &unknown) && !errors.Is(err, fs.ErrPermission) {
			continue // it is a word such as @param
		} else if err != nil {
			return message, err
		}
	}
	return message, nil
}

// slashOf splits a slash command from its argument. A path is none: its first word has another slash.
func slashOf(text string) (name, arg string, ok bool) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return "", "", false
	}
	name, arg, _ = strings.Cut(text[1:], " ")
	name, rest, _ := strings.Cut(name, "\n")
	if name == "" || strings.ContainsAny(name, "/.") {
		return "", "", false
	}
	return name, strings.TrimSpace(rest + " " + arg), true
}

// slash runs a slash command.
func slash(a *app, name, arg string, m editor.Submitted) tea.Cmd {
	for _, c := range commands() {
		if c.name == name {
			return c.do(a, arg)
		}
	}
	return callCustom(a, name, arg, m)
}

// steer sends the first queued prompt now, so that it enters the run between two steps.
func steer(a *app) tea.Cmd {
	for _, d := range a.pane.drafts() {
		if d.Lane == session.FromFollowUp {
			return with(a, "", func(ctx context.Context, c conversation.Conversation) error {
				return late(c.Move(ctx, d.ID, session.FromSteering, ""))
			})
		}
	}
	return nil
}

// operation runs something that may block, and then shows its error or a remark.
func operation(a *app, say string, f func(ctx context.Context) error) tea.Cmd {
	ctx := a.ctx
	return func() tea.Msg {
		if err := f(ctx); err != nil {
			return done{err: err}
		}
		return done{say: say}
	}
}

// shell runs a command of the person under the normal rules. Its output becomes part of the conversation.
func shell(a *app, line string) tea.Cmd {
	a.list.Bottom()
	return with(a, "", func(ctx context.Context, c conversation.Conversation) error {
		_, err := c.Command(ctx, line)
		return err
	})
}
