package dialog

import (
	"strings"

	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// Command is something that a person can start: a slash command or an action of a key.
type Command struct {
	Name  string // such as "/model"
	Words string
	Key   string
	Group string
	Off   string // why it cannot start now
}

func commandRow(c Command) Row[Command] {
	return Row[Command]{Section: c.Group, Cells: []string{c.Name, c.Words, c.Key}, Off: c.Off}
}

// NewPalette returns a picker of all commands.
func NewPalette(all []Command, o *Options) *Picker[Command] {
	return newFilled(all, List[Command]{Title: "Commands", Accept: "start", Columns: []Column{{}, {}, {Right: true}}, Row: commandRow}, o)
}

// NewHelp returns a list of all keys by their group, and of the slash commands. A person searches it by typing.
func NewHelp(slash []Command, o *Options) *Picker[Command] {
	groups := map[string]string{"": "Everywhere", "editor": "Prompt", "list": "Transcript", "dialog": "Dialogs"}
	by := map[string][]Command{}
	for _, b := range o.Keys.Bindings() {
		group, _, dotted := strings.Cut(string(b.Action), ".")
		if !dotted {
			group = ""
		}
		names := strings.Join(b.Keys, ", ")
		if names == "" {
			names = "(no key)"
		}
		by[group] = append(by[group], Command{Name: names, Words: b.Words, Group: groups[group]})
	}
	var all []Command
	for _, group := range []string{"editor", "", "list", "dialog"} {
		all = append(all, by[group]...)
	}
	for _, c := range slash {
		c.Group, c.Key, c.Off = "Commands", "", ""
		all = append(all, c)
	}
	return newFilled(all, List[Command]{Title: "Help", Columns: []Column{{}, {}}, Row: commandRow}, o)
}

// KeyCommands returns the actions that hold everywhere as commands for [NewPalette], except those that the names list.
func KeyCommands(m *keys.Map, except ...keys.Action) (all []Command) {
	skip := map[keys.Action]bool{}
	for _, a := range except {
		skip[a] = true
	}
	for _, b := range m.Bindings() {
		if !strings.Contains(string(b.Action), ".") && !skip[b.Action] {
			all = append(all, Command{Name: strings.ReplaceAll(string(b.Action), "_", " "), Words: b.Words, Key: m.Key(b.Action), Group: "Keys"})
		}
	}
	return all
}
