package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenon-agent/tenon/agent"
	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/guidance"
	"github.com/tenon-agent/tenon/permission"
	"github.com/tenon-agent/tenon/redact"
	"github.com/tenon-agent/tenon/session"
	"github.com/tenon-agent/tenon/tool"
	"github.com/tenon-agent/tenon/tool/files"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// directory is the state that all agents of a directory share: locks, the look at its files, and the attribution of changes.
type directory struct {
	workspace.Shared
	agents int
}

// enter returns the shared state of a directory. The caller calls leave when its agent has left the directory.
func (a *App) enter(root string) (shared *workspace.Shared, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.directories[root]
	if d == nil {
		d = &directory{Shared: workspace.Shared{Baselines: a.Baselines()}}
		a.directories[root] = d
	}
	d.agents++
	return &d.Shared, sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if d.agents--; d.agents == 0 {
			delete(a.directories, root)
		}
	})
}

// site is the part of a directory that belongs to one agent: its boundary with the policy, its jobs, and the contents that undo restores.
type site struct {
	workspace   *workspace.Workspace
	checkpoints contents.Store
	shared      *workspace.Shared
	leave       func()
	seen        *files.Set      // files that the model has read
	guide       *guidance.Guide // context files
	policy      atomic.Pointer[permission.Policy]
	bounds      atomic.Pointer[Bounds]
	secrets     *redact.Redactor
	outputs     string           // the directory of the long outputs, which calls may read
	scratch     string           // the directory for temporary files of commands
	network     sandbox.Loopback // of commands
}

// scratchName is the directory for temporary files, among the files of a session.
const scratchName = "scratch"

// openSite opens the site of a session. The caller closes it.
func (a *App) openSite(
	id session.SessionID, s Spec, changed func(context.Context, []workspace.Change) error, ended func(workspace.JobStatus),
) (_ *site, err error) {
	w := &site{secrets: s.Secrets}
	w.outputs, w.scratch = a.outputs(id), filepath.Join(a.Contents(id), scratchName)
	w.settle(s.Bounds, s.Policy)
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	w.checkpoints = a.Checkpoints(id)
	b := w.now()
	w.shared, w.leave = a.enter(b.Root)
	w.workspace, err = workspace.Open(b.Root, workspace.Options{
		Roots: b.Roots, Outside: workspace.AskOutside, Hidden: b.Hidden, Protected: b.Protected, Refuse: w.unreadable,
		Shown:       append(skillDirs(s.Skills.Skills), w.outputs),
		Checkpoints: w.checkpoints, Session: string(id), Shared: w.shared, Sandbox: b.Sandbox, Outputs: w.outputs, Clean: s.Secrets.Writer, Changed: changed, JobEnded: ended,
		Label: agent.CallID,
	})
	if err != nil {
		return nil, err
	}
	w.seen = files.NewSet(w.workspace)
	w.guide = guidance.New(guidance.Options{
		Dir: b.Root, Home: b.Home, Personal: s.Guidance.Personal, Names: s.Guidance.Names,
		MaxFile: s.Guidance.MaxFile, Refuse: w.refuse, Clean: s.Secrets.Redact,
	})
	return w, nil
}

// settle notes the policy and the bounds, with the directories of the session.
func (w *site) settle(b Bounds, p *permission.Policy) {
	if b.Sandbox != nil {
		b.Sandbox = b.Sandbox.Show(w.outputs).Session(w.scratch, &w.network)
	}
	w.policy.Store(p.Show(w.outputs).In(b.scratch()))
	w.bounds.Store(&b)
}

// now returns the bounds in the mode of the session.
func (w *site) now() Bounds { return w.bounds.Load().in(w.policy.Load().Mode()) }

// dialer returns the function that connects to the network of commands; nil: they share none.
func (w *site) dialer() func(ctx context.Context, network, address string) (net.Conn, error) {
	if p := w.now().Sandbox; p == nil || !p.Shares() {
		return nil
	}
	return w.network.Dial
}

// effects returns the effects of a command line that runs in a directory.
func (w *site) effects(line, dir string) tool.Effects { return w.now().Effects(line, dir) }

