package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/permission"
)

// The exit codes of tenon permissions check, beside 0 for what is allowed.
const (
	exitAsks   = 10
	exitDenies = 11
)

// permissionOptions is the flags that make a policy, and what is judged by it.
type permissionOptions struct {
	rules            ruleFlags
	dir              string
	call             string // instead of a command
	unconfined, json bool
}

func (p *program) permissions() *cobra.Command {
	c := &cobra.Command{
		Use:   "permissions",
		Short: "Say what the agent may do, and why",
		Long: `Say what the agent may do, and why. Commands are judged by their syntax: each simple command, through wrappers,
substitutions and redirections. Nothing is run.`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	c.AddCommand(p.permissionsCheck(), p.permissionsExplain())
	return c
}

func (p *program) permissionsCheck() *cobra.Command {
	var o permissionOptions
	c := &cobra.Command{
		Use:   "check [flags] 'COMMAND'",
		Short: "Tell whether a command would run, be asked about or be denied",
		Long: `Tell whether a command would run, be asked about or be denied, and which rule or mode decides.

Exit codes: 0 it would run, 10 it would be asked about, 11 it would be denied; 1 error, 2 usage.`,
		Example: `  tenon permissions check 'git log | head'
  tenon permissions check --mode auto --deny 'shell(git push *)' 'git push'
  tenon permissions check --call 'write(docs/a.md)' --json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			policy, call, err := p.proposed(c, o, args)
			if err != nil {
				return err
			}
			d := policy.Judge(call)
			if o.json {
				err = writeJSON(p.env.Stdout, d)
			} else {
				_, err = fmt.Fprintf(p.env.Stdout, "%s: %s\n", d.Verdict, oneLine(d.Reason))
			}
			switch {
			case err != nil || d.Verdict == permission.Allow:
				return err
			case d.Verdict == permission.Ask:
				return exitCode(exitAsks)
			}
			return exitCode(exitDenies)
		},
	}
	o.flags(c)
	return c
}

func (p *program) permissionsExplain() *cobra.Command {
	var o permissionOptions
	c := &cobra.Command{
		Use:   "explain [flags] ['COMMAND']",
		Short: "Show how a command is judged, part by part; without one, the mode and the rules",
		Long: `Show how a command is judged: each simple command with what it does and what decides about it, and the rules that would
allow it. Without a command: the mode, what it says about each kind of effect, and the rules.`,
		Example: `  tenon permissions explain 'find . -name "*.o" -exec rm {} +'
  tenon permissions explain --mode auto`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && o.call == "" {
				policy, err := p.policy(c, o)
				if err != nil {
					return err
				}
				return p.showPolicy(policy, o.json)
			}
			policy, call, err := p.proposed(c, o, args)
			if err != nil {
				return err
			}
			if d := policy.Judge(call); o.json {
				return writeJSON(p.env.Stdout, d)
			} else if _, err = fmt.Fprint(p.env.Stdout, harmless(d.String())); err != nil {
				return err
			}
			return nil
		},
	}
	o.flags(c)
	return c
}

func (o *permissionOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	o.rules.flags(c)
	f.StringVarP(&o.dir, "dir", "C", "", "judge as in this `directory`; default where you are")
	f.StringVar(&o.call, "call", "", "judge another `call` than a command: write(docs/a.md), fetch(example.com), mcp(server/tool), todo")
	f.BoolVar(&o.unconfined, "unconfined", false, "judge the command as one that runs outside the sandbox")
	f.BoolVar(&o.json, "json", false, "as JSON, one object")
	completeWith(c, "dir", directories)
}

// proposed is the policy, and the call that the arguments mean.
func (p *program) proposed(c *cobra.Command, o permissionOptions, args []string) (*permission.Policy, permission.Call, error) {
	var call permission.Call
	switch {
	case o.call != "" && len(args) > 0:
		return nil, call, usagef(c, "--call and a command exclude each other")
	case o.call == "" && len(args) == 0:
		return nil, call, usagef(c, "the command is missing: give it as one argument in quotes")
	case len(args) > 1:
		return nil, call, usagef(c, "the command must be one argument: put %q in quotes", strings.Join(args, " "))
	}
	policy, err := p.policy(c, o)
	if err != nil {
		return nil, call, err
	}
	if o.call == "" {
		call = policy.Command(args[0])
	} else if call, err = policy.ParseCall(o.call); err != nil {
		return nil, call, &usageError{c.CommandPath(), err}
	}
	call.Effects.Unconfined = o.unconfined
	return policy, call, nil
}

// policy is the policy of the configuration and the flags.
func (p *program) policy(c *cobra.Command, o permissionOptions) (*permission.Policy, error) {
	setup, bounds, err := p.bounds(o.dir)
	if err != nil {
		return nil, err
	}
	return o.rules.policy(c, setup, bounds)
}

// shownPolicy is the JSON of tenon permissions explain without a command.
type shownPolicy struct {
	Mode     permission.Mode `json:"mode"`
	Effects  []shownEffect   `json:"effects"`
	Rules    []string        `json:"rules"`
	Warnings []string        `json:"warnings"`
}

type shownEffect struct {
	Effect  string             `json:"effect"`
	Verdict permission.Verdict `json:"verdict"`
}

func (p *program) showPolicy(policy *permission.Policy, asJSON bool) error {
	s := shownPolicy{Mode: policy.Mode(), Rules: []string{}, Warnings: append([]string{}, policy.Warnings()...)}
	for _, row := range permission.Table() {
		s.Effects = append(s.Effects, shownEffect{row.Effect, row.Verdicts[policy.Mode()]})
	}
	for _, r := range policy.Rules() {
		s.Rules = append(s.Rules, r.String())
	}
	if asJSON {
		return writeJSON(p.env.Stdout, s)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mode %s, where no rule says anything:\n", s.Mode)
	for _, e := range s.Effects {
		fmt.Fprintf(&b, "  %-5s  %s\n", e.Verdict, e.Effect)
	}
	if fmt.Fprintln(&b, "rules, of which deny beats ask beats allow:"); len(s.Rules) == 0 {
		fmt.Fprintln(&b, "  none")
	}
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "  %s\n", oneLine(r))
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "! %s\n", oneLine(w))
	}
	_, err := fmt.Fprint(p.env.Stdout, harmless(b.String()))
	return err
}
