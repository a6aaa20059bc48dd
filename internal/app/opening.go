package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/attach"
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/team"
	"github.com/tenon-agent/tenon/team/goal"
	"github.com/tenon-agent/tenon/team/role"
)

// Opening says which conversation to open, and how.
type Opening struct {
	// Waiting is called when a write waits for another process that holds the lock of the store. May be nil.
	Waiting func(*session.BusyError)

	Getenv  func(string) string
	Version string // of the program
	Owner   string // the frontend, such as "tenon run"

	conversation.Which      // an empty Dir is the working directory, or that of the session
	Again              bool // do not rotate an idle session: the person gave no prompt
	TakeOver           bool // take the session from a living process

	Model       string                      // reference or name of a pool; empty: TENON_MODEL, the session or the configuration decides
	Client      llm.Client                  // answers instead of any model
	Wrap        func(llm.Client) llm.Client // gets the client that answers the conversation, and returns the one to use; may be nil
	Role        string                      // name; empty: that of the session; NoRole: none
	System      string                      // replaces the built-in system prompt
	Settings    llm.Settings                // override the configuration
	Limits      agent.Limits                // override the configuration
	Permissions Permissions
	NoSkills    bool
	Share       bool          // other processes of the account can drive the conversation: see package attach
	Wait        bool          // no one stays: a run ends with its sub-agents
	Ask         bool          // people can answer questions, through the conversation
	AskTime     time.Duration // limit for an answer; 0: none
}

// Opened is a conversation and the facts of its opening.
type Opened struct {
	Conversation *conversation.Local
	Setup        *Setup
	Model        Model
	Dir          string
	Resumed      bool
	Warnings     []conversation.Warning

	permissions Permissions
	roles       RoleSet
	starting    string       // the role to begin with; empty: none
	limits      agent.Limits // without a role
	lent        bool         // the role brought the model
	before      llm.Client   // that answered before; nil: see former
	agent       *Agent
	app         *App
	server      *attach.Server // nil: not shared
}

// Close closes the conversation and the store. A [*conversation.Warning] is about a background job.
func (o *Opened) Close() error {
	var err error
	if o.server != nil {
		err = o.server.Close()
	}
	if o.agent != nil {
		err = errors.Join(err, o.agent.Close())
	}
	if o.app != nil {
		err = errors.Join(err, o.app.Close())
	}
	return err
}

// Discard closes the conversation and purges its session, in which nothing was said.
func (o *Opened) Discard(ctx context.Context) error {
	id := o.Conversation.Session()
	var err error
	if o.server != nil {
		err = o.server.Close()
	}
	err = errors.Join(err, o.agent.Close(), o.app.Purge(ctx, id))
	return errors.Join(err, o.app.Close())
}

// OpenTasks returns the number of tasks that sub-agents of the session have not settled.
func (o *Opened) OpenTasks(ctx context.Context) (int, error) {
	s, err := team.Read(ctx, o.app.Store, o.Conversation.Session())
	if err != nil {
		return 0, err
	}
	return len(s.Open()), nil
}

// Kill ends the commands of the tools at once, for a program that exits without Close.
func (o *Opened) Kill() { o.agent.Kill() }

// OpenConversation opens the conversation that o names. It also returns the warnings with an error. Errors are a
// [*models.UnavailableError], a [*models.UnknownError], a [*session.LockedError], those of [conversation.Choose] and of the configuration.
func OpenConversation(ctx context.Context, o Opening) (_ *Opened, err error) {
	out := &Opened{permissions: o.Permissions}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.Close())
		}
	}()
	if o.ID == "" || o.Dir != "" {
		if o.Dir, err = Directory(o.Dir); err != nil {
			return out, err
		}
	}
	if o.Again {
		o.Rotate = 0
	}
	if o.ID == "" && !o.Last {
		if err := out.setUp(ctx, o, o.Dir); err != nil {
			return out, err
		}
		if !out.Setup.Looking() { // so that an unknown model creates no session
			if err := out.choose(ctx, o, o.Dir, ""); err != nil {
				return out, err
			}
		}
	}
	if out.app, err = o.store(); err != nil {
		return out, err
	}
	if o.Last && !o.Again {
		if err := out.setUp(ctx, o, o.Dir); err != nil {
			return out, err
		}
		o.Rotate = out.Setup.Config.Sessions.RotateAfter
	}
	warnings, err := conversation.Choose(ctx, out.app.Store, o.Which, func(ctx context.Context, c conversation.Chosen) error {
		return out.open(ctx, o, c)
	})
	out.Warnings = append(warnings, out.Warnings...)
	if err == nil {
		if err = out.start(ctx, o); err == nil { // before other processes can change the conversation
			out.converse(o)
			out.share(o)
		}
	}
	return out, err
}

