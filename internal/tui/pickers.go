package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/request"
	texts "github.com/tenon-agent/tenon/session/search"
	"github.com/tenon-agent/tenon/transcript"
	files "github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
)

// fill opens a picker and fills it outside of the loop.
func fill[T any](a *app, p *dialog.Picker[T], rows func(ctx context.Context) ([]T, error)) tea.Cmd {
	return tea.Batch(a.show(p), refill(a, p, func(context.Context) error { return nil }, rows))
}

// refill fills a picker again, after an operation on one of its rows.
func refill[T any](a *app, p dialog.Dialog, first func(ctx context.Context) error, rows func(ctx context.Context) ([]T, error)) tea.Cmd {
	return after(a, func(ctx context.Context) ([]T, error) {
		if err := first(ctx); err != nil {
			return nil, err
		}
		return rows(ctx)
	}, func(all []T, err error) tea.Cmd { return p.(*dialog.Picker[T]).Set(all, words(err)) })
}

// offer opens a picker with its rows.
func offer[T any](a *app, p *dialog.Picker[T], rows []T) tea.Cmd {
	return tea.Batch(p.Set(rows, ""), a.show(p))
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// outcome acts on the outcome of a dialog. Other messages are for the top dialog and the prompt.
func outcome(a *app, msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case dialog.Picked[dialog.Model]:
		return set(a, session.Change{Model: m.Value.Ref}, "model "+m.Value.Ref)
	case dialog.Picked[dialog.Role]:
		return role(a, m.Value.Name)
	case dialog.Picked[permission.Mode]:
		return mode(a, string(m.Value))
	case dialog.Picked[llm.Thinks]:
		return set(a, session.Change{Thinking: m.Value}, "thinking "+string(m.Value))
	case dialog.Picked[dialog.ThemeName]:
		return themes(a, string(m.Value))
	case dialog.Moved[dialog.ThemeName]:
		a.previewing = true
		a.paint(string(m.Value), a.dark)
	case dialog.Picked[index.Summary]:
		return sessionPicked(a, m)
	case dialog.Moved[index.Summary]:
		return preview(a, m)
	case dialog.Filtered[index.Summary]:
		return find(a, m)
	case dialog.Picked[request.Draft]:
		return draftPicked(a, m)
	case dialog.Picked[dialog.Agent]:
		return agentPicked(a, m)
	case dialog.Picked[workspace.JobStatus]:
		return jobPicked(a, m)
	case dialog.Picked[conversation.Server]:
		return serverPicked(a, m)
	case dialog.Picked[conversation.Rule]:
		return rulePicked(a, m)
	case dialog.Picked[dialog.Skill]:
		a.editor.SetValue(editor.Text("/skill " + m.Value.Name + " "))
	case dialog.Picked[dialog.WindowItem]:
		return contextPicked(a, m)
	case dialog.Picked[files.FileDiff]:
		return a.show(dialog.NewDiff(m.Value, a.settings))
	case dialog.Picked[dialog.Changed]:
		if m.Action == keys.Accept {
			return a.show(dialog.NewDiff(m.Value.FileDiff, a.settings))
		}
		return a.choosing(m.Action)
	case dialog.Picked[dialog.Command]:
		return commandPicked(a, m.Value)
	case dialog.PlanWanted:
		return plan(a, m)
	case dialog.Rewound:
		return rewound(a, m)
	case dialog.Confirmed:
		yes := a.confirms
		if a.confirms = nil; m.Yes && yes != nil {
			return yes()
		}
	case dialog.Entered:
		return rename(a, m.Text)
	case dialog.Try:
		return try(a, m)
	case dialog.Ready:
		return begin(a, Which{Dir: here(a), Model: m.Ref})
	default:
		if d := a.top(); d != nil {
			return tea.Batch(d.Update(msg), a.editor.Update(msg))
		}
		return a.editor.Update(msg)
	}
	return nil
}

// confirm asks before something that is hard to revert.
func confirm(a *app, title, text, yes, no string, do func() tea.Cmd) tea.Cmd {
	a.confirms = do
	return a.show(dialog.NewConfirm(title, text, yes, no, a.settings))
}

