package app

import (
	"context"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Permissions are the mode and the rules that a person gives at the start of a program, in addition to the configuration.
type Permissions struct {
	Mode             permission.Mode // "": the mode of the configuration
	Allow, Ask, Deny []string        // rules for this session
	Network          []string        // further hosts that this session may reach: see [Bounds.Reach]
}

// Policy returns the permission policy for work within bounds. In mode auto it checks which sandbox the machine supports, which takes some
// milliseconds. A mistake in a rule is a [*permission.Errors].
func (s *Setup) Policy(b Bounds, p Permissions) (*permission.Policy, error) {
	c := &s.Config.Permissions
	mode := p.Mode
	if mode == "" {
		mode = c.Mode
	}
	o := permission.Options{
		Mode: mode, Root: b.Root, Roots: b.Roots, Home: b.Home, Readable: b.Readable, Hidden: b.Hidden, Protected: b.Protected,
		Network: b.Hosts, Filtered: true,
		Bare:      b.Off,
		Scratch:   b.scratch(),
		Loopback:  b.Sandbox != nil && b.Sandbox.Shares(),
		Shell:     workspace.Shell(),
		Sandboxed: b.Sandbox != nil && (mode.In(false) == mode || wholly(b.Sandbox.Level())),
	}
	user := permission.Layer{Scope: permission.User, Where: s.Config.UserFile, Config: rulesOf(c, false)}
	project := permission.Layer{Scope: permission.Project, Where: s.Config.ProjectFile, Config: rulesOf(c, true)}
	if err := s.try(o, user, project); err != nil {
		return nil, err
	}
	session := permission.Layer{Scope: permission.Session, Where: "flags", Config: permission.Config{Allow: p.Allow, Ask: p.Ask, Deny: p.Deny}}
	return permission.New(o, session, user, project)
}

// Check returns the mistakes in a configuration that appear only at work in a directory: wrong rules, failing examples, and missing roots.
// The warnings name the rules without an effect.
func Check(getenv func(string) string, c *config.Config, dir string) (warnings []string, err error) {
	s := &Setup{Config: c, getenv: getenv}
	b := s.Bounds(dir)
	if err := s.There(b); err != nil {
		return nil, err
	}
	policy, err := s.Policy(b, Permissions{})
	if err != nil {
		return nil, err
	}
	return policy.Warnings(), nil
}

// try checks the examples of the configuration. It checks those of the user against the rules of the user alone, so that a project or a flag
// with narrower rules does not break them.
func (s *Setup) try(o permission.Options, user, project permission.Layer) error {
	all := s.Config.Permissions.Examples
	own, added := s.Config.Own["permissions.examples"]
	if !added {
		own = len(all)
	}
	o.Mode = s.Config.OwnMode
	if user.Examples = examplesOf(all[:own]); own > 0 {
		if _, err := permission.New(o, user); err != nil {
			return err
		}
	}
	o.Mode, user.Examples = s.Config.Permissions.Mode, nil
	if project.Examples = examplesOf(all[own:]); own < len(all) {
		if _, err := permission.New(o, user, project); err != nil {
			return err
		}
	}
	return nil
}

// wholly reports whether the sandbox confines commands well enough to run them without a question.
func wholly(l sandbox.Level) bool { return l == sandbox.Namespaces || l == sandbox.Seatbelt }

func rulesOf(c *config.Permissions, project bool) (out permission.Config) {
	for _, list := range []struct {
		from []config.Rule
		to   *[]string
	}{{c.Allow, &out.Allow}, {c.Ask, &out.Ask}, {c.Deny, &out.Deny}} {
		for _, r := range list.from {
			if r.Project == project {
				*list.to = append(*list.to, r.Text)
			}
		}
	}
	return out
}

func examplesOf(samples []config.Sample) []permission.Example {
	var out []permission.Example
	for _, e := range samples {
		out = append(out, permission.Example{
			Rule: e.Rule, Match: e.Match, NotMatch: e.Not, Command: e.Command, Call: e.Call, Mode: e.Mode,
			Want: permission.Action(e.Want),
		})
	}
	return out
}

// Effects returns the effects of a command line that runs in a directory.
func (b Bounds) Effects(line, dir string) tool.Effects {
	return permission.Effects(line, command.Options{Dir: dir, Home: b.Home, Roots: append([]string{b.Root}, b.Roots...), Shell: workspace.Shell()}, b.scratch())
}

// scratch is the directory for temporary files of commands.
func (b Bounds) scratch() paths.Scratch {
	if b.Sandbox == nil {
		return paths.Scratch{}
	}
	return b.Sandbox.Scratch()
}

// Keep writes rules that a person granted for all sessions to the user's configuration: hosts to sandbox.network, others to permissions.allow.
func (s *Setup) Keep(ctx context.Context, rules []permission.Rule) error {
	for _, r := range rules {
		list, entry := "/permissions/allow", r.Text()
		if hosts := permission.Reachable([]permission.Rule{r}); len(hosts) > 0 {
			list, entry = "/sandbox/network", hosts[0]
		}
		if err := config.Grant(ctx, s.Config.UserFile, list, entry); err != nil {
			return err
		}
	}
	return nil
}
