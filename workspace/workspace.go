package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tenon-agent/tenon/workspace/checkpoint"
	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Workspace is a project on disk. It is safe for concurrent use.
type Workspace struct {
	tree           // where relative names start
	roots   []tree // the directories that count as inside, the deepest first; one of them is tree
	policy  policy
	permits permits
	changed func(ctx context.Context, changes []Change) error
	store   *checkpoint.Store
	sandbox *sandbox.Policy // of commands

	jobEnded func(JobStatus)
	label    func(context.Context) string

	writing  sync.Mutex      // from the last look at files to their replacement
	temp     string          // begins the names of temporary files
	underWay sync.Map        // temporary files of this process, by absolute path
	swept    map[string]bool // directories in which nothing of an earlier process is left; for the one who has writing
	fail     func() error    // lets a step of a change fail, in tests

	watched watched // files, for commands
	outputs outputs // full output of commands
	jobs    jobs    // commands that run, and what is known of jobs
}

// tree is a directory and what lies below it.
type tree struct {
	dir  string // absolute and clean, no links
	root *os.Root
}

// Options say what may be reached in a workspace, and who is told of changes. The zero value: what lies in the directory.
type Options struct {
	Roots     []string // further directories that count as inside
	Outside   Outside  // what may be done with all that lies elsewhere
	Hidden    []string // files and directories that may be neither read nor written, wherever they are, and are never walked
	Shown     []string // directories that may be read although they lie in hidden ones
	Protected []string // files and directories that may be read but not written, such as .git/hooks

	// Refuse is asked about every file and directory before it is read, by its resolved absolute path: its error refuses it, and walks
	// leave it out. Nil: nothing is refused. It must be fast, and is called from several goroutines.
	Refuse func(name string) error

	// Checkpoints keeps the content of files before they change. Nil: no content is kept. The workspace does not close it.
	Checkpoints *checkpoint.Store

	// Owner makes names of temporary files known: those that an earlier process with the same owner left behind are removed from the
	// directories that are written to. No two workspaces with one owner may be open at the same time. Empty: nothing is removed.
	Owner string

	// Sandbox confines commands. Nil: they run as this process does.
	Sandbox *sandbox.Policy

	// Outputs is a directory for the whole of long outputs of commands, made when there is the first one, and removed when it is empty and
	// the workspace is closed. Several workspaces may share it. Empty: one in the system's directory for temporary files. To let commands
	// in a sandbox read it, its policy must name it too.
	Outputs string

	// Changed is told of changes: before a method of the workspace changes files (its error stops it, and nothing was changed),
	// and when a command has changed some. It is called while nothing else of this workspace writes, and must not write itself.
	Changed func(ctx context.Context, changes []Change) error

	// Label names a command, by the context that it is started with, for [Recover]. Nil: commands have no names.
	Label func(ctx context.Context) string

	// JobEnded is told when a job has ended, but not of those that Close or EndJobs ends. It is called from a goroutine of the job, which
	// these wait for.
	JobEnded func(JobStatus)
}

// Outside says what may be done with files that lie in no root.
type Outside int

// The policies for what lies outside.
const (
	RefuseOutside Outside = iota // nothing
	ReadOutside                  // they may be read
	AllOutside                   // they may be read and written
	AskOutside                   // what [Workspace.Permit] names: whoever uses the workspace asks before
)

// Open opens the project in dir. Relative paths in the options start there; they need not exist, but for Roots. The caller closes it.
func Open(dir string, o Options) (_ *Workspace, err error) {
	w := &Workspace{changed: o.Changed, outputs: outputs{parent: o.Outputs}, store: o.Checkpoints, sandbox: o.Sandbox, jobEnded: o.JobEnded, label: o.Label, temp: tempPrefix, swept: map[string]bool{}}
	if o.Owner != "" {
		hash := sha256.Sum256([]byte(o.Owner))
		w.temp += hex.EncodeToString(hash[:8]) + "-"
	} else {
		w.swept = nil
	}
	defer func() {
		if err != nil {
			for _, t := range w.roots {
				_ = t.root.Close()
			}
		}
	}()
	if w.tree, err = openTree(dir); err != nil {
		return nil, err
	}
	w.roots = []tree{w.tree}
	for _, name := range o.Roots {
		if !filepath.IsAbs(name) {
			name = filepath.Join(w.dir, name)
		}
		t, err := openTree(name)
		if err != nil {
			return nil, err
		}
		w.roots = append(w.roots, t)
	}
	slices.SortStableFunc(w.roots, func(a, b tree) int { return len(b.dir) - len(a.dir) })
	if w.policy, err = w.newPolicy(o); err != nil {
		return nil, err
	}
	return w, nil
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

// Close ends all jobs and waits for that, removes the files with the output of commands, and releases the directories.
// No method may be called at the same time or later.
func (w *Workspace) Close() error {
	w.jobs.end()
	w.jobs.dismiss()
	err := errors.Join(w.outputs.remove(), w.watched.close(w.store))
	for _, t := range w.roots {
		err = errors.Join(err, t.root.Close())
	}
	return err
}

// Kill ends the commands and the jobs that run, without the request and the grace of a cancelled [Workspace.Run], and lets none start.
// It is for a program that is about to leave at once, and may be called at any time before Close returns.
func (w *Workspace) Kill() { w.jobs.kill() }

// Dir is the root of the project, an absolute path without links.
func (w *Workspace) Dir() string { return w.dir }
