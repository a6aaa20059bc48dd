package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

func newPin(env *command.Env) *cobra.Command {
	var last bool
	c := &cobra.Command{
		Use:   "pin ID [ENTRY]",
		Short: "Keep a message verbatim in the context window",
		Long: `Keep a message verbatim in the context window, also after summaries, until
'tenon sessions unpin'. ENTRY is an ID, an ID prefix, or a number; 'tenon sessions show
--entries' and 'tenon sessions search' print them.`,
		Args: pinArgs(&last),
	}
	c.Flags().BoolVar(&last, "last", false, "pin the last message of the conversation")
	return env.OnSession(c, "print the pin as JSON", func(ctx context.Context, a *app.App, s index.Summary, args []string) (command.Result, error) {
		e, err := pinned(ctx, a.Store, s.ID, args)
		if err != nil {
			return command.Result{}, err
		}
		_, err = a.Store.Annotate(ctx, s.ID, session.Pin{Entry: e.ID})
		return showPins(env, e), err
	})
}

func pinArgs(last *bool) func(c *cobra.Command, args []string) error {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return command.Usagef(c, "the session's ID is missing")
		case len(args) > 2:
			return command.Usagef(c, "one argument too many: %q", args[2])
		case *last && len(args) == 2:
			return command.Usagef(c, "--last and an entry exclude each other")
		case !*last && len(args) == 1:
			return command.Usagef(c, "the entry is missing: name one, or use --last")
		}
		return nil
	}
}

// pinned is the message that is named, or the last one.
func pinned(ctx context.Context, store index.Store, id session.SessionID, names []string) (session.Event, error) {
	if len(names) > 0 {
		e, err := entryOf(ctx, store, id, names[0])
		if err != nil {
			return e, err
		}
		if _, ok := e.Body.(session.Message); !ok {
			return e, fmt.Errorf("entry %s is no message (%s): only messages can be pinned", e.ID, e.Body.Kind())
		}
		return e, nil
	}
	for e, err := range store.Backward(ctx, id, "") {
		if err != nil {
			return e, err
		}
		if _, ok := e.Body.(session.Message); ok {
			return e, nil
		}
	}
	return session.Event{}, fmt.Errorf("session %s has no message yet", id)
}

func newUnpin(env *command.Env) *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "unpin ID [ENTRY...]",
		Short: "Unpin messages",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && all == (len(args) > 1) {
				return command.Usagef(c, "name the entries, or use --all")
			}
			return command.SomeArgs("the session's ID")(c, args)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "unpin all messages")
	return env.OnSession(c, "print unpinned messages as JSON, one object per line", func(ctx context.Context, a *app.App, s index.Summary, args []string) (r command.Result, err error) {
		gone, err := pinsOf(ctx, a.Store, s.ID)
		if err == nil && !all {
			gone, err = pinsNamed(ctx, a.Store, s.ID, gone, args)
		}
		if err != nil {
			return r, err
		}
		var bodies []session.Body
		for _, e := range gone {
			bodies = append(bodies, session.Pin{Entry: e.ID, Removed: true})
		}
		_, err = a.Store.Annotate(ctx, s.ID, bodies...)
		r = showPins(env, gone...)
		r.Text = fmt.Sprintf("%s  unpinned %s\n", s.ID, transcript.Count(len(gone), "message"))
		return r, err
	})
}

// pinsNamed are the pins of a session that people name as they do its entries.
func pinsNamed(ctx context.Context, store index.Store, id session.SessionID, pins []session.Event, names []string) ([]session.Event, error) {
	var out []session.Event
	for _, name := range names {
		prefix := strings.ToLower(strings.TrimSpace(name))
		if _, ok := numberOf(prefix); ok || prefix == "" {
			e, err := entryOf(ctx, store, id, prefix)
			if err != nil {
				return nil, err
			}
			prefix = string(e.ID)
		}
		found := slices.DeleteFunc(slices.Clone(pins), func(e session.Event) bool { return !strings.HasPrefix(string(e.ID), prefix) })
		switch len(found) {
		case 0:
			return nil, fmt.Errorf("no message %q is pinned in session %s; see 'tenon sessions pins %[2]s'", name, id)
		case 1:
			out = append(out, found[0])
		default:
			return nil, fmt.Errorf("%q is the beginning of %d pins; write more of one", name, len(found))
		}
	}
	return out, nil
}

func newPins(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "pins ID",
		Short: "List the pinned messages of a session",
	}
	return env.OnSession(c, "print JSON, one object per line", func(ctx context.Context, a *app.App, s index.Summary, _ []string) (command.Result, error) {
		pins, err := pinsOf(ctx, a.Store, s.ID)
		r := showPins(env, pins...)
		if len(pins) == 0 {
			r.Note = fmt.Sprintf("session %s has no pins", s.ID)
		}
		return r, err
	})
}

// pinsOf are the messages that are pinned, in the order in which they were.
func pinsOf(ctx context.Context, store index.Store, id session.SessionID) ([]session.Event, error) {
	var ids []session.ID
	for e, err := range store.Read(ctx, id, 0, session.Pin{}.Kind()) {
		if err != nil {
			return nil, err
		}
		if pin, ok := e.Body.(session.Pin); ok {
			ids = slices.DeleteFunc(ids, func(id session.ID) bool { return id == pin.Entry })
			if !pin.Removed {
				ids = append(ids, pin.Entry)
			}
		}
	}
	var pins []session.Event
	for _, one := range ids {
		for e, err := range store.Backward(ctx, id, one) {
			if errors.Is(err, session.ErrNotFound) {
				break // of an origin that is gone
			}
			if err != nil {
				return nil, err
			}
			pins = append(pins, e)
			break
		}
	}
	return pins, nil
}

func showPins(env *command.Env, pins ...session.Event) (r command.Result) {
	var values []map[string]any
	var rows [][]string
	for _, e := range pins {
		m, _ := e.Body.(session.Message)
		values = append(values, map[string]any{"entry": e.ID, "time": e.Time, "role": m.Role, "text": m.Text()})
		it, _ := new(transcript.Transcript).Add(e)
		text := term.FirstLine(spoken(it))
		if text == "" {
			text = "calls " + callNames(it)
		}
		rows = append(rows, []string{string(e.ID), e.Time.Local().Format("01-02 15:04"), string(m.Role), text})
	}
	return command.Result{JSON: command.Lines(values), Text: env.Table(nil, rows)}
}
