package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/budget"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/llm"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/team/parallel"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/undo"
	"github.com/tenon-agent/tenon/workspace"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/worktree"
)

// Parallel says how several agents work on one prompt, each in a worktree of the project.
type Parallel struct {
	conversation.Parallel

	// Event gets the events of all branches, one at a time. May be nil.
	Event func(branch int, id session.SessionID, e session.Event)
}

// mostParallel is the maximum of parallel runs: each copies the project and sends requests.
const mostParallel = 16

// Check returns the error of values that do not fit together.
func (p Parallel) Check() error {
	for _, name := range p.Judges {
		if !slices.Contains(Judges(), name) {
			return fmt.Errorf("unknown judge %q; the judges are %s", name, strings.Join(Judges(), ", "))
		}
	}
	switch n := max(p.Count, len(p.Models)); {
	case n < 1 || n > mostParallel || p.Count < 0:
		return fmt.Errorf("parallel runs need 1 to %d agents", mostParallel)
	case p.Count > 0 && len(p.Models) > 0 && len(p.Models) != p.Count:
		return fmt.Errorf("%d agents do not fit the %d models of --models; omit the number", p.Count, len(p.Models))
	case slices.Contains(p.Judges, "command") && p.Score == "":
		return errors.New("--judge command needs --score")
	}
	return nil
}

// ParallelResult is the result of a [Parallel].
type ParallelResult struct {
	parallel.Result
	Models    []string // of the branches
	Worktrees []string // names; empty: it could not be made
	Failed    []bool   // the person's command failed there

	aborted bool
}

// Winner returns the name of the worktree of the selected branch; empty: there is none.
func (r ParallelResult) Winner() string {
	if r.Selected < 0 {
		return ""
	}
	return r.Worktrees[r.Selected]
}

// ParallelPrefix begins the names of the worktrees of parallel runs.
const ParallelPrefix = "parallel-"

// Judges returns the names of the judges of parallel runs.
func Judges() []string { return []string{"first", "tokens", "elaborate", "command", "model"} }

// judgeRole is the role of the model that judges.
const judgeRole = "judge"

// remains is the age of a half-made worktree from which no living process can be making it.
const remains = time.Hour

// race is a parallel run that is on.
type race struct {
	*Opened
	o      Parallel
	result ParallelResult
	budget *budget.Budget
	id     string // in the names of the worktrees

	scored []bool
	agents []*Agent // of the branches; nil: it is not open
}

// Parallel lets several agents work on a prompt, which may call a command, and selects the best result. It changes nothing in the project: see
// [Opened.PlanMerge]. The limits of cost and tokens are those of all agents and the judge together; those of turns and time are of each agent.
// The result is as far as it is known also with an error, which is a [*models.UnknownError], a [*models.UnavailableError], or one of package
// parallel.
func (o *Opened) Parallel(ctx context.Context, p Parallel) (ParallelResult, error) {
	c := contests{of: o, event: p.Event, result: &ParallelResult{Result: parallel.Result{Selected: -1}}}
	if err := p.Check(); err != nil {
		return *c.result, err
	}
	_, err := conversation.NewContests(o.Conversation, c).Parallel(ctx, p.Parallel)
	return *c.result, err
}

