package sessions

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/window"
)

func newWindow(env *command.Env) *cobra.Command {
	var at int
	var explain bool
	c := &cobra.Command{
		Use:   "window ID",
		Short: "Show a request to the model",
		Long: `Show the next request of a session, or an earlier one: system prompt, tools and every
message, verbatim, with estimated tokens. Tenon makes an earlier request again from the
journal, compares it with the hashes of the original, and reports any difference.
'tenon sessions cache' prints the numbers of requests; --json includes the full
descriptions of the tools.

The real next request may differ if the run brings another system prompt, other tools or
another model, if the environment changes, or if the context window is full.`,
	}
	f := c.Flags()
	f.IntVar(&at, "at", 0, "show request `NUMBER`, from 1, instead of the next one")
	f.BoolVar(&explain, "explain", false, "show the entries behind each message, and the reason")
	command.Checked(c, func([]string) error {
		if at < 0 || at == 0 && f.Changed("at") {
			return command.Usagef(c, "--at must be the number of a request, from 1")
		}
		return nil
	})
	return env.OnSession(c, "print one JSON object", func(ctx context.Context, a *app.App, s index.Summary, _ []string) (r command.Result, err error) {
		sent, err := ledger.Look(ctx, a.Store, s.ID, at)
		if err != nil {
			return r, err
		}
		var out strings.Builder
		w := windowText{out: &out, shown: env.Shown, palette: env.Paint(), columns: env.Columns(), explain: explain}
		w.write(s, sent)
		return command.Result{JSON: windowOf(s.ID, sent), Text: out.String()}, nil
	})
}

type windowText struct {
	out     io.Writer
	shown   func(string) string
	palette term.Palette
	columns int
	explain bool
}

func (w windowText) write(s index.Summary, sent *ledger.Sent) {
	w.head(s, sent)
	if len(sent.Request.Tools) > 0 {
		w.rule(transcript.Count(len(sent.Request.Tools), "tool"), sum(sent.Tools))
		for i, t := range sent.Request.Tools {
			line := fmt.Sprintf("%-14s %6s  %s", term.OneLine(t.Name), transcript.Tokens(int64(sent.Tools[i])), term.OneLine(t.Description))
			fmt.Fprintln(w.out, term.Fit(line, w.columns))
		}
	}
	if sent.Request.System != "" {
		w.rule("system prompt", sent.System)
		fmt.Fprintln(w.out, w.shown(strings.TrimRight(sent.Request.System, "\n")))
	}
	same := -1
	if sent.Record != nil && sent.Number > 1 {
		same = sent.Record.Same - len(sent.Request.Tools) - 1
	}
	for i, m := range sent.Request.Messages {
		if i == same {
			fmt.Fprintf(w.out, "\n%s\n", w.palette.Dim("up to here it equals the previous request"))
		}
		w.message(i, m, sent.Blocks[i])
	}
}

// head writes the number of the request, and whether Tenon made the same bytes again.
func (w windowText) head(s index.Summary, sent *ledger.Sent) {
	title := fmt.Sprintf("Request %d of %d", sent.Number, sent.Of)
	if sent.Next {
		title = fmt.Sprintf("Request %d, the next one", sent.Number)
	}
	fmt.Fprintln(w.out, w.palette.Bold(title))
	line := func(text string) { fmt.Fprintln(w.out, w.palette.Dim(w.shown(text))) }
	line(fmt.Sprintf("%s  %s  %s", s.ID, sent.Entry.Time.Local().Format(time.DateTime), term.Fit(term.OneLine(s.Title), 40)))
	e, begun := sent.Epoch.Body.(session.Epoch)
	if !begun {
		fmt.Fprintln(w.out, w.palette.Yellow("No request yet: the first run chooses system prompt, tools and model."))
		line(fmt.Sprintf("about %s tokens", transcript.Tokens(int64(sent.Tokens))))
		return
	}
	model := sent.Model.Ref()
	if e.Thinking != "" {
		model += ", thinking " + string(e.Thinking)
	}
	line(model)
	line(fmt.Sprintf("epoch since %s: %s", sent.Epoch.Time.Local().Format(time.DateTime), transcript.Epoch(e.Reason)))
	line(fmt.Sprintf("about %s of %s tokens, %s", transcript.Tokens(int64(sent.Tokens)), transcript.Tokens(int64(sent.Usable)), sent.Level))
	if sent.Limit > 0 {
		line("the model refused a larger request, so that this limit holds instead of its context window")
	}
	switch {
	case sent.Next:
	case sent.Differs != "":
		fmt.Fprintln(w.out, w.palette.Red(w.shown("This differs from the original: "+sent.Differs+" has another hash.")))
	default:
		fmt.Fprintln(w.out, w.palette.Green("This equals the original, by the hashes of all "+transcript.Count(sent.Record.Segments, "segment")+"."))
	}
}

