package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/internal/guidance"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/skill"
	"github.com/tenon-agent/tenon/window"
	"github.com/tenon-agent/tenon/window/compact"
	"github.com/tenon-agent/tenon/window/tokens"
)

// Windowing is how the window of an agent is managed.
type Windowing struct {
	Threshold float64 // share of the usable window at which it is made smaller; 0: the window's own default
	Manual    bool    // never at a threshold

	// Writer is who writes summaries where the conversation fits into its window. Nil: the model that answers.
	Writer func() (llm.Client, error)
}

// window makes the window of an agent.
func (a *Agent) newWindow(s Spec) *window.Window {
	o := window.Options{
		Threshold: s.Window.Threshold, Manual: s.Window.Manual,
		Place: a.place, Files: a.filesInWork, Pins: a.pins, Announce: a.announce,
		Digester: summaries{a, s.Window.Writer},
		Spent:    func(model string, u llm.Usage) { a.spent("a summary was made in vain", model, u) },
	}
	return window.New(o)
}

// spent notes what was paid for nothing: it counts to the session and the day.
func (a *Agent) spent(why, model string, u llm.Usage) {
	note := session.Note{Text: why, By: model, Usage: u}
	if err := a.Record(context.Background(), note); err != nil {
		a.Announce(session.Notice{Text: fmt.Sprintf("%s, and what it has cost could not be noted: %v", why, err)})
	}
}

// isOffline reports whether a client is the one that follows rules.
func isOffline(c llm.Client) bool { return c.Model().Provider == "offline" }

// summaries lets a model write digests. Who writes is found when there is one to be written.
type summaries struct {
	agent  *Agent
	writer func() (llm.Client, error)
}

// Digest implements [window.Digester].
func (s summaries) Digest(ctx context.Context, t window.Task) (session.Digest, error) {
	if isOffline(s.agent.client()) { // which follows rules: it cannot sum up
		return window.Outline{}.Digest(ctx, t)
	}
	m := compact.Model{Client: s.agent.client()}
	if s.writer != nil {
		small, err := s.writer()
		if err != nil {
			s.agent.Announce(session.Notice{Text: fmt.Sprintf("the model for summaries cannot be asked: %v", err)})
		} else if !isOffline(small) {
			m.Small = small
		}
	}
	d, err := m.Digest(ctx, t)
	if s.agent.secrets != nil {
		d.Summary = s.agent.secrets.Redact(d.Summary)
	}
	return d, err
}

// SetClient lets another model answer from the next turn on, as [agent.Agent.SetClient] does.
func (a *Agent) SetClient(ctx context.Context, c llm.Client) error {
	if err := a.Agent.SetClient(ctx, c); err != nil {
		return err
	}
	a.answering.Store(&c)
	return nil
}

func (a *Agent) client() llm.Client { return *a.answering.Load() }

// usable is how many tokens a request may have.
func (a *Agent) usable() int {
	return window.Usable(window.Header{Model: a.client().Model(), MaxTokens: a.spec.MaxTokens})
}

// The names of blocks that tell of the place and are no files.
const (
	environmentBlock = "environment"
	skillsBlock      = "skills"
)

// place tells what holds of the place now.
func (a *Agent) place(_ context.Context, told []session.ContextBlock) ([]session.ContextBlock, error) {
	b := a.spec.Bounds
	may := b.May(a.Gate.Policy().Mode(), a.spec.Ask)
	blocks := []session.ContextBlock{{Name: environmentBlock, Text: facts(b.Root, guidance.Root(b.Root), may, a.now())}}
	if text := skill.Index(a.skills); text != "" {
		if a.secrets != nil {
			text = a.secrets.Redact(text)
		}
		blocks = append(blocks, session.ContextBlock{Name: skillsBlock, Text: text})
	}
	return append(blocks, a.guide.Blocks(told, a.guideRoom())...), nil
}

// What of files in work is told again behind a summary.
const (
	maxFiles      = 5
	maxFileTokens = 5000
)

// filesInWork is the newest versions of the files that were in work last, in so many tokens together.
func (a *Agent) filesInWork(_ context.Context, names []string, left int) ([]session.ContextBlock, error) {
	left = min(left, maxFiles*maxFileTokens)
	var out []session.ContextBlock
	for _, name := range slices.Backward(names) {
		if len(out) == maxFiles || left < 200 {
			break
		}
		most := min(maxFileTokens, left)
		if a.guide.Tells(name) {
			continue
		}
		text, ok := a.fileInWork(name, most)
		if !ok {
			continue
		}
		left -= tokens.Text(text)
		out = append(out, session.ContextBlock{Name: "file " + a.workspace.Rel(name), Text: text})
	}
	return out, nil
}

// fileInWork is the content of a file, cut to so many tokens. What is no text, and what may not be read, is not told.
func (a *Agent) fileInWork(name string, most int) (string, bool) {
	f, err := a.workspace.OpenFile(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	const (
		bytesPerToken = 6  // more than there are in any text
		note          = 16 // tokens that say how much is left out
	)
	most -= note
	data, err := io.ReadAll(io.LimitReader(f, int64(most*bytesPerToken)+1))
	if err != nil || len(data) == 0 || tool.Binary(string(data)) {
		return "", false
	}
	info, err := f.Stat()
	if err != nil {
		return "", false
	}
	text := strings.ToValidUTF8(string(data), "\ufffd")
	for n := tokens.Text(text); n > most; n = tokens.Text(text) {
		text = text[:len(text)*most/(n+1)]
	}
	if cut := info.Size() - int64(len(text)); cut > 0 {
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			cut += int64(len(text) - i - 1)
			text = text[:i+1]
		}
		text = strings.ToValidUTF8(text, "") + fmt.Sprintf("[%d bytes are left out here]", cut)
	}
	if a.secrets != nil {
		text = a.secrets.Redact(text)
	}
	return text, true
}

// pins is the messages of the branch that people want kept, oldest first.
func (a *Agent) pins(ctx context.Context) ([]session.Kept, error) {
	wanted := make(map[session.ID]bool)
	for e, err := range a.store.Annotations(ctx, a.Session(), session.Pin{}.Kind()) {
		if err != nil {
			return nil, err
		}
		if p, ok := e.Body.(session.Pin); ok {
			wanted[p.Entry] = !p.Removed
			if p.Removed {
				delete(wanted, p.Entry)
			}
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	var out []session.Kept
	for e, err := range a.Path().Backward(ctx) {
		if err != nil {
			return nil, err
		}
		if !wanted[e.ID] {
			continue
		}
		if m, ok := e.Body.(session.Message); ok {
			out = append(out, session.Kept{Entry: e.ID, Message: m.Message, Pinned: true})
		}
		if delete(wanted, e.ID); len(wanted) == 0 {
			break
		}
	}
	slices.Reverse(out)
	return out, nil
}

// now is the time for the model; tests have their own.
func (a *Agent) now() time.Time {
	if a.spec.now != nil {
		return a.spec.now()
	}
	return time.Now()
}
