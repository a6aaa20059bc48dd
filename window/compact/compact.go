package compact

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Model is a [window.Summarizer] that asks a model for the summary. If the summary lacks a section, it asks once more. If it still lacks
// one, it returns an error, and the window writes the summary without a model.
type Model struct {
	Client llm.Client // of the conversation: the provider has the conversation in its cache

	// Small writes the summary if the whole conversation fits into its context window. It costs less per token, but has nothing cached.
	// Nil: Client writes it.
	Small llm.Client

	// Spent receives the usage of each request but the last one, as soon as it is known. Nil: the usage of the summary has all of it.
	Spent func(model string, u llm.Usage)
}

// Summarize implements [window.Summarizer]. The error is that of the model, or names the sections that the summary lacks.
func (m Model) Summarize(ctx context.Context, t window.Task) (session.Summarized, error) {
	client := m.client(t)
	req := *t.Live
	req.MaxTokens = answer(client.Model(), t)
	req.Schema = nil
	digest, err := window.Extract{}.Summarize(ctx, t) // for its files
	if err != nil {
		return session.Summarized{}, err
	}
	digest.By = client.Model().Ref()
	spent := func(model string, u llm.Usage) {
		if m.Spent == nil {
			digest.Usage = digest.Usage.Plus(u)
		} else if u != (llm.Usage{}) {
			m.Spent(model, u)
			digest.Parts = digest.Parts.Plus(u)
		}
	}
	messages, fits := fitting(client.Model(), req, t)
	if req.Messages = append(messages, llm.UserText(wish(t))); !fits {
		if req, err = stages(ctx, client, req, messages, t, spent); err != nil {
			return session.Summarized{By: digest.By, Usage: digest.Usage, Parts: digest.Parts}, err
		}
	}
	for try := 0; ; try++ {
		answer, err := ask(ctx, client, &req, spent)
		if err != nil {
			return session.Summarized{By: digest.By, Usage: digest.Usage, Parts: digest.Parts}, err
		}
		digest.Summary = body(answer.Text())
		lacking := Lacking(digest.Summary)
		switch {
		case len(lacking) == 0:
			digest.Usage = digest.Usage.Plus(answer.Usage)
			return digest, nil
		case try == 1:
			return session.Summarized{By: digest.By, Usage: digest.Usage.Plus(answer.Usage), Parts: digest.Parts},
				&coded{"window.summary", fmt.Sprintf("the summary of %s lacks %s", digest.By, strings.Join(lacking, ", "))}
		}
		spent(digest.By, answer.Usage)
		req.Messages = append(req.Messages, said(answer), llm.UserText("These sections are missing or empty: "+
			strings.Join(lacking, ", ")+". Write the whole summary again, with every section under its heading. Do not call tools."))
	}
}

// coded is an error with a stable code.
type coded struct{ code, text string }

func (e *coded) Error() string { return e.text }
func (e *coded) Code() string  { return e.code }

// client is the client of the writer: the small model if the conversation fits into its context window.
func (m Model) client(t window.Task) llm.Client {
	if m.Small == nil {
		return m.Client
	}
	model := m.Small.Model()
	if model.Ref() == m.Client.Model().Ref() {
		return m.Client
	}
	size := tokens.Start(model).Tokens(tokens.FamilyOf(model).Request(t.Live))
	if size > window.Usable(window.Header{Model: model, Settings: llm.Settings{MaxTokens: answer(model, t)}}) {
		return m.Client
	}
	return m.Small
}

// answer is the limit of the answer, in tokens: twice the summary, and a share for thinking if the model thinks.
func answer(m llm.Model, t window.Task) int {
	const thinking = 16 << 10
	limit := max(2*t.Limit, 1024)
	if level := m.Level(t.Live.Thinking); level != llm.ThinkDefault && level != llm.ThinkOff {
		limit += min(thinking, m.Context/16)
	}
	return limit
}

