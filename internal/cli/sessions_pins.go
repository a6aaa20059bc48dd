package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsPin() *cobra.Command {
	var last, asJSON bool
	c := &cobra.Command{
		Use:   "pin ID [ENTRY]",
		Short: "Keep a message in the context window, whatever is summed up",
		Long: `Keep a message in the context window word for word, whatever is summed up, until 'tenon sessions unpin'. An entry is named by its
ID, the beginning of it, or its number; 'tenon sessions show --entries' and 'tenon sessions search' show them.`,
		Args: pinArgs(&last),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				e, err := pinned(c.Context(), store, s.ID, args[1:])
				if err != nil {
					return err
				}
				if _, err := store.Annotate(c.Context(), s.ID, session.Pin{Entry: e.ID}); err != nil {
					return err
				}
				return p.showPins([]session.Event{e}, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&last, "last", false, "the last message of the conversation")
	c.Flags().BoolVar(&asJSON, "json", false, "show the pin as JSON")
	p.completeSessions(c, "")
	return c
}

func pinArgs(last *bool) func(c *cobra.Command, args []string) error {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usagef(c, "the session's ID is missing")
		case len(args) > 2:
			return usagef(c, "one argument too many: %q", args[2])
		case *last && len(args) == 2:
			return usagef(c, "--last and an entry exclude each other")
		case !*last && len(args) == 1:
			return usagef(c, "the entry is missing: name one, or use --last")
		}
		return nil
	}
}

// pinned is the message that is named, or the last one.
func pinned(ctx context.Context, store session.Store, id session.SessionID, names []string) (session.Event, error) {
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

func (p *program) sessionsUnpin() *cobra.Command {
	var all, asJSON bool
	c := &cobra.Command{
		Use:   "unpin ID [ENTRY...]",
		Short: "Let go of messages that were pinned",
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usagef(c, "the session's ID is missing")
			case all == (len(args) > 1):
				return usagef(c, "name the entries, or use --all")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				pins, err := pinsOf(c.Context(), store, s.ID)
				if err != nil {
					return err
				}
				gone := pins
				if !all {
					if gone, err = pinsNamed(c.Context(), store, s.ID, pins, args[1:]); err != nil {
						return err
					}
				}
				var bodies []session.Body
				for _, e := range gone {
					bodies = append(bodies, session.Pin{Entry: e.ID, Removed: true})
				}
				if _, err := store.Annotate(c.Context(), s.ID, bodies...); err != nil {
					return err
				}
				if !asJSON {
					_, err := fmt.Fprintf(p.env.Stdout, "%s  %s let go\n", s.ID, count(len(gone), "pin"))
					return err
				}
				return p.showPins(gone, true)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "of all of them")
	c.Flags().BoolVar(&asJSON, "json", false, "show what was let go as JSON, one object to a line")
	p.completeSessions(c, "")
	return c
}

// pinsNamed are the pins of a session that people name as they do its entries.
func pinsNamed(ctx context.Context, store session.Store, id session.SessionID, pins []session.Event, names []string) ([]session.Event, error) {
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

func (p *program) sessionsPins() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "pins ID",
		Short: "Show which messages of a session are pinned",
		Args:  exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				pins, err := pinsOf(c.Context(), store, s.ID)
				if err != nil {
					return err
				}
				if len(pins) == 0 && !asJSON {
					_, err := fmt.Fprintf(p.env.Stderr, "session %s has no pins\n", s.ID)
					return err
				}
				return p.showPins(pins, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	p.completeSessions(c, "")
	return c
}

// pinsOf are the messages that are pinned, in the order in which they were.
func pinsOf(ctx context.Context, store session.Store, id session.SessionID) ([]session.Event, error) {
	var ids []session.ID
	for e, err := range store.Annotations(ctx, id, session.Pin{}.Kind()) {
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

func (p *program) showPins(pins []session.Event, asJSON bool) error {
	columns := p.columns()
	for _, e := range pins {
		m, _ := e.Body.(session.Message)
		if asJSON {
			if err := writeJSON(p.env.Stdout, map[string]any{"entry": e.ID, "time": e.Time, "role": m.Role, "text": m.Text()}); err != nil {
				return err
			}
			continue
		}
		text := firstLine(said(m))
		if text == "" {
			text = "calls " + callNames(m)
		}
		line := fmt.Sprintf("%s  %s  %-9s %s", e.ID, e.Time.Local().Format("01-02 15:04"), m.Role, text)
		if _, err := fmt.Fprintln(p.env.Stdout, fit(line, columns)); err != nil {
			return err
		}
	}
	return nil
}