// race lets the agents work on a prompt in its form for the model.
func (o *Opened) race(ctx context.Context, p Parallel) (ParallelResult, error) {
	defer o.agent.expansion.end(context.WithoutCancel(ctx))
	if len(p.Models) == 0 {
		p.Models = make([]string, p.Count)
	}
	id := string(session.NewID())
	r := &race{Opened: o, o: p, id: id[len(id)-6:], result: ParallelResult{Result: parallel.Result{Selected: -1}}}
	r.agents, r.scored, r.result.Failed = make([]*Agent, len(p.Models)), make([]bool, len(p.Models)), make([]bool, len(p.Models))
	r.budget = o.agent.Budget().Child("parallel runs", together(o.agent.Limits()))
	options := parallel.Options{Owner: o.agent.Agent, Event: r.event}
	for i, name := range p.Models {
		b, err := r.branch(ctx, i, name)
		if err != nil {
			return r.result, err
		}
		options.Branches = append(options.Branches, b)
	}
	var err error
	if options.Judges, err = r.judges(ctx); err != nil {
		return r.result, err
	}
	if err := o.app.Worktrees().Reconcile(remains); err != nil {
		return r.result, err
	}
	first, _, _ := strings.Cut(p.Prompt.Text(), "\n")
	err = o.agent.acts.perform(ctx, o.agent, act{name: actParallel, title: fmt.Sprintf("%d × %s", len(p.Models), first), run: func(ctx context.Context) (string, error) {
		var err error
		r.result.Result, err = parallel.Run(ctx, options, p.Prompt)
		r.result.aborted = ctx.Err() != nil
		if at := r.result.Selected; err == nil && p.Score != "" && !r.scored[at] { // no judge needed it
			_, err = options.Branches[at].Score(ctx)
		}
		for _, ag := range r.agents {
			if ag != nil {
				err = errors.Join(err, ag.Close())
			}
		}
		if w, ok := errors.AsType[*conversation.Warning](err); ok && r.result.Selected >= 0 {
			o.Warnings, err = append(o.Warnings, *w), nil // about a background job
		}
		return r.words(), err
	}})
	return r.result, err
}

// together returns the limits of all agents together.
func together(l agent.Limits) budget.Limits {
	out := budget.Limits{Money: l.Cost, Tokens: l.Tokens}
	if l.Cost == 0 {
		out.Money = agent.DefaultCost
	}
	if l.Cost == 0 || l.Unpriced == budget.Notice {
		out.Unpriced = func(llm.Model) {} // each agent reports it
	}
	return out
}

// branch returns the branch with a model.
func (r *race) branch(ctx context.Context, i int, model string) (parallel.Branch, error) {
	client, name := r.agent.client(), strconv.Itoa(i+1)
	if model != "" {
		var err error
		if client, err = r.model(ctx, model); err != nil {
			return parallel.Branch{}, err
		}
		name += " " + model
	}
	r.result.Models = append(r.result.Models, client.Model().Ref())
	r.result.Worktrees = append(r.result.Worktrees, "")
	worktree := fmt.Sprintf("%s%s-%d", ParallelPrefix, r.id, i+1)
	var ag *Agent
	b := parallel.Branch{Name: name, Worktree: worktree, Close: func() error { return nil }} // the command needs the workspace
	b.Open = func(ctx context.Context) (*agent.Agent, error) {
		var err error
		if ag, err = r.open(ctx, worktree, client); err != nil {
			return nil, err
		}
		r.agents[i], r.result.Worktrees[i] = ag, worktree
		return ag.Agent, nil
	}
	if r.o.Score != "" {
		b.Score = func(ctx context.Context) (parallel.Score, error) {
			s, err := score(ctx, ag.site.workspace, r.o.Score)
			r.scored[i], r.result.Failed[i] = true, err != nil || !s.Passed
			return s, err
		}
	}
	return b, nil
}

// model returns the client of a reference or a pool.
func (r *race) model(ctx context.Context, name string) (llm.Client, error) {
	if _, err := r.Setup.Models.Measure(ctx, name); err != nil {
		return nil, err
	}
	choice, err := r.Setup.Models.Choose(name)
	return choice.Client, err
}