// share serves the conversation to other processes. Without that the session works too, so that an error is a warning.
func (o *Opened) share(from Opening) {
	if !from.Share {
		return
	}
	var err error
	if o.server, err = attach.Serve(o.Conversation, o.app.Dir, o.Conversation.Session(), from.Owner); err != nil && !errors.Is(err, attach.ErrUnsupported) {
		o.Warnings = append(o.Warnings, conversation.Warning{Code: "attach.failed", Text: "other terminals cannot attach to this session: " + err.Error()})
	}
}

func (o *Opened) converse(from Opening) {
	ag := o.agent
	o.Conversation = conversation.New(ag.Agent, o.app.Store, conversation.Options{
		Dir: o.Dir, Version: from.Version, Frontend: from.Owner, Contents: ag.site.checkpoints, Shared: ag.site.shared, Bounds: ag.site.within, Settings: ag.spec.Settings,
		Model:   func() llm.Model { return ag.client().Model() },
		Mode:    func() permission.Mode { return ag.site.policy.Load().Mode() },
		Set:     o.set,
		Role:    func() (string, llm.Thinks) { r := ag.role.Load(); return r.Name, r.Thinking },
		Network: ag.network,
		Goal:    ag.goal.Goal,
		Compact: ag.Compact,
		Trim:    ag.trim,
		Command: personal,
		Expand:  calling{o}.expand,
		Rules: func() (rules, grants []permission.Rule) {
			return ag.site.policy.Load().Rules(), ag.Gate.Grants()
		},
		Revoke: ag.Gate.Revoke,
		Jobs:   ag.site.jobs,
		EndJob: ag.site.endJob,

		Servers: func() []conversation.Server { return languageServers(ag) },
		MCP:     ag.mcp.list,

		Redact: o.Setup.Secrets.Redact,
		Close:  o.Close,
	})
	for _, m := range []permission.Mode{ag.mode, o.Setup.Config.Permissions.Mode} {
		if m.Changes() {
			ag.handoffs.wide.CompareAndSwap(nil, &m)
		}
	}
	ag.handoffs.opened.Store(o)
	ag.serve(o.Conversation)
}

// set changes the model, the role, the mode, the network, the servers or the goal of the conversation. It changes nothing if one of them cannot change.
func (o *Opened) set(ctx context.Context, c session.Change) (err error) {
	if g := c.Goal; g != nil && g.Goal == "" && g.State != session.GoalDropped {
		return goal.ErrEmpty
	}
	if c.Server != "" {
		if err := o.agent.mcp.configured(c.Server); err != nil {
			return err
		}
	}
	next := *o.agent.role.Load()
	if c.Role != "" {
		roles, err := o.Setup.Roles(o.Dir) // as they are now
		if err != nil {
			return err
		}
		if next, err = roles.Named(c.Role); err != nil {
			return err
		}
	}
	mode := cmp.Or(permission.Mode(c.Mode), o.agent.mode)
	switch {
	case !slices.Contains(permission.Modes(), mode):
		return fmt.Errorf("cannot change the mode: unknown mode %q: %w", mode, conversation.ErrUnsupported)
	case c.Mode != "" && narrower(mode, next.Mode) != mode:
		return fmt.Errorf("cannot change the mode to %s: the role %s allows at most mode %s; leave it first with role %s", mode, next.Name, next.Mode, NoRole)
	}
	if err := o.agent.hooks.changes(ctx, "session", ""); err != nil {
		return err
	}
	loan, err := o.lend(ctx, c.Model, next, c.Role != "")
	if err != nil {
		return err
	}
	if c.Role != "" || c.Mode != "" || c.Network != "" {
		if err := o.limit(ctx, next, mode, c.Network); err != nil {
			return err
		}
	}
	if loan.client != nil {
		if err := o.agent.SetClient(ctx, loan.client); err != nil {
			return err
		}
	}
	o.lent, o.before = loan.lent, loan.before
	if c.Server != "" {
		if err := o.agent.mcp.change(c.Server); err != nil {
			return err
		}
	}
	if c.Goal != nil {
		return setGoal(ctx, o.agent.goal, *c.Goal)
	}
	return nil
}

