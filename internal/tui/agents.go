package tui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/transcript"
)

// child is what the terminal knows of the session of a sub-agent. It reads each entry once.
type child struct {
	follower *follower // nil: the task is settled
	fold     transcript.Transcript
	after    int64        // the newest entry in fold
	decision session.Mail // the newest question to the owner
}

type task = transcript.Task

// given is a task in the list.
type given struct {
	*task
	by    *transcript.Transcript // of its owner
	depth int                    // 0: the session gave it; 1: a sub-agent did
}

// deepest is the depth of the list: no configuration allows more, and a damaged journal could name a task below itself.
const deepest = 8

// tasks returns the tasks that the session gave, oldest first, or in an order, and after each those that its agent gave.
func (p *pane) tasks(order func(a, b *transcript.Task) int) (all []given) {
	var add func(by *transcript.Transcript, depth int)
	add = func(by *transcript.Transcript, depth int) {
		tasks := by.Tasks()
		if order != nil {
			slices.SortStableFunc(tasks, order)
		}
		for _, t := range tasks {
			all = append(all, given{t, by, depth})
			if c := p.agents[t.Task]; c != nil && depth < deepest {
				add(&c.fold, depth+1)
			}
		}
	}
	add(&p.fold, 0)
	return all
}

// attend follows the sessions of the sub-agents that have open tasks. Of the others it reads which tasks they gave, once the person asked for
// the list.
func (p *pane) attend(ctx context.Context, h Host) tea.Cmd {
	var cmds []tea.Cmd
	var settled []*watched
	var from []*follower
	for _, t := range p.tasks(nil) {
		c, open := p.agents[t.Task], t.Report == nil
		if t.Session == "" || c == nil && !open && !p.listed {
			continue
		}
		w := &watched{host: h, id: t.Session}
		begins := c == nil
		if begins {
			c = &child{}
			p.agents[t.Task] = c
		}
		switch {
		case open && c.follower == nil:
			c.follower = follow(ctx, w.Follow, c.after, p.gen)
			c.follower.task = t.Task
			cmds = append(cmds, c.follower.next)
		case !open && (begins || c.follower != nil):
			if c.follower != nil { // its last entries may be missing
				c.follower.cancel()
				c.follower = nil
			}
			settled, from = append(settled, w), append(from, &follower{task: t.Task})
		}
	}
	if len(settled) > 0 {
		cmds = append(cmds, p.gaveBefore(ctx, h, settled, from))
	}
	return tea.Batch(cmds...)
}

// gaveBefore reads which tasks settled sub-agents gave.
func (p *pane) gaveBefore(ctx context.Context, h Host, settled []*watched, from []*follower) tea.Cmd {
	after := make([]int64, len(from))
	for i, f := range from {
		after[i] = p.agents[f.task].after
	}
	return func() tea.Msg {
		all := make([]events, len(settled))
		_ = h.Store(func(s index.Store) error { // the list shows less
			for i, w := range settled {
				all[i] = events{gen: p.gen, from: from[i], over: true}
				for e, err := range s.Read(ctx, w.id, after[i], workKinds()...) {
					if err != nil {
						break
					}
					all[i].all = append(all[i].all, e)
				}
			}
			return nil
		})
		return then(func(a *app) tea.Cmd {
			for _, m := range all {
				if m.from != nil {
					_ = p.hear(m)
				}
			}
			return listAgents(a, p)
		})
	}
}

// hear folds events of a sub-agent. If its session cannot be read, the panel shows less.
func (p *pane) hear(m events) tea.Cmd {
	c := p.agents[m.from.task]
	for _, e := range m.all {
		if e.Seq <= c.after { // of a follower before the present one
			continue
		}
		c.after = e.Seq
		c.fold.Add(e)
		if b, ok := e.Body.(session.Mail); ok && b.Type == session.MailDecision && !e.Imported {
			c.decision = b
		}
	}
	if m.over || m.from != c.follower {
		return nil
	}
	return m.from.next
}

// openFirst orders tasks: the open ones, and then the others, the newest first.
func openFirst(a, b *transcript.Task) int {
	switch {
	case a.Report == nil && b.Report == nil:
		return 0
	case a.Report == nil:
		return -1
	case b.Report == nil:
		return 1
	}
	return b.Time.Compare(a.Time)
}

// working returns the number of open tasks.
func (p *pane) working() (n int) {
	for _, t := range p.tasks(nil) {
		if t.Report == nil {
			n++
		}
	}
	return n
}

