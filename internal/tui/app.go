package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/request"
	"github.com/tenon-agent/tenon/transcript"
	"github.com/tenon-agent/tenon/workspace/gitdir"
)

// app is the program of Bubble Tea. It owns all state; everything that may block runs in a command and comes back as a message.
type app struct {
	o   Options
	ctx context.Context
	now now

	program *tea.Program // nil in tests
	pace    pace

	theme  *theme.Theme
	keys   *keys.Map
	cards  *card.Options
	list   *list.List
	editor *editor.Editor
	unsent unsent
	pane   *pane
	home   *pane      // the pane of the session while pane is that of its agent; else nil
	viewed session.ID // the task of that agent
	toward session.ID // the task of the agent that the person chose, until it is in view
	gen    int        // of the pane that prompts are for
	gens   int        // the newest generation

	width, height int
	dialogs       []dialog.Dialog   // the last one is on top
	asked         string            // the question that the dialog of approval shows
	handing       string            // the call whose question this terminal answered last
	handed        session.SessionID // in which a plan is executed that this terminal handed over; empty: none
	pictures      pictures
	search        *search
	drag          *drag
	settings      *dialog.Options
	custom        []dialog.Command          // commands of files and skills, as last read
	slashing      bool                      // the prompt begins with a slash
	confirms      func() tea.Cmd            // after a yes
	choosing      func(keys.Action) tea.Cmd // about the result of parallel runs
	finding       context.CancelFunc        // ends the newest search in the texts of sessions; nil: there was none
	editing       session.ID                // the draft that the prompt replaces
	dark          bool                      // background of the terminal
	browsing      bool                      // the transcript has the focus
	panel         bool                      // next to the transcript, on a wide screen
	blurred       bool                      // the terminal has not the focus
	pressed       presses
	early         []tea.KeyPressMsg // that came before a dialog closed that had ended
	remark        string            // below the transcript, for a while
	until         time.Time
	ticking       bool
	pending       []editor.Draft // sent before the session was open
	branchName    string         // of git
	failed        error          // of opening
	printing      bool           // to the scrollback
	previewing    bool           // a theme
	hinted        time.Time      // when it was said that another interrupt leaves
	forced        bool           // the person wants to leave at once
	closing       sync.WaitGroup // conversations that are closing
	left          bool
}

// opened is the result of opening a conversation.
type opened struct {
	gen   int
	o     *Opened
	state conversation.State
	err   error
}

// done is the result of an operation: a remark, or an error that stays in the transcript.
type done struct {
	say string
	err error
}

// states is the state of a conversation after a turn.
type states struct {
	gen   int
	state conversation.State
	git   string
	say   string
}

// then is work for the loop of the terminal after something that took a while.
type then func(a *app) tea.Cmd

// nothing is a message after which the terminal only draws.
func nothing() tea.Msg { return then(func(*app) tea.Cmd { return nil }) }

