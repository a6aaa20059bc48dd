package app

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/approval"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/session/ask"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/team/role"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// leftover is the age from which the rest of a worktree is no longer one that a process makes now.
const leftover = time.Hour

// Teaming lets agents give tasks to sub-agents. It makes these from the setup of the person.
type Teaming struct {
	Limits team.Limits
	Wait   bool // no one watches: a run does not end while sub-agents work

	setup       *Setup
	permissions Permissions // of the conversation
	roles       []role.Role
}

// teaming returns the team of the configuration; nil: the person has disabled sub-agents.
func teaming(s *Setup, wait bool, p Permissions, roles RoleSet) *Teaming {
	c := s.Config.Agents
	if c.Off {
		return nil
	}
	limits := team.Limits{Depth: c.Depth, Open: c.Open, Running: c.Running}
	return &Teaming{Limits: limits, Wait: wait, setup: s, permissions: p, roles: roles.Roles}
}

// childhood is what makes an agent a sub-agent.
type childhood struct {
	team.Assignment
	owner *Agent
	role  role.Role
	copy  *worktree.Worktree // in which it works; nil: it shares the files of the owner

	mu   sync.Mutex
	from permission.Mode  // of the owner, for which the policies are
	wide permission.Judge // with the mode of the owner
}

// staff gives the agent a team. Nil: it starts no sub-agents.
func (a *App) staff(ag *Agent) (*team.Team, error) {
	t := ag.spec.Team
	if t == nil {
		return nil, nil
	}
	o := team.Options{
		Store: a.Store, Limits: t.Limits, Wait: t.Wait,
		Open: func(ctx context.Context, as team.Assignment) (team.Member, error) {
			m, err := a.employ(ctx, ag, as)
			if err != nil {
				return nil, err
			}
			return member{m}, nil
		},
		Roles: func() (all []team.RoleInfo) {
			for _, r := range t.roles {
				all = append(all, team.RoleInfo{Name: r.Name, Description: r.Description})
			}
			return all
		},
	}
	if c := ag.spec.child; c != nil {
		o.Depth, o.Scope, o.Wake, o.Wait = c.Depth, c.Scope, c.Wake, true
	}
	return team.New(o)
}

// member is an [Agent] as a [team.Member].
type member struct{ of *Agent }

// Agent implements [team.Member].
func (m member) Agent() *agent.Agent { return m.of.Agent }

// Close implements [team.Member].
func (m member) Close() error { return m.of.Close() }

// employ makes the sub-agent of a task, or opens its session again.
func (a *App) employ(ctx context.Context, owner *Agent, as team.Assignment) (*Agent, error) {
	s, t := owner.spec, owner.spec.Team
	c := &childhood{Assignment: as, owner: owner}
	if i := slices.IndexFunc(t.roles, func(r role.Role) bool { return r.Name == as.Role }); i >= 0 {
		c.role = t.roles[i]
	} else if as.Role != "" {
		return nil, &UnknownRoleError{Name: as.Role}
	} else {
		c.role = roleOf(owner)
	}
	s.child, s.Client, s.After, s.Fork, s.TakeOver, s.Titles.Off = c, owner.client(), session.Origin{Session: as.Parent}, false, false, true
	if ref, _ := modelOf(t.setup, c.role); ref != "" && as.Role != "" {
		chosen, err := t.setup.Models.Choose(ref)
		if err != nil {
			return nil, err
		}
		s.Client = chosen.Client
	}
	s.Settings = s.Settings.With(llm.Settings{Thinking: c.role.Thinking})
	s.Settings.Schema = nil // that of the last answer of the owner
	s.Limits = within(s.Limits, c.role)
	if err := c.settle(ctx, a, &s); err != nil {
		return nil, err
	}
	if as.Session != "" {
		return a.Resume(ctx, as.Session, s)
	}
	return a.New(ctx, s)
}

