package app

import (
	"context"
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/state"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/compact"
)

// Windowing is the management of a context window.
type Windowing struct {
	Threshold float64 // share of the usable window at which Tenon makes it smaller; 0: the default of the window
	Manual    bool    // never at a threshold
	Strategy  config.Strategy
	Turns     int // number of turns that a strategy keeps; 0: its default

	// Writer returns the model that writes summaries of conversations that fit into its window. Nil: the model that answers.
	Writer func() (llm.Client, error)
}

// Titling says who writes the titles of sessions.
type Titling struct {
	Off    bool                       // no model does
	Writer func() (llm.Client, error) // nil: the model that answers
}

// Guiding says which context files the model sees, and how much of them.
type Guiding struct {
	Names           []string // nil: the usual names
	MaxFile, MaxAll int      // bytes; 0: the defaults, but no more than a quarter of the context window
	Personal        []string // directories with the person's own files; the first directory that has one counts
}

// newTitles returns the writer of titles. The offline model follows rules and writes none.
func (a *Agent) newTitles(t Titling) *conversation.Titles {
	client := func() (llm.Client, error) {
		c := a.client()
		if t.Off || isOffline(c) {
			return nil, nil
		}
		if t.Writer != nil {
			var err error
			if c, err = t.Writer(); err != nil || isOffline(c) {
				return nil, err
			}
		}
		return c, nil
	}
	return &conversation.Titles{
		Agent: func() *agent.Agent { return a.Agent }, Store: a.store, Client: client, Redact: a.site.secrets.Redact,
	}
}

// newWindow returns the window. The file has the failures of its summaries under a name.
func (a *Agent) newWindow(w Windowing, file state.File, name string) *window.Window {
	o := window.Options{
		Threshold: w.Threshold, Manual: w.Manual || w.Strategy == config.StrategyFull,
		Context: a.environment, Files: a.site.openFiles, Announce: a.announce,
		Pins:       func(ctx context.Context) ([]session.Verbatim, error) { return conversation.Pins(ctx, a.Agent, a.store) },
		Summarizer: summaries{a, w.Writer, file, name},
		Failures: func() (int, time.Time) {
			f := file.Facts()[name]
			return f.Count, f.At
		},
		Spent: func(model string, u llm.Usage) { conversation.Spent(a.Agent, "a summary was not usable", model, u) },
	}
	o.Strategy = w.strategy(o.Summarizer)
	return window.New(o)
}

// strategy returns the strategy of the configuration. Nil: the window's own trims and summaries.
func (w Windowing) strategy(by window.Summarizer) window.Strategy {
	switch w.Strategy {
	case config.StrategyRecent:
		return window.Recent{Turns: w.Turns}
	case config.StrategySummaryRecent:
		return window.SummaryPlusRecent{Turns: w.Turns, Summarizer: by}
	case config.StrategyTiers:
		return window.Tiers{Recent: w.Turns}
	default:
		return nil
	}
}

func isOffline(c llm.Client) bool { return c.Model().Provider == "offline" }

// summaries lets a model write summaries. It chooses the writer when a summary is due.
type summaries struct {
	agent  *Agent
	writer func() (llm.Client, error)
	file   state.File
	name   string // of its failures in the file
}

// Summarize implements [window.Summarizer].
func (s summaries) Summarize(ctx context.Context, t window.Task) (session.Summarized, error) {
	if isOffline(s.agent.client()) { // it follows rules and cannot summarize
		return window.Extract{}.Summarize(ctx, t)
	}
	limits := budget.Of(ctx)
	m := compact.Model{Client: limits.Client(s.agent.client()), Spent: func(model string, u llm.Usage) {
		conversation.Spent(s.agent.Agent, "a part of a summary", model, u)
	}}
	if s.writer != nil {
		small, err := s.writer()
		if err != nil {
			s.agent.Announce(live.Notice{Text: fmt.Sprintf("cannot use the model for summaries: %v", err)})
		} else if !isOffline(small) {
			m.Small = limits.Client(small)
		}
	}
	d, err := m.Summarize(ctx, t)
	d.Summary = s.agent.site.secrets.Redact(d.Summary)
	if ctx.Err() == nil {
		s.note(err)
	}
	return d, err
}

// note notes an outcome for other processes. The server's words are missing, because they may quote a key.
func (s summaries) note(err error) {
	var f state.Fact
	if now := time.Now(); err != nil {
		e := llm.AsError(err)
		f = state.Fact{At: now, Until: now.Add(30 * time.Minute), Text: (&llm.Error{Kind: e.Kind, Model: e.Model}).Error(), Count: s.file.Facts()[s.name].Count + 1}
	}
	s.file.Set(s.name, f)
}

// The names of the context blocks that are not files.
const (
	environmentBlock = "environment"
	skillsBlock      = "skills"
	roleBlock        = "role"
)

// environment returns the context blocks of the directory as they are now.
func (a *Agent) environment(_ context.Context, shown []session.ContextBlock) ([]session.ContextBlock, error) {
	b := a.site.bounds.Load()
	now := time.Now
	if a.spec.now != nil {
		now = a.spec.now
	}
	may := b.May(a.site.policy.Load().Mode(), a.spec.Ask)
	blocks := []session.ContextBlock{{Name: environmentBlock, Text: facts(b.Root, guidance.Root(b.Root), may, a.spec.Ask, now())}}
	if text := skill.Index(a.spec.Skills.Skills); text != "" {
		blocks = append(blocks, session.ContextBlock{Name: skillsBlock, Text: a.site.secrets.Redact(text)})
	}
	if r := a.role.Load(); r.Prompt != "" {
		blocks = append(blocks, session.ContextBlock{Name: roleBlock, Text: a.site.secrets.Redact("Your role is " + r.Name + ".\n\n" + r.Prompt)})
	}
	return append(blocks, a.site.guide.Blocks(shown, a.guideRoom())...), nil
}

// guideRoom is the size of all context files in bytes. The default is a quarter of the current context window, as a token has four bytes.
func (a *Agent) guideRoom() int {
	const usual = 100 << 10
	if most := a.spec.Guidance.MaxAll; most > 0 {
		return most
	}
	return min(usual, window.Usable(window.Header{Model: a.client().Model(), Settings: llm.Settings{MaxTokens: a.spec.MaxTokens}}))
}
