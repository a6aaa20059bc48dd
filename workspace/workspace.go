package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/tenon-agent/tenon/workspace/contents"
	paths "github.com/tenon-agent/tenon/workspace/path"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Workspace is a project on disk. It is safe for concurrent use.
type Workspace struct {
	*boundary // its directories, and which paths may be used
	edits     editor
	commands  commands
}

// tree is a directory and all below it.
type tree struct {
	dir  string // absolute and clean, no links
	root *os.Root
}

// Options of a workspace: the paths that may be used, and the functions that it calls. The zero value: the files in the directory.
type Options struct {
	Roots     []string // further directories that count as inside
	Outside   Outside  // the use of all other paths
	Hidden    []string // files and directories that may be neither read nor written, wherever they are, and are never walked
	Shown     []string // directories that may be read although they lie in hidden ones
	Protected []string // files and directories that may be read but not written, such as .git/hooks

	// Refuse is called with the resolved absolute path of every file and directory before it is read. Its error refuses the path, and walks
	// leave it out. Nil: nothing is refused. It must be fast, and is called from several goroutines.
	Refuse func(name string) error

	// Checkpoints keeps the content of files before they change. Nil: no content is kept.
	Checkpoints contents.Store

	// Session is the ID of the session that works here, in changes and jobs. The workspace removes temporary files that an earlier process of
	// the same session left in the directories in which it changes files. No two processes may have a workspace of one session open at the
	// same time. Empty: it removes nothing.
	Session string

	// Writable is the write scope of the session: Apply and commands change only what lies in these files and directories. Commands then
	// run in the sandbox or not at all, unless they are known to read only. Empty: all that the other options allow. See [WithScope].
	Writable []string

	// Shared connects the workspaces of several sessions of this process in one directory. Nil: the workspace is alone.
	Shared *Shared

	// Sandbox confines commands. Nil: they run as this process does. Its directory for temporary files can be read and written by the names
	// that commands use. Changed gets no changes in it.
	Sandbox *sandbox.Policy

	// Outputs is a directory for the long outputs of commands. They stay there, up to 512 MiB; the oldest go first. Their files may be read; a
	// command in a sandbox reads them if its policy names the directory. Empty: they are in the system's directory for temporary files until the
	// workspace is closed.
	Outputs string

	// Clean returns a writer that removes secrets from the output of a command before anything else sees it. Nil: nothing is removed.
	Clean func(io.Writer) io.WriteCloser

	// Changed is called before a method of the workspace changes files, and its error stops the change; and after a command has changed
	// files. No tool of the directory changes files meanwhile, and Changed must not, either.
	Changed func(ctx context.Context, changes []Change) error

	// Label names a command, by the context that it is started with, for [Recover]. Nil: commands have no names.
	Label func(ctx context.Context) string

	// JobEnded is called when a job has ended, unless Close or EndJobs ended it. It is called on a goroutine of the job, for which these
	// wait.
	JobEnded func(JobStatus)
}

// Outside is the allowed use of files that lie in no root.
type Outside int

// The policies for files outside.
const (
	RefuseOutside Outside = iota // nothing
	ReadOutside                  // they may be read
	AllOutside                   // they may be read and written
	AskOutside                   // the paths of [Workspace.Permit]: the user of the workspace asks before
)

// Open opens the project in dir. Relative paths in the options start there; they need not exist, but for Roots. The caller closes it.
func Open(dir string, o Options) (_ *Workspace, err error) {
	b := &boundary{outputs: &outputs{place: o.Outputs}}
	defer func() {
		if err != nil {
			_ = b.close()
		}
	}()
	if b.tree, err = openTree(dir); err != nil {
		return nil, err
	}
	b.roots = []tree{b.tree}
	for _, name := range o.Roots {
		t, err := openTree(b.from(name))
		if err != nil {
			return nil, err
		}
		b.roots = append(b.roots, t)
	}
	slices.SortStableFunc(b.roots, func(a, b tree) int { return len(b.dir) - len(a.dir) })
	for _, t := range b.roots {
		b.resolver.Bases = append(b.resolver.Bases, t.dir)
	}
	for _, name := range o.Writable {
		b.writable = append(b.writable, b.resolver.Guess(b.from(name)).Path)
	}
	bounds := paths.Bounds{Root: b.dir, Hidden: o.Hidden, Shown: o.Shown, Protected: o.Protected}
	b.policy = newPolicy(bounds.Resolve())
	b.policy.outside, b.policy.refuse = o.Outside, o.Refuse
	if o.Sandbox != nil {
		b.policy.scratch = o.Sandbox.Scratch()
	}
	b.limits.Store(&b.policy)

	w := &Workspace{boundary: b}
	shared := cmp.Or(o.Shared, new(Shared))
	w.edits = editor{boundary: b, shared: shared, kept: o.Checkpoints, changed: o.Changed, temp: tempPrefix}
	if o.Session != "" {
		hash := sha256.Sum256([]byte(o.Session))
		w.edits.temp += hex.EncodeToString(hash[:8]) + "-"
		w.edits.swept = map[string]bool{}
	}
	c := &w.commands
	c.jobEnded, c.sandbox, c.clean = o.JobEnded, o.Sandbox, o.Clean
	c.follower = &follower{
		boundary: b, shared: shared, session: o.Session, kept: o.Checkpoints, changed: o.Changed, label: o.Label, guard: c.get, token: c.jobs.secret,
	}
	return w, nil
}

// from returns a name from the root of the workspace.
func (b *boundary) from(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(b.dir, name)
}

func openTree(dir string) (tree, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return tree{}, fmt.Errorf("workspace: %w", err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return tree{}, fmt.Errorf("workspace: %w", err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return tree{}, fmt.Errorf("workspace: %w", err)
	}
	return tree{abs, root}, nil
}

// Close ends all jobs and waits for that, and releases the directories. No method may be called at the same time or later.
func (w *Workspace) Close() error {
	w.commands.jobs.end()
	w.commands.jobs.dismiss()
	return errors.Join(w.outputs.remove(), w.edits.shared.leave(w.commands.follower), w.close())
}

func (b *boundary) close() (err error) {
	for _, t := range b.roots {
		err = errors.Join(err, t.root.Close())
	}
	return errors.Join(err, b.scratch.close())
}

// Kill ends the commands and the jobs that run, without the request and the grace of a cancelled [Workspace.Run], and lets none start.
// It is for a program that exits at once, and may be called at any time before Close returns.
func (w *Workspace) Kill() { w.commands.jobs.kill() }

// KeepOutput keeps a long text in Outputs of the options, and returns the path of a file that may be read.
func (w *Workspace) KeepOutput(text string) (path string, err error) { return w.outputs.put(text) }
