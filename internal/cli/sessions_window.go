package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/ledger"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

func (p *program) sessionsWindow() *cobra.Command {
	var (
		at              int
		explain, asJSON bool
	)
	c := &cobra.Command{
		Use:   "window ID",
		Short: "Show what a request to the model sends",
		Long: `Show what the next request of a session would send to the model, or what an earlier one sent: system prompt, tools and every
message, word for word, with their estimated tokens. What was sent is made again from the journal, and compared with the hashes that
were taken when it was: the command says so when it is not the same. 'tenon sessions cache' has the numbers of requests; --json has the
tools with all of their descriptions.

The next request may differ from what is shown, when a run brings another system prompt, other tools or another model, tells of
changes of the place, or has no room left.`,
		Args: exactArgs("the session's ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if at < 0 || at == 0 && c.Flags().Changed("at") {
				return usagef(c, "--at must be the number of a request, from 1")
			}
			return p.withSession(c, args[0], func(store session.Store, s session.Summary) error {
				sent, err := ledger.Look(c.Context(), store, s.ID, at)
				if err != nil {
					return err
				}
				if asJSON {
					return writeJSON(p.env.Stdout, windowOf(s.ID, sent))
				}
				out := bufio.NewWriter(p.env.Stdout)
				w := windowText{out: out, shown: p.shown, palette: paletteFor(p.env.Stdout, p.env.Getenv), columns: p.columns(), explain: explain}
				w.write(s, sent)
				return out.Flush()
			})
		},
	}
	f := c.Flags()
	f.IntVar(&at, "at", 0, "the request of this `NUMBER`, from 1, instead of the next one")
	f.BoolVar(&explain, "explain", false, "say of every message which entries it comes from, and why it is there")
	f.BoolVar(&asJSON, "json", false, "as one JSON object")
	p.completeSessions(c, "")
	return c
}

// windowText writes a request for people.
type windowText struct {
	out     io.Writer
	shown   func(string) string
	palette palette
	columns int
	explain bool
}

func (w windowText) write(s session.Summary, sent *ledger.Sent) {
	w.head(s, sent)
	if len(sent.Request.Tools) > 0 {
		w.rule(count(len(sent.Request.Tools), "tool"), sum(sent.Tools))
		for i, t := range sent.Request.Tools {
			line := fmt.Sprintf("%-14s %6s  %s", oneLine(t.Name), tokens(int64(sent.Tools[i])), oneLine(t.Description))
			fmt.Fprintln(w.out, fit(line, w.columns))
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
			fmt.Fprintf(w.out, "\n%s\n", w.palette.dim("up to here it is the request before"))
		}
		w.message(i, m, sent.Blocks[i])
	}
}

// head says which request it is, and whether it is what was sent.
func (w windowText) head(s session.Summary, sent *ledger.Sent) {
	title := fmt.Sprintf("Request %d of %d", sent.Number, sent.Of)
	if sent.Next {
		title = fmt.Sprintf("Request %d, the next one", sent.Number)
	}
	fmt.Fprintln(w.out, w.palette.bold(title))
	line := func(text string) { fmt.Fprintln(w.out, w.palette.dim(w.shown(text))) }
	line(fmt.Sprintf("%s  %s  %s", s.ID, sent.Entry.Time.Local().Format(time.DateTime), fit(oneLine(s.Title), 40)))
	e, begun := sent.Epoch.Body.(session.Epoch)
	if !begun {
		fmt.Fprintln(w.out, w.palette.yellow("No request was made yet: system prompt, tools and model come with the first run."))
		line(fmt.Sprintf("about %s tokens", tokens(int64(sent.Tokens))))
		return
	}
	model := sent.Model.Ref()
	if e.Thinking != "" {
		model += ", thinking " + string(e.Thinking)
	}
	line(model)
	line(fmt.Sprintf("epoch since %s: %s", sent.Epoch.Time.Local().Format(time.DateTime), epochWords(e.Reason)))
	line(fmt.Sprintf("about %s of %s tokens, %s", tokens(int64(sent.Tokens)), tokens(int64(sent.Usable)), sent.Level))
	switch {
	case sent.Next:
	case sent.Differs != "":
		fmt.Fprintln(w.out, w.palette.red(w.shown("This is not what was sent: "+sent.Differs+", is another one by its hash.")))
	default:
		fmt.Fprintln(w.out, w.palette.green("This is what was sent, by the hashes of all "+count(sent.Record.Segments, "segment")+"."))
	}
}

// rule begins a part.
func (w windowText) rule(what string, n int) {
	fmt.Fprintf(w.out, "\n%s\n", w.palette.bold(w.shown(fmt.Sprintf("── %s · %s tokens", what, tokens(int64(n))))))
}