// rule writes the title of a part.
func (w windowText) rule(what string, n int) {
	fmt.Fprintf(w.out, "\n%s\n", w.palette.Bold(w.shown(fmt.Sprintf("── %s · %s tokens", what, transcript.Tokens(int64(n))))))
}

func (w windowText) message(i int, m llm.Message, b window.Block) {
	who := string(m.Role)
	if m.Role == llm.RoleTool {
		who = "result of " + term.OneLine(m.Tool)
		if m.IsError {
			who += ", an error"
		}
	}
	w.rule(fmt.Sprintf("%d %s", i+1, who), b.Tokens)
	if w.explain {
		fmt.Fprintln(w.out, w.palette.Dim(w.shown(term.Wrap("", 0, whyWords(b), w.columns, "   "))))
	}
	for _, p := range m.Content {
		fmt.Fprintln(w.out, w.part(p))
	}
}

// part returns one part of a message verbatim.
func (w windowText) part(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return w.shown(strings.TrimRight(p.Text, "\n"))
	case llm.Thinking:
		return w.palette.Dim(w.shown("(thinking) " + strings.TrimRight(p.Text, "\n")))
	case llm.ToolCall:
		return w.palette.Green("→") + " " + w.shown(fmt.Sprintf("%s %s", p.Name, p.Arguments)) + w.palette.Dim(w.shown("  "+p.ID))
	case llm.Image:
		return w.shown(fmt.Sprintf("(picture %s, %d bytes)", p.MIME, len(p.Data)))
	case llm.Document:
		return w.shown(fmt.Sprintf("(document %s %s, %d bytes)", p.MIME, p.Name, len(p.Data)))
	case llm.UnknownPart:
		return w.shown(fmt.Sprintf("(%s)", p.Type))
	}
	return ""
}

// whyWords returns the reason for a message.
func whyWords(b window.Block) string {
	why := string(b.Why)
	switch b.Why {
	case window.Said:
		why = "verbatim from the journal"
	case window.Context:
		why = "describes the environment"
	case window.Verbatim:
		why = "kept by a summary"
	case window.Pinned:
		why = "pinned"
	case window.Summary:
		why = "replaces older turns"
	case window.Trimmed:
		why = "trimmed"
	case window.Repaired:
		why = "added by Tenon: providers require it, and the journal lacks it"
	}
	if b.Note != "" {
		why += " (" + b.Note + ")"
	}
	ids := make([]string, len(b.Entries))
	for i, id := range b.Entries {
		ids[i] = string(id)
	}
	if len(ids) == 0 {
		return why
	}
	return why + "; entry " + strings.Join(ids, ", ")
}

func sum(numbers []int) int {
	n := 0
	for _, one := range numbers {
		n += one
	}
	return n
}

type windowJSON struct {
	Session session.SessionID `json:"session"`
	*ledger.Sent
	Entry    session.ID      `json:"entry"` // of the request; of the next one the end of the branch
	Time     time.Time       `json:"time"`  // of that entry
	Model    string          `json:"model"` // "provider/model"; empty before the first request
	Thinking llm.Thinks      `json:"thinking,omitzero"`
	Epoch    windowEpoch     `json:"epoch"`
	Summary  session.ID      `json:"summary,omitzero"` // the entry of the newest summary
	Proved   bool            `json:"proved"`           // the hashes equal the original
	System   windowSystem    `json:"system"`
	Tools    []windowTool    `json:"tools"`
	Messages []windowMessage `json:"messages"`
}

type windowEpoch struct {
	Entry  session.ID `json:"entry"`
	Reason string     `json:"reason"`
}

type windowSystem struct {
	Text   string `json:"text"`
	Tokens int    `json:"tokens"`
}

type windowTool struct {
	llm.Tool
	Tokens int `json:"tokens"`
}

type windowMessage struct {
	window.Block
	Message llm.Message `json:"message"`
}

func windowOf(id session.SessionID, s *ledger.Sent) windowJSON {
	w := windowJSON{
		Session: id, Sent: s, Entry: s.Entry.ID, Time: s.Entry.Time, Thinking: s.Request.Thinking, Summary: s.Summary.ID,
		Proved: s.Record != nil && s.Differs == "", System: windowSystem{s.Request.System, s.System},
		Tools: []windowTool{}, Messages: []windowMessage{},
	}
	if e, ok := s.Epoch.Body.(session.Epoch); ok {
		w.Model, w.Epoch = s.Model.Ref(), windowEpoch{s.Epoch.ID, e.Reason}
	}
	for i, t := range s.Request.Tools {
		w.Tools = append(w.Tools, windowTool{t, s.Tools[i]})
	}
	for i, m := range s.Request.Messages {
		w.Messages = append(w.Messages, windowMessage{s.Blocks[i], m})
	}
	return w
}
