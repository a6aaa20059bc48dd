package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/editor"
	"github.com/tenon-agent/tenon/internal/tui/keys"
	"github.com/tenon-agent/tenon/internal/tui/theme"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/transcript"
)

// slashCommand is a command that a person gives in the prompt, in the palette or by a key.
type slashCommand struct {
	name, args, words string
	key               keys.Action // empty: no key
	do                func(a *app, arg string) tea.Cmd
}

// commands returns all commands in the order of the help.
func commands() []slashCommand {
	return []slashCommand{
		{"help", "", "keys and commands", keys.Help, func(a *app, _ string) tea.Cmd { return help(a) }},
		{"model", "[MODEL]", "choose the model", keys.Models, model},
		{"mode", "[MODE]", "choose the mode: inspect, plan, ask, edits, auto, yolo", "", mode},
		{"role", "[ROLE]", "choose the role; none leaves it", "", role},
		{"thinking", "[LEVEL]", "choose how much the model thinks", "", thinking},
		{"network", "HOSTS", "hosts that commands may reach, separated by commas; none; *", "", network},
		{"new", "", "begin a new session", keys.NewSession, func(a *app, _ string) tea.Cmd { return begin(a, Which{Dir: here(a)}) }},
		{"sessions", "", "all sessions", keys.Sessions, func(a *app, _ string) tea.Cmd { return sessions(a) }},
		{"resume", "[ID]", "continue another session", "", resume},
		{"fork", "", "fork the session here, or at the chosen message", "", on(fork)},
		{"rewind", "", "rewind the conversation, the files, or both", keys.Rewind, func(a *app, _ string) tea.Cmd { return entire(a, rewind) }},
		{"undo", "", "undo the last run", "", func(a *app, _ string) tea.Cmd { return undo(a, conversation.Back{}) }},
		{"redo", "", "revert the last undo", "", func(a *app, _ string) tea.Cmd { return undo(a, conversation.Back{Redo: true}) }},
		{"compact", "[FOCUS]", "replace older turns by a summary", "", on(compact)},
		{"context", "", "the contents of the context window", keys.Context, on(window)},
		{"pin", "", "keep the chosen or last message verbatim, or unpin it", "", pin},
		{"cost", "", "tokens and cost of this session", "", cost},
		{"budget", "[AMOUNT]", "limits of the run and the session in dollars", "", on(limits)},
		{"stats", "", "usage of all sessions", "", func(a *app, _ string) tea.Cmd { return report(a, "Usage", "", "stats") }},
		{"export", "[FILE]", "write the session as Markdown, HTML or JSON", "", on(export)},
		{"copy", "", "copy the last answer", "", func(a *app, _ string) tea.Cmd { return copyLast(a) }},
		{"paste", "", "paste text or an image from the clipboard", "", func(a *app, _ string) tea.Cmd { return a.editor.PasteClipboard() }},
		{"diff", "", "the changes of this session", "", func(a *app, _ string) tea.Cmd { return entire(a, changes) }},
		{"todo", "", "the tasks of the model", "", func(a *app, _ string) tea.Cmd { return todo(a) }},
		{"mcp", "[NAME]", "MCP servers; NAME switches one on, -NAME off", "", on(servers)},
		{"jobs", "", "background jobs", "", on(jobs)},
		{"lsp", "", "language servers and their states", "", on(languageServers)},
		{"agents", "", "the other agents of this session", keys.Agents, func(a *app, _ string) tea.Cmd { return agents(a) }},
		{"parallel", "[N PROMPT]", "let N agents work on a prompt, and choose a result", "", on(parallel)},
		{"queue", "", "queued prompts", keys.Queue, func(a *app, _ string) tea.Cmd { return queue(a) }},
		{"permissions", "", "rules in force", "", on(rules)},
		{"skills", "", "skills that the model can load", "", func(a *app, _ string) tea.Cmd { return skills(a) }},
		{"skill", "NAME [TEXT]", "load a skill", "", skill},
		{"loop", "[GOAL]", "pursue a goal, or show it; off drops it; check CMD adds a check", "", on(loop)},
		{"init", "", "write a first AGENTS.md", "", func(a *app, _ string) tea.Cmd { return prompt(a, a.o.Host.Init(here(a))) }},
		{"doctor", "", "check the configuration and this machine", "", func(a *app, _ string) tea.Cmd { return report(a, "Doctor", "", "doctor") }},
		{"trust", "", "let the configuration of this project take effect", "", func(a *app, _ string) tea.Cmd { return trust(a) }},
		{"login", "[PROVIDER]", "set up a model", "", func(a *app, _ string) tea.Cmd { return guide(a) }},
		{"state", "", "the state of the session as JSON", "", on(state)},
		{"debug", "", "the entries of the journal", "", on(debug)},
		{"theme", "[NAME]", "choose the colors", "", themes},
		{"palette", "", "all commands and keys", keys.Palette, func(a *app, _ string) tea.Cmd { return palette(a) }},
		{"keys", "", "keys and their actions", "", func(a *app, _ string) tea.Cmd { return help(a) }},
		{"vim", "", "keys of vim on or off", "", vim},
		{"editor", "", "write the prompt in an external editor", "", func(a *app, _ string) tea.Cmd { return a.editor.OpenExternal() }},
		{"rename", "[TITLE]", "rename the session", "", rename},
		{"clear", "", "begin a new session; this one stays", "", func(a *app, _ string) tea.Cmd { return begin(a, Which{Dir: here(a)}) }},
		{"exit", "", "leave", "", func(a *app, _ string) tea.Cmd { return a.leave() }},
		{"quit", "", "leave", "", func(a *app, _ string) tea.Cmd { return a.leave() }},
	}
}