// fitting is the part of the conversation that fits into the context window of a model, with the instruction and the answer. It omits
// answers at the end, but only those that stay verbatim: the summary need not cover them, and the beginning stays in the cache. It reports false
// if that is not enough.
func fitting(m llm.Model, req llm.Request, t window.Task) (_ []llm.Message, fit bool) {
	family, scale := tokens.FamilyOf(m), scale(m, t)
	room := room(m, req.MaxTokens)
	fits := func(messages []llm.Message) bool {
		req.Messages = append(slices.Clone(messages), llm.UserText(wish(t)))
		return m.Context <= 0 || scale.Tokens(family.Request(&req)) <= room
	}
	all := slices.Clip(t.Live.Messages)
	for left := t.Tail; left > 0 && !fits(all); left-- {
		at := len(all) - 1
		for at > 0 && all[at].Role != llm.RoleAssistant {
			at--
		}
		if at <= 0 {
			break
		}
		all = slices.Clip(all[:at])
	}
	return all, fits(all)
}

// scale is that of the task if it is about this model. Otherwise nothing is known but the family.
func scale(m llm.Model, t window.Task) tokens.Scale {
	if t.Model.Ref() == m.Ref() && t.Scale.Counted() {
		return t.Scale
	}
	return tokens.Start(m)
}

// room is the number of tokens that a request with an answer of this length may have.
func room(m llm.Model, answer int) int { return m.Context - m.Context/50 - answer }

// ask returns a whole answer with its cost.
func ask(ctx context.Context, client llm.Client, req *llm.Request, spent func(model string, u llm.Usage)) (llm.Message, error) {
	for e, err := range client.Stream(ctx, req) {
		if err != nil {
			return llm.Message{}, err
		}
		switch e := e.(type) {
		case llm.Charged:
			spent(e.Model, e.Usage)
		case llm.Done:
			e.Message.Usage.Cost = client.Model().Price.Cost(e.Message.Usage)
			return e.Message, nil
		}
	}
	return llm.Message{}, errors.New("the stream ended without its final event")
}

// said is an answer without calls, because they do not run.
func said(m llm.Message) llm.Message {
	text := m.Text()
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	return llm.AssistantText(text)
}

// wish is the instruction to write a summary.
func wish(t window.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The context window is nearly full. Do not call tools, do not continue the task, and do not answer questions now. Write a "+
		"summary of this conversation, from which you will continue. You will lose everything that is not in it, except the user's messages, the "+
		"context files and the current versions of files in use. Write exact paths, names, numbers and error messages. Write at most %d words. "+
		"Use exactly these headings:\n\n", t.Limit*2/3)
	for _, s := range window.Sections() {
		fmt.Fprintf(&b, "## %s\n%s\n\n", s, about[s])
	}
	if t.Before != nil {
		b.WriteString("Update the summary at the beginning of the conversation: keep the facts that are still true, and remove the others.\n")
	}
	if t.Focus != "" {
		fmt.Fprintf(&b, "Above all, keep: %s\n", t.Focus)
	}
	return b.String()
}

// about describes the contents of each section.
var about = map[string]string{
	"Goal":      "The request in the user's words, with all corrections and constraints of the user.",
	"Decisions": "Decisions with their reasons. Approaches that failed, with the reasons.",
	"State":     "Work that is done, with how it was verified. Work in progress. Blocked work, with the blocker.",
	"Files":     "Changed and relevant files, with the names, functions and lines that matter.",
	"Errors":    "Commands that worked, such as those to build and test. Commands that failed, with the exact error and its known cause.",
	"Open":      "Remaining work. Facts that are needed for it.",
	"Next step": "The next action.",
}

// body is the text of a summary without the tags that models put around it.
func body(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, "<summary>")
	text = strings.TrimSuffix(text, "</summary>")
	return strings.TrimSpace(text)
}

// Lacking returns the sections that are missing from a summary, or empty.
func Lacking(summary string) []string {
	has := make(map[string]bool)
	section := ""
	for line := range strings.Lines(summary) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "#"); ok {
			section = strings.ToLower(strings.Trim(strings.TrimLeft(name, "#"), " *:"))
			continue
		}
		if line != "" {
			has[section] = true
		}
	}
	var lacking []string
	for _, s := range window.Sections() {
		if !has[strings.ToLower(s)] {
			lacking = append(lacking, s)
		}
	}
	return lacking
}
