package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/index"
	"github.com/tenon-agent/tenon/session/live"
	"github.com/tenon-agent/tenon/session/memory"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
)

// stage runs the terminal without a terminal: a test sends keys and looks at the screen.
type stage struct {
	t     testing.TB
	host  *theater
	app   *app
	msgs  chan tea.Msg
	sent  []string // messages for Bubble Tea
	done  chan struct{}
	ahead atomic.Int64
}

// theater is a host whose sessions are in memory and whose model is a script.
type theater struct {
	store  index.Store
	client llm.Client
	tools  []tool.Tool
	judge  permission.Judge
	src    string // working directory; default /src, which does not exist
	dir    string // of the contents of files
	jobs   []workspace.JobStatus
	limits agent.Limits
	last   *conversation.Local // that was opened
	config func(*Config)
	fail   error  // of Open
	data   string // directory of the history; empty: none
	diff   string // output of tenon diff --json

	mu  sync.Mutex
	ran []string // commands of tenon and changes of the conversation
}

func (h *theater) Open(ctx context.Context, w Which) (*Opened, error) {
	if h.fail != nil {
		return nil, h.fail
	}
	var c *conversation.Local
	o := agent.Options{Client: h.client, Tools: h.tools, Limits: h.limits}
	o.Ask = func(ctx context.Context, q session.Asking) ([]answer, error) { return c.Ask(ctx, q) }
	if h.judge != nil {
		broker := approval.NewBroker(func(ctx context.Context, q session.Asking) ([]answer, error) { return c.Ask(ctx, q) }, 0)
		o.Gate = approval.NewGate(approval.Options{Judge: h.judge, Broker: broker})
	}
	warnings, err := conversation.Choose(ctx, h.store, conversation.Which{Dir: h.src, ID: string(w.ID), Last: w.Last, New: true, Fork: w.Fork},
		func(ctx context.Context, chosen conversation.Chosen) (err error) {
			id := chosen.ID
			if id == "" {
				if id, err = h.store.Create(ctx, session.Created{Dir: h.src, From: chosen.From, Fork: chosen.Fork}); err != nil {
					return err
				}
			}
			a, err := agent.Open(ctx, h.store, id, o)
			if err == nil {
				c = conversation.New(a, h.store, h.options(a.Announce))
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	h.last = c
	var inherited []session.Event
	for e := range h.store.Read(ctx, c.Session(), 0) {
		if e.Parent != "" {
			for e := range h.store.Backward(ctx, c.Session(), e.Parent) {
				inherited = append(inherited, e)
			}
		}
		break
	}
	slices.Reverse(inherited)
	return &Opened{Conversation: c, Session: c.Session(), Inherited: inherited, Dir: h.src, Why: "a script", Resumed: w.ID != "" || w.Last, Warnings: warnings}, nil
}

// options are those of conversations. The mode, the network and the grants are variables of the theater.
func (h *theater) options(announce func(session.Body)) conversation.Options {
	var mode, goal atomic.Value // conversations change and read them at the same time
	goal.Store(session.Goal{})
	mode.Store(permission.AskMode)
	return conversation.Options{
		Dir: h.src, Model: h.client.Model, Mode: func() permission.Mode { return mode.Load().(permission.Mode) }, Frontend: "tester",
		Contents: contents.NewDir(h.dir, contents.Options{}),
		Set: func(_ context.Context, c session.Change) error {
			if c.Mode != "" {
				mode.Store(permission.Mode(c.Mode))
			}
			if c.Role != "" {
				h.did("set role=%s", c.Role)
				return nil
			}
			if g := c.Goal; g != nil {
				before := goal.Load().(session.Goal)
				if next := *g; next.State == session.GoalDropped {
					before.State = next.State
					goal.Store(before)
				} else {
					next.State, next.Used.Rounds, next.Limits.Rounds = session.GoalExecuting, 3, 50
					goal.Store(next)
				}
			}
			if c.Server != "" {
				h.did("switch %s", c.Server)
				return nil
			}
			h.did("set model=%s mode=%s network=%s", c.Model, c.Mode, c.Network)
			return nil
		},
		Goal: func(context.Context) (session.Goal, error) { return goal.Load().(session.Goal), nil },
		Compact: func(_ context.Context, focus string) ([]session.Event, string, error) {
			h.did("compact %s", focus)
			announce(live.Compacting{Reason: "asked", Done: true, Error: "there is nothing to summarize"})
			return nil, "there is nothing to summarize", nil
		},
		Trim: func(context.Context) (*session.Event, error) {
			h.did("trim")
			return nil, nil
		},
		Command: func(line string) llm.ToolCall {
			return llm.ToolCall{Name: "look", Arguments: fmt.Sprintf(`{"path":%q}`, line)}
		},
		Rules: func() (rules, grants []permission.Rule) {
			r, err := permission.ParseRule(permission.Allow, permission.User, "look", "look")
			if err != nil {
				panic(err)
			}
			return []permission.Rule{r}, nil
		},
		MCP: func() []conversation.Server {
			return []conversation.Server{{Name: "files", State: "connected", Tools: 12}, {Name: "github", State: conversation.ServerOff}}
		},
		Jobs: func() []workspace.JobStatus { return h.jobs },
		Servers: func() []conversation.Server {
			return []conversation.Server{{Name: "gopls", State: "waiting", Detail: "for 4s, after 2 failures: it ended"}}
		},
		EndJob: func(_ context.Context, job string) (bool, error) {
			h.did("end %s", job)
			return true, nil
		},
	}
}

// did notes that something happened.
func (h *theater) did(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ran = append(h.ran, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// has reports whether something happened.
func (h *theater) has(what string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Contains(h.ran, what)
}

func (h *theater) Store(use func(index.Store) error) error { return use(h.store) }

func (h *theater) Models(context.Context) ([]dialog.Model, error) {
	return []dialog.Model{{Ref: "test/script", Window: 200_000, Default: true}, {Ref: "test/other", Why: "no key"}}, nil
}

func (h *theater) Roles(string) ([]dialog.Role, error) {
	return []dialog.Role{{Name: "planner", About: "Writes a plan", Source: "built in"}, {Name: "none", About: "no role"}}, nil
}

func (h *theater) Skills(string) ([]dialog.Skill, error) {
	return []dialog.Skill{{Name: "review", About: "Review a change"}}, nil
}

func (h *theater) Commands(string) ([]dialog.Command, error) {
	return []dialog.Command{
		{Name: "/db:migrate [VERSION]", Words: "Migrate the database", Group: "Your commands"},
		{Name: "/deploy", Words: "a command of this project", Group: "Your commands", Off: "the directory is not trusted; see /trust"},
	}, nil
}

func (h *theater) Ways(context.Context) ([]dialog.Way, error) {
	return []dialog.Way{{Title: "Anthropic", Provider: "anthropic", NeedsKey: true}}, nil
}
func (h *theater) Try(_ context.Context, ref, _, _ string) (string, error) { return ref, nil }
func (h *theater) Files(string) complete.Lister {
	return func(context.Context) iter.Seq[string] { return slices.Values([]string{"main.go", "docs/"}) }
}
func (h *theater) Notes(string) []string     { return nil }
func (h *theater) Untrusted(string) []string { return nil }
func (h *theater) Init(string) string        { return "Write AGENTS.md" }

func (h *theater) Attach(_ context.Context, _, name string, _, _ int) (llm.Content, error) {
	if name == "param" {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	if name == "missing" {
		return nil, errors.New("cannot attach missing: no such file")
	}
	return llm.Content{llm.Text{Text: "contents of " + name}}, nil
}

func (h *theater) Run(_ context.Context, _ string, args ...string) (string, error) {
	h.did("%s", strings.Join(args, " "))
	if args[0] == "diff" {
		return h.diff, nil
	}
	return "output of " + strings.Join(args, " "), nil
}

func (h *theater) Save(_ context.Context, name string, value any) error {
	h.did("save %s %v", name, value)
	return nil
}

// play opens the terminal on a stage of a size.
func play(t testing.TB, h *theater, width, height int) *stage {
	t.Helper()
	if h.store == nil {
		h.store = memory.New()
	}
	h.src = cmp.Or(h.src, "/src")
	if h.dir == "" {
		h.dir = t.TempDir()
	}
	m, err := keys.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Theme: "plain", Panel: true}
	if h.data != "" {
		c.History = filepath.Join(h.data, "prompts.jsonl")
	}
	if h.config != nil {
		h.config(&c)
	}
	s := &stage{t: t, host: h, msgs: make(chan tea.Msg, 1000), done: make(chan struct{})}
	s.app = newApp(t.Context(), Options{Host: h, Config: c, Version: "test", Dir: h.src, Now: s.clock}, m)
	t.Cleanup(func() {
		close(s.done)
		if _, err := s.app.finish(nil); err != nil && !errors.Is(err, ErrForced) {
			t.Error(err)
		}
	})
	s.run(s.app.Init())
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// clock is the time of the terminal: that of the machine, and what the test adds.
func (s *stage) clock() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// later lets time pass for the terminal.
func (s *stage) later(d time.Duration) { s.ahead.Add(int64(d)) }

// perform executes a command of the terminal, as Bubble Tea does, and delivers its messages.
func (s *stage) perform(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	m := cmd()
	if all, ok := m.(tea.BatchMsg); ok {
		for _, c := range all {
			s.run(c)
		}
		return
	}
	if v := reflect.ValueOf(m); v.IsValid() && v.Type().ConvertibleTo(reflect.TypeFor[[]tea.Cmd]()) { // a sequence
		for _, c := range v.Convert(reflect.TypeFor[[]tea.Cmd]()).Interface().([]tea.Cmd) {
			s.perform(c)
		}
		return
	}
	if m != nil {
		select {
		case s.msgs <- m:
		case <-s.done:
		}
	}
}

func (s *stage) run(cmd tea.Cmd) {
	if cmd != nil {
		go s.perform(cmd) // it may be a timer: the end of the test does not wait for it
	}
}

// send delivers a message. The stage keeps those for Bubble Tea, such as a text for the clipboard.
func (s *stage) send(m tea.Msg) {
	if reflect.TypeOf(m).PkgPath() == "charm.land/bubbletea/v2" {
		s.sent = append(s.sent, strings.TrimPrefix(fmt.Sprintf("%T %v", m, m), "tea."))
	}
	_, cmd := s.app.Update(m)
	s.run(cmd)
}

// gets delivers messages until Bubble Tea got one.
func (s *stage) gets(want string) {
	s.t.Helper()
	s.until(want+" for Bubble Tea", func(string) bool {
		return slices.ContainsFunc(s.sent, func(m string) bool { return strings.HasPrefix(m, want) })
	})
}

// does delivers messages until the theater did something.
func (s *stage) does(what string) {
	s.t.Helper()
	s.until(what, func(string) bool { return s.host.has(what) })
}

// screen is the text on the screen.
func (s *stage) screen() string { return ansi.Strip(s.app.View().Content) }

// until delivers messages until the screen is as wanted.
func (s *stage) until(what string, ok func(screen string) bool) {
	s.t.Helper()
	late := time.After(patience)
	for !ok(s.screen()) {
		select {
		case m := <-s.msgs:
			s.send(m)
		case <-late:
			s.t.Fatalf("waiting for %s; the theater did %q; Bubble Tea got %q; the screen is\n%s", what, s.host.ran, s.sent, s.screen())
		}
	}
}

func (s *stage) shows(text string) {
	s.t.Helper()
	s.until(text, func(screen string) bool { return strings.Contains(screen, text) })
}

func (s *stage) hides(text string) {
	s.t.Helper()
	s.until("the end of "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// types sends printable text.
func (s *stage) types(text string) {
	for _, r := range text {
		s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

var special = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "backspace": {Code: tea.KeyBackspace}, "f1": {Code: tea.KeyF1},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "delete": {Code: tea.KeyDelete}, "alt+down": {Code: tea.KeyDown, Mod: tea.ModAlt},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt}, "space": {Code: tea.KeySpace, Text: " "},
}

// press sends keys by their names.
func (s *stage) press(names ...string) {
	for _, name := range names {
		k, ok := special[name]
		if letter, ctrl := strings.CutPrefix(name, "ctrl+"); !ok && ctrl {
			k, ok = tea.Key{Code: rune(letter[0]), Mod: tea.ModCtrl}, true
		}
		if letter, alt := strings.CutPrefix(name, "alt+"); !ok && alt {
			k, ok = tea.Key{Code: rune(letter[0]), Mod: tea.ModAlt}, true
		}
		if r := []rune(name); !ok && len(r) == 1 {
			k, ok = tea.Key{Code: r[0], Text: name}, true
		}
		if !ok {
			s.t.Fatalf("unknown key %s", name)
		}
		s.send(tea.KeyPressMsg(k))
	}
}

// idle waits for the end of the run.
func (s *stage) idle() {
	s.t.Helper()
	s.until("the end of the run", func(string) bool { return !s.app.pane.busy() })
}

// patience is the longest wait for the screen, also on a machine with much other work.
const patience = time.Minute