// command runs a command by name.
func command(a *app, name, arg string) tea.Cmd {
	all := commands()
	return all[slices.IndexFunc(all, func(c slashCommand) bool { return c.name == name })].do(a, arg)
}

// here is the directory of the open session, else the working directory.
func here(a *app) string {
	if a.pane.opened != nil {
		return a.pane.opened.Dir
	}
	return a.o.Dir
}

const noSession = "there is no open session"

// on returns a command on the open conversation.
func on(do func(a *app, c conversation.Conversation, arg string) tea.Cmd) func(a *app, arg string) tea.Cmd {
	return func(a *app, arg string) tea.Cmd {
		if c := a.pane.conversation(); c != nil {
			return do(a, c, arg)
		}
		a.say(noSession)
		return nil
	}
}

// with runs an operation on the open conversation.
func with(a *app, say string, f func(ctx context.Context, c conversation.Conversation) error) tea.Cmd {
	return on(func(a *app, c conversation.Conversation, _ string) tea.Cmd {
		return operation(a, say, func(ctx context.Context) error { return f(ctx, c) })
	})(a, "")
}

// after does work outside of the loop, and then shows its result.
func after[T any](a *app, work func(ctx context.Context) (T, error), show func(result T, err error) tea.Cmd) tea.Cmd {
	ctx := a.ctx
	return func() tea.Msg {
		result, err := work(ctx)
		return then(func(*app) tea.Cmd { return show(result, err) })
	}
}

// set changes the conversation from the next turn on.
func set(a *app, c session.Change, say string) tea.Cmd {
	return on(func(a *app, conv conversation.Conversation, _ string) tea.Cmd {
		read := refresh(a, say)
		ctx := a.ctx
		return func() tea.Msg {
			if err := conv.Set(ctx, c); err != nil {
				return done{err: err}
			}
			return read()
		}
	})(a, "")
}

func mode(a *app, arg string) tea.Cmd {
	if arg == "" {
		return modes(a)
	}
	m, err := permission.ParseMode(arg)
	if err != nil {
		a.fail(err)
		return nil
	}
	return set(a, session.Change{Mode: string(m)}, "mode "+string(m)+": "+m.About())
}

// nextMode is the mode after the present one. The mode without a sandbox is not among them: only its name chooses it.
func nextMode(a *app) tea.Cmd {
	cycle := []permission.Mode{permission.AskMode, permission.Edits, permission.Auto, permission.Plan}
	i := slices.Index(cycle, a.pane.state.Mode)
	return mode(a, string(cycle[(i+1)%len(cycle)]))
}

func model(a *app, arg string) tea.Cmd {
	if arg == "" {
		return models(a)
	}
	return set(a, session.Change{Model: arg}, "model "+arg)
}

func role(a *app, arg string) tea.Cmd {
	if arg == "" {
		return roles(a)
	}
	return set(a, session.Change{Role: arg}, "role "+arg)
}

func thinking(a *app, arg string) tea.Cmd {
	if arg == "" {
		return levels(a)
	}
	level := llm.Thinks(arg)
	if !slices.Contains(llm.Levels(), level) {
		a.say(fmt.Sprintf("there is no level %q", arg))
		return nil
	}
	return set(a, session.Change{Thinking: level}, "thinking "+arg)
}

// nextThinking is the level after the present one, among those that the model has.
func nextThinking(a *app) tea.Cmd {
	known := a.pane.state.Model.Thinks
	if len(known) == 0 {
		known = llm.Levels()
	}
	i := slices.Index(known, a.pane.state.Thinking)
	return thinking(a, string(known[(i+1)%len(known)]))
}

func network(a *app, arg string) tea.Cmd {
	if arg == "" {
		a.say("write the hosts: /network example.com,*.npmjs.org; none; *")
		return nil
	}
	return set(a, session.Change{Network: arg}, "commands may reach: "+arg)
}