func models(a *app) tea.Cmd {
	host, current := a.o.Host, a.pane.state.Model.Ref()
	return fill(a, dialog.NewModels(a.settings), func(ctx context.Context) ([]dialog.Model, error) {
		all, err := host.Models(ctx)
		for i := range all {
			all[i].Current = all[i].Ref == current
		}
		return all, err
	})
}

func roles(a *app) tea.Cmd {
	host, dir, current := a.o.Host, here(a), a.pane.state.Role
	return fill(a, dialog.NewRoles(a.settings), func(context.Context) ([]dialog.Role, error) {
		all, err := host.Roles(dir)
		for i := range all {
			all[i].Current = all[i].Name == current
		}
		return all, err
	})
}

func modes(a *app) tea.Cmd { return a.show(dialog.NewModes(a.pane.state.Mode, a.settings)) }

func levels(a *app) tea.Cmd {
	return a.show(dialog.NewThinking(a.pane.state.Model, a.pane.state.Thinking, a.settings))
}

func themePicker(a *app) tea.Cmd {
	return a.show(dialog.NewThemes(cmp.Or(a.o.Config.Theme, theme.Auto), a.settings))
}

func sessions(a *app) tea.Cmd {
	return fill(a, dialog.NewSessions(a.pane.session(), a.settings), sessionRows(a))
}

func sessionRows(a *app) func(context.Context) ([]index.Summary, error) {
	host, own := a.o.Host, a.pane.session()
	if own != "" && a.pane.opened.Owner != "" { // this terminal joined the session of another process
		own = ""
	}
	return func(ctx context.Context) (all []index.Summary, err error) {
		err = host.Store(func(s index.Store) error {
			for sum, err := range s.List(ctx, index.Query{}) {
				if err != nil {
					return err
				}
				if sum.Dir = place(sum.Dir); sum.ID == own {
					sum.Owner = "this terminal"
				}
				all = append(all, sum)
			}
			return nil
		})
		return all, err
	}
}

func sessionPicked(a *app, m dialog.Picked[index.Summary]) tea.Cmd {
	host, id := a.o.Host, string(m.Value.ID)
	var args []string
	switch m.Action {
	case keys.ForkRow:
		return begin(a, Which{ID: m.Value.ID, Fork: true})
	case keys.Rename:
		args = []string{"sessions", "rename", id, m.Text}
	case keys.Delete:
		args = []string{"sessions", "delete", id}
	default:
		if m.Value.ID == a.pane.session() {
			return nil
		}
		return begin(a, Which{ID: m.Value.ID})
	}
	return refill(a, m.Dialog, func(ctx context.Context) error {
		_, err := host.Run(ctx, "", args...)
		return err
	}, sessionRows(a))
}

// findAfter is how long the person must pause before a search in the texts of sessions.
const findAfter = 200 * time.Millisecond

// find searches the texts of sessions for the filter of their picker.
func find(a *app, m dialog.Filtered[index.Summary]) tea.Cmd {
	if a.finding != nil {
		a.finding()
	}
	ctx, cancel := context.WithCancel(a.ctx)
	a.finding = cancel
	host, p := a.o.Host, m.Dialog.(*dialog.Picker[index.Summary])
	return tea.Tick(findAfter, func(time.Time) tea.Msg {
		return then(func(*app) tea.Cmd {
			text := m.Text()
			if ctx.Err() != nil || strings.TrimSpace(text) == "" {
				return nil
			}
			return func() tea.Msg {
				found, err := sessionsWith(ctx, host, text)
				if ctx.Err() != nil {
					return nil
				}
				return then(func(a *app) tea.Cmd {
					a.fail(err)
					return p.Also(text, func(s index.Summary) bool { return slices.Contains(found, s.ID) })
				})
			}
		})
	})
}

// sessionsWith returns the sessions whose texts have the words of a query. The last word may be incomplete.
func sessionsWith(ctx context.Context, h Host, query string) (all []session.SessionID, err error) {
	const most, long = 200, 3 // hits; letters of an incomplete word, because many words share a shorter beginning
	if last := query[strings.LastIndexAny(query, ` "*`)+1:]; len(last) >= long {
		query += "*"
	}
	err = h.Store(func(s index.Store) error {
		for hit, err := range s.Search(ctx, texts.Request{Text: query, Limit: most}) {
			if err != nil {
				return err
			}
			all = append(all, hit.Session)
		}
		return nil
	})
	return all, err
}