// settle gives the sub-agent its directory, its write scope and its policy.
func (c *childhood) settle(ctx context.Context, a *App, s *Spec) (err error) {
	root := c.owner.site.bounds.Load().Root
	if c.Worktree != "" {
		if c.copy, err = a.Worktrees().Continue(ctx, root, c.Worktree, string(c.Parent)); err != nil {
			return err
		}
	}
	for _, name := range c.Scope.Paths {
		if c.copy != nil {
			rel, err := filepath.Rel(root, name)
			if err != nil || !filepath.IsLocal(rel) {
				return tool.Codef("team.scope", "%s is not in the project, and a worktree has only its files", name)
			}
			name = filepath.Join(c.copy.Dir(), rel)
		}
		s.writable = append(s.writable, (&paths.Resolver{}).Guess(name).Path)
	}
	c.Scope.Paths = s.writable // those of its own tasks are within it
	s.narrow = copied(c.owner.expansion.limits(), c.copy)
	c.from = c.mode()
	s.Bounds, s.Policy, c.wide, err = c.policies(c.from, s.Team)
	return err
}

// mode is the mode of the owner now.
func (c *childhood) mode() permission.Mode { return c.owner.site.policy.Load().Mode() }

// policies returns the bounds and the policy of the sub-agent while its owner is in a mode, and a judge that is never wider than the owner.
func (c *childhood) policies(m permission.Mode, t *Teaming) (b Bounds, own *permission.Policy, wide permission.Judge, err error) {
	bounded := func(p Permissions) (Bounds, *permission.Policy, error) {
		b := *c.owner.site.bounds.Load()
		if c.copy != nil {
			return Within(t.setup, c.copy, p, b.Hosts)
		}
		policy, err := t.setup.Policy(b, p)
		return b, policy, err
	}
	p := t.permissions
	p.Mode = m
	above := roleOf(c.owner).Rules // of a worktree's owner, whose judge is about the project
	p.Ask, p.Deny = slices.Concat(p.Ask, above.Ask), slices.Concat(p.Deny, above.Deny)
	if _, wide, err = bounded(p); err != nil {
		return b, nil, nil, err
	}
	p.Mode = narrower(m, c.role.Mode)
	p.Allow = slices.Concat(p.Allow, c.role.Rules.Allow)
	p.Ask = slices.Concat(p.Ask, c.role.Rules.Ask)
	p.Deny = slices.Concat(p.Deny, c.role.Rules.Deny)
	b, own, err = bounded(p)
	return b, own, wide, err
}

// judgeOf returns the judge of the calls of an agent.
func judgeOf(a *Agent) permission.Judge {
	c := a.spec.child
	if c == nil {
		return a.site
	}
	limits := permission.Limits{
		Tools: c.role.Tools, Without: c.role.Without, ReadOnly: c.Scope.ReadOnly, Paths: a.spec.writable,
		Confined: func() bool { p := a.site.now().Sandbox; return p != nil && wholly(p.Level()) },
	}
	above := permission.Judge(c.owner.Gate)
	if c.copy != nil { // the policy of the owner is about the project
		above = toolLimits(c.owner)
	}
	return following{a, limits.Over(permission.Meet(permission.Meet(a.site, judgeFunc(c.widest)), above))}
}

// toolLimits judges by the tools that the roles of an agent and of its owners allow, and nothing else.
func toolLimits(a *Agent) permission.Judge {
	return judgeFunc(func() permission.Judge {
		r, c := roleOf(a), a.spec.child
		l := permission.Limits{Tools: r.Tools, Without: r.Without}
		if c == nil {
			return l.Over(allowing{})
		}
		l.ReadOnly = c.Scope.ReadOnly
		return l.Over(toolLimits(c.owner))
	})
}

// roleOf returns the role of an agent now.
func roleOf(a *Agent) role.Role {
	if c := a.spec.child; c != nil {
		return c.role
	}
	return *a.role.Load()
}

type allowing struct{}

// Judge implements [permission.Judge].
func (allowing) Judge(permission.Call, ...permission.Rule) permission.Verdict {
	return permission.Verdict{Action: permission.Allow}
}

type judgeFunc func() permission.Judge

// Judge implements [permission.Judge].
func (f judgeFunc) Judge(c permission.Call, grants ...permission.Rule) permission.Verdict {
	return f().Judge(c, grants...)
}

// widest returns the judge with the mode of the owner.
func (c *childhood) widest() permission.Judge {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wide
}

