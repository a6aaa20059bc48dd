package sessions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/markdown"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/transcript"
)

func newShow(env *command.Env) *cobra.Command {
	var full, entries bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show the conversation of a session",
	}
	c.Flags().BoolVar(&full, "full", false, "print full results of calls")
	c.Flags().BoolVar(&entries, "entries", false, "print the number and ID of each entry")
	return env.OnSession(c, "print one JSON object: session, state and messages", func(ctx context.Context, a *app.App, s index.Summary, _ []string) (r command.Result, err error) {
		path := view.Stored(a.Store, s.ID, "")
		state, err := view.StateOf(ctx, path)
		if err != nil {
			return r, err
		}
		var out strings.Builder
		t := talk{out: &out, shown: env.Shown, palette: env.Paint(), columns: 160, full: full, entries: entries}
		if w := term.Width(env.Stdout); w != nil {
			t.columns, t.terminal = w(), true
		}
		if t.inherited, err = inherited(ctx, path, s); err == nil {
			err = t.write(ctx, s, state, path)
		}
		r.JSON = func() (any, error) {
			messages, err := view.Messages(ctx, path)
			return map[string]any{"session": s, "state": state, "messages": messages}, err
		}
		r.Text = out.String()
		return r, err
	})
}

type talk struct {
	out     io.Writer
	shown   func(string) string
	palette term.Palette
	columns int  // of a line of a call
	full    bool // full results
	// terminal: answers are drawn as a run draws them.
	terminal bool
	entries  bool // number and ID of every message

	inherited map[session.ID]bool // entries that have their numbers in another journal
}

func inherited(ctx context.Context, branch view.Path, s index.Summary) (map[session.ID]bool, error) {
	if !s.Fork {
		return nil, nil
	}
	own, all := true, make(map[session.ID]bool)
	for e, err := range branch.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if !own {
			all[e.ID] = true
		}
		own = own && e.ID != s.ID
	}
	return all, nil
}

func (t talk) write(ctx context.Context, s index.Summary, state view.State, path view.Path) error {
	fmt.Fprintf(t.out, "%s\n", t.palette.Bold(t.shown(s.Title)))
	fmt.Fprintf(t.out, "%s\n", t.palette.Dim(t.shown(fmt.Sprintf("%s  %s  %s  %s",
		s.ID, s.Created.Local().Format("2006-01-02 15:04"), s.Dir, s.Model))))
	if s.From.Session != "" {
		how := "follows session "
		if s.Fork {
			how = "a fork of session "
		}
		fmt.Fprintf(t.out, "%s\n", t.palette.Dim(how+string(s.From.Session)+", entry "+string(s.From.Entry)))
	}
	items, err := fold(ctx, path)
	if err != nil {
		return err
	}
	for _, it := range items {
		t.item(it)
	}
	fmt.Fprintf(t.out, "\n%s\n", t.palette.Dim(t.shown(t.ending(s, state))))
	return nil
}

// fold returns the items of a branch, oldest first.
func fold(ctx context.Context, branch view.Path) (items []*transcript.Item, _ error) {
	var entries []session.Event
	for e, err := range branch.Backward(ctx) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	var model transcript.Transcript
	for _, e := range slices.Backward(entries) {
		if it, begun := model.Add(e); begun {
			items = append(items, it)
		}
	}
	return items, nil
}

// entry writes the number and the ID of an entry with --entries.
func (t talk) entry(seq int64, id session.ID) {
	if !t.entries {
		return
	}
	number := strconv.FormatInt(seq, 10)
	if t.inherited[id] {
		number = "inherited" // its ID names it
	}
	fmt.Fprintf(t.out, "\n%s", t.palette.Dim(number+"  "+string(id)))
}

func (t talk) item(it *transcript.Item) {
	switch it.Kind {
	case transcript.KindPrompt:
		t.entry(it.Seq, it.ID)
		t.says(t.palette.Bold(t.shown(it.Who())), t.shown(spoken(it)))
	case transcript.KindAnswer:
		if it.Void() {
			return
		}
		t.entry(it.Seq, it.ID)
		stop, _ := it.Facts()
		switch text := spoken(it); {
		case text != "" || stop != "":
			if t.terminal {
				text = markdown.Render(text, t.columns, markdown.Terminal(t.palette))
			} else {
				text = t.shown(text)
			}
			t.says(t.palette.Bold(t.shown(it.Who())), text)
		case t.entries:
			fmt.Fprintf(t.out, "\n%s\n", t.palette.Dim("calls "+callNames(it))) // the results follow
		}
		if stop != "" {
			fmt.Fprintln(t.out, t.palette.Yellow("("+stop+")"))
		}
	}
	for _, c := range it.Calls {
		t.result(c)
	}
}

// spoken returns the text of a message without the parts that Tenon adds or reads.
func spoken(it *transcript.Item) string {
	if it.Kind == transcript.KindPrompt {
		return it.Text()
	}
	return strings.TrimSpace(it.Text())
}

// callNames returns the names of the tools that an answer calls.
func callNames(it *transcript.Item) string {
	var names []string
	for _, c := range it.Calls {
		names = append(names, term.OneLine(c.Name))
	}
	return strings.Join(names, ", ")
}

func (t talk) says(who, text string) {
	fmt.Fprintf(t.out, "\n%s\n%s\n", who, strings.TrimRight(text, "\n"))
}

// result writes a call and, indented, the beginning of its result.
func (t talk) result(c *transcript.Call) {
	const few = 4 // lines
	if c.Result == nil {
		return
	}
	t.entry(c.Seq, c.Entry)
	mark := t.palette.Green("✓")
	if !c.OK() {
		mark = t.palette.Red("✗")
	}
	line := strings.TrimRight(term.OneLine(c.Name)+" "+term.OneLine(c.Title), " ")
	fmt.Fprintf(t.out, "\n%s %s\n", mark, term.Fit(line, t.columns-2))
	text := strings.TrimRight(c.Result.Text(), "\n")
	all := strings.Split(text, "\n")
	for i, line := range all {
		if i == few && !t.full && len(all) > few+1 {
			fmt.Fprintf(t.out, "  %s\n", t.palette.Dim(fmt.Sprintf("… %d more lines, see --full", len(all)-few)))
			break
		}
		line = t.shown(line)
		if !t.full {
			line = term.Fit(line, t.columns-2)
		}
		fmt.Fprintf(t.out, "  %s\n", t.palette.Dim(line))
	}
}

func (t talk) ending(s index.Summary, state view.State) string {
	how := "no run yet"
	switch {
	case state.Running && s.Owner != "":
		how = "running now: " + s.Owner
	case state.Running:
		how = "the last run was interrupted; continue with: tenon run --session " + string(s.ID)
	case state.Ended != nil:
		how = strings.ReplaceAll(string(state.Ended.Reason), "_", " ")
		if state.Ended.Message != "" {
			how += ": " + state.Ended.Message
		}
	}
	return fmt.Sprintf("%s, %s, %s", how, transcript.Usage(s.Usage), s.Updated.Local().Format(time.DateTime))
}
