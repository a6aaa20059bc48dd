package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenon-agent/tenon/internal/app"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool/files"
)

// target is the session that a run is about.
type target struct {
	agent   *app.Agent
	dir     string
	resumed bool
}

// open makes a new session, or opens the one that the flags name.
func (j *job) open(ctx context.Context, a *app.App, m app.Model, schema *answerSchema) (*target, error) {
	o := j.options
	spec := j.setup.Spec()
	spec.Client, spec.System, spec.Owner = m.Client, o.system, "tenon run"
	spec.Editor = files.EditingFor(m.Client.Model())
	spec.Limits = app.OverLimits(spec.Limits, o.limits)
	spec.Thinking = cmp.Or(o.thinking, spec.Thinking)
	if schema != nil {
		spec.Schema = schema.raw
	}
	if o.session != "" {
		s, err := resolve(ctx, a.Store, o.session)
		if err != nil {
			return nil, err
		}
		return j.resume(ctx, a, spec, s)
	}
	dir, err := directory(o.dir)
	if err != nil {
		return nil, err
	}
	if o.resume {
		return j.resumeLast(ctx, a, spec, dir)
	}
	return j.begin(ctx, a, spec, dir)
}

// begin makes a new session.
func (j *job) begin(ctx context.Context, a *app.App, spec app.Spec, dir string) (*target, error) {
	spec, err := j.within(spec, dir)
	if err != nil {
		return nil, err
	}
	ag, err := a.New(ctx, spec)
	if err != nil {
		return nil, err
	}
	return &target{agent: ag, dir: dir}, nil
}

// rotate begins a new session after one that nobody has used for long.
func (j *job) rotate(ctx context.Context, a *app.App, spec app.Spec, dir string, old session.Summary) (*target, error) {
	tip, err := session.Tip(ctx, session.Stored(a.Store, old.ID, ""))
	if err != nil {
		return nil, err
	}
	spec.After = session.Origin{Session: old.ID, Entry: tip.ID}
	idle := time.Since(old.Updated)
	ago := age(idle)
	if idle < time.Minute {
		ago = seconds(idle)
	}
	j.tell(fmt.Sprintf("the last session was used %s ago, so a new one begins (sessions.rotate_after); go on with the old one by --session %s",
		ago, old.ID))
	return j.begin(ctx, a, spec, dir)
}

// within sets what may be done in a directory. Nobody is asked: a run that nobody watches must not wait.
func (j *job) within(spec app.Spec, dir string) (app.Spec, error) {
	o := j.options
	spec.Bounds = j.setup.Bounds(dir)
	var err error
	if err := j.setup.There(spec.Bounds); err != nil {
		return spec, err
	}
	if spec.Policy, err = o.rules.policy(j.command, j.setup, spec.Bounds); err != nil {
		return spec, err
	}
	if !o.noSkills {
		if spec.Skills, err = j.setup.Skills(dir); err != nil {
			return spec, err
		}
	}
	if !o.quiet {
		for _, w := range append(spec.Policy.Warnings(), skillWarnings(spec.Skills)...) {
			j.tell(w)
		}
	}
	if j.env.Client != nil {
		spec.Titles.Off = true // what the caller's client is asked is the caller's business
	}
	return spec, nil
}

// skillWarnings tells of skills that cannot be loaded.
func skillWarnings(s app.SkillSet) []string {
	var out []string
	for _, err := range s.Problems {
		out = append(out, "! skill: "+oneLine(err.Error()))
	}
	if s.Inert > 0 {
		out = append(out, fmt.Sprintf("! %s of this project not used: its folder is not trusted; see tenon trust", count(s.Inert, "skill")))
	}
	return out
}

// resume opens a session, in its own directory unless another one was named.
func (j *job) resume(ctx context.Context, a *app.App, spec app.Spec, s session.Summary) (*target, error) {
	name := j.options.dir
	if name == "" {
		name = s.Dir
	}
	dir, err := directory(name)
	if err != nil {
		return nil, err
	}
	if spec, err = j.within(spec, dir); err != nil {
		return nil, err
	}
	ag, err := a.Resume(ctx, s.ID, spec)
	if locked, ok := errors.AsType[*session.LockedError](err); ok {
		return nil, fmt.Errorf("%w; wait for it, or end it", locked)
	}
	if err != nil {
		return nil, err
	}
	return &target{agent: ag, dir: dir, resumed: true}, nil
}

// resumeLast opens the session of a directory that was changed last, passing over those that others write.
func (j *job) resumeLast(ctx context.Context, a *app.App, spec app.Spec, dir string) (*target, error) {
	for s, err := range a.Store.List(ctx, session.Query{Dir: dir}) {
		if err != nil {
			return nil, err
		}
		if after := j.setup.Config.Sessions.RotateAfter; after > 0 && time.Since(s.Updated) > after && j.prompted {
			return j.rotate(ctx, a, spec, dir, s)
		}
		t, err := j.resume(ctx, a, spec, s)
		if locked, ok := errors.AsType[*session.LockedError](err); ok {
			j.tell(fmt.Sprintf("passing over session %s: %s writes it", s.ID, locked.Owner))
			continue
		}
		return t, err
	}
	return nil, fmt.Errorf("there is no session of %s to continue: run without --continue, or see 'tenon sessions list --all'", dir)
}
