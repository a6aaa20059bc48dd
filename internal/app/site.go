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
	"github.com/tenon-agent/tenon/tool/lsp"
	"github.com/tenon-agent/tenon/workspace"
	"github.com/tenon-agent/tenon/workspace/contents"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// directory is the state that all agents of a directory share: locks, the look at its files, and the attribution of changes.
type directory struct {
	workspace.Shared
	agents  int
	servers *lsp.Servers // nil: no agent has needed them
	sites   []*site      // that use them
}

// enter returns the shared state of a directory. The caller calls leave when its agent has left the directory.
func (a *App) enter(root string, w *site) (shared *workspace.Shared, leave func() error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.directories[root]
	if d == nil {
		d = &directory{Shared: workspace.Shared{Baselines: a.Baselines()}}
		a.directories[root] = d
	}
	d.agents++
	return &d.Shared, sync.OnceValue(func() error {
		a.mu.Lock()
		d.sites = slices.DeleteFunc(d.sites, func(other *site) bool { return other == w })
		d.agents--
		last := d.agents == 0
		if last {
			delete(a.directories, root)
		}
		a.mu.Unlock()
		if !last || d.servers == nil {
			return nil
		}
		return d.servers.Close()
	})
}

// site is the part of a directory that belongs to one agent: its boundary with the policy, its jobs, and the contents that undo restores.
type site struct {
	workspace   *workspace.Workspace
	checkpoints contents.Store
	shared      *workspace.Shared
	leave       func() error
	servers     *lsp.Servers    // of the directory; nil: none are configured
	offered     bool            // the model gets their tool
	ctx         context.Context // of warming
	end         context.CancelFunc
	warming     sync.WaitGroup  // of servers, for files that the model read
	seen        *files.Set      // files that the model has read
	guide       *guidance.Guide // context files
	policy      atomic.Pointer[permission.Policy]
	judge       atomic.Pointer[permission.Judge] // the policy with the limits of the role
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
	w.settle(s.Bounds, s.Policy, permission.Limits{})
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	w.checkpoints = a.Checkpoints(id)
	b := w.now()
	w.shared, w.leave = a.enter(b.Root, w)
	w.workspace, err = workspace.Open(b.Root, workspace.Options{
		Roots: b.Roots, Outside: workspace.AskOutside, Hidden: b.Hidden, Protected: b.Protected, Refuse: w.unreadable,
		Shown:       append(skillDirs(s.Skills.Skills), w.outputs),
		Checkpoints: w.checkpoints, Session: string(id), Shared: w.shared, Sandbox: b.Sandbox, Outputs: w.outputs, Clean: s.Secrets.Writer, Changed: changed, JobEnded: ended,
		Label: agent.CallID, Writable: s.writable,
	})
	if err != nil {
		return nil, err
	}
	w.seen = files.NewSet(w.workspace)
	a.serve(w, s.LSP)
	w.guide = guidance.New(guidance.Options{
		Dir: b.Root, Home: b.Home, Personal: s.Guidance.Personal, Names: s.Guidance.Names,
		MaxFile: s.Guidance.MaxFile, Refuse: w.refuse, Clean: s.Secrets.Redact,
	})
	return w, nil
}

// Judge implements [permission.Judge], by the policy and the role of the moment.
func (w *site) Judge(c permission.Call, grants ...permission.Rule) permission.Verdict {
	return (*w.judge.Load()).Judge(c, grants...)
}

// settle notes the policy with the limits of a role and the bounds, with the directories of the session.
func (w *site) settle(b Bounds, p *permission.Policy, l permission.Limits) {
	if b.Sandbox != nil {
		b.Sandbox = b.Sandbox.Show(w.outputs).Session(w.scratch, &w.network)
	}
	p = p.Show(w.outputs).In(b.scratch())
	judge := l.Over(p)
	w.policy.Store(p)
	w.judge.Store(&judge)
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
func (w *site) limit(b Bounds, p *permission.Policy, l permission.Limits) {
	w.settle(b, p, l)
	now := w.now()
	w.workspace.Limit(workspace.Limits{Hidden: now.Hidden, Protected: now.Protected, Sandbox: now.Sandbox})
	if w.servers != nil {
		w.servers.Restart() // under the new limits
	}
}

// within is the [undo.Bounds] of the session: those of its tools now.
func (w *site) within(string) (workspace.Options, error) {
	b := w.now()
	return workspace.Options{Roots: append([]string{b.Root}, b.Roots...), Hidden: b.Hidden, Protected: b.Protected}, nil
}

// close releases the directory.
func (w *site) close() error {
	var left, err error
	if w.end != nil {
		w.end()
		w.warming.Wait()
	}
	if w.leave != nil {
		left = w.leave()
	}
	if w.workspace != nil {
		err = w.workspace.Close()
	}
	return errors.Join(left, err, w.network.Close())
}

func (w *site) jobs() (all []workspace.JobStatus) {
	for _, j := range w.workspace.Jobs() {
		all = append(all, j.Status())
	}
	return all
}

// endJob ends a background job. found reports whether there is one with the ID.
func (w *site) endJob(ctx context.Context, id string) (found bool, err error) {
	for _, j := range w.workspace.Jobs() {
		if j.Status().ID == id {
			_, err := j.Kill(ctx)
			return true, err
		}
	}
	return false, nil
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
				tool.WhenUsed(ctx, func() { w.enter(used) })
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