func (w windowText) message(i int, m llm.Message, b window.Block) {
	who := string(m.Role)
	if m.Role == llm.RoleTool {
		who = "result of " + oneLine(m.Tool)
		if m.IsError {
			who += ", an error"
		}
	}
	w.rule(fmt.Sprintf("%d %s", i+1, who), b.Tokens)
	if w.explain {
		fmt.Fprintln(w.out, w.palette.dim(w.shown(wrapped("", 0, whyWords(b), w.columns, "   "))))
	}
	for _, p := range m.Content {
		fmt.Fprintln(w.out, w.part(p))
	}
}

// part is one part of a message, as it is sent.
func (w windowText) part(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return w.shown(strings.TrimRight(p.Text, "\n"))
	case llm.Thinking:
		return w.palette.dim(w.shown("(thinking) " + strings.TrimRight(p.Text, "\n")))
	case llm.ToolCall:
		return w.palette.green("→") + " " + w.shown(fmt.Sprintf("%s %s", p.Name, p.Arguments)) + w.palette.dim(w.shown("  "+p.ID))
	case llm.Image:
		return w.shown(fmt.Sprintf("(picture %s, %d bytes)", p.MIME, len(p.Data)))
	case llm.Document:
		return w.shown(fmt.Sprintf("(document %s %s, %d bytes)", p.MIME, p.Name, len(p.Data)))
	case llm.UnknownPart:
		return w.shown(fmt.Sprintf("(%s)", p.Type))
	}
	return ""
}

// whyWords says why a message is there.
func whyWords(b window.Block) string {
	why := string(b.Why)
	switch b.Why {
	case window.Said:
		why = "as the journal has it"
	case window.Told:
		why = "tells of the place"
	case window.Kept:
		why = "kept word for word by a digest"
	case window.Pinned:
		why = "pinned"
	case window.Summary:
		why = "stands for what came before"
	case window.Shorter:
		why = "a shorter text stands for the content"
	case window.Mended:
		why = "made up: the journal has none, and no provider takes the request without"
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

// epochWords says why an epoch began.
func epochWords(reason string) string {
	switch reason {
	case "start":
		return "the session begins"
	case "model":
		return "another model"
	case "tools":
		return "other tools"
	case "system":
		return "another system prompt"
	case "thinking":
		return "another level of thinking"
	case "reduction":
		return "old results were made shorter"
	case "compaction":
		return "a digest stands for the beginning"
	case "cleanup":
		return "the model gave up old results"
	case "revert":
		return "the model went back"
	}
	return reason
}

func sum(numbers []int) int {
	n := 0
	for _, one := range numbers {
		n += one
	}
	return n
}

// windowJSON is a request for programs.
type windowJSON struct {
	Session  session.SessionID `json:"session"`
	Request  int               `json:"request"`  // its number, from 1
	Requests int               `json:"requests"` // that were made
	Next     bool              `json:"next"`     // it was not sent yet
	Entry    session.ID        `json:"entry"`    // of the request; of the next one the end of the branch
	Time     time.Time         `json:"time"`     // of that entry
	Model    string            `json:"model"`    // "provider/model"; empty before the first request
	Thinking llm.Thinks        `json:"thinking,omitzero"`
	Epoch    windowEpoch       `json:"epoch"`
	Digest   session.ID        `json:"digest,omitzero"`  // the entry that stands for the beginning
	Proved   bool              `json:"proved"`           // by the hashes, it is what was sent
	Differs  string            `json:"differs,omitzero"` // what is not
	Level    window.Level      `json:"level"`
	Tokens   int               `json:"tokens"` // estimated, as all numbers of tokens here
	Usable   int               `json:"usable"` // tokens that a request may have
	System   windowSystem      `json:"system"`
	Tools    []windowTool      `json:"tools"`
	Messages []windowMessage   `json:"messages"`
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
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitzero"`
	Tokens      int             `json:"tokens"`
}

type windowMessage struct {
	window.Block
	Message llm.Message `json:"message"`
}

func windowOf(id session.SessionID, s *ledger.Sent) windowJSON {
	w := windowJSON{
		Session: id, Request: s.Number, Requests: s.Of, Next: s.Next, Entry: s.Entry.ID, Time: s.Entry.Time, Thinking: s.Request.Thinking,
		Digest: s.Digest.ID, Proved: s.Record != nil && s.Differs == "", Differs: s.Differs, Level: s.Level, Tokens: s.Tokens, Usable: s.Usable,
		System: windowSystem{s.Request.System, s.System}, Tools: []windowTool{}, Messages: []windowMessage{},
	}
	if e, ok := s.Epoch.Body.(session.Epoch); ok {
		w.Model, w.Epoch = s.Model.Ref(), windowEpoch{s.Epoch.ID, e.Reason}
	}
	for i, t := range s.Request.Tools {
		w.Tools = append(w.Tools, windowTool{t.Name, t.Description, json.RawMessage(t.Schema), s.Tools[i]})
	}
	for i, m := range s.Request.Messages {
		w.Messages = append(w.Messages, windowMessage{s.Blocks[i], m})
	}
	return w
}
