package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/permission"
)

// ruleFlags is the flags that say what may be done, beside the configuration.
type ruleFlags struct {
	mode             permission.Mode
	allow, ask, deny []string
}

func (r *ruleFlags) flags(c *cobra.Command) {
	var modes []string
	for _, m := range permission.Modes() {
		modes = append(modes, string(m))
	}
	f := c.Flags()
	f.Var(choiceFlag{(*string)(&r.mode), modes, "MODE"}, "mode", "what may be done unasked: "+orList(modes)+"; by default what the configuration says, else ask")
	f.StringArrayVar(&r.allow, "allow", nil, "a `rule` for what may be done, such as 'shell(go test *)' or 'edit(docs/**)'; may be repeated")
	f.StringArrayVar(&r.ask, "ask", nil, "a `rule` for what must be asked about, which a run denies; may be repeated")
	f.StringArrayVar(&r.deny, "deny", nil, "a `rule` for what may not be done, whatever the mode; may be repeated")
	completeWith(c, "mode", cobra.FixedCompletions(modes, cobra.ShellCompDirectiveNoFileComp))
}

// policy is the policy of the configuration and the flags.
func (r *ruleFlags) policy(c *cobra.Command, s *app.Setup, b app.Bounds) (*permission.Policy, error) {
	for _, list := range []struct {
		verdict permission.Verdict
		rules   []string
	}{{permission.Allow, r.allow}, {permission.Ask, r.ask}, {permission.Deny, r.deny}} {
		for _, text := range list.rules {
			if _, err := permission.ParseRule(list.verdict, permission.Session, text); err != nil {
				return nil, usagef(c, "--%s: %w", list.verdict, err)
			}
		}
	}
	return s.Policy(b, app.Permissions{Mode: r.mode, Allow: r.allow, Ask: r.ask, Deny: r.deny})
}

// orList is names as people list them: "a, b or c".
func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