// preview shows the last messages of a session next to the list.
func preview(a *app, m dialog.Moved[index.Summary]) tea.Cmd {
	p, ok := m.Dialog.(*dialog.Picker[index.Summary])
	if !ok || m.Value.ID == "" {
		return nil
	}
	const most = 40 // entries
	host, id, dir := a.o.Host, m.Value.ID, m.Value.Dir
	return after(a, func(ctx context.Context) (text string, err error) {
		var last []session.Event
		err = host.Store(func(s index.Store) error {
			for e, err := range s.Backward(ctx, id, "") {
				if err != nil || len(last) == most {
					return err
				}
				last = append(last, e)
			}
			return nil
		})
		var t transcript.Transcript
		for _, e := range slices.Backward(last) {
			if it, begun := t.Add(e); begun && (it.Kind == transcript.KindPrompt || it.Kind == transcript.KindAnswer) && it.Text() != "" {
				text += it.Who() + ": " + transcript.Headline(it.Text(), 400) + "\n\n"
			}
		}
		return text, err
	}, func(text string, err error) tea.Cmd {
		p.SetDetail(dir+"\n\n"+words(err)+text, func(s index.Summary) bool { return s.ID == id })
		return nil
	})
}

func queue(a *app) tea.Cmd {
	return offer(a, dialog.NewQueue(a.settings), draftRows(a))
}

// draftRows are the prompts that a person queued.
func draftRows(a *app) []request.Draft {
	return slices.DeleteFunc(slices.Clone(a.pane.drafts()), func(d request.Draft) bool { return d.Lane == session.FromNews })
}

func draftPicked(a *app, m dialog.Picked[request.Draft]) tea.Cmd {
	all := draftRows(a)
	i := slices.IndexFunc(all, func(d request.Draft) bool { return d.ID == m.Value.ID })
	if i < 0 {
		a.say("the prompt has entered the conversation")
		return nil
	}
	d := all[i]
	if m.Action == keys.Accept {
		return edit(a, d)
	}
	if p, ok := m.Dialog.(*dialog.Picker[request.Draft]); ok {
		p.Move(map[keys.Action]int{keys.MoveUp: -1, keys.MoveDown: 1}[m.Action])
	}
	return with(a, "", func(ctx context.Context, c conversation.Conversation) error {
		switch m.Action {
		case keys.Background:
			return late(c.Move(ctx, d.ID, session.FromSteering, ""))
		case keys.MoveUp:
			if i == 0 || all[i-1].Lane != d.Lane {
				return nil
			}
			return late(c.Move(ctx, d.ID, d.Lane, all[i-1].ID))
		case keys.MoveDown:
			if i+1 >= len(all) || all[i+1].Lane != d.Lane {
				return nil
			}
			return late(c.Move(ctx, all[i+1].ID, d.Lane, d.ID))
		case keys.Delete:
			return late(c.Remove(ctx, d.ID))
		}
		return nil
	})
}

// edit takes a draft into the prompt. Sending it replaces the draft.
func edit(a *app, d request.Draft) tea.Cmd {
	a.editing = d.ID
	var images []editor.Part // those of mentions come after those of chips, and are attached again
	for _, part := range d.Message.Content {
		if image, ok := part.(llm.Image); ok {
			images = append(images, editor.Part{Kind: editor.Image, MediaType: image.MIME, Data: image.Data})
		}
	}
	a.editor.SetValue(editor.Sent(written(d.Message.Content), images))
	a.say("editing the queued prompt; " + a.keys.Key(keys.Cancel) + " leaves it as it was")
	return nil
}

func jobs(a *app, c conversation.Conversation, _ string) tea.Cmd {
	return fill(a, dialog.NewJobs(a.settings), jobRows(c))
}

// jobRows reads the jobs with their newest output.
func jobRows(c conversation.Conversation) func(context.Context) ([]workspace.JobStatus, error) {
	return func(ctx context.Context) ([]workspace.JobStatus, error) {
		s, err := c.State(ctx)
		return s.Jobs, err
	}
}