// agentOf returns a task as people see it.
func (p *pane) agentOf(t given) dialog.Agent {
	row := dialog.Agent{
		Task: t.Task, Session: t.Session, Name: t.Label(), Role: t.Role, Attempt: t.Attempt, Worktree: t.Worktree, Prompt: t.Text, Usage: t.Usage,
		Depth: t.depth, Model: t.Model,
	}
	if r := t.Report; r != nil {
		row.State, row.Does = dialog.AgentState(r.Outcome), transcript.Headline(r.Summary, 200)
		row.Report = r.Summary
		return row
	}
	row.State = dialog.AgentIdle
	c := p.agents[t.Task]
	switch {
	case t.Attempt == 0:
		row.State = dialog.AgentCreated
		return row
	case c == nil:
		return row
	}
	if u := c.fold.Usage; u.Total() >= row.Usage.Total() { // of all attempts
		row.Usage = u
	}
	if it := c.fold.Answer(); it != nil {
		row.Model = cmp.Or(it.Speaker.Name, row.Model)
		row.Does = transcript.Headline(it.Text(), 200)
	}
	if calls := c.fold.Running(); len(calls) > 0 {
		row.Does = strings.TrimSpace(calls[0].Name + " " + calls[0].Title)
	}
	switch asks := c.decision; {
	case asks.Mail != "" && !t.by.Replied(asks.Mail):
		row.State, row.Does = dialog.AgentAsks, transcript.Headline(asks.Text, 200)
	case slices.ContainsFunc(c.fold.Tasks(), func(t *transcript.Task) bool { return t.Report == nil }):
		row.State = dialog.AgentWaits
	case c.fold.Requests.Run != "":
		row.State = dialog.AgentRuns
	}
	return row
}

// agentRows are the rows of the list of agents, oldest first, so that the focus stays on its agent.
func (p *pane) agentRows() (rows []dialog.Agent) {
	for _, t := range p.tasks(nil) {
		rows = append(rows, p.agentOf(t))
	}
	return rows
}

// agentLines are the agents in the panel: two lines for one that works, one for another.
func agentLines(a *app, width int) (lines []string) {
	const most = 14 // lines: a screen of 40 has room for the rest of the panel
	t := a.theme
	all := a.pane.tasks(openFirst)
	for i, task := range all {
		if len(lines) >= most {
			return append(lines, t.Dim.Paint("and "+transcript.Count(len(all)-i, "more agent")))
		}
		row := a.pane.agentOf(task)
		facts := ""
		if row.Usage.Total() > 0 {
			facts = " " + transcript.Tokens(row.Usage.Total())
		}
		if row.Usage.Cost > 0 {
			facts += " " + transcript.Dollars(row.Usage.Cost)
		}
		mark, style := agentMark(t, row.State)
		indent := strings.Repeat("  ", row.Depth)
		name := fit(indent+style.Paint(mark)+" "+t.Text.Paint(term.OneLine(row.Name)), max(width-len(facts), width/2))
		lines = append(lines, name+strings.Repeat(" ", max(width-ansi.StringWidth(name)-len(facts), 0))+t.Dim.Paint(facts))
		if row.Open() {
			what := string(row.State)
			if does := term.OneLine(row.Does); does != "" && row.State == dialog.AgentRuns {
				what = does
			} else if does != "" {
				what += ": " + does
			}
			lines = append(lines, indent+"  "+t.Dim.Paint(what))
		}
	}
	return lines
}

func agentMark(t *theme.Theme, s dialog.AgentState) (string, theme.Style) {
	switch s {
	case dialog.AgentRuns:
		return t.Glyph("●", "*"), t.Accent
	case dialog.AgentAsks:
		return "?", t.Warn
	case dialog.AgentState(session.TaskCompleted):
		return t.Glyph("✓", "+"), t.Good
	case dialog.AgentState(session.TaskFailed):
		return t.Glyph("✗", "x"), t.Bad
	case dialog.AgentState(session.TaskCancelled):
		return t.Glyph("⊘", "#"), t.Dim
	}
	return t.Glyph("○", "o"), t.Dim
}

// agents opens the list of agents, or leaves the view of one.
func agents(a *app) tea.Cmd {
	if a.home != nil {
		return back(a)
	}
	a.pane.listed = true // settle reads the rest
	return offer(a, dialog.NewAgents(a.settings), a.pane.agentRows())
}

// listAgents brings the open list of the agents of a pane up to date.
func listAgents(a *app, p *pane) tea.Cmd {
	if top, ok := a.top().(*dialog.Picker[dialog.Agent]); ok && p == a.pane && !dialog.Asks(top) {
		return top.Set(p.agentRows(), "")
	}
	return nil
}

