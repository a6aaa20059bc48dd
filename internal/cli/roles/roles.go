// Package roles is tenon roles: the roles that an agent may have.
package roles

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/team/role"
)

// New returns tenon roles.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "roles",
		Short: "List and show roles",
		Long: `List and show roles. A role is a named configuration of the agent: its prompt, model, tools,
permissions and limits. Tenon reads roles from Markdown files: agents next to tenon.json,
~/.claude/agents and ~/.agents/agents, and, in a trusted project, .claude/agents,
.agents/agents and .tenon/agents. 'tenon --role NAME', 'tenon run --role NAME' and /role
in the terminal choose one.`,
		Example: `  tenon roles
  tenon roles show planner
  tenon run --role reviewer "review the last commit"`,
		Args: cobra.ArbitraryArgs,
	}
	c.AddCommand(newList(env, c), newShow(env))
	return c
}

// newList returns the command list, and makes its parent do the same.
func newList(env *command.Env, parent *cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: "list", Aliases: []string{"ls"}, Short: "List roles (the default)", Long: parent.Long}
	for _, c := range []*cobra.Command{parent, c} {
		var dir string
		c.Args = command.NoArgs
		command.DirFlag(c, &dir, "list the roles for this `directory`; default: the current one")
		env.Printing(c, "print one JSON object per line", func(context.Context, []string) (command.Result, error) { return list(env, dir) })
	}
	return c
}

func newShow(env *command.Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "show NAME", Short: "Show a role with its prompt", Args: command.ExactArgs("the name of the role"),
		ValidArgsFunction: env.CompleteRoles,
	}
	command.DirFlag(c, &dir, "show the role for this `directory`; default: the current one")
	return env.Printing(c, "print one JSON object", func(_ context.Context, args []string) (command.Result, error) {
		_, set, err := env.Roles(dir)
		if err != nil {
			return command.Result{}, err
		}
		r, err := set.Named(args[0])
		if err != nil {
			return command.Result{}, command.AsUsage(c, err)
		}
		s := shownOf(r)
		s.Prompt = r.Prompt
		return command.Result{JSON: s, Text: term.Harmless(s.text())}, nil
	})
}

// shown is the JSON of a role.
type shown struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Source      string          `json:"source"` // its file, or "built in"
	Model       string          `json:"model,omitzero"`
	Thinking    llm.Thinks      `json:"thinking,omitzero"`
	Mode        permission.Mode `json:"mode,omitzero"`
	Tools       []string        `json:"tools,omitzero"`
	Without     []string        `json:"without,omitzero"`
	Allow       []string        `json:"allow,omitzero"`
	Ask         []string        `json:"ask,omitzero"`
	Deny        []string        `json:"deny,omitzero"`
	Turns       int             `json:"turns,omitzero"`
	Time        string          `json:"time,omitzero"`
	Cost        float64         `json:"cost,omitzero"`   // US dollars
	Prompt      string          `json:"prompt,omitzero"` // of show
}

func shownOf(r role.Role) shown {
	s := shown{
		Name: r.Name, Description: r.Description, Source: app.RoleSource(r), Model: r.Model, Thinking: r.Thinking, Mode: r.Mode,
		Tools: r.Tools, Without: r.Without, Allow: r.Rules.Allow, Ask: r.Rules.Ask, Deny: r.Rules.Deny, Turns: r.Turns, Cost: r.Cost,
	}
	if r.Time > 0 {
		s.Time = r.Time.Round(time.Second).String()
	}
	return s
}

func (s shown) text() string {
	var b strings.Builder
	for _, f := range []struct {
		name  string
		value any
	}{
		{"name", s.Name},
		{"description", s.Description},
		{"source", s.Source},
		{"model", s.Model},
		{"thinking", s.Thinking},
		{"mode", s.Mode},
		{"tools", strings.Join(s.Tools, ", ")},
		{"without", strings.Join(s.Without, ", ")},
		{"allow", strings.Join(s.Allow, ", ")},
		{"ask", strings.Join(s.Ask, ", ")},
		{"deny", strings.Join(s.Deny, ", ")},
		{"turns", s.Turns},
		{"time", s.Time},
		{"cost", s.Cost},
	} {
		if text := fmt.Sprint(f.value); text != "" && text != "0" {
			fmt.Fprintf(&b, "%-12s %s\n", f.name, term.OneLine(text))
		}
	}
	if s.Prompt != "" {
		b.WriteString("\n" + s.Prompt + "\n")
	}
	return b.String()
}

func list(env *command.Env, dir string) (command.Result, error) {
	_, set, err := env.Roles(dir)
	if err != nil {
		return command.Result{}, err
	}
	var all []shown
	var b, note strings.Builder
	for _, r := range set.Roles {
		s := shownOf(r)
		all = append(all, s)
		b.WriteString(env.Wrap(fmt.Sprintf("%-16s %-20s ", s.Name, cmp.Or(s.Model, "-")), 38, fmt.Sprintf("%s (%s)", s.Description, s.Source)))
	}
	for _, w := range set.Warnings() {
		note.WriteString("! " + term.OneLine(w.Text) + "\n")
	}
	return command.Result{JSON: command.Lines(all), Text: term.Harmless(b.String()), Note: note.String()}, nil
}
