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
		Mode: mode, Root: b.Root, Roots: b.Roots, Home: b.Home, Readable: []string{b.Outputs}, Hidden: b.Hidden, Protected: b.Protected,
		Network: s.Config.Sandbox.Network, Filtered: true,
		Bare:      b.Off,
		Sandboxed: b.Sandbox != nil && (mode != permission.Auto || wholly(sandbox.Look().Level())),
	}
	user := permission.Layer{Scope: permission.User, Where: s.Config.UserFile, Config: rulesOf(c, false)}
	project := permission.Layer{Scope: permission.Project, Where: s.Config.ProjectFile, Config: rulesOf(c, true)}
	if err := s.try(o, user, project); err != nil {
		return nil, err
	}
	session := permission.Layer{Scope: permission.Session, Where: "flags", Config: permission.Config{Allow: p.Allow, Ask: p.Ask, Deny: p.Deny}}
	return permission.New(o, session, user, project)
}

// Check returns what is wrong with a configuration for work in a directory that nobody sees before: rules, their examples, and roots
// that are not there. It also returns what of the rules has no effect.
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

// try checks the examples of the configuration, those of the user against the rules of the user alone: neither a project nor a flag that
// narrows them makes them wrong.
func (s *Setup) try(o permission.Options, user, project permission.Layer) error {
	all := s.Config.Permissions.Examples
	own, added := s.Config.Own["permissions.examples"]
	if !added {
		own = len(all)
	}
	o.Mode = permission.Mode(s.Config.OwnMode)
	if user.Examples = examplesOf(all[:own]); own > 0 {
		if _, err := permission.New(o, user); err != nil {
			return err
		}
	}
	o.Mode, user.Examples = permission.Mode(s.Config.Permissions.Mode), nil
	if project.Examples = examplesOf(all[own:]); own < len(all) {
		if _, err := permission.New(o, user, project); err != nil {
			return err
		}
	}
	return nil
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
	return out
}

func examplesOf(samples []config.Sample) []permission.Example {
	var out []permission.Example
	for _, e := range samples {
		out = append(out, permission.Example{
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
