package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/internal/cli/command"
	modelcmd "github.com/tenon-agent/tenon/internal/cli/models"
	"github.com/tenon-agent/tenon/internal/cli/run"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/internal/slash"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui"
	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/offline"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
)

// host is the [tui.Host] of this machine.
type host struct {
	env     *command.Env
	options Options
}

// Open implements [tui.Host].
func (h *host) Open(ctx context.Context, w tui.Which) (*tui.Opened, error) {
	const self = "tenon"
	o := h.options
	if w.ID == "" && !w.Last && w.Model == "" { // a new session has the model of the command line, too
		w.Model = o.Model
	}
	if w.ID != "" && string(w.ID) != o.Session { // a session that the person chose later keeps its role
		o.Role = ""
	}
	opening := app.Opening{
		Getenv: h.env.Getenv, Version: command.BuildOf(h.env.Version).Version, Owner: self,
		Which: conversation.Which{Dir: w.Dir, ID: string(w.ID), Last: w.Last, New: true, Fork: w.Fork}, TakeOver: w.TakeOver,
		Model: w.Model, Role: o.Role, Client: h.env.Client, Permissions: o.Rules.Permissions, Ask: true, Share: true,
	}
	opened, err := app.OpenConversation(ctx, opening)
	if locked, ok := errors.AsType[*session.LockedError](err); ok && !w.TakeOver {
		return h.join(ctx, locked)
	}
	if err != nil {
		return nil, command.Locked(err)
	}
	c := &conversing{Local: opened.Conversation, fresh: !opened.Resumed && !w.Fork, opened: opened}
	var inherited []session.Event
	if !c.fresh {
		if inherited, err = h.inherited(ctx, c.Session()); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return &tui.Opened{
		Conversation: c, Session: c.Session(), Inherited: inherited, Dir: opened.Dir, Self: self, Why: opened.Model.Why, Resumed: opened.Resumed,
		Warnings: opened.Warnings, Unset: opened.Model.Unset(), Kill: opened.Kill, Contests: opened.Contests(),
	}, nil
}

// join attaches to a session that another process has open. Without a socket of that process the error names it.
func (h *host) join(ctx context.Context, locked *session.LockedError) (*tui.Opened, error) {
	dir, err := app.DataDir(h.env.Getenv)
	if err != nil {
		return nil, err
	}
	self := fmt.Sprintf("terminal, pid %d", os.Getpid())
	c, err := attach.Dial(ctx, dir, locked.Session, self)
	if err != nil {
		return nil, command.Locked(locked)
	}
	state, err := c.State(ctx)
	inherited, lacks := h.inherited(ctx, locked.Session)
	if err = errors.Join(err, lacks); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return &tui.Opened{Conversation: c, Session: locked.Session, Inherited: inherited, Dir: state.Dir, Resumed: true, Owner: c.Session().Owner, Self: self}, nil
}

// inherited returns the entries that a fork continues, oldest first. Sessions that are no fork have none.
func (h *host) inherited(ctx context.Context, id session.SessionID) (all []session.Event, err error) {
	err = h.Store(func(s index.Store) error {
		for e, err := range s.Read(ctx, id, 0, session.Created{}.Kind()) { // the first entry, and not the ones that follow it
			if c, ok := e.Body.(session.Created); err != nil || !ok || !c.Fork {
				return err
			}
			for e, err := range s.Backward(ctx, id, e.Parent) {
				if err != nil {
					return err
				}
				all = append(all, e)
			}
			break
		}
		slices.Reverse(all)
		return nil
	})
	return all, err
}

// conversing is a conversation that leaves no session behind if nothing was said in it.
type conversing struct {
	*conversation.Local
	fresh  bool
	opened *app.Opened
}

// Close implements [conversation.Conversation].
func (c *conversing) Close() error {
	if c.fresh {
		if s, err := c.State(context.Background()); err == nil && s.Run == "" && s.Usage.Total() == 0 && !c.called(s.Seq) {
			return c.opened.Discard(context.Background())
		}
	}
	return c.Local.Close()
}

// called reports whether an entry up to a number is a call, such as a command of the person or a parallel run.
func (c *conversing) called(through int64) bool {
	for e, err := range c.Follow(context.Background(), 0) {
		if _, ok := e.Body.(session.CallStarted); ok || err != nil {
			return true
		}
		if e.Seq >= through {
			break
		}
	}
	return false
}

// Store implements [tui.Host].
func (h *host) Store(use func(index.Store) error) (err error) {
	a, err := app.OpenExisting(h.env.Getenv, command.BuildOf(h.env.Version).Version)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return use(a.Store)
}

// Models implements [tui.Host].
func (h *host) Models(context.Context) (all []dialog.Model, err error) {
	s, err := h.env.SetUp("")
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Config.Pools)) {
		all = append(all, dialog.Model{Ref: name, Group: "pools", Members: s.Config.Pools[name]})
	}
	resting := models.Resting(s.Models)
	ref, _, _ := s.Models.Default()
	var rest []dialog.Model
	for m := range s.Models.All() {
		row := dialog.Model{
			Ref: m.Ref(), Group: m.Provider, Window: m.Context, Assumed: m.Assumed, In: m.Price.Input, Out: m.Price.Output,
			Can: abilities(m.Model), Default: m.Ref() == ref,
		}
		for _, r := range resting {
			if strings.HasPrefix(r.Model, m.Provider+"/") {
				row.Health = append(row.Health, modelcmd.Rests(r))
			}
		}
		if m.Usable {
			all = append(all, row)
			continue
		}
		row.Why = m.Why
		rest = append(rest, row)
	}
	return append(all, rest...), nil
}