// begin opens another session.
func begin(a *app, w Which) tea.Cmd {
	if a.pane.busy() {
		return confirm(a, "Leave the run?", "A run is on. It ends if you leave; the session can be resumed.", "End the run", "Stay", func() tea.Cmd { return a.open(w) })
	}
	return a.open(w)
}

func resume(a *app, arg string) tea.Cmd {
	if arg == "" {
		return sessions(a)
	}
	return begin(a, Which{ID: session.SessionID(arg)})
}

func fork(a *app, c conversation.Conversation, _ string) tea.Cmd {
	at := session.ID("")
	if card := a.selected(); card != nil {
		at = card.Item().ID
	}
	a.gens++
	a.gen = a.gens // prompts are for the fork from now on
	return after(a, func(ctx context.Context) (session.SessionID, error) { return c.Fork(ctx, at) }, func(id session.SessionID, err error) tea.Cmd {
		if err != nil {
			notOpened(a, err)
			return nil
		}
		a.say("this is the fork now; /resume has the original")
		return begin(a, Which{ID: id})
	})
}

// compact summarizes. The transcript has the warnings, because the conversation announces them.
func compact(a *app, c conversation.Conversation, focus string) tea.Cmd {
	a.say("summarizing")
	return after(a, func(ctx context.Context) (*session.Event, error) {
		summary, _, err := c.Compact(ctx, focus)
		return summary, err
	}, func(summary *session.Event, err error) tea.Cmd {
		if a.say("summarized"); summary == nil {
			a.say("")
		}
		a.fail(err)
		return nil
	})
}

func pin(a *app, _ string) tea.Cmd {
	id, text := session.ID(""), ""
	if c := a.selected(); c != nil {
		id, text = c.Item().ID, c.Item().Text()
	} else if it := a.pane.answer(); it != nil {
		id, text = it.ID, it.Text()
	}
	if id == "" {
		a.say("there is no message to pin")
		return nil
	}
	on := !a.pane.facts.pinned[id]
	return with(a, onOff("pin", on)+": "+transcript.Headline(text, 40), func(ctx context.Context, c conversation.Conversation) error { return c.Pin(ctx, id, on) })
}

func cost(a *app, _ string) tea.Cmd {
	u := a.pane.state.Usage
	if u.Total() == 0 {
		a.say("no tokens yet")
		return nil
	}
	a.pane.note(transcript.Note{Kind: transcript.NoteInfo, Title: transcript.Usage(u)}, a.now())
	a.list.Bottom()
	return nil
}

// report shows the output of a command of tenon.
func report(a *app, title, input string, args ...string) tea.Cmd {
	host := a.o.Host
	a.say("one moment")
	return after(a, func(ctx context.Context) (string, error) { return host.Run(ctx, input, args...) }, func(text string, err error) tea.Cmd {
		if a.remark = ""; err != nil && strings.TrimSpace(text) == "" {
			a.fail(err)
			return nil
		}
		return page(a, title, text)
	})
}

// tenon runs a command of tenon that people see only by its outcome.
func tenon(a *app, say string, args ...string) tea.Cmd {
	host := a.o.Host
	return operation(a, say, func(ctx context.Context) error {
		_, err := host.Run(ctx, "", args...)
		return err
	})
}

// page shows a text.
func page(a *app, title, text string) tea.Cmd { return a.show(dialog.NewPage(title, text, a.settings)) }

func export(a *app, _ conversation.Conversation, file string) tea.Cmd {
	id := string(a.pane.session())
	file = cmp.Or(file, "tenon-"+id+".md")
	format := strings.TrimPrefix(filepath.Ext(file), ".")
	if !slices.Contains([]string{"html", "json", "jsonl"}, format) {
		format = "md"
	}
	return tenon(a, "wrote "+file, "sessions", "export", id, "--format", format, "--output", file)
}

func copyLast(a *app) tea.Cmd {
	it := a.pane.answer()
	if it == nil {
		a.say("there is no answer to copy")
		return nil
	}
	a.say("copied")
	return tea.SetClipboard(it.Text())
}

// copyCard copies the chosen message, or its last block of code.
func copyCard(a *app, block bool) tea.Cmd {
	c := a.selected()
	if c == nil {
		return copyLast(a)
	}
	text := c.Text()
	if blocks := c.Blocks(); block && len(blocks) > 0 {
		text = blocks[len(blocks)-1]
	}
	a.say("copied")
	return tea.SetClipboard(text)
}

func todo(a *app) tea.Cmd {
	if len(a.pane.facts.todo) == 0 {
		a.say("the model has no list of tasks")
		return nil
	}
	items := a.pane.facts.todo
	return a.show(dialog.NewDrawn("Tasks", func(width int) []string { return card.Todo(items, a.cards, width) }, a.settings))
}