func (a *app) Init() tea.Cmd {
	cmds := []tea.Cmd{a.open(a.o.Which), a.unsent.load()}
	if !a.o.Config.NoColor {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// open opens another session, and closes the present one when that succeeded.
func (a *app) open(w Which) tea.Cmd {
	a.gens++
	a.gen = a.gens
	gen, ctx, host := a.gen, a.ctx, a.o.Host
	return func() tea.Msg {
		a.closing.Wait() // it may be the session that was left a moment ago
		o, err := host.Open(ctx, w)
		if err != nil {
			return opened{gen: gen, err: err}
		}
		state, err := o.Conversation.State(ctx)
		if err != nil {
			return opened{gen: gen, err: errors.Join(err, o.Conversation.Close())}
		}
		if o.Tasks, err = earlierWork(ctx, host, o.Session, state.Seq-recent); err != nil {
			return opened{gen: gen, err: errors.Join(err, o.Conversation.Close())}
		}
		return opened{gen: gen, o: o, state: state}
	}
}

// Update handles one message, and then brings everything that depends on the session up to date.
func (a *app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if a.pace.ticker == nil && a.program != nil {
		a.pace.ticker = tickerOf(a.program)
	}
	a.pace.wake()
	cmd := handle(a, msg)
	if a.left {
		return a, cmd
	}
	return a, tea.Batch(cmd, a.settle())
}

func handle(a *app, msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.WindowSizeMsg:
		wider := m.Width > a.width && a.width > 0 && !a.o.Config.Inline
		a.width, a.height = m.Width, m.Height
		if a.layout(); wider { // Bubble Tea takes the new columns for blank after it drew them once, and would not erase them (version 2.0.9)
			return tea.Tick(quiet, func(time.Time) tea.Msg { return tea.ClearScreen() })
		}
	case tea.BackgroundColorMsg:
		a.dark = m.IsDark()
		a.paint(a.o.Config.Theme, a.dark)
	case tea.FocusMsg:
		a.blurred = false
	case tea.BlurMsg:
		a.blurred = true
	case tea.KeyPressMsg:
		return a.key(m)
	case tea.PasteMsg:
		if d := a.top(); d != nil && !dialog.Leaves(d, m) {
			return d.Update(m)
		}
		return a.editor.Update(m)
	case tea.MouseMsg:
		return mouse(a, m)
	case ended: // a question stays open, as after a kill: the person has not seen or answered it
		_, asking := a.pane.asking()
		a.forced = m.hangup && asking
		return a.leave()
	case tea.ResumeMsg:
		return tea.ClearScreen
	case opened:
		return a.begin(m)
	case events:
		return arrive(a, m)
	case older:
		if p := paneOf(a, m.gen); p != nil {
			p.prepend(m)
			if m.err != nil {
				a.fail(m.err)
			}
			if do := a.pane.waiting; do != nil && !partial(a.pane) {
				a.pane.waiting = nil
				return do(a)
			}
		}
	case states:
		if p := paneOf(a, m.gen); p != nil {
			if m.state.Seq >= p.state.Seq { // an older one may arrive later
				p.state, a.branchName = m.state, m.git
			}
			if m.say != "" {
				a.say(m.say)
			}
		}
	case done:
		if m.err != nil {
			a.fail(m.err)
		} else if m.say != "" {
			a.say(m.say)
		}
	case editor.Submitted:
		return submit(a, m)
	case editor.Bash:
		return shell(a, m.Command)
	case editor.Changed:
		return tea.Batch(a.unsent.changed(), typed(a))
	case editor.Failed:
		a.fail(m.Err)
	case dialog.Closed:
		cmds, early := []tea.Cmd{a.close(m.Dialog)}, a.early
		a.early = nil
		for _, k := range early {
			cmds = append(cmds, a.key(k))
		}
		return tea.Batch(cmds...)
	case dialog.Message:
		return m.Dialog.Update(m)
	case dialog.Answered:
		return answered(a, m)
	case then:
		return m(a)
	default:
		return outcome(a, msg)
	}
	return nil
}

// notOpened shows why a session was not opened. The present one stays, and a prompt for the other one comes back.
func notOpened(a *app, err error) {
	a.fail(err)
	if a.pane.opened == nil {
		a.failed = err
	} else {
		a.gen = a.pane.gen
	}
	for _, d := range a.pending {
		a.editor.SetValue(d)
	}
	a.pending = nil
}

// begin shows a conversation that was opened, or why it was not.
func (a *app) begin(m opened) tea.Cmd {
	if m.gen != a.gen { // another one was asked for since
		if m.o != nil {
			return func() tea.Msg { return done{err: m.o.Conversation.Close()} }
		}
		return nil
	}
	if m.err != nil {
		notOpened(a, m.err)
		return nil
	}
	if a.home != nil {
		_ = back(a)
	}
	a.failed, a.editing, a.search, a.cards.Self, a.settings.Dir = nil, "", nil, m.o.Self, m.o.Dir
	former := a.pane
	if dir := m.o.Dir; former.opened == nil && dir != a.o.Dir || former.opened != nil && dir != former.opened.Dir {
		a.editor.SetProject(dir, complete.NewFiles(dir, a.o.Host.Files(dir)))
	}
	a.browse(false)
	a.pane = newPane(m.gen, a.list, a.cards, a.o.Config.Inline)
	cmds := []tea.Cmd{a.pane.begin(a.ctx, m.o, m.state), refresh(a, "")}
	welcome(a, m.o)
	if c := former.conversation(); c != nil {
		former.end()
		a.closing.Add(1)
		cmds = append(cmds, func() tea.Msg {
			defer a.closing.Done()
			return closed(c)
		})
	}
	for _, d := range a.pending {
		cmds = append(cmds, submit(a, editor.Submitted{Draft: d}))
	}
	a.pending = nil
	if m.o.Session == a.handed {
		a.handed = ""
		cmds = append(cmds, with(a, "", func(ctx context.Context, c conversation.Conversation) error {
			_, err := c.Prompt(ctx, conversation.Prompt{}) // its queue has the prompt
			return err
		}))
	}
	if m.o.Unset {
		cmds = append(cmds, guide(a))
	}
	return tea.Batch(cmds...)
}

// closed closes a conversation. A warning about a background job is a remark.
func closed(c conversation.Conversation) tea.Msg {
	err := c.Close()
	if w, ok := errors.AsType[*conversation.Warning](err); ok {
		return done{say: w.Text}
	}
	return done{err: err}
}

// arrive takes a batch of events.
func arrive(a *app, m events) tea.Cmd {
	p := paneOf(a, m.gen)
	switch {
	case p == nil:
		return nil
	case m.from != nil && m.from.task != "":
		return tea.Batch(p.hear(m), listAgents(a, p))
	}
	p.add(m.all, a.now())
	if top, ok := a.top().(*dialog.Picker[request.Draft]); ok {
		top.Set(draftRows(a), "")
	}
	if m.err != nil {
		a.fail(m.err)
	}
	var cmds []tea.Cmd
	if !m.over {
		cmds = append(cmds, p.follower.next)
	}
	if p == a.pane {
		cmds = append(cmds, handOver(a, m.all))
	}
	for _, e := range m.all {
		if changesState(e) {
			cmds = append(cmds, stateOf(a, p, ""))
			break
		}
	}
	return tea.Batch(append(cmds, notify(a, m.all), listAgents(a, p))...)
}

// paneOf returns the pane of a generation; nil: it is gone.
func paneOf(a *app, gen int) *pane {
	switch {
	case gen == a.pane.gen:
		return a.pane
	case a.home != nil && gen == a.home.gen:
		return a.home
	}
	return nil
}

// changesState reports whether the state of the conversation is another one after an event.
func changesState(e session.Event) bool {
	switch b := e.Body.(type) {
	case session.RunStarted, session.RunEnded, session.ModelChanged, session.Epoch, session.Head, session.Title, session.Asked, session.Summarized, session.Trimmed, session.Goal:
		return true
	case session.Message:
		return b.Role == "assistant"
	}
	return false
}

// refresh reads the state of the conversation in view.
func refresh(a *app, say string) tea.Cmd { return stateOf(a, a.pane, say) }

// stateOf reads the state of the conversation of a pane.
func stateOf(a *app, p *pane, say string) tea.Cmd {
	ctx, o, gen := a.ctx, p.opened, p.gen
	return func() tea.Msg {
		s, err := o.Conversation.State(ctx)
		if err != nil {
			return done{err: err}
		}
		branch, commit := gitdir.Head(guidance.Root(o.Dir))
		return states{gen: gen, state: s, git: cmp.Or(branch, commit[:min(len(commit), 8)]), say: say}
	}
}

// settle brings the dialogs up to date with the questions, and lets time pass while something moves.
func (a *app) settle() tea.Cmd {
	cmd := tea.Batch(askPerson(a), scrollback(a), a.pictures.load(a.ctx, a.o.Host), a.pane.attend(a.ctx, a.o.Host))
	if a.home != nil {
		cmd = tea.Batch(cmd, a.home.attend(a.ctx, a.o.Host))
	}
	if a.search != nil || a.pane.waiting != nil || a.list.AtTop() && a.list.Len() > 0 && !a.o.Config.Inline {
		cmd = tea.Batch(cmd, a.pane.more())
	}
	if a.ticking || !a.moves() {
		return cmd
	}
	a.ticking = true
	every := 100 * time.Millisecond
	if a.o.Config.Still || a.o.Config.Reader || !a.pane.busy() {
		every = time.Second
	}
	return tea.Batch(cmd, tea.Tick(every, func(time.Time) tea.Msg {
		return then(func(*app) tea.Cmd {
			a.ticking = false
			return nil
		})
	}))
}

// entire does something that needs all items of the session, when they are here.
func entire(a *app, do func(a *app) tea.Cmd) tea.Cmd {
	if !partial(a.pane) {
		return do(a)
	}
	a.say("one moment")
	a.pane.waiting = do // settle reads them
	return nil
}

// moves reports whether the screen changes with time.
func (a *app) moves() bool {
	if a.now().After(a.until) || a.remark == cancelling && !a.pane.busy() && !a.pane.act.Summary {
		a.remark = ""
	}
	return a.remark != "" || a.pane.busy() || a.pane.act.Summary
}

// askPerson opens the dialog of the oldest question, after other dialogs, and closes it when it has an answer from elsewhere.
func askPerson(a *app) tea.Cmd {
	q, ok := a.pane.asking()
	if ok && q.ID == a.asked {
		return nil
	}
	var cmds []tea.Cmd
	if d := shownQuestion(a); d != nil {
		cmds = append(cmds, a.close(d))
	}
	a.asked = ""
	if ok && a.top() == nil {
		a.asked = q.ID
		cmds = append(cmds, a.show(questionDialog(a, q)))
	}
	return tea.Batch(cmds...)
}

// shownQuestion returns the open dialog of the present question, or nil.
func shownQuestion(a *app) dialog.Dialog {
	for _, d := range a.dialogs {
		if q, ok := d.(interface{ Question() string }); ok && q.Question() == a.asked {
			return d
		}
	}
	return nil
}

func questionDialog(a *app, q request.Question) dialog.Dialog {
	if len(q.Calls) > 0 {
		return dialog.NewPermission(q, !a.editor.Empty(), a.settings)
	}
	return dialog.NewQuestions(q, !a.editor.Empty(), a.settings)
}

// show opens a dialog.
func (a *app) show(d dialog.Dialog) tea.Cmd {
	a.dialogs = append(a.dialogs, d)
	return d.Update(dialog.Opened{})
}

// close closes a dialog.
func (a *app) close(d dialog.Dialog) tea.Cmd {
	for i := range a.dialogs {
		if a.dialogs[i] == d {
			a.dialogs = append(a.dialogs[:i], a.dialogs[i+1:]...)
			break
		}
	}
	if a.previewing {
		a.previewing = false
		a.paint(a.o.Config.Theme, a.dark)
	}
	if top := a.top(); top != nil {
		return top.Update(dialog.Opened{})
	}
	return nil
}

// top returns the dialog that has the focus, or nil.
func (a *app) top() dialog.Dialog {
	if len(a.dialogs) == 0 {
		return nil
	}
	return a.dialogs[len(a.dialogs)-1]
}

// cancelling is the remark until the run or the command ends.
const cancelling = "cancelling"

// abort cancels the run.
func (a *app) abort() tea.Cmd {
	a.say(cancelling)
	return with(a, "", func(ctx context.Context, c conversation.Conversation) error { return late(c.Abort(ctx)) })
}

// late forgets the error of a request that another one has made needless.
func late(err error) error {
	if _, ok := errors.AsType[*request.LateError](err); ok {
		return nil
	}
	return err
}

// say shows a remark for a few seconds.
func (a *app) say(text string) {
	a.remark, a.until = text, a.now().Add(notified)
}

// fail shows an error in the transcript.
func (a *app) fail(err error) {
	if err == nil || errors.Is(err, context.Canceled) && (a.left || a.ctx.Err() != nil) {
		return
	}
	a.pane.note(transcript.Note{Kind: transcript.NoteError, Title: err.Error()}, a.now())
}

// leave closes the conversation and ends the program.
func (a *app) leave() tea.Cmd {
	a.left = true
	a.pane.end()
	return tea.Quit
}

// answered sends an answer. If another frontend was first, the transcript shows its answer.
func answered(a *app, m dialog.Answered) tea.Cmd {
	c := a.pane.conversation()
	resumes := a.pane.resumes(m.Question)
	if q, ok := a.pane.asking(); ok && q.ID == m.Question {
		a.handing = q.Call
	}
	return after(a, func(ctx context.Context) (p conversation.Prompted, err error) {
		if err = late(c.Answer(ctx, m.Question, m.Answers...)); err == nil && resumes {
			p, err = c.Prompt(ctx, conversation.Prompt{})
		}
		return p, err
	}, func(_ conversation.Prompted, err error) tea.Cmd {
		if err != nil && a.asked == m.Question { // the dialog opens again
			a.asked = ""
		}
		a.fail(err)
		return nil
	})
}

// handOver opens the session in which a plan is executed that the person handed over here, at the end of the run that made it.
func handOver(a *app, all []session.Event) (cmd tea.Cmd) {
	for _, e := range all {
		switch b := e.Body.(type) {
		case session.Message:
			var d struct{ Session session.SessionID }
			if b.Tool == "handoff" && b.CallID == a.handing && json.Unmarshal(b.Details, &d) == nil {
				a.handed = d.Session
			}
		case session.RunEnded:
			if a.handed != "" {
				cmd = a.open(Which{ID: a.handed})
			}
		}
	}
	return cmd
}