func abilities(m llm.Model) string {
	var can []string
	if m.Images {
		can = append(can, "images")
	}
	if m.Documents {
		can = append(can, "documents")
	}
	if m.MayThink() {
		can = append(can, "thinking")
	}
	return strings.Join(can, ", ")
}

// Skills implements [tui.Host].
func (h *host) Skills(dir string) (all []dialog.Skill, err error) {
	s, err := h.env.SetUp(dir)
	if err != nil {
		return nil, err
	}
	found, err := s.Skills(dir)
	for _, k := range found.Skills {
		all = append(all, dialog.Skill{Name: k.Name, About: k.Description, Where: k.Dir})
	}
	return all, err
}

// Commands implements [tui.Host].
func (h *host) Commands(dir string) (all []dialog.Command, err error) {
	s, err := h.env.SetUp(dir)
	if err != nil {
		return nil, err
	}
	set, err := app.Commands(s, dir)
	for _, c := range set.Commands {
		all = append(all, dialog.Command{Name: strings.TrimSpace("/" + c.Name + " " + term.OneLine(c.Hint)), Words: term.OneLine(c.Description), Group: "Your commands"})
	}
	for _, name := range set.Inert {
		if !slices.ContainsFunc(set.Commands, func(c slash.Command) bool { return c.Name == name }) {
			all = append(all, dialog.Command{Name: "/" + name, Words: "a command of this project", Group: "Your commands", Off: "the directory is not trusted; see /trust"})
		}
	}
	return all, err
}

// Roles implements [tui.Host].
func (h *host) Roles(dir string) (all []dialog.Role, err error) {
	_, set, err := h.env.Roles(dir)
	for _, r := range set.Roles {
		all = append(all, dialog.Role{Name: r.Name, About: r.Description, Model: r.Model, Source: app.RoleSource(r)})
	}
	return append(all, dialog.Role{Name: app.NoRole, About: "no role: your own mode, model and limits"}), err
}

// Ways implements [tui.Host].
func (h *host) Ways(ctx context.Context) (all []dialog.Way, err error) {
	s, err := h.env.SetUp("")
	if err != nil {
		return nil, err
	}
	var without []dialog.Way
	seen := map[string]bool{} // providers that differ only in their protocol share a key
	for _, p := range s.Models.Providers() {
		ref, known := s.Models.ModelOf(p.Name)
		switch {
		case p.Usable && !p.Local && known:
			all = append(all, dialog.Way{Ref: ref, Title: p.Title, Why: "a key is here: " + strings.Join(p.Keys, ", ")})
		case len(p.KeyVars) > 0 && !seen[p.KeyVars[0]]:
			seen[p.KeyVars[0]] = true
			without = append(without, dialog.Way{Title: p.Title, Provider: p.Name, NeedsKey: true, Why: "or set " + p.KeyVars[0]})
		}
	}
	if h.env.Getenv("TENON_DISCOVER") != "off" {
		for _, f := range s.Models.Discover(ctx) {
			for _, id := range f.Models {
				all = append(all, dialog.Way{Ref: f.Provider + "/" + id, Title: f.Provider, Why: "a server on this machine"})
			}
		}
	}
	all = append(all, dialog.Way{Ref: offline.New().Model().Ref(), Title: "No model", Why: "follows only simple instructions, and needs no network"})
	return append(all, without...), nil
}

