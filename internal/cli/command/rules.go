package command

import (
	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/workspace/host"
)

// RuleFlags is the flags that extend the permissions of the configuration.
type RuleFlags struct{ app.Permissions }

// Flags adds the flags to c.
func (r *RuleFlags) Flags(c *cobra.Command) {
	var modes []string
	for _, m := range permission.Modes() {
		modes = append(modes, string(m))
	}
	f := c.Flags()
	ChoiceFlag(c, (*string)(&r.Mode), "mode", modes, "MODE", OrList(modes)+" (default: ask)")
	f.StringArrayVar(&r.Allow, "allow", nil, "allow calls by `RULE`, such as 'shell(go test *)'; repeatable")
	f.StringArrayVar(&r.Ask, "ask", nil, "ask about calls by `RULE`; repeatable")
	f.StringArrayVar(&r.Deny, "deny", nil, "deny calls by `RULE`, in every mode; repeatable")
	NetworkFlag(c, &r.Network)
}

// NetworkFlag adds the flag --network with its completion.
func NetworkFlag(c *cobra.Command, hosts *[]string) {
	c.Flags().StringSliceVar(hosts, "network", nil, "let commands reach a `HOST`, or a group such as @npm")
	CompleteWith(c, "network", cobra.FixedCompletions(host.Groups(), cobra.ShellCompDirectiveNoFileComp))
}

// CheckNetwork returns a usage error for an invalid host.
func CheckNetwork(c *cobra.Command, hosts []string) error {
	if _, err := host.Parse(hosts...); err != nil {
		return Usagef(c, "--network: %w", err)
	}
	return nil
}

// Check returns a usage error for an invalid rule or host.
func (r *RuleFlags) Check(c *cobra.Command) error {
	for _, list := range []struct {
		action permission.Action
		rules  []string
	}{{permission.Allow, r.Allow}, {permission.Ask, r.Ask}, {permission.Deny, r.Deny}} {
		for _, text := range list.rules {
			if _, err := permission.ParseRule(list.action, permission.Session, text); err != nil {
				return Usagef(c, "--%s: %w", list.action, err)
			}
		}
	}
	return CheckNetwork(c, r.Network)
}

// Policy returns the policy of the configuration and the flags.
func (r *RuleFlags) Policy(c *cobra.Command, s *app.Setup, b app.Bounds) (*permission.Policy, error) {
	if err := r.Check(c); err != nil {
		return nil, err
	}
	return s.Policy(b.Reach(r.Network), r.Permissions)
}
