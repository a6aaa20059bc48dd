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

// Model is a [window.Digester] that lets a model write the summary. A summary that lacks a section is asked for once more; one that lacks
// it still is an error, and the window makes do without a model.
type Model struct {
	Client llm.Client // of the conversation: its provider has the conversation in its cache

	// Small writes instead where it can take the whole conversation. It costs less for each token, but has nothing cached. Nil: Client does.
	Small llm.Client
}

// Digest implements [window.Digester]. The error is that of the model, or says what the summary lacks.
func (m Model) Digest(ctx context.Context, t window.Task) (session.Digest, error) {
	client := m.client(t)
	req := *t.Live
	req.MaxTokens = max(2*t.Limit, 1024)
	req.Schema = nil
	req.Messages = append(fitting(client.Model(), req, t), llm.UserText(wish(t)))
	digest, err := window.Outline{}.Digest(ctx, t) // for what it knows of files
	if err != nil {
		return session.Digest{}, err
	}
	digest.By = client.Model().Ref()
	for try := 0; ; try++ {
		answer, err := ask(ctx, client, &req)
		if err != nil {
			return session.Digest{By: digest.By, Usage: digest.Usage}, err
		}
		answer.Usage.Cost = client.Model().Price.Cost(answer.Usage)
		digest.Usage = digest.Usage.Plus(answer.Usage)
		digest.Summary = body(answer.Text())
		lacking := Lacking(digest.Summary)
		switch {
		case len(lacking) == 0:
			return digest, nil
		case try == 1:
			return session.Digest{By: digest.By, Usage: digest.Usage},
				fmt.Errorf("the summary of %s has no section %s", digest.By, strings.Join(lacking, ", "))
		}
		req.Messages = append(req.Messages, said(answer), llm.UserText("The summary must have these sections, each under its heading and not "+
			"empty; missing: "+strings.Join(lacking, ", ")+". Write the whole summary again, without calling tools."))
	}
}

// client is who writes: the small model where the conversation fits into its window.
func (m Model) client(t window.Task) llm.Client {
	if m.Small == nil {
		return m.Client
	}
	model := m.Small.Model()
	if model.Ref() == m.Client.Model().Ref() {
		return m.Client
	}
	size := tokens.Start(model).Tokens(tokens.FamilyOf(model).Request(t.Live))
	if size > window.Usable(window.Header{Model: model, MaxTokens: 2 * t.Limit}) {
		return m.Client
	}
	return m.Small
}

// fitting is the conversation without what is too much for the window of a model with the wish and its answer behind it. Answers at the end
// are left out, of those alone that stay word for word: the summary need not tell of them, and what is before is still what the provider has.
func fitting(m llm.Model, req llm.Request, t window.Task) []llm.Message {
	family, scale := tokens.FamilyOf(m), tokens.Start(m)
	room := m.Context - m.Context/50 - req.MaxTokens
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
	return all
}

// ask takes in a whole answer.
func ask(ctx context.Context, client llm.Client, req *llm.Request) (llm.Message, error) {
	for e, err := range client.Stream(ctx, req) {
		if err != nil {
			return llm.Message{}, err
		}
		if done, ok := e.(llm.Done); ok {
			return done.Message, nil
		}
	}
	return llm.Message{}, errors.New("the stream ended without its final event")
}

// said is an answer without calls: nobody runs them.
func said(m llm.Message) llm.Message {
	text := m.Text()
	if strings.TrimSpace(text) == "" {
		text = "(nothing)"
	}
	return llm.AssistantText(text)
}

// wish asks for a summary.
func wish(t window.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The context window is nearly full. Do not go on with the work now and call no tools: write a summary of this conversation, "+
		"from which you will go on. What is not in it is lost to you, but what the user said, the context files and the newest versions of "+
		"files in work are given to you again. At most %d words. Use exactly these headings:\n\n", t.Limit*2/3)
	for _, s := range window.Sections() {
		fmt.Fprintf(&b, "## %s\n%s\n\n", s, about[s])
	}
	if t.Before != nil {
		b.WriteString("Take over what still holds of the summary at the beginning.\n")
	}
	if t.Focus != "" {
		fmt.Fprintf(&b, "Above all, keep: %s\n", t.Focus)
	}
	return b.String()
}

// about says what belongs into each section.
var about = map[string]string{
	"Goal":      "What the user wants, with all corrections and conditions.",
	"Decisions": "What was decided and why; what was tried and given up, and why.",
	"State":     "What is done and verified, and what is half done.",
	"Files":     "Files that were changed or matter, with what is where: names, functions, lines.",
	"Errors":    "Open errors, word for word, and what is known of them.",
	"Open":      "What remains, and what must not be forgotten.",
	"Next step": "The very next thing to do.",
}

// body is the text of a summary without what models put around it.
func body(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, "<summary>")
	text = strings.TrimSuffix(text, "</summary>")
	return strings.TrimSpace(text)
}

// Lacking returns the sections that a summary does not have, or that are empty.
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