// limit changes the role, the mode and the network: the policy, the limits of the workspace and the text for the model change together. In a
// wider mode of the person the model gets the tools of that mode. Otherwise it keeps its tools, so that the provider's cache stays valid.
func (o *Opened) limit(ctx context.Context, r role.Role, m permission.Mode, network string) error {
	s, p := o.agent.site, o.permissions
	p.Mode = narrower(m, r.Mode)
	b := *s.bounds.Load()
	switch network {
	case "":
	case "none":
		b = b.reaching(nil)
	default:
		b = b.reaching(strings.Split(network, ","))
	}
	policy, err := o.Setup.Policy(b, p)
	if err != nil {
		return err
	}
	change := agent.Change{Role: &r.Name}
	if within(agent.Limits{}, r) != within(agent.Limits{}, *o.agent.role.Load()) {
		kept, err := agent.ChangedLimits(ctx, o.app.Store, o.agent.Session())
		if err != nil {
			return err
		}
		limits := within(o.limits.With(kept).With(o.agent.spec.Override), r)
		change.Limits = &limits
	}
	if err := o.agent.Set(ctx, change); err != nil {
		return err
	}
	s.limit(b, policy.With(rulesOfRole(r)...), permission.Limits{Tools: r.Tools, Without: r.Without})
	before := o.agent.mode
	o.agent.mode = m
	o.agent.role.Store(&r)
	if m.Changes() {
		o.agent.handoffs.wide.Store(&m)
	}
	if m.Changes() && !before.Changes() || m.Reaches() && !before.Reaches() {
		system := o.agent.system(o.agent.client())
		return o.agent.Set(ctx, agent.Change{Offer: o.agent.offers(m, o.agent.client()), System: &system})
	}
	return nil
}

// store opens the store. It creates none for a session that must exist.
func (o Opening) store() (*App, error) {
	if o.ID != "" || o.Last && !o.New {
		dir, err := DataDir(o.Getenv)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(dir, databaseName)); errors.Is(err, fs.ErrNotExist) {
			return nil, &conversation.NotFoundError{ID: o.ID, Dir: o.Dir}
		}
	}
	a, err := Open(o.Getenv, o.Version)
	if err == nil {
		a.OnWait(o.Waiting)
	}
	return a, err
}

// setUp reads the configuration of a directory, and begins to look for local model servers if they may be needed.
func (out *Opened) setUp(ctx context.Context, o Opening, dir string) (err error) {
	if out.Setup != nil {
		return nil
	}
	if out.Setup, err = NewSetup(o.Getenv, ProjectOf(dir), o.Version); err != nil {
		return err
	}
	out.Warnings = append(out.Warnings, ineffective(out.Setup.Config)...)
	if out.roles, err = out.Setup.Roles(dir); err != nil {
		return err
	}
	out.Warnings = append(out.Warnings, out.roles.Warnings()...)
	if o.Client == nil && o.ID == "" && !o.Last {
		out.Setup.Look(ctx, o.Model)
	}
	return nil
}

func (out *Opened) choose(ctx context.Context, o Opening, dir, former string) (err error) {
	if err := out.setUp(ctx, o, dir); err != nil {
		return err
	}
	r, err := out.roles.Named(cmp.Or(o.Role, NoRole))
	if err != nil {
		return err
	}
	if o.Client != nil {
		out.Model = Model{Client: chain.Retry(o.Client, chain.RetryPolicy{}), Why: "given by the caller"}
		return nil
	}
	if out.Setup.GoOn(former); !out.Setup.Looking() {
		out.Setup.Look(ctx, o.Model)
	}
	ref := ""
	if o.Model == "" {
		ref = out.modelOf(r)
	}
	if out.lent = ref != ""; out.lent {
		out.Model, err = out.Setup.named(ref, "the role "+r.Name, "the model of the role "+r.Name)
	} else {
		out.Model, err = out.Setup.Choose(o.Model)
	}
	if err == nil {
		out.Model, err = out.Model.measured(ctx, out.Setup)
	}
	for _, w := range out.Model.Warnings {
		out.Warnings = append(out.Warnings, conversation.Warning{Code: "models.left_out", Text: w})
	}
	return err
}

// open opens the agent of the session.
func (out *Opened) open(ctx context.Context, o Opening, c conversation.Chosen) (err error) {
	if out.Dir, err = Directory(c.Dir); err != nil {
		return err
	}
	out.starting = cmp.Or(o.Role, c.Role)
	if out.Model.Client == nil || c.Model != "" {
		if err := out.choose(ctx, o, out.Dir, c.Model); err != nil {
			return err
		}
	}
	if o.Wrap != nil {
		out.Model.Client = o.Wrap(out.Model.Client)
	}
	spec, err := out.spec(o)
	if err != nil {
		return err
	}
	if c.ID == "" {
		spec.After, spec.Fork = c.From, c.Fork
		out.Warnings = append(out.Warnings, foreign(out.Setup.Config)...)
		out.agent, err = out.app.New(ctx, spec)
		return err
	}
	out.agent, err = out.app.Resume(ctx, c.ID, spec)
	out.Resumed = err == nil
	return err
}

