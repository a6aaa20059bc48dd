package app

import (
	"context"

	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/permission/command"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Permissions is what a person says of permission when a program starts, beside the configuration.
type Permissions struct {
	Mode             permission.Mode // "": as the configuration says
	Allow, Ask, Deny []string        // rules for this session
}

// Policy is the policy of permission for work within bounds. In mode auto it finds out what the machine can do, which takes some
// milliseconds. A mistake in a rule is a [*permission.Errors].
func (s *Setup) Policy(b Bounds, p Permissions) (*permission.Policy, error) {
	c := &s.Config.Permissions
	mode := p.Mode
	if mode == "" {
		mode = permission.Mode(c.Mode)
	}
	o := permission.Options{
		Mode: mode, Root: b.Root, Roots: b.Roots, Home: b.Home, Hidden: b.Hidden, Protected: b.Protected,
		Network: s.Config.Sandbox.Network, Filtered: true,
		Sandboxed: b.Sandbox != nil && (mode != permission.Auto || wholly(sandbox.Look().Level())),
	}
	layers := []permission.Layer{
		{Scope: permission.Session, Where: "flags", Config: permission.Config{Allow: p.Allow, Ask: p.Ask, Deny: p.Deny}},
		{Scope: permission.User, Where: s.Config.UserFile, Config: rulesOf(c, false)},
		{Scope: permission.Project, Where: s.Config.ProjectFile, Config: rulesOf(c, true)},
	}
	return permission.New(o, layers...)
}

// wholly reports whether commands are confined well enough to run unasked.
func wholly(l sandbox.Level) bool { return l == sandbox.Namespaces || l == sandbox.Seatbelt }

// rulesOf is the rules of the user or of the project.
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
	if !project {
		return out
	}
	for _, e := range c.Examples { // with the last layer, so that they are tried once
		out.Examples = append(out.Examples, permission.Example{
			Rule: e.Rule, Match: e.Match, NotMatch: e.Not, Command: e.Command, Call: e.Call, Mode: permission.Mode(e.Mode),
			Want: permission.Verdict(e.Want),
		})
	}
	return out
}

// Effects says what a command line would touch that runs in a directory.
func (b Bounds) Effects(line, dir string) tool.Effects {
	return permission.Effects(line, command.Options{Dir: dir, Home: b.Home, Roots: append([]string{b.Root}, b.Roots...)})
}

// Keep writes rules that a person gave for good into their configuration.
func (s *Setup) Keep(ctx context.Context, rules []permission.Rule) error {
	for _, r := range rules {
		if err := config.Grant(ctx, s.Config.UserFile, r.Text()); err != nil {
			return err
		}
	}
	return nil
}
