// Package keys binds keys of the terminal to actions. A person can bind every action to other keys.
package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-agent/tenon/internal/spelling"
)

// Action is something that a key does. Its value is the name in the configuration.
type Action string

// The actions. The prefix says where they hold: in the whole terminal, the prompt editor, the transcript, or a dialog.
const (
	Cancel      Action = "cancel"    // esc: cancel the run, close what is open; twice: rewind
	Interrupt   Action = "interrupt" // ctrl+c by the rules of interrupts
	Quit        Action = "quit"
	Suspend     Action = "suspend"
	Palette     Action = "palette"
	Help        Action = "help"
	Sessions    Action = "sessions"
	NewSession  Action = "new_session"
	Models      Action = "models"
	Mode        Action = "mode" // cycle through the modes
	Thinking    Action = "thinking"
	Context     Action = "context"
	Rewind      Action = "rewind"
	Panel       Action = "panel"
	Queue       Action = "queue"
	Agents      Action = "agents" // and back from the view of one
	AgentNext   Action = "next_agent"
	AgentPrev   Action = "previous_agent"
	FoldAll     Action = "fold_all"
	Timestamps  Action = "timestamps"
	Search      Action = "search"
	FocusNext   Action = "focus_next" // between the prompt and the transcript
	ScrollUp    Action = "scroll_up"  // a page
	ScrollDown  Action = "scroll_down"
	Redraw      Action = "redraw"
	PasteImage  Action = "paste_image"
	Background  Action = "background" // steer: send the draft now
	ToggleMouse Action = "mouse"

	Submit         Action = "editor.submit"
	Steer          Action = "editor.steer" // enter the run between two steps
	Newline        Action = "editor.newline"
	Undo           Action = "editor.undo"
	Redo           Action = "editor.redo"
	LineStart      Action = "editor.line_start"
	LineEnd        Action = "editor.line_end"
	WordLeft       Action = "editor.word_left"
	WordRight      Action = "editor.word_right"
	DeleteWord     Action = "editor.delete_word"
	DeleteWordNext Action = "editor.delete_word_next"
	DeleteToEnd    Action = "editor.delete_to_end"
	DeleteToStart  Action = "editor.delete_to_start"
	Yank           Action = "editor.yank"
	HistoryPrev    Action = "editor.history_previous"
	HistoryNext    Action = "editor.history_next"
	HistorySearch  Action = "editor.history_search"
	Complete       Action = "editor.complete"
	External       Action = "editor.external"

	ItemPrev   Action = "list.previous"
	ItemNext   Action = "list.next"
	PromptPrev Action = "list.previous_prompt"
	PromptNext Action = "list.next_prompt"
	Top        Action = "list.top"
	Bottom     Action = "list.bottom"
	Toggle     Action = "list.toggle" // fold or unfold the item
	Copy       Action = "list.copy"
	CopyBlock  Action = "list.copy_block"
	MatchNext  Action = "list.next_match"
	MatchPrev  Action = "list.previous_match"
	Pin        Action = "list.pin"
	Fork       Action = "list.fork"

	Accept   Action = "dialog.accept"
	Up       Action = "dialog.up"
	Down     Action = "dialog.down"
	PageUp   Action = "dialog.page_up"
	PageDown Action = "dialog.page_down"
	Check    Action = "dialog.check" // choose one of several
	Edit     Action = "dialog.edit"
	Delete   Action = "dialog.delete"
	Rename   Action = "dialog.rename"
	AllowKey Action = "dialog.allow"
	DenyKey  Action = "dialog.deny"
	Always   Action = "dialog.always"
	Details  Action = "dialog.details"
	ForkRow  Action = "dialog.fork"
	MoveUp   Action = "dialog.move_up"
	MoveDown Action = "dialog.move_down"
	Trim     Action = "dialog.trim"
)

// Binding is an action with its keys, named as Bubble Tea names them, and a description for people.
type Binding struct {
	Action Action
	Keys   []string
	Words  string
}