// spec returns the description of the agent.
func (out *Opened) spec(o Opening) (Spec, error) {
	spec := out.Setup.Spec()
	spec.Client, spec.System, spec.Owner, spec.Servers = out.Model.Client, o.System, o.Owner, out.Setup
	spec.Override = o.Limits
	spec.Settings = spec.Settings.With(o.Settings)
	out.limits = spec.Limits
	spec.Ask, spec.AskTime, spec.TakeOver = o.Ask, o.AskTime, o.TakeOver
	spec.Bounds = out.Setup.Bounds(out.Dir).Reach(o.Permissions.Network)
	if err := out.Setup.There(spec.Bounds); err != nil {
		return spec, err
	}
	var err error
	if spec.Policy, err = out.Setup.Policy(spec.Bounds, o.Permissions); err != nil {
		return spec, err
	}
	for _, w := range spec.Policy.Warnings() {
		out.Warnings = append(out.Warnings, conversation.Warning{Code: "permission.rule", Text: w})
	}
	for _, text := range spec.Hooks.Problems {
		out.Warnings = append(out.Warnings, conversation.Warning{Code: "hooks.ignored", Text: text})
	}
	if !o.NoSkills {
		if spec.Skills, err = out.Setup.Skills(out.Dir); err != nil {
			return spec, err
		}
		out.Warnings = append(out.Warnings, spec.Skills.warnings()...)
	}
	spec.APIs = APIs(out.Setup, out.Dir)
	out.Warnings = append(out.Warnings, apiWarnings(spec.APIs)...)
	spec.Team = teaming(out.Setup, o.Wait, o.Permissions, out.roles)
	if o.Client != nil {
		spec.Titles.Off = true // the client of the caller receives only the requests of the conversation
	}
	return spec, nil
}

// ineffective returns the settings of the configuration that have no effect.
func ineffective(c *config.Config) (out []conversation.Warning) {
	for _, text := range c.Warnings {
		out = append(out, conversation.Warning{Code: "config.ignored", Text: text})
	}
	if c.MCPInert {
		out = append(out, conversation.Warning{Code: "config.untrusted", Text: c.MCPFile + " has no effect, because its directory is not trusted; see 'tenon trust'"})
	}
	if c.Inert != "" {
		out = append(out, conversation.Warning{Code: "config.untrusted", Text: InertNote(c)})
	}
	return out
}

// foreign says what of the settings of Claude Code counts in a new session.
func foreign(c *config.Config) (out []conversation.Warning) {
	for _, f := range c.Claude {
		out = append(out, conversation.Warning{Code: "config.claude", Text: fmt.Sprintf(
			"%s: %d rules that deny or ask take effect, %d other settings do not; see 'tenon doctor'", f.File, f.Rules, len(f.Unused))})
	}
	return out
}

// InertNote says that the configuration of a project has no effect, and why.
func InertNote(c *config.Config) string {
	return c.Inert + " has no effect, because its directory is not trusted; see 'tenon trust'"
}

// warnings names the skills that cannot be loaded.
func (s SkillSet) warnings() (out []conversation.Warning) {
	for _, err := range s.Problems {
		out = append(out, conversation.Warning{Code: "skill.unusable", Text: "skill: " + err.Error()})
	}
	if s.Inert > 0 {
		out = append(out, conversation.Warning{
			Code: "skill.untrusted", Text: fmt.Sprintf("skills of this project ignored, because its directory is not trusted: %d; see 'tenon trust'", s.Inert),
		})
	}
	return out
}

// Directory returns the absolute path of a directory with links resolved, so that any path leads to the same sessions. An empty name is the
// working directory.
func Directory(name string) (string, error) {
	if name == "" {
		wd, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("cannot find the working directory: %w; name one with -C", err)
		}
		name = wd
	}
	abs, err := filepath.Abs(name)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("cannot open the working directory: %w; name another with -C", err)
	}
	if info, err := os.Stat(abs); err == nil && !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory; name one with -C", abs)
	}
	f, err := os.Open(abs) // so that the error occurs here once and not in each tool
	if err != nil {
		return "", fmt.Errorf("cannot open the working directory: %w; name another with -C", err)
	}
	return abs, f.Close()
}

// ProjectOf returns the directory in which the search for a project's configuration begins, with links resolved.
func ProjectOf(dir string) string {
	dir = cmp.Or(dir, ".")
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		return resolved
	}
	return abs
}