// open opens the agent of a branch in a worktree of its own. It has the rights and the limits that the conversation has now, also those of its role.
func (r *race) open(ctx context.Context, name string, client llm.Client) (_ *Agent, err error) {
	store := r.app.Worktrees()
	w, err := store.Create(ctx, r.Dir, name, string(r.agent.Session()))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Remove(name))
		}
	}()
	s, p, role := r.agent.spec, r.permissions, roleOf(r.agent)
	p.Mode = r.agent.site.policy.Load().Mode()
	p.Allow, p.Ask, p.Deny = slices.Concat(p.Allow, role.Rules.Allow), slices.Concat(p.Ask, role.Rules.Ask), slices.Concat(p.Deny, role.Rules.Deny)
	if s.Bounds, s.Policy, err = Within(r.Setup, w, p, r.agent.site.bounds.Load().Hosts); err != nil {
		return nil, err
	}
	s.Limits, s.Override = r.agent.Limits(), agent.Limits{}
	s.Client, s.After, s.Fork, s.TakeOver, s.Ask = client, session.Origin{Session: r.agent.Session()}, false, false, false
	s.Titles.Off, s.Settings.Schema = true, nil
	s.parent, s.budget, s.Team, s.narrow = r.agent.Session(), r.budget, nil, copied(r.agent.expansion.limits(), w)
	ag, err := r.app.New(ctx, s)
	if err == nil {
		ag.site.limit(s.Bounds, s.Policy, permission.Limits{Tools: role.Tools, Without: role.Without})
	}
	return ag, err
}

// score runs the person's command in the sandbox of a branch. The last line of its output may be a number.
func score(ctx context.Context, ws *workspace.Workspace, line string) (parallel.Score, error) {
	done, err := ws.Run(ctx, workspace.Command{Line: line, ReadOnly: true})
	if err == nil {
		err = done.Trouble
	}
	if err != nil {
		return parallel.Score{}, err
	}
	lines := strings.Split(strings.TrimSpace(cmp.Or(done.Tail, done.Head)), "\n")
	value, err := strconv.ParseFloat(strings.TrimSpace(lines[len(lines)-1]), 64)
	if err != nil || value != value { // it is no number
		value = 0
	}
	return parallel.Score{Passed: done.ExitCode == 0, Value: value}, nil
}

// judges returns the judges: those of the person, or the command and then the model, or the first result.
func (r *race) judges(ctx context.Context) (all []parallel.Judge, err error) {
	names := r.o.Judges
	if len(names) == 0 {
		names = []string{"first"}
		if r.o.Score != "" {
			names = []string{"command", "model"}
		}
	}
	for _, name := range names {
		switch name {
		case "first":
			all = append(all, parallel.First())
		case "tokens":
			all = append(all, parallel.FewestTokens())
		case "elaborate":
			all = append(all, parallel.MostElaborate())
		case "command":
			all = append(all, parallel.Command())
		case "model":
			client := r.agent.client()
			if ref := r.Setup.Config.Roles[judgeRole]; ref != "" {
				if client, err = r.model(ctx, ref); err != nil {
					return nil, err
				}
			}
			switch {
			case !isOffline(client):
				all = append(all, parallel.Model(r.budget.Client(client)))
			case len(r.o.Judges) > 0:
				return nil, errors.New("the offline model cannot judge; use --judge command or --judge first, or set roles.judge")
			}
		}
	}
	return all, nil
}

func (r *race) event(branch int, e session.Event) {
	if r.o.Event != nil {
		r.o.Event(branch, r.agents[branch].Session(), e)
	}
}

// words says to the conversation what the result is.
func (r *race) words() string {
	if r.result.Selected < 0 {
		return "No run was selected."
	}
	return fmt.Sprintf("%s\n\n[The answer of one of %d parallel runs, in the worktree %s. Its changes are not in the project, unless a merge follows.]",
		r.result.Outcomes[r.result.Selected].Text, len(r.o.Models), r.result.Winner())
}

// Contests returns the parallel runs for frontends of the conversation.
func (o *Opened) Contests() conversation.Contests {
	return conversation.NewContests(o.Conversation, contests{of: o})
}

// contests implements [conversation.Contests].
type contests struct {
	of     *Opened
	event  func(branch int, id session.SessionID, e session.Event)
	result *ParallelResult // gets the whole result; may be nil
}

