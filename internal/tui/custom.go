package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/spelling"
	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/editor"
)

// withCustom reads the commands of files and the skills for the directory, and then does something. Built-in commands hide those of their names.
func withCustom(a *app, do func() tea.Cmd) tea.Cmd {
	host, dir := a.o.Host, here(a)
	return after(a, func(context.Context) ([]dialog.Command, error) { return host.Commands(dir) }, func(all []dialog.Command, err error) tea.Cmd {
		a.fail(err)
		builtin := commands()
		a.custom = slices.DeleteFunc(all, func(c dialog.Command) bool {
			name, _ := customName(c)
			return slices.ContainsFunc(builtin, func(b slashCommand) bool { return b.name == name })
		})
		return do()
	})
}

// showCustom shows a list of commands at once, and then with the commands of files.
func showCustom(a *app, build func() *dialog.Picker[dialog.Command]) tea.Cmd {
	shown := build()
	return tea.Batch(a.show(shown), withCustom(a, func() tea.Cmd { return shown.SetRows(build().Rows(), "") }))
}

// customName splits the name of a command from its arguments.
func customName(c dialog.Command) (name, args string) {
	name, args, _ = strings.Cut(strings.TrimPrefix(c.Name, "/"), " ")
	return name, args
}

// typed reads the commands of files when a person begins to write one.
func typed(a *app) tea.Cmd {
	before := a.slashing
	if a.slashing = strings.HasPrefix(a.editor.Value().Text, "/"); before || !a.slashing {
		return nil
	}
	return withCustom(a, func() tea.Cmd {
		return a.editor.Update(editor.Refresh{})
	})
}

// completions are the slash commands for the completion of the prompt.
func completions(a *app) (all []complete.Item) {
	for _, c := range commands() {
		all = append(all, complete.Item{Text: "/" + c.name, Detail: c.words, More: c.args != "" && !strings.HasPrefix(c.args, "[")})
	}
	for _, c := range a.custom {
		name, args := customName(c)
		all = append(all, complete.Item{Text: "/" + name, Detail: c.Words, More: args != ""})
	}
	return all
}

// callCustom sends the call of a command of a file as a prompt, which the conversation expands.
func callCustom(a *app, name, arg string, m editor.Submitted) tea.Cmd {
	return withCustom(a, func() tea.Cmd {
		var names []string
		for _, c := range commands() {
			names = append(names, c.name)
		}
		for _, c := range a.custom {
			own, _ := customName(c)
			if own == name && c.Off == "" {
				return send(a, m)
			}
			if own == name {
				a.editor.SetValue(m.Draft)
				a.say(c.Off)
				return nil
			}
			names = append(names, own)
		}
		hint := ""
		if near := spelling.Nearest(name, names, 3); near != "" {
			hint = "; did you mean /" + near + "?"
		}
		a.editor.SetValue(editor.Text("/" + name + " " + arg))
		a.say("there is no command /" + name + hint)
		return nil
	})
}
