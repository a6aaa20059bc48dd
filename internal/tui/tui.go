// Package tui is the terminal: the frontend in which people spend their day. It drives a [conversation.Conversation] and draws it with
// the items of package transcript. It knows no store and no agent: its [Host] opens conversations and answers questions about the machine.
package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/list"
	"github.com/tenon-agent/tenon/internal/tui/picture"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
)

// Options of [Run].
type Options struct {
	Host    Host
	Config  Config
	Which   Which  // the session to open first
	Dir     string // working directory
	Version string // of the program
	In      io.Reader
	Out     io.Writer
	Environ []string         // of the process, for the abilities of the terminal
	Now     func() time.Time // default: time.Now
}

// ErrForced reports that the person forced the exit. The run may not have finished its journal.
var ErrForced = errors.New("the exit was forced")

// goodbye is the longest wait for the end of a run when the person leaves.
const goodbye = 10 * time.Second

// Run shows the terminal until the person leaves, and then closes the conversation. It returns a text for the screen after that: how to
// continue the session.
func Run(ctx context.Context, o Options) (farewell string, err error) {
	m, err := keys.New(o.Config.Keys)
	if err != nil {
		return "", err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := newApp(ctx, o, m)
	p := tea.NewProgram(a, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Environ), tea.WithoutSignalHandler())
	a.program = p
	stop := signals(p)
	_, err = p.Run()
	stop()
	if errors.Is(err, tea.ErrInterrupted) || errors.Is(err, tea.ErrProgramKilled) && a.left {
		err = nil
	}
	return a.finish(err)
}

func newApp(ctx context.Context, o Options, m *keys.Map) *app {
	a := &app{o: o, ctx: ctx, now: o.Now, keys: m, panel: o.Config.Panel, dark: true}
	a.theme = theme.New(o.Config.Theme, a.dark)
	a.theme.ASCII = o.Config.ASCII
	a.cards = &card.Options{Theme: a.theme, Now: o.Now, Folded: true, Reader: o.Config.Reader, Links: links(o.Environ)}
	if getenv := tea.EnvMsg(o.Environ).Getenv; picture.Supported(getenv) && !o.Config.Reader && !o.Config.NoColor {
		a.cards.Picture = func(image llm.Image, width int) []string { return a.pictures.lines(image, width, a.program) }
	}
	a.list = list.New(a.theme)
	e := editor.Options{
		Theme: a.theme, Keys: m, Vim: o.Config.Vim, Placeholder: "Ask, or / for commands, @ for files, ! to run a command",
		Files: complete.NewFiles(o.Dir, o.Host.Files(o.Dir)), Commands: func() []complete.Item { return completions(a) }, Dir: o.Dir,
	}
	if o.Config.History != "" {
		e.History = editor.NewHistory(o.Config.History, o.Dir, o.Config.Redact)
	}
	a.editor = editor.New(e)
	a.unsent = newUnsent(o)
	a.settings = &dialog.Options{Theme: a.theme, Keys: m, Reader: o.Config.Reader, Now: o.Now}
	a.pane = newPane(0, a.list, a.cards, o.Config.Inline)
	return a
}

// finish closes the conversation after the program ended.
func (a *app) finish(failed error) (string, error) {
	a.pane.end()
	if a.home != nil {
		a.pane, a.home = a.home, nil
		a.pane.end()
	}
	a.editor.Close()
	a.unsent.end(a.editor.Value())
	c := a.pane.conversation()
	if c == nil {
		return "", failed
	}
	kill := a.pane.opened.Kill // a command that ignores its end must not outlive the program
	if kill == nil {
		kill = func() {}
	}
	if a.forced {
		kill()
		return "", ErrForced
	}
	said := len(a.pane.cards) > 0 && a.pane.facts.head != ""
	closed := make(chan error, 1)
	go func() {
		a.closing.Wait()
		closed <- c.Close()
	}()
	select {
	case err := <-closed:
		if w, ok := errors.AsType[*conversation.Warning](err); ok {
			return w.Text, failed
		}
		failed = cmp.Or(failed, err)
	case <-time.After(goodbye):
		kill()
		failed = cmp.Or(failed, fmt.Errorf("the run did not end within %s; its session is intact", goodbye))
	}
	if !said {
		return "", failed
	}
	return fmt.Sprintf("To continue this session: tenon --session %s", a.pane.session()), failed
}

// links reports whether the terminal shows links, or ignores them. The consoles of Linux and BSD print parts of them.
func links(environ []string) bool {
	term := tea.EnvMsg(environ).Getenv("TERM")
	return term != "" && term != "linux" && term != "cons25" && !strings.HasPrefix(term, "vt")
}

// fit cuts a styled line to a width in cells.
func fit(line string, width int) string { return ansi.Truncate(line, max(width, 0), "…") }