// limit changes the policy and the bounds of calls and commands from now on.
func (w *site) limit(b Bounds, p *permission.Policy) {
	w.settle(b, p)
	now := w.now()
	w.workspace.Limit(workspace.Limits{Hidden: now.Hidden, Protected: now.Protected, Sandbox: now.Sandbox})
}

// within is the [undo.Bounds] of the session: those of its tools now.
func (w *site) within(string) (workspace.Options, error) {
	b := w.now()
	return workspace.Options{Roots: append([]string{b.Root}, b.Roots...), Hidden: b.Hidden, Protected: b.Protected}, nil
}

// close releases the directory.
func (w *site) close() error {
	if w.leave != nil {
		w.leave()
	}
	var err error
	if w.workspace != nil {
		err = w.workspace.Close()
	}
	return errors.Join(err, w.network.Close())
}

func (w *site) jobs() (all []workspace.JobStatus) {
	for _, j := range w.workspace.Jobs() {
		all = append(all, j.Status())
	}
	return all
}

// endJobs ends the background jobs. The error is a [*conversation.Warning] if the sandbox reverted something that they did.
func (w *site) endJobs() error {
	running := slices.DeleteFunc(w.workspace.Jobs(), func(j *workspace.Job) bool { return !j.Status().Ended.IsZero() })
	w.workspace.EndJobs()
	var reverted []string
	for _, j := range running {
		s := j.Status()
		for _, b := range s.Blocked {
			if b.Undone {
				reverted = append(reverted, w.secrets.Redact(s.ID+": "+b.String()))
			}
		}
	}
	if len(reverted) == 0 {
		return nil
	}
	return &conversation.Warning{Code: "job.reverted", Text: strings.Join(reverted, "; ")}
}

// unreadable returns the error of a file that a rule forbids to read.
func (w *site) unreadable(name string) error {
	p := w.policy.Load()
	if p == nil {
		return nil
	}
	if r, denied := p.Unreadable(name); denied {
		return fmt.Errorf("the rule %s forbids reading it", r)
	}
	return nil
}

// refuse returns the error of a file that cannot be context: a hidden one, or one that a rule forbids to read.
func (w *site) refuse(name string) error {
	for _, h := range w.now().Hidden {
		if paths.Inside(h, name) {
			return fmt.Errorf("%s is hidden", h)
		}
	}
	return w.unreadable(name)
}

// tools returns the tools with calls that may use exactly the outside paths and hosts that the gate judged, and the hosts that people granted. After a call, the guide finds the context
// files of the directories that it worked in.
func (w *site) tools(tools []tool.Tool, granted func() []string) []tool.Tool {
	return tool.Wrap(tools, func(call *tool.Call) {
		reads, writes := names(call.Effects.Reads), names(call.Effects.Writes)
		used := slices.Concat(call.Effects.Reads, call.Effects.Writes)
		run, preview := call.Run, call.Preview
		call.Run = func(ctx context.Context, report tool.Report) (tool.Result, error) {
			defer w.workspace.Permit(reads, writes)()
			ctx = workspace.WithHosts(ctx, slices.Concat(call.Effects.Hosts, granted())...)
			result, err := run(ctx, report)
			if err == nil && !result.IsError {
				w.enter(used)
			}
			if err == nil && call.Effects.Command != "" {
				w.seen.Observe(result.Content.Text(), names(slices.DeleteFunc(slices.Clone(call.Effects.Reads), func(p tool.Path) bool { return p.Tree }))...)
			}
			return result, err
		}
		if preview != nil {
			call.Preview = func(ctx context.Context) (string, error) {
				defer w.workspace.Permit(append(writes[:len(writes):len(writes)], reads...), nil)() // a preview only reads
				return preview(ctx)
			}
		}
	})
}

func (w *site) enter(used []tool.Path) {
	for _, p := range used {
		if p.Tree {
			w.guide.EnterDir(p.Name)
		} else {
			w.guide.Enter(p.Name)
		}
	}
}

func names(paths []tool.Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, p.Name)
	}
	return out
}

// openFiles returns the contents of the newest of the named files that are not context files.
func (w *site) openFiles(_ context.Context, names []string, left int) ([]session.ContextBlock, error) {
	return conversation.OpenFiles(w.workspace, names, left, w.guide.Tells, w.secrets.Redact), nil
}