// Defaults returns all actions with their usual keys, in the order of the help.
func Defaults() []Binding {
	return []Binding{
		{Submit, []string{"enter"}, "send the prompt; during a run it waits"},
		{Steer, []string{"alt+enter", "ctrl+q"}, "send the prompt; a run takes it between two steps"},
		{Newline, []string{"shift+enter", "ctrl+j"}, "insert a new line; also \\ at the end of a line"},
		{Complete, []string{"tab"}, "complete a command, a file or a skill"},
		{HistoryPrev, []string{"up"}, "earlier prompt"},
		{HistoryNext, []string{"down"}, "later prompt"},
		{HistorySearch, []string{"ctrl+r"}, "search the prompts of all sessions"},
		{External, []string{"ctrl+g"}, "write the prompt in an external editor"},
		{PasteImage, []string{"ctrl+v"}, "paste text or an image from the clipboard"},
		{Undo, []string{"ctrl+_", "ctrl+shift+-", "ctrl+/"}, "undo in the prompt"},
		{Redo, []string{"alt+z"}, "redo in the prompt"},
		{LineStart, []string{"home", "ctrl+a"}, "to the start of the line"},
		{LineEnd, []string{"end", "ctrl+e"}, "to the end of the line"},
		{WordLeft, []string{"alt+left", "ctrl+left", "alt+b"}, "one word to the left"},
		{WordRight, []string{"alt+right", "ctrl+right", "alt+f"}, "one word to the right"},
		{DeleteWord, []string{"ctrl+w", "alt+backspace"}, "delete the word before the cursor"},
		{DeleteWordNext, []string{"alt+d", "alt+delete"}, "delete the word after the cursor"},
		{DeleteToEnd, []string{"ctrl+k"}, "delete to the end of the line"},
		{DeleteToStart, []string{"ctrl+u"}, "delete to the start of the line"},
		{Yank, []string{"ctrl+y"}, "insert the last deleted text"},

		{Cancel, []string{"esc"}, "cancel the run or close a dialog; twice: rewind"},
		{Interrupt, []string{"ctrl+c"}, "cancel, clear or leave; three times quickly: exit at once"},
		{Quit, []string{"ctrl+d"}, "leave, if the prompt is empty"},
		{Suspend, []string{"ctrl+z"}, "suspend Tenon; fg continues"},
		{Palette, []string{"ctrl+p"}, "command palette"},
		{Help, []string{"f1"}, "keys and commands; also ? in an empty prompt"},
		{Sessions, []string{"ctrl+s"}, "sessions"},
		{NewSession, []string{"ctrl+n"}, "new session"},
		{Models, []string{"ctrl+o"}, "models"},
		{Mode, []string{"shift+tab"}, "next mode"},
		{Thinking, []string{"alt+t"}, "next thinking level"},
		{Context, []string{"alt+c"}, "context window"},
		{Rewind, []string{"alt+r"}, "rewind"},
		{Queue, []string{"alt+q"}, "queued prompts"},
		{Agents, []string{"alt+a"}, "the other agents of the session; back from the view of one"},
		{AgentNext, []string{"alt+n"}, "next agent; after the last one the session itself"},
		{AgentPrev, []string{"alt+p"}, "previous agent"},
		{Background, []string{"alt+s"}, "send the first queued prompt now"},
		{Panel, []string{"ctrl+b"}, "show or hide the side panel"},
		{ToggleMouse, []string{"alt+m"}, "mouse on or off"},
		{Redraw, []string{"ctrl+l"}, "redraw the screen"},

		{FocusNext, []string{"ctrl+t"}, "move between the prompt and the transcript"},
		{ScrollUp, []string{"pgup"}, "scroll up one page"},
		{ScrollDown, []string{"pgdown"}, "scroll down one page"},
		{Search, []string{"ctrl+f"}, "search the transcript"},
		{FoldAll, []string{"alt+e"}, "fold or unfold all calls and thinking"},
		{Timestamps, []string{"alt+i"}, "show or hide times"},
		{ItemPrev, []string{"up", "k"}, "previous message"},
		{ItemNext, []string{"down", "j"}, "next message"},
		{PromptPrev, []string{"["}, "previous prompt"},
		{PromptNext, []string{"]"}, "next prompt"},
		{Top, []string{"home", "g"}, "first message"},
		{Bottom, []string{"end", "G"}, "last message"},
		{Toggle, []string{"enter", "space", "e"}, "fold or unfold the message"},
		{Copy, []string{"y", "c"}, "copy the message"},
		{CopyBlock, []string{"Y"}, "copy its last block of code"},
		{MatchNext, []string{"n"}, "next match"},
		{MatchPrev, []string{"N"}, "previous match"},
		{Pin, []string{"p"}, "pin or unpin the message"},
		{Fork, []string{"f"}, "fork the session at the message"},

		{Accept, []string{"enter"}, "accept"},
		{Up, []string{"up", "ctrl+p"}, "up"},
		{Down, []string{"down", "ctrl+n"}, "down"},
		{PageUp, []string{"pgup"}, "page up"},
		{PageDown, []string{"pgdown"}, "page down"},
		{Check, []string{"space"}, "choose one of several"},
		{Edit, []string{"e"}, "edit the arguments of the call"},
		{Delete, []string{"ctrl+d", "delete"}, "delete"},
		{Rename, []string{"ctrl+r"}, "rename"},
		{AllowKey, []string{"y", "1"}, "allow once"},
		{Always, []string{"a"}, "allow always"},
		{DenyKey, []string{"n", "d"}, "deny"},
		{Details, []string{"tab"}, "show more or less"},
		{ForkRow, []string{"ctrl+f"}, "fork the session of the list"},
		{MoveUp, []string{"shift+up", "alt+up"}, "move the draft up"},
		{MoveDown, []string{"shift+down", "alt+down"}, "move the draft down"},
		{Trim, []string{"t"}, "trim the tool result"},
	}
}

// Map has the keys of every action.
type Map struct {
	bindings []Binding
	of       map[Action][]string
}

// New returns the usual keys with the changes of a configuration: keys separated by commas, or "none". The error names an unknown action.
func New(changes map[string]string) (*Map, error) {
	m := &Map{bindings: Defaults(), of: map[Action][]string{}}
	names := make([]string, 0, len(m.bindings))
	for _, b := range m.bindings {
		names = append(names, string(b.Action))
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		i := slices.Index(names, name)
		if i < 0 {
			hint := ""
			if near := spelling.Nearest(name, names, 4); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			return nil, fmt.Errorf("cannot bind keys: unknown action %q%s", name, hint)
		}
		m.bindings[i].Keys = nil
		for key := range strings.SplitSeq(changes[name], ",") {
			if key = strings.TrimSpace(key); key != "" && key != "none" {
				m.bindings[i].Keys = append(m.bindings[i].Keys, key)
			}
		}
	}
	for _, b := range m.bindings {
		m.of[b.Action] = b.Keys
	}
	return m, nil
}

// Is reports whether a key, named as Bubble Tea names it, is bound to the action.
func (m *Map) Is(a Action, key string) bool { return slices.Contains(m.of[a], key) }

// Key returns the first key of an action, for hints; empty if it has none.
func (m *Map) Key(a Action) string {
	if keys := m.of[a]; len(keys) > 0 {
		return keys[0]
	}
	return ""
}

// Bindings returns all actions in the order of the help.
func (m *Map) Bindings() []Binding { return slices.Clone(m.bindings) }