func jobPicked(a *app, m dialog.Picked[workspace.JobStatus]) tea.Cmd {
	if m.Action != keys.Delete {
		return page(a, m.Value.ID, dialog.JobText(m.Value))
	}
	c := a.pane.conversation()
	return refill(a, m.Dialog, func(ctx context.Context) error { return c.EndJob(ctx, m.Value.ID) }, jobRows(c))
}

// servers lists the MCP servers, or switches one on or off.
func servers(a *app, c conversation.Conversation, change string) tea.Cmd {
	if change != "" {
		return set(a, session.Change{Server: change}, "MCP server "+onOff(strings.TrimPrefix(change, "-"), !strings.HasPrefix(change, "-")))
	}
	return fill(a, dialog.NewServers(a.settings), serverRows(c))
}

func serverRows(c conversation.Conversation) func(context.Context) ([]conversation.Server, error) {
	return func(ctx context.Context) ([]conversation.Server, error) {
		s, err := c.State(ctx)
		return s.MCP, err
	}
}

func serverPicked(a *app, m dialog.Picked[conversation.Server]) tea.Cmd {
	c, change := a.pane.conversation(), "-"+m.Value.Name
	if m.Value.State == conversation.ServerOff {
		change = m.Value.Name
	}
	return refill(a, m.Dialog, func(ctx context.Context) error { return c.Set(ctx, session.Change{Server: change}) }, serverRows(c))
}

func rules(a *app, c conversation.Conversation, _ string) tea.Cmd {
	return fill(a, dialog.NewRules(a.settings), c.Rules)
}

func rulePicked(a *app, m dialog.Picked[conversation.Rule]) tea.Cmd {
	c := a.pane.conversation()
	if m.Action != keys.Delete {
		return nil
	}
	return refill(a, m.Dialog, func(ctx context.Context) error { return c.Revoke(ctx, m.Value.Text) }, c.Rules)
}

func skills(a *app) tea.Cmd {
	host, dir := a.o.Host, here(a)
	return fill(a, dialog.NewSkills(a.settings), func(context.Context) ([]dialog.Skill, error) { return host.Skills(dir) })
}

func window(a *app, _ conversation.Conversation, _ string) tea.Cmd {
	p := dialog.NewContext(a.settings)
	return tea.Batch(a.show(p), fillContext(a, p, func(context.Context) error { return nil }))
}

// fillContext shows the contents of the context window, after an operation that may change them.
func fillContext(a *app, p *dialog.Context, first func(ctx context.Context) error) tea.Cmd {
	c, pinned := a.pane.conversation(), maps.Clone(a.pane.facts.pinned) // an older event may come later
	return after(a, func(ctx context.Context) (conversation.ContextWindow, error) {
		err := first(ctx)
		w, problem := c.Window(ctx)
		return w, cmp.Or(err, problem)
	}, func(w conversation.ContextWindow, err error) tea.Cmd {
		p.SetWindow(w, func(id session.ID) bool { return pinned[id] }, words(err))
		return nil
	})
}

func contextPicked(a *app, m dialog.Picked[dialog.WindowItem]) tea.Cmd {
	c, p := a.pane.conversation(), m.Dialog.(*dialog.Context)
	switch m.Action {
	case keys.Pin:
		on := !a.pane.facts.pinned[m.Value.Entry]
		a.pane.facts.pinned[m.Value.Entry] = on
		return fillContext(a, p, func(ctx context.Context) error { return c.Pin(ctx, m.Value.Entry, on) })
	case keys.Trim:
		return fillContext(a, p, func(ctx context.Context) error {
			_, err := c.Trim(ctx)
			return err
		})
	}
	return nil
}

// changes shows the files that the session changed, with their diffs, as tenon diff does.
func changes(a *app) tea.Cmd {
	host, id := a.o.Host, string(a.pane.session())
	return fill(a, dialog.NewFiles(a.settings), func(ctx context.Context) (rows []files.FileDiff, err error) {
		if id == "" {
			return nil, nil
		}
		text, err := host.Run(ctx, "", "diff", id, "--json")
		for line := range strings.Lines(text) {
			var f files.FileDiff
			if err == nil {
				err = json.Unmarshal([]byte(line), &f)
				rows = append(rows, f)
			}
		}
		return rows, err
	})
}

