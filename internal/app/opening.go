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
	"github.com/tenon-agent/tenon/internal/config"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/llm/chain"
	"github.com/tenon-agent/tenon/models"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
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
	System      string                      // replaces the built-in system prompt
	Settings    llm.Settings                // override the configuration
	Limits      agent.Limits                // override the configuration
	Permissions Permissions
	NoSkills    bool
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
	agent       *Agent
	app         *App
}

// Close closes the conversation and the store. A [*conversation.Warning] is about a background job.
func (o *Opened) Close() error {
	var err error
	if o.agent != nil {
		err = o.agent.Close()
	}
	if o.app != nil {
		err = errors.Join(err, o.app.Close())
	}
	return err
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
		out.converse(o)
	}
	return out, err
}

func (o *Opened) converse(from Opening) {
	ag := o.agent
	o.Conversation = conversation.New(ag.Agent, o.app.Store, conversation.Options{
		Dir: o.Dir, Version: from.Version, Contents: ag.site.checkpoints, Shared: ag.site.shared, Bounds: ag.site.within, Settings: ag.spec.Settings,
		Model:   func() llm.Model { return ag.client().Model() },
		Mode:    func() permission.Mode { return ag.site.policy.Load().Mode() },
		Set:     o.set,
		Compact: ag.Compact,
		Jobs:    ag.site.jobs,
		Redact:  o.Setup.Secrets.Redact,
		Close:   o.Close,
	})
	ag.serve(o.Conversation)
}

// set changes the model, the role, the mode or the network of the conversation. It changes nothing if one of them cannot change.
func (o *Opened) set(ctx context.Context, c session.Change) error {
	name := c.Model
	if c.Role != "" {
		if name = cmp.Or(name, o.Setup.Config.Roles[c.Role]); name == "" {
			return &models.UnknownError{Name: c.Role, Reason: "the configuration has no such role; add it to roles in " + o.Setup.Config.UserFile}
		}
	}
	var client llm.Client
	if name != "" {
		if _, err := o.Setup.Models.Measure(ctx, name); err != nil {
			return err
		}
		choice, err := o.Setup.Models.Choose(name)
		if err != nil {
			return err
		}
		client = choice.Client
	}
	if c.Mode != "" || c.Network != "" {
		if err := o.limit(ctx, permission.Mode(c.Mode), c.Network); err != nil {
			return err
		}
	}
	if client != nil {
		return o.agent.SetClient(ctx, client)
	}
	return nil
}

// limit changes the mode, the network or both: the policy, the limits of the workspace and the text for the model change together. In a wider
// mode the model gets the tools of that mode. In a narrower one it keeps its tools, so that the provider's cache stays valid.
func (o *Opened) limit(ctx context.Context, m permission.Mode, network string) error {
	s, p := o.agent.site, o.permissions
	if m != "" && !slices.Contains(permission.Modes(), m) {
		return fmt.Errorf("cannot change the mode: unknown mode %q: %w", m, conversation.ErrUnsupported)
	}
	p.Mode = cmp.Or(m, s.policy.Load().Mode())
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
	before, now := s.policy.Load().Mode(), policy.Mode()
	s.limit(b, policy)
	if now.Changes() && !before.Changes() || now.Reaches() && !before.Reaches() {
		system := o.agent.system(o.agent.client())
		return o.agent.Set(ctx, agent.Change{Offer: o.agent.offers(now, o.agent.client()), System: &system})
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
	if o.Client == nil && o.ID == "" && !o.Last {
		out.Setup.Look(ctx, o.Model)
	}
	return nil
}

func (out *Opened) choose(ctx context.Context, o Opening, dir, former string) (err error) {
	if err := out.setUp(ctx, o, dir); err != nil {
		return err
	}
	if o.Client != nil {
		out.Model = Model{Client: chain.Retry(o.Client, chain.RetryPolicy{}), Why: "given by the caller"}
		return nil
	}
	if out.Setup.GoOn(former); !out.Setup.Looking() {
		out.Setup.Look(ctx, o.Model)
	}
	if out.Model, err = out.Setup.Choose(o.Model); err == nil {
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
	spec.Client, spec.System, spec.Owner = out.Model.Client, o.System, o.Owner
	spec.Limits = spec.Limits.With(o.Limits)
	spec.Settings = spec.Settings.With(o.Settings)
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
	if !o.NoSkills {
		if spec.Skills, err = out.Setup.Skills(out.Dir); err != nil {
			return spec, err
		}
		out.Warnings = append(out.Warnings, spec.Skills.warnings()...)
	}
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
