package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsTag() *cobra.Command {
	return &cobra.Command{
		Use:   "tag ID [+TAG|-TAG]...",
		Short: "Add tags to a session, take them away, or show them",
		Long: `Add tags to a session, take them away, or without any show them. A tag is one word of letters, digits and the signs . _ - / : and
is kept in lower case. 'tenon sessions list --tag' and 'search --tag' find sessions by it.

Flags:
  -h, --help   help for tag
      --json   as one JSON object`,
		Example:            `  tenon sessions tag 4kx +release +urgent -draft`,
		DisableFlagParsing: true, // -TAG is no flag
		ValidArgsFunction:  p.sessionIDs(false),
		RunE: func(c *cobra.Command, args []string) error {
			var words []string
			asJSON := false
			for _, a := range args {
				switch {
				case a == "--json":
					asJSON = true
				case a == "-h" || a == "--help":
					return c.Help()
				case strings.HasPrefix(a, "--"):
					return usagef(c, "there is no flag %s", a)
				default:
					words = append(words, a)
				}
			}
			if len(words) == 0 {
				return usagef(c, "the session's ID is missing")
			}
			return p.withSession(c, words[0], func(store session.Store, s session.Summary) error {
				tags, err := retagged(c, s.Tags, words[1:])
				if err != nil {
					return err
				}
				if !slices.Equal(tags, s.Tags) {
					if _, err := store.Annotate(c.Context(), s.ID, session.Tags{Tags: tags}); err != nil {
						return err
					}
				}
				if asJSON {
					return writeJSON(p.env.Stdout, map[string]any{"session": s.ID, "tags": append([]string{}, tags...)})
				}
				if len(tags) == 0 {
					_, err := fmt.Fprintf(p.env.Stderr, "session %s has no tags\n", s.ID)
					return err
				}
				_, err = fmt.Fprintf(p.env.Stdout, "%s  %s\n", s.ID, p.shown(tagWords(tags)))
				return err
			})
		},
	}
}

// retagged is tags with some added and others taken away.
func retagged(c *cobra.Command, tags, changes []string) ([]string, error) {
	const most = 50
	out := slices.Clone(tags)
	for _, change := range changes {
		tag, remove := strings.CutPrefix(change, "-")
		tag = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(tag, "+"), "#"))
		if tag == "" || len([]rune(tag)) > most || strings.ContainsFunc(tag, notInTag) {
			return nil, usagef(c, "%q is no tag: write one word of at most %d letters, digits and . _ - / :", change, most)
		}
		out = slices.DeleteFunc(out, func(t string) bool { return t == tag })
		if !remove {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	return out, nil
}

func notInTag(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("._-/:", r)
}

// tagWords is tags for people.
func tagWords(tags []string) string { return "#" + strings.Join(tags, " #") }

// completeTags lets the shell complete tags that are in use.
func (p *program) completeTags(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	var tags []string
	_ = p.withStore(nil, func(store session.Store) error { // a shell has no place for an error
		for s, err := range store.List(c.Context(), session.Query{}) {
			if err != nil {
				return err
			}
			tags = append(tags, s.Tags...)
		}
		return nil
	})
	slices.Sort(tags)
	return slices.Compact(tags), cobra.ShellCompDirectiveNoFileComp
}

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
					if gone, err = pinsNamed(pins, args[1:], s.ID); err != nil {
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

// pinsNamed are the pins that people name.
func pinsNamed(pins []session.Event, names []string, id session.SessionID) ([]session.Event, error) {
	var out []session.Event
	for _, name := range names {
		i := slices.IndexFunc(pins, func(e session.Event) bool {
			return strings.HasPrefix(string(e.ID), strings.ToLower(name)) || fmt.Sprint(e.Seq) == name
		})
		if i < 0 {
			return nil, fmt.Errorf("no message %q is pinned in session %s; see 'tenon sessions pins %[2]s'", name, id)
		}
		out = append(out, pins[i])
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
		line := fmt.Sprintf("%s  %s  %-9s %s", e.ID, e.Time.Local().Format("01-02 15:04"), m.Role, firstLine(app.Prompt(m.Message)))
		if _, err := fmt.Fprintln(p.env.Stdout, fit(line, columns)); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) sessionsNote() *cobra.Command {
	const most = 10_000 // runes
	var asJSON bool
	c := &cobra.Command{
		Use:   "note ID [TEXT...]",
		Short: "Write a note about a session, or show its notes",
		Long:  "Write a note about a session, or without a text show its notes. The model is not told; 'tenon sessions search' finds them.",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef(c, "the session's ID is missing")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			text := strings.ToValidUTF8(strings.TrimSpace(strings.Join(args[1:], " ")), "\uFFFD")
			switch {
			case len(args) > 1 && text == "":
				return usagef(c, "the note is empty")
			case len([]rune(text)) > most:
				return usagef(c, "the note has more than %d letters", most)
			}
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				if text == "" {
					return p.showNotes(c.Context(), store, s.ID, asJSON)
				}
				events, err := store.Annotate(c.Context(), s.ID, session.Note{Text: text})
				if err != nil {
					return err
				}
				return p.showNote(events[0], text, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object to a line")
	p.completeSessions(c, "")
	return c
}

func (p *program) showNotes(ctx context.Context, store session.Store, id session.SessionID, asJSON bool) error {
	n := 0
	for e, err := range store.Annotations(ctx, id, session.Note{}.Kind()) {
		if err != nil {
			return err
		}
		if note, ok := e.Body.(session.Note); ok {
			n++
			if err := p.showNote(e, note.Text, asJSON); err != nil {
				return err
			}
		}
	}
	if n == 0 && !asJSON {
		_, err := fmt.Fprintf(p.env.Stderr, "session %s has no notes\n", id)
		return err
	}
	return nil
}

func (p *program) showNote(e session.Event, text string, asJSON bool) error {
	if asJSON {
		return writeJSON(p.env.Stdout, map[string]any{"entry": e.ID, "time": e.Time, "text": text})
	}
	_, err := fmt.Fprintf(p.env.Stdout, "%s  %s\n", e.Time.Local().Format(time.DateTime), p.shown(text))
	return err
}
