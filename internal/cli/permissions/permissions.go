// Package permissions is tenon permissions: verdicts on commands, and their reasons.
package permissions

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/cli/command"
	"github.com/tenon-agent/tenon/internal/term"
	"github.com/tenon-agent/tenon/permission"
)

// The exit codes of tenon permissions check; 0 means allow.
const (
	exitAsks   = 10
	exitDenies = 11
)

type permissionOptions struct {
	rules            command.RuleFlags
	dir              string
	call             string // instead of a command
	unconfined, json bool
}

// New returns tenon permissions.
func New(env *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "permissions",
		Short: "Show the permissions of the agent, and the reasons",
		Long: `Show the permissions of the agent, and the reasons. Tenon judges a command by its syntax: each simple command, through
wrappers, substitutions and redirections. These commands run nothing.`,
		Args: cobra.ArbitraryArgs,
		RunE: command.Group,
	}
	c.AddCommand(newCheck(env), newExplain(env))
	return c
}

func newCheck(env *command.Env) *cobra.Command {
	var o permissionOptions
	c := &cobra.Command{
		Use:   "check [flags] 'COMMAND'",
		Short: "Print the verdict on a command: allow, ask or deny",
		Long: `Print the verdict on a command: allow, ask or deny, with the reason and its code, and the rule or mode that decides.

Exit codes: 0 allow, 10 ask, 11 deny; 1 error, 2 usage.`,
		Example: `  tenon permissions check 'git log | head'
  tenon permissions check --mode auto --deny 'shell(git push *)' 'git push'
  tenon permissions check --call 'write(docs/a.md)' --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			policy, call, err := proposed(env, c, o, args)
			if err != nil {
				return err
			}
			v := policy.Judge(call)
			text := fmt.Sprintf("%s: %s [%s]\n", v.Action, term.OneLine(v.Reason), v.Code)
			if v.Note != "" {
				text += "note: " + term.OneLine(v.Note) + "\n"
			}
			err = env.Print(o.json, command.Result{JSON: v, Text: text})
			switch {
			case err != nil || v.Action == permission.Allow:
				return err
			case v.Action == permission.Ask:
				return command.ExitCode(exitAsks)
			}
			return command.ExitCode(exitDenies)
		},
	}
	o.flags(c)
	return c
}

func newExplain(env *command.Env) *cobra.Command {
	var o permissionOptions
	c := &cobra.Command{
		Use:   "explain [flags] ['COMMAND']",
		Short: "Explain the verdict on a command, or show mode and rules",
		Long: `Explain the verdict on a command: each simple command with its effects and its verdict, and the rules that would allow it.
Without a command, show the mode, its verdict on each kind of effect, and the rules.`,
		Example: `  tenon permissions explain 'find . -name "*.o" -exec rm {} +'
  tenon permissions explain --mode auto`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && o.call == "" {
				policy, err := policyOf(env, c, o)
				if err != nil {
					return err
				}
				return showPolicy(env, policy, o.json)
			}
			policy, call, err := proposed(env, c, o, args)
			if err != nil {
				return err
			}
			v := policy.Judge(call)
			return env.Print(o.json, command.Result{JSON: v, Text: term.Harmless(v.String())})
		},
	}
	o.flags(c)
	return c
}

func (o *permissionOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	o.rules.Flags(c)
	command.DirFlag(c, &o.dir, "judge as in this `directory`; default: the current one")
	f.StringVar(&o.call, "call", "", "judge a `call` of a tool: write(docs/a.md), fetch(example.com)")
	f.BoolVar(&o.unconfined, "unconfined", false, "judge the command as if it ran outside the sandbox")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
}

func proposed(env *command.Env, c *cobra.Command, o permissionOptions, args []string) (*permission.Policy, permission.Call, error) {
	var call permission.Call
	switch {
	case o.call != "" && len(args) > 0:
		return nil, call, command.Usagef(c, "--call and a command exclude each other")
	case o.call == "" && len(args) == 0:
		return nil, call, command.Usagef(c, "the command is missing: give it as one argument in quotes")
	case len(args) > 1:
		return nil, call, command.Usagef(c, "the command must be one argument: put %q in quotes", strings.Join(args, " "))
	}
	policy, err := policyOf(env, c, o)
	if err != nil {
		return nil, call, err
	}
	if o.call == "" {
		call = policy.Command(args[0])
	} else if call, err = policy.ParseCall(o.call); err != nil {
		return nil, call, command.AsUsage(c, err)
	}
	call.Effects.Unconfined = o.unconfined
	return policy, call, nil
}

// policyOf returns the policy of the configuration and the flags.
func policyOf(env *command.Env, c *cobra.Command, o permissionOptions) (*permission.Policy, error) {
	setup, bounds, err := env.Bounds(o.dir)
	if err != nil {
		return nil, err
	}
	return o.rules.Policy(c, setup, bounds)
}

// shownPolicy is the JSON of tenon permissions explain without a command.
type shownPolicy struct {
	Mode     permission.Mode `json:"mode"`
	Effects  []shownEffect   `json:"effects"`
	Rules    []string        `json:"rules"`
	Warnings []string        `json:"warnings"`
}

type shownEffect struct {
	Effect  string            `json:"effect"`
	Code    string            `json:"code"`
	Verdict permission.Action `json:"verdict"`
}

func showPolicy(env *command.Env, policy *permission.Policy, asJSON bool) error {
	s := shownPolicy{Mode: policy.Mode(), Rules: []string{}, Warnings: append([]string{}, policy.Warnings()...)}
	for _, row := range permission.Table() {
		s.Effects = append(s.Effects, shownEffect{row.Effect, row.Code, row.Actions[policy.Mode()]})
	}
	for _, r := range policy.Rules() {
		s.Rules = append(s.Rules, r.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s, if no rule decides:\n", s.Mode)
	for _, e := range s.Effects {
		b.WriteString(env.Wrap(fmt.Sprintf("  %-5s  ", e.Verdict), 9, fmt.Sprintf("%s [%s]", e.Effect, e.Code)))
	}
	if fmt.Fprintln(&b, "rules (deny beats ask, ask beats allow):"); len(s.Rules) == 0 {
		fmt.Fprintln(&b, "  none")
	}
	for _, r := range s.Rules {
		b.WriteString(env.Wrap("  ", 2, term.OneLine(r)))
	}
	for _, w := range s.Warnings {
		b.WriteString(env.Wrap("! ", 2, term.OneLine(w)))
	}
	return env.Print(asJSON, command.Result{JSON: s, Text: term.Harmless(b.String())})
}