func skill(a *app, arg string) tea.Cmd {
	name, rest, _ := strings.Cut(arg, " ")
	if name == "" {
		return skills(a)
	}
	return prompt(a, strings.TrimSpace(fmt.Sprintf("Load the skill %q and follow it. %s", name, rest)))
}

// loop sets the goal, shows it, drops it, or adds a check to it.
func loop(a *app, c conversation.Conversation, arg string) tea.Cmd {
	g := a.pane.state.Goal
	word, rest, _ := strings.Cut(arg, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case arg == "" && g != nil:
		return page(a, "Loop", transcript.Goal(*g))
	case arg == "" || (arg == "off" || word == "check") && (g == nil || !g.Open()):
		a.say("there is no open goal; /loop GOAL sets one")
	case arg == "off":
		return set(a, session.Change{Goal: &session.Goal{State: session.GoalDropped}}, "")
	case word == "check" && rest == "":
		a.say("write the command: /loop check go test ./...")
	case word == "check":
		next := session.Goal{Goal: g.Goal, Checks: append(slices.Clone(g.Checks), rest), Limits: g.Limits}
		return set(a, session.Change{Goal: &next}, "check: "+term.OneLine(rest))
	default:
		ctx, busy := a.ctx, a.pane.busy()
		return func() tea.Msg {
			if err := c.Set(ctx, session.Change{Goal: &session.Goal{Goal: arg}}); err != nil {
				return done{err: err}
			}
			return then(func(a *app) tea.Cmd {
				if busy {
					a.say("the run continues until the goal is reached")
					return nil
				}
				return prompt(a, arg)
			})
		}
	}
	return nil
}

// prompt sends a text as the person's prompt.
func prompt(a *app, text string) tea.Cmd {
	return submit(a, editor.Submitted{Draft: editor.Text(text)})
}

func state(a *app, c conversation.Conversation, _ string) tea.Cmd {
	return after(a, c.State, func(s conversation.State, err error) tea.Cmd {
		text, failed := json.MarshalIndent(s, "", "  ")
		if err = cmp.Or(err, failed); err != nil {
			a.fail(err)
			return nil
		}
		return page(a, "State", string(text))
	})
}

func languageServers(a *app, c conversation.Conversation, _ string) tea.Cmd {
	return after(a, c.State, func(s conversation.State, err error) tea.Cmd {
		if err != nil {
			a.fail(err)
			return nil
		}
		var b strings.Builder
		for _, one := range s.Servers {
			fmt.Fprintf(&b, "%s: %s\n", one.Name, strings.TrimSuffix(one.State+", "+one.Detail, ", "))
		}
		if len(s.Servers) == 0 {
			b.WriteString("No language server has started in this session.\n")
		}
		b.WriteString("\nA server starts when the model first reads or changes one of its files. /doctor shows the servers for the files here, and how to install them.")
		return page(a, "Language servers", b.String())
	})
}

func debug(a *app, _ conversation.Conversation, _ string) tea.Cmd {
	return report(a, "Journal", "", "sessions", "show", string(a.pane.session()), "--entries")
}

func themes(a *app, name string) tea.Cmd {
	if name == "" {
		return themePicker(a)
	}
	if !theme.Known(name) {
		a.say("there is no theme " + name + "; known are " + strings.Join(theme.Names(), ", "))
		return nil
	}
	a.o.Config.Theme = name
	a.paint(name, a.dark)
	return save(a, "theme", name)
}

func vim(a *app, _ string) tea.Cmd {
	a.o.Config.Vim = !a.o.Config.Vim
	a.editor.SetVim(a.o.Config.Vim)
	return save(a, "vim", a.o.Config.Vim)
}

// save keeps a setting for later sessions.
func save(a *app, name string, value any) tea.Cmd {
	host, say := a.o.Host, fmt.Sprintf("%s: %v", name, value)
	if on, ok := value.(bool); ok {
		say = onOff(name, on)
	}
	return operation(a, say, func(ctx context.Context) error { return host.Save(ctx, name, value) })
}

func rename(a *app, title string) tea.Cmd {
	if title == "" {
		return a.show(dialog.NewPrompt("Rename the session", "", cmp.Or(a.pane.facts.title, a.pane.state.Title), false, a.settings))
	}
	return with(a, "renamed to "+term.OneLine(title), func(ctx context.Context, c conversation.Conversation) error { return c.Rename(ctx, title) })
}

// undo reverts the last run or the last undo. The transcript shows the restored files.
func undo(a *app, b conversation.Back) tea.Cmd {
	return with(a, "", func(ctx context.Context, c conversation.Conversation) error {
		_, err := c.Rewind(ctx, b)
		return err
	})
}