// following is the judge of a sub-agent, whose policy and bounds follow the mode of the owner.
type following struct {
	agent *Agent
	judge permission.Judge
}

// Judge implements [permission.Judge].
func (f following) Judge(call permission.Call, grants ...permission.Rule) permission.Verdict {
	if err := f.agent.spec.child.follow(f.agent); err != nil {
		return permission.Verdict{Action: permission.Deny, Reason: err.Error(), Rule: "the permissions of its owner"}
	}
	return f.judge.Judge(call, grants...)
}

// follow gives the sub-agent the policy and the bounds for the mode of its owner.
func (c *childhood) follow(a *Agent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.mode()
	if m == c.from {
		return nil
	}
	b, p, wide, err := c.policies(m, a.spec.Team)
	if err != nil {
		return err
	}
	a.site.limit(b, p, permission.Limits{})
	c.wide, c.from = wide, m
	return nil
}

// brokerOf returns the broker of an agent: for a sub-agent, the owner asks, and the question says for whom.
func brokerOf(a *Agent) *approval.Broker {
	c := a.spec.child
	switch {
	case c == nil && a.spec.Ask:
		return approval.NewBroker(func(ctx context.Context, q session.Asking) ([]ask.Answer, error) {
			a.hooks.asked(q)
			return a.Ask(ctx, q)
		}, a.spec.AskTime)
	case c == nil || c.owner.Questions == nil:
		return nil
	}
	return approval.NewBroker(func(ctx context.Context, q session.Asking) ([]ask.Answer, error) {
		who := "sub-agent " + cmp.Or(tool.Line(c.Name), string(c.Task))
		q.Call = "" // it is of another session
		q.Calls, q.Questions = slices.Clone(q.Calls), slices.Clone(q.Questions)
		for i := range q.Calls {
			q.Calls[i].Call = string(c.Task) + "/" + q.Calls[i].Call
			q.Calls[i].Reason = who + ": " + q.Calls[i].Reason
		}
		for i := range q.Questions {
			q.Questions[i].Text = who + ": " + q.Questions[i].Text
		}
		return c.owner.Questions.Ask(ctx, q)
	}, 0)
}

// offered returns the tools that a sub-agent gets: those of a mode without those that its role does not have, or that change files.
func (c *childhood) offered(offer func(tool string) agent.Offer) func(tool string) agent.Offer {
	if c == nil {
		return offer
	}
	return func(name string) agent.Offer {
		if slices.Contains(c.role.Without, name) || c.Scope.ReadOnly && files.Changes(name) {
			return agent.Never
		}
		return offer(name)
	}
}

// prompt returns the system prompt of a sub-agent, after that of its model.
func (c *childhood) prompt(system string) string {
	if c == nil {
		return system
	}
	return strings.TrimSpace(system + "\n\n" + subAgentText + "\n\n" + c.role.Prompt)
}

const subAgentText = "You are a sub-agent: another agent gave you a task, and no person reads your answers. Work only on this task. When it is done, or you cannot " +
	"go on, report with complete. Name only files that you changed, and only commands that you ran."

// enlist adds what a sub-agent has to the options of its agent.
func (c *childhood) enlist(o *agent.Options) {
	if c == nil {
		return
	}
	o.SubAgent, o.Parent, o.ParentRun, o.Budget, o.Name = true, c.Parent, c.ParentRun, c.Budget, cmp.Or(c.Name, c.role.Name)
	o.Tools, o.Hooks = append(o.Tools, c.Tools...), append(o.Hooks, c.Hook)
}

// reconcile removes what dead processes left of worktrees. What it cannot remove does no harm.
func (a *App) reconcile() {
	if _, err := os.Stat(a.Worktrees().Private); err == nil {
		_ = a.Worktrees().Reconcile(leftover)
	}
}

// teamTools returns the tools of an owner.
func teamTools(t *team.Team) []tool.Tool {
	if t == nil {
		return nil
	}
	return t.Tools()
}

// grants returns the grants that count from the start: those that people gave to the owner.
func (s Spec) grants() []permission.Rule {
	if s.child == nil {
		return nil
	}
	return s.child.owner.Gate.Grants()
}
