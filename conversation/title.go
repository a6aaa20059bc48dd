package conversation

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/view"
	"github.com/tenon-agent/tenon/window"
)

// Titles lets a model write the title of a session. Without a title, lists show the first words of the first prompt. The agent calls
// AfterTurn and AfterRun as its hooks; the program calls Stop before it closes the agent.
type Titles struct {
	// Agent and Store are those of the session. Agent is called after the first turn.
	Agent func() *agent.Agent
	Store index.Store
	// Client returns the model that writes the title; nil: no title.
	Client func() (llm.Client, error)
	Redact func(string) string // hides secrets in the title

	mu     sync.Mutex
	begun  bool
	cancel context.CancelFunc
	done   chan struct{}
}

// The bounds of a title.
const (
	titleWords    = 6
	titleTime     = 20 * time.Second // for the request
	titlePatience = 2 * time.Second  // for Stop
	titleInput    = 1500             // bytes of the prompt that the model reads
	titleTokens   = 512              // of the answer; some models always reason
)

// AfterTurn begins to write a title, once, after a turn with calls. It does not wait for the title.
func (t *Titles) AfterTurn(ctx context.Context, _ int, end live.TurnEnded) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun || end.Calls == 0 {
		return
	}
	t.begun, t.done = true, make(chan struct{})
	ctx, t.cancel = context.WithTimeout(context.WithoutCancel(ctx), titleTime)
	go func() {
		defer close(t.done)
		defer t.cancel()
		_ = t.write(ctx) // without a title, the first words remain
	}()
}

// AfterRun cancels the title of a run that did not end well.
func (t *Titles) AfterRun(_ context.Context, end session.RunEnded) {
	if end.Reason != session.ReasonDone {
		t.stop(0)
	}
}

// Stop waits up to two seconds for the title, and then cancels it.
func (t *Titles) Stop() { t.stop(titlePatience) }

func (t *Titles) stop(patience time.Duration) {
	t.mu.Lock()
	cancel, done := t.cancel, t.done
	t.begun = true
	t.mu.Unlock()
	if done == nil {
		return
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		cancel()
		<-done
	}
}

// write asks for a title and records it, unless the session has one.
func (t *Titles) write(ctx context.Context) error {
	a := t.Agent()
	for s, err := range t.Store.List(ctx, index.Query{Prefix: string(a.Session()), Limit: 1}) {
		if err != nil || s.Named {
			return err
		}
	}
	client, err := t.Client()
	if err != nil || client == nil {
		return err
	}
	asked, err := firstPrompt(ctx, a.Path())
	if err != nil || asked == "" {
		return err
	}
	req := &llm.Request{
		System:   "You name conversations. Answer with a title of at most six words, in the language of the text, and nothing else.",
		Messages: []llm.Message{llm.UserText("Name the conversation that begins with this text:\n\n<text>\n" + asked + "\n</text>")},
		Settings: llm.Settings{MaxTokens: titleTokens, Thinking: llm.ThinkOff},
	}
	for e, err := range budget.Of(ctx).Client(client).Stream(ctx, req) {
		if err != nil {
			return err
		}
		if failed, ok := e.(llm.Charged); ok {
			Spent(a, "a request for a title failed", failed.Model, failed.Usage)
		}
		done, ok := e.(llm.Done)
		if !ok {
			continue
		}
		usage := done.Message.Usage
		usage.Cost = client.Model().Price.Cost(usage)
		text := titleOf(done.Message.Text())
		if t.Redact != nil {
			text = t.Redact(text)
		}
		if text == "" {
			Spent(a, "a title was not usable", client.Model().Ref(), usage)
			return errors.New("the title is empty")
		}
		return a.Record(ctx, session.Title{Title: text, By: client.Model().Ref(), Usage: usage})
	}
	return errors.New("the stream ended without its final event")
}

// firstPrompt returns the beginning of the first message of a person that the context window still has.
func firstPrompt(ctx context.Context, p view.Path) (string, error) {
	v, err := window.Look(ctx, p)
	if err != nil {
		return "", err
	}
	for i, m := range v.Messages {
		if why := v.Blocks[i].Why; window.ByUser(m) && (why == window.Said || why == window.Verbatim || why == window.Pinned) {
			text := strings.TrimSpace(m.Text())
			return strings.ToValidUTF8(text[:min(len(text), titleInput)], ""), nil
		}
	}
	return "", nil
}

// titleOf returns the title in the answer of a model.
func titleOf(text string) string {
	if _, after, ok := strings.Cut(text, "</think>"); ok {
		text = after
	}
	text = strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.Trim(strings.TrimSpace(line), "#*_ "), "Title:")
		words := strings.Fields(strings.Trim(line, " \"'`*.“”«»"))
		if len(words) == 0 {
			continue
		}
		title := strings.Join(words[:min(len(words), titleWords)], " ")
		if runes := []rune(title); len(runes) > 80 {
			title = string(runes[:80]) + "…"
		}
		return title
	}
	return ""
}