func (s contests) Parallel(ctx context.Context, p conversation.Parallel) (c conversation.Contest, err error) {
	wanted := Parallel{Parallel: p, Event: s.event}
	if err := wanted.Check(); err != nil {
		return c, err
	}
	r, err := s.of.race(ctx, wanted)
	if s.result != nil {
		*s.result = r
		return c, err
	}
	c = conversation.Contest{Selected: r.Winner(), Reason: r.Reason, Failed: r.Selected >= 0 && r.Failed[r.Selected]}
	for _, name := range r.Worktrees {
		if name != "" {
			c.Worktrees = append(c.Worktrees, name)
		}
	}
	if err != nil && r.aborted {
		err = context.Canceled
	}
	return c, err
}

func (s contests) Merge(ctx context.Context, name, plan string) (out conversation.Merge, err error) {
	m, err := s.of.PlanMerge(ctx, name)
	if err != nil {
		return out, err
	}
	for _, f := range m.Files {
		out.Files = append(out.Files, difference(f))
	}
	for _, c := range m.Conflicts {
		out.Conflicts = append(out.Conflicts, undo.FileDiff{Path: c.Path, Note: "conflict: " + c.Why})
	}
	digest := sha256.New()
	if err := json.NewEncoder(digest).Encode(out.Files); err != nil { // with the hashes of all contents
		return out, err
	}
	out.Plan = hex.EncodeToString(digest.Sum(nil))
	switch plan {
	case "":
		return out, nil
	case out.Plan:
		return out, s.of.Merge(ctx, m)
	}
	return out, fmt.Errorf("cannot merge the worktree %s: %w", name, worktree.ErrStale)
}

// difference returns the change of a file in the project.
func difference(f worktree.File) undo.FileDiff {
	data := map[string][]byte{}
	state := func(content []byte, mode fs.FileMode) *session.FileState {
		if mode == 0 {
			return nil
		}
		sum := sha256.Sum256(content)
		s := &session.FileState{Hash: hex.EncodeToString(sum[:]), Size: int64(len(content)), Mode: uint32(mode)}
		if data[s.Hash] = content; mode&fs.ModeSymlink != 0 {
			s.Link = string(content)
		}
		return s
	}
	before := state(f.Before())
	return undo.Compare(f.Path, before, state(f.Data, f.Mode), func(hash string) ([]byte, error) { return data[hash], nil })
}

// PlanMerge plans to bring the changes of a worktree into the project of the conversation. It changes nothing.
func (o *Opened) PlanMerge(ctx context.Context, name string) (*worktree.Merge, error) {
	w, err := o.app.Worktrees().Open(name)
	if err != nil {
		return nil, err
	}
	if !paths.Inside(w.Root, o.Dir) {
		return nil, fmt.Errorf("cannot merge the worktree %s: it is of another project, %s", name, w.Root)
	}
	return w.Merge(ctx)
}

// Merge changes the files of a plan in the project, as a call of the person in the conversation: undo reverts it by itself. It leaves out the
// conflicts. The error wraps [worktree.ErrStale] if a file has changed since.
func (o *Opened) Merge(ctx context.Context, m *worktree.Merge) error {
	return o.agent.acts.perform(ctx, o.agent, act{name: actMerge, title: m.Worktree.Name, run: func(ctx context.Context) (string, error) {
		s := o.agent.site
		var outside []string // of the directory, and of the same repository
		for _, f := range m.Files {
			if name := filepath.Join(m.Worktree.Root, filepath.FromSlash(f.Path)); !s.bounds.Load().Inside(name) {
				outside = append(outside, name)
			}
		}
		defer s.workspace.Permit(nil, outside)()
		if err := m.Apply(ctx, s.workspace, s.checkpoints, false); err != nil {
			return "", err
		}
		return fmt.Sprintf("The changes of the worktree are in the project: %s.", tool.Count(len(m.Files), "file")), nil
	}})
}