// written is the text that a person wrote, without the files that its mentions attached.
func written(c llm.Content) string {
	for _, part := range c {
		if t, ok := part.(llm.Text); ok {
			return t.Text
		}
	}
	return ""
}

// rewind lists the prompts of the branch, the newest first.
func rewind(a *app) tea.Cmd {
	var points []dialog.Point
	for _, c := range slices.Backward(a.pane.current()) {
		if !c.Stop() {
			continue
		}
		it := c.Item()
		if to := a.pane.facts.before(it.ID); to != "" {
			points = append(points, dialog.Point{To: to, Text: written(it.Content), Time: it.Time})
		}
	}
	return a.show(dialog.NewRewind(points, a.settings))
}

func plan(a *app, m dialog.PlanWanted) tea.Cmd {
	c := a.pane.conversation()
	return after(a, func(ctx context.Context) (*files.Plan, error) { return c.Rewind(ctx, m.Back) }, func(p *files.Plan, err error) tea.Cmd {
		m.Dialog.SetPlan(m.Back, p, words(err))
		return nil
	})
}

func rewound(a *app, m dialog.Rewound) tea.Cmd {
	if m.Text != "" && a.editor.Empty() {
		a.editor.SetValue(editor.Text(m.Text))
	}
	return undo(a, m.Back)
}

func help(a *app) tea.Cmd {
	return showCustom(a, func() *dialog.Picker[dialog.Command] { return dialog.NewHelp(listed(a), a.settings) })
}

func palette(a *app) tea.Cmd {
	return showCustom(a, func() *dialog.Picker[dialog.Command] {
		return dialog.NewPalette(append(listed(a), dialog.KeyCommands(a.keys, keys.Palette, keys.Interrupt, keys.Cancel)...), a.settings)
	})
}

// listed are the slash commands for dialogs.
func listed(a *app) (all []dialog.Command) {
	for _, c := range commands() {
		name := "/" + c.name
		if c.args != "" {
			name += " " + c.args
		}
		all = append(all, dialog.Command{Name: name, Words: c.words, Key: a.keys.Key(c.key), Group: "Commands"})
	}
	return append(all, a.custom...)
}

// commandPicked starts what the person chose in the palette. A command with arguments comes into the prompt.
func commandPicked(a *app, c dialog.Command) tea.Cmd {
	name, args, _ := strings.Cut(strings.TrimPrefix(c.Name, "/"), " ")
	if !strings.HasPrefix(c.Name, "/") {
		cmd, _ := global(a, a.keys.Key(keys.Action(strings.ReplaceAll(c.Name, " ", "_"))))
		return cmd
	}
	if args != "" && !strings.HasPrefix(args, "[") {
		a.editor.SetValue(editor.Text("/" + name + " "))
		return nil
	}
	if slices.ContainsFunc(a.custom, func(o dialog.Command) bool { return o.Name == c.Name }) {
		return prompt(a, "/"+name)
	}
	return command(a, name, "")
}

// guide opens the ways to a working model.
func guide(a *app) tea.Cmd {
	d := dialog.NewFirstRun(a.o.Host.Notes(here(a)), a.settings)
	return tea.Batch(a.show(d), after(a, a.o.Host.Ways, func(ways []dialog.Way, err error) tea.Cmd {
		a.fail(err)
		d.SetWays(ways)
		return nil
	}))
}

// try makes a model of the guide work: it keeps the key, and sends a small request.
func try(a *app, m dialog.Try) tea.Cmd {
	host := a.o.Host
	return after(a, func(ctx context.Context) (string, error) { return host.Try(ctx, m.Ref, m.Provider, m.Key) },
		func(ref string, err error) tea.Cmd { return m.Dialog.Tried(ref, words(err)) })
}

// trust asks whether the configuration of the project takes effect.
func trust(a *app) tea.Cmd {
	dir := here(a)
	wants := a.o.Host.Untrusted(dir)
	if len(wants) == 0 {
		a.say("this project has no configuration that needs trust")
		return nil
	}
	a.confirms = func() tea.Cmd {
		return tenon(a, "trusted; new sessions use the configuration", "trust", "--yes", dir)
	}
	return a.show(dialog.NewTrust(dir, wants, a.settings))
}