// Try implements [tui.Host].
func (h *host) Try(ctx context.Context, ref, provider, key string) (string, error) {
	if ref == offline.New().Model().Ref() {
		return ref, nil
	}
	if key != "" {
		if _, err := h.Run(ctx, key, "auth", "login", provider, "--key-file", "-"); err != nil {
			return "", err
		}
		s, err := h.env.SetUp("")
		if err != nil {
			return "", err
		}
		known := false
		if ref, known = s.Models.ModelOf(provider); !known {
			return "", fmt.Errorf("the key is stored, but no model of %s is known; choose one with /model", provider)
		}
	}
	_, err := h.Run(ctx, "", "models", "test", ref)
	return ref, err
}

// Notes implements [tui.Host].
func (h *host) Notes(dir string) (notes []string) {
	for _, f := range []struct{ name, words string }{
		{"AGENTS.md", "Tenon reads AGENTS.md"},
		{"CLAUDE.md", "Tenon reads CLAUDE.md"},
		{".claude/settings.json", "rules of Claude Code that deny or ask take effect"},
		{".claude/skills", "Tenon can use the skills of Claude Code, if you trust the directory"},
		{".codex", "this project was used with Codex; 'tenon sessions import' takes its sessions"},
	} {
		if _, err := os.Stat(filepath.Join(dir, f.name)); err == nil {
			notes = append(notes, f.words)
		}
	}
	return notes
}

// Untrusted implements [tui.Host].
func (h *host) Untrusted(dir string) []string {
	s, err := h.env.SetUp(dir)
	if err != nil {
		return nil
	}
	all, _ := app.Untrusted(s, dir) // a mistake shows elsewhere
	return all
}

// Files implements [tui.Host].
func (h *host) Files(dir string) complete.Lister {
	return func(ctx context.Context) iter.Seq[string] {
		return func(yield func(string) bool) {
			w, err := workspace.Open(dir, workspace.Options{})
			if err != nil {
				return // the prompt completes nothing
			}
			defer w.Close()
			complete.Walk(w)(ctx)(yield)
		}
	}
}

// Attach implements [tui.Host].
func (h *host) Attach(ctx context.Context, dir, name string, from, to int) (llm.Content, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(h.env.Getenv("HOME"), rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, nil
	}
	content, err := files.Attach(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("cannot attach %s: %w", name, err)
	}
	if from > 0 {
		content = lines(content, from, to)
	}
	return content, nil
}

// lines cuts an attached text to some of its lines.
func lines(content llm.Content, from, to int) llm.Content {
	for i, part := range content {
		t, ok := part.(llm.Text)
		if !ok {
			continue
		}
		all := strings.SplitAfter(t.Text, "\n")
		head, body, tail := all[:min(1, len(all))], all[min(1, len(all)):], []string(nil)
		if n := len(body); n > 0 {
			body, tail = body[:n-1], body[n-1:]
		}
		from, to := min(from-1, len(body)), min(max(to, from), len(body))
		t.Text = strings.Join(head, "") + strings.Join(body[from:to], "") + strings.Join(tail, "")
		content[i] = t
	}
	return content
}

// Run implements [tui.Host].
func (h *host) Run(ctx context.Context, input string, args ...string) (string, error) {
	var out, problems bytes.Buffer
	const inside = 76 // columns within the frame of a page on a terminal of 80
	env := command.Env{
		Wide: inside, Screen: h.env.Stdout,
		Stdin: strings.NewReader(input), Stdout: &out, Stderr: &problems, Getenv: h.env.Getenv, Version: h.env.Version, Client: h.env.Client,
	}
	if code := h.env.Main(ctx, args, env); code != 0 {
		text := strings.TrimSpace(strings.TrimPrefix(problems.String(), "tenon: "))
		return out.String(), fmt.Errorf("tenon %s: %s", args[0], text)
	}
	return out.String() + problems.String(), nil
}

// Init implements [tui.Host].
func (h *host) Init(dir string) string { return run.InitPrompt(dir) }

// Save implements [tui.Host].
func (h *host) Save(ctx context.Context, name string, value any) error {
	dir, err := config.UserDir(h.env.Getenv)
	if err != nil {
		return err
	}
	return config.Set(ctx, filepath.Join(dir, config.FileName), "/terminal/"+name, value)
}
