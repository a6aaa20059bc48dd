package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
)

func (p *program) sessionsShow() *cobra.Command {
	var asJSON, full, entries bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show the conversation of a session",
		Args:  exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				path := session.Stored(store, s.ID, "")
				messages, err := session.Messages(c.Context(), path)
				if err != nil {
					return err
				}
				state, err := session.StateOf(c.Context(), path)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(p.env.Stdout, map[string]any{"session": s, "state": state, "messages": messages})
				}
				out := bufio.NewWriter(p.env.Stdout)
				t := transcript{
					out: out, shown: p.shown, palette: paletteFor(p.env.Stdout, p.env.Getenv), columns: 160, full: full, entries: entries,
				}
				if w := width(p.env.Stdout); w != nil {
					t.columns = w()
				}
				if t.inherited, err = inherited(c.Context(), path, s); err != nil {
					return err
				}
				t.write(s, state, messages)
				return out.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as one JSON object: session, state and messages")
	c.Flags().BoolVar(&full, "full", false, "results of calls in full")
	c.Flags().BoolVar(&entries, "entries", false, "with the number and the ID of the entry of every message")
	p.completeSessions(c, "")
	return c
}

// transcript writes a conversation for people.
type transcript struct {
	out     io.Writer
	shown   func(string) string
	palette palette
	columns int  // that a line of a call may have
	full    bool // results as they are, instead of their beginnings
	entries bool // the entry of every message

	inherited map[session.ID]bool // entries whose numbers are those of another journal
}

// inherited are the entries of a branch that a fork has from elsewhere.
func inherited(ctx context.Context, branch session.Path, s session.Summary) (map[session.ID]bool, error) {
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

func (t transcript) write(s session.Summary, state session.State, messages []session.Event) {
	fmt.Fprintf(t.out, "%s\n", t.palette.bold(t.shown(s.Title)))
	fmt.Fprintf(t.out, "%s\n", t.palette.dim(t.shown(fmt.Sprintf("%s  %s  %s  %s",
		s.ID, s.Created.Local().Format("2006-01-02 15:04"), s.Dir, s.Model))))
	if s.From.Session != "" {
		how := "comes after session "
		if s.Fork {
			how = "a fork of session "
		}
		fmt.Fprintf(t.out, "%s\n", t.palette.dim(how+string(s.From.Session)+", entry "+string(s.From.Entry)))
	}
	calls := make(map[string]llm.ToolCall)
	for _, e := range messages {
		if t.entries {
			number := strconv.FormatInt(e.Seq, 10)
			if t.inherited[e.ID] {
				number = "inherited" // its ID names it
			}
			fmt.Fprintf(t.out, "\n%s", t.palette.dim(number+"  "+string(e.ID)))
		}
		t.message(e.Body.(session.Message), calls)
	}
	fmt.Fprintf(t.out, "\n%s\n", t.palette.dim(t.shown(t.ending(s, state))))
}

func (t transcript) message(m session.Message, calls map[string]llm.ToolCall) {
	switch m.Role {
	case llm.RoleUser:
		who := "You"
		if m.Source == session.FromLoop {
			who = "Tenon"
		}
		t.says(t.palette.bold(who), said(m))
	case llm.RoleAssistant:
		text, cut := said(m), m.Stop == llm.StopAborted
		switch {
		case text != "" || cut:
			t.says(t.palette.bold(t.shown(cmp.Or(m.Model, "Model"))), text) // an answer that was cut off has no name yet
		case t.entries:
			fmt.Fprintf(t.out, "\n%s\n", t.palette.dim("calls "+callNames(m))) // what came of them follows
		}
		if cut {
			fmt.Fprintln(t.out, t.palette.yellow("(broken off)"))
		}
		for _, c := range m.Calls() {
			calls[c.ID] = c
		}
	case llm.RoleTool:
		t.result(m, calls[m.CallID])
	}
}

// said is what people or models said with a message, without what Tenon reads from it or adds to it.
func said(m session.Message) string {
	if m.Role == llm.RoleAssistant {
		return strings.TrimSpace(withoutIntent(m.Text()))
	}
	return app.Prompt(m.Message)
}

// callNames are the tools that an answer calls.
func callNames(m session.Message) string {
	var names []string
	for _, c := range m.Calls() {
		names = append(names, oneLine(c.Name))
	}
	return strings.Join(names, ", ")
}

func (t transcript) says(who, text string) {
	fmt.Fprintf(t.out, "\n%s\n%s\n", who, t.shown(strings.TrimRight(text, "\n")))
}

// result writes a call and, indented, the beginning of what came of it.
func (t transcript) result(m session.Message, call llm.ToolCall) {
	const few = 4 // lines
	mark := t.palette.green("✓")
	if m.IsError {
		mark = t.palette.red("✗")
	}
	line := strings.TrimRight(oneLine(m.Tool)+" "+argumentOf(call.Arguments), " ")
	fmt.Fprintf(t.out, "\n%s %s\n", mark, fit(line, t.columns-2))
	text := strings.TrimRight(m.Text(), "\n")
	all := strings.Split(text, "\n")
	for i, line := range all {
		if i == few && !t.full && len(all) > few+1 {
			fmt.Fprintf(t.out, "  %s\n", t.palette.dim(fmt.Sprintf("… %d more lines, see --full", len(all)-few)))
			break
		}
		line = t.shown(line)
		if !t.full {
			line = fit(line, t.columns-2)
		}
		fmt.Fprintf(t.out, "  %s\n", t.palette.dim(line))
	}
}

func (t transcript) ending(s session.Summary, state session.State) string {
	how := "no run yet"
	switch {
	case state.Running && s.Owner != "":
		how = "running now: " + s.Owner
	case state.Running:
		how = "the last run was interrupted; go on with: tenon run --session " + string(s.ID)
	case state.Ended != nil:
		how = strings.ReplaceAll(string(state.Ended.Reason), "_", " ")
		if state.Ended.Message != "" {
			how += ": " + state.Ended.Message
		}
	}
	return fmt.Sprintf("%s, %s, %s", how, usageWords(s.Usage), s.Updated.Local().Format(time.DateTime))
}
