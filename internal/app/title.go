package app

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/window"
)

// Titling is how sessions get their titles.
type Titling struct {
	Off bool // they have the first words of what was asked

	// Writer is who writes them. Nil: the model that answers.
	Writer func() (llm.Client, error)
}

// The bounds of a title.
const (
	titleWords    = 6
	titleTime     = 20 * time.Second // for the request
	titlePatience = 2 * time.Second  // that the end of an agent waits for it
	titleInput    = 1500             // bytes of what was asked that the title is made of
	titleTokens   = 512              // of the answer; some models cannot but think
)

// titling is the title that is being made. The zero value is ready for use.
type titling struct {
	mu     sync.Mutex
	begun  bool
	cancel context.CancelFunc
	done   chan struct{}
}

// entitle begins to make a title for the session beside the run, when it has none and goes on after an answer: of a session with one
// question the first words of that are title enough.
func (a *Agent) entitle(ctx context.Context, _ int, end session.TurnEnded) {
	if a.spec.Titles.Off || isOffline(a.client()) || end.Calls == 0 {
		return
	}
	t := &a.title
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return
	}
	t.begun, t.done = true, make(chan struct{})
	ctx, t.cancel = context.WithTimeout(context.WithoutCancel(ctx), titleTime)
	go func() {
		defer close(t.done)
		defer t.cancel()
		_ = a.makeTitle(ctx) // the first words stand
	}()
}

// runEnded lets a title go that nobody waits for.
func (a *Agent) runEnded(_ context.Context, end session.RunEnded) {
	if end.Reason != session.ReasonDone {
		a.title.stop(0)
	}
}

// stop waits for the title that is being made, and gives it up then.
func (t *titling) stop(patience time.Duration) {
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

// makeTitle asks for a title and records it, unless the session has one.
func (a *Agent) makeTitle(ctx context.Context) error {
	for s, err := range a.store.List(ctx, session.Query{Prefix: string(a.Session()), Limit: 1}) {
		if err != nil || s.Named {
			return err
		}
	}
	client := a.client()
	if a.spec.Titles.Writer != nil {
		small, err := a.spec.Titles.Writer()
		if err != nil {
			return err
		}
		client = small
	}
	if isOffline(client) {
		return nil // it follows rules
	}
	asked, err := a.firstAsked(ctx)
	if err != nil || asked == "" {
		return err
	}
	req := &llm.Request{
		System:    "You name conversations. Answer with a title of at most six words, in the language of the text, and nothing else.",
		Messages:  []llm.Message{llm.UserText("Name the conversation that begins so:\n\n<text>\n" + asked + "\n</text>")},
		MaxTokens: titleTokens, Thinking: llm.ThinkOff,
	}
	for e, err := range client.Stream(ctx, req) {
		if err != nil {
			return err
		}
		done, ok := e.(llm.Done)
		if !ok {
			continue
		}
		usage := done.Message.Usage
		usage.Cost = client.Model().Price.Cost(usage)
		text := titleOf(done.Message.Text())
		if a.secrets != nil {
			text = a.secrets.Redact(text)
		}
		if text == "" {
			a.spent("a title was made in vain", client.Model().Ref(), usage)
			return errors.New("the title is empty")
		}
		return a.Record(ctx, session.Title{Title: text, By: client.Model().Ref(), Usage: usage})
	}
	return errors.New("the stream ended without its final event")
}

// firstAsked is the beginning of what the window still has of the person's first message.
func (a *Agent) firstAsked(ctx context.Context) (string, error) {
	v, err := window.Look(ctx, a.Path())
	if err != nil {
		return "", err
	}
	for i, m := range v.Messages {
		if why := v.Blocks[i].Why; m.Role == llm.RoleUser && (why == window.Said || why == window.Kept || why == window.Pinned) {
			text := strings.TrimSpace(Prompt(m))
			return strings.ToValidUTF8(text[:min(len(text), titleInput)], ""), nil
		}
	}
	return "", nil
}

// titleOf is the title in what a model said.
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