func agentPicked(a *app, m dialog.Picked[dialog.Agent]) tea.Cmd {
	if m.Action == keys.Delete && m.Value.Session != "" {
		w := &watched{host: a.o.Host, id: m.Value.Session}
		return operation(a, "stopping "+m.Value.Name, func(ctx context.Context) error { return late(w.Abort(ctx)) })
	}
	return view(a, m.Value)
}

// owner is the pane of the session, also while that of an agent is in view.
func owner(a *app) *pane {
	if a.home != nil {
		return a.home
	}
	return a.pane
}

// view shows the session of an agent in the place of the present one.
func view(a *app, row dialog.Agent) tea.Cmd {
	w := &watched{host: a.o.Host, id: row.Session, redact: a.o.Config.Redact}
	if row.Session == "" {
		a.say("the agent has not begun")
		return nil
	}
	from := owner(a)
	a.toward = row.Task
	return after(a, w.State, func(s conversation.State, err error) tea.Cmd {
		if a.toward != row.Task { // the person chose another one meanwhile
			return nil
		}
		a.toward = ""
		if a.fail(err); err != nil || owner(a) != from || a.gen != a.pane.gen { // another session opens
			return nil
		}
		if a.home != nil {
			a.pane.end()
		}
		a.gens++
		a.home, a.viewed, a.gen = from, row.Task, a.gens
		a.pane = newPane(a.gen, list.New(a.theme), a.cards, a.o.Config.Inline)
		if a.pane.inline {
			a.pane.note(transcript.Note{Kind: transcript.NoteInfo, Title: viewed(a)}, a.now())
		}
		shift(a)
		return a.pane.begin(a.ctx, &Opened{Conversation: w, Session: w.id, Dir: s.Dir, Resumed: true}, s)
	})
}

// neighbor shows the agent before or after the one in view, and the session of the owner before the first and after the last one. It leaves out
// agents with settled tasks while others work.
func neighbor(a *app, step int) tea.Cmd {
	rows := owner(a).agentRows()
	works := slices.ContainsFunc(rows, func(r dialog.Agent) bool { return r.Open() && r.Session != "" })
	now := a.toward
	if now == "" && a.home != nil {
		now = a.viewed
	}
	at := slices.IndexFunc(rows, func(r dialog.Agent) bool { return r.Task == now && now != "" })
	if at < 0 && step < 0 {
		at = len(rows)
	}
	for at += step; at >= 0 && at < len(rows); at += step {
		if r := rows[at]; r.Session != "" && (r.Open() || !works) {
			return view(a, r)
		}
	}
	if a.toward = ""; a.home != nil {
		return back(a)
	}
	a.say("no other agent has begun in this session")
	return nil
}

// back leaves the view of an agent.
func back(a *app) tea.Cmd {
	a.pane.end()
	a.pane, a.home, a.toward = a.home, nil, ""
	a.gen = a.pane.gen
	shift(a)
	return refresh(a, "")
}

// shift shows another pane.
func shift(a *app) {
	a.search, a.drag, a.editing, a.list = nil, nil, "", a.pane.list
	a.list.SetTheme(a.theme)
	a.redraw()
	a.browse(false)
	a.layout()
}

// viewedTask returns the task of the agent in view, or false.
func viewedTask(a *app) (given, bool) {
	if a.home != nil {
		for _, t := range a.home.tasks(nil) {
			if t.Task == a.viewed {
				return t, true
			}
		}
	}
	return given{}, false
}

// viewed is the line above the transcript of an agent.
func viewed(a *app) string {
	t, _ := viewedTask(a)
	text := "agent " + t.Label() + " · " + string(a.home.agentOf(t).State) + " · " + a.keys.Key(keys.Cancel) + " back"
	if _, asks := a.home.asking(); asks {
		text += " · a question waits there"
	}
	return text
}

// workKinds are the kinds of the entries that say which agents work for a session.
func workKinds() []string {
	return []string{"task_created", "task_started", "task_settled", "mail", "parallel_started", "parallel_ended"}
}

// earlierWork reads the entries of tasks before the recent ones.
func earlierWork(ctx context.Context, h Host, id session.SessionID, through int64) (all []session.Event, err error) {
	if through <= 0 {
		return nil, nil
	}
	err = h.Store(func(s index.Store) error {
		for e, err := range s.Read(ctx, id, 0, workKinds()...) {
			if err != nil || e.Seq > through {
				return err
			}
			all = append(all, e)
		}
		return nil
	})
	return all, err
}
