package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// Command is a command line for the shell. The zero value of each field but Line is its default.
type Command struct {
	Line    string            // input of the shell
	Dir     string            // where it runs, in the workspace; default: the root
	Env     []string          // "NAME=value", beyond the environment of this process
	Capture int               // bytes of output in memory; default 256 KiB, for a job 128 KiB
	Spill   int               // bytes of output from which all of it goes to a file too; default: Capture
	MaxFile int64             // bytes at which that file ends; default 64 MiB
	Grace   time.Duration     // between the request to end and the kill, after ctx ended; default 3 s
	Report  func(text []byte) `json:"-"` // gets the output as it comes, from one goroutine; it must not keep the slice
	Input   []byte            `json:"-"` // standard input; default: none
	Errors  io.Writer         `json:"-"` // gets standard error, which is no part of the output then, until the command has ended

	Unconfined bool // it runs outside the sandbox of the workspace, by a decision of the caller
	ReadOnly   bool // it changes no files, so that Run looks at none before and after it
}

// Finished is the outcome of a command.
type Finished struct {
	Output

	ExitCode int               // -1 if a signal ended it
	Signal   string            // the name of that signal
	Left     bool              // it left processes running, which Run ended. On Windows that is not known
	Blocked  []sandbox.Blocked // the actions that the sandbox denied, as far as its output shows
	Note     string            // the changes of files that could not be followed, and why; empty: all were
	Trouble  error             `json:"-"` // a failure around the command: its changes are not kept, or the sandbox left files
}

// Run runs a command and waits for it. The shell is bash, or sh where there is no bash; on Windows PowerShell, or cmd where there
// is none. It runs in a session of its own: no input unless the command has one, no terminal, no pager, no editor; one pipe for all output. If the options have a sandbox,
// it runs there, unless the command says otherwise; a [*sandbox.UnavailableError] reports that it did not run because it could not be confined.
//
// All processes of the command end with it, also those in the background; [Workspace.Start] starts a command that outlives its call. When ctx
// ends, Run asks all of them to end, kills them after the grace, and returns the captured output and the cause of ctx. On Windows there is no
// asking. When this process dies, however it does, all processes end, too.
//
// Behind the namespaces of a Linux sandbox, and on Windows, the system sees to that. Otherwise the processes are found: by the
// group of the shell, and on Linux also by their parents, their session and a mark in the environment that they inherit, so that
// setsid, nohup and a double fork do not help. What empties its environment and outlives its parents, or becomes another user,
// is not found; nor is, where there is no /proc, what leaves the group.
//
// Run reports the files that the command changed to Changed of the options, if these have Checkpoints.
//
// A command that fails is not an error; it has an exit code.
func (w *Workspace) Run(ctx context.Context, c Command) (Finished, error) {
	c.Capture = cmp.Or(c.Capture, 256<<10)
	r, err := w.commands.launch(ctx, c)
	if err != nil {
		return Finished{}, err
	}
	err = r.wait(ctx)
	done, failed := w.commands.finish(ctx, r)
	return done, cmp.Or(err, failed)
}

// Confined reports whether commands run in a sandbox unless they say otherwise.
func (w *Workspace) Confined() bool { return w.commands.confined() != nil }

// commands runs the commands of a workspace.
type commands struct {
	repositories
	jobs     jobs
	jobEnded func(JobStatus)
	clean    func(io.Writer) io.WriteCloser
}

// launch starts a command. The caller waits for it and then calls finish.
func (m *commands) launch(ctx context.Context, c Command) (*running, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	dir, err := m.commandDir(c.Dir)
	if err != nil {
		return nil, err
	}
	policy, err := m.confinement(ctx, c)
	if err != nil {
		return nil, err
	}
	tracked, note := func(context.Context) ([]string, error) { return nil, nil }, ""
	if !c.ReadOnly {
		if tracked, note, err = m.track(ctx); err != nil {
			return nil, err
		}
	}
	policy, disarmed, err := m.repositories.begin(ctx, c, policy)
	if err != nil {
		_, changes := tracked(ctx)
		return nil, errors.Join(err, changes)
	}
	var r *running
	if err = context.Cause(ctx); err == nil {
		r, err = m.start(c, dir, policy)
	}
	if err != nil {
		_, changes := tracked(ctx)
		_, failed := disarmed(ctx)
		return nil, errors.Join(err, changes, failed)
	}
	r.tracked, r.note, r.disarmed = tracked, note, disarmed
	return r, nil
}

// start starts a command in a directory.
func (m *commands) start(c Command, dir string, policy *sandbox.Policy) (r *running, err error) {
	mark := m.jobs.mark()
	cmd := shell(c.Line)
	own := variables(dir, policy != nil, append(slices.Clip(c.Env), mark))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), own...)
	cmd.SysProcAttr = attributes()
	r = newRunning(cmd, c, newCollector(m.outputs, c.Capture, cmp.Or(c.Spill, c.Capture), cmp.Or(c.MaxFile, maxOutput)), m.clean)
	if policy != nil {
		policy = policy.Pass(names(own)...)
		if r.confined, err = policy.Wrap(cmd); err != nil {
			return nil, err
		}
	}
	contained := r.confined != nil && r.confined.Level == sandbox.Namespaces
	if !contained {
		r.guard = m.jobs.warden.guard(m.jobs.secret())
	}
	if err := m.jobs.begin(r); err != nil {
		return nil, errors.Join(err, r.unwrap())
	}
	if err := r.start(mark, contained); err != nil {
		m.jobs.forget(r)
		return nil, errors.Join(fmt.Errorf("workspace: the shell does not start: %w", err), r.unwrap())
	}
	return r, nil
}

// finish returns the outcome of a command that has ended.
func (m *commands) finish(ctx context.Context, r *running) (Finished, error) {
	m.jobs.forget(r)
	done := Finished{Output: r.collector.output(), Left: r.left, Note: r.note}
	done.ExitCode, done.Signal = exitStatus(r.cmd.ProcessState)
	trouble := r.unwrap()
	linked, changes := r.tracked(ctx)
	disarmed, failed := r.disarmed(ctx)
	if _, ok := errors.AsType[*sandbox.UnavailableError](trouble); ok {
		return done, trouble
	}
	for _, name := range linked {
		done.Note = strings.TrimSpace(fmt.Sprintf("%s The command wrote %s, which has hard links: files elsewhere may have changed with it.", done.Note, Quote(name)))
	}
	done.Trouble = errors.Join(trouble, changes, failed)
	if r.confined != nil {
		done.Left = done.Left || r.confined.Left
		if n := r.confined.Signal; n > 0 {
			done.ExitCode, done.Signal = -1, syscall.Signal(n).String()
		}
		done.Blocked = append(disarmed, r.confined.Explain([]byte(done.Head+done.Tail), done.ExitCode)...)
	}
	return done, nil
}

func (m *commands) commandDir(name string) (string, error) {
	p, err := m.place(cmp.Or(name, "."))
	if err != nil {
		return "", err
	}
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return "", m.tell(name, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", Quote(name))
	}
	return p.abs, nil
}

// names returns the names of variables.
func names(env []string) []string {
	var all []string
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		all = append(all, name)
	}
	return all
}

// variables are those of a command beyond the environment of this process: no program waits for a person or outlives the command.
func variables(dir string, confined bool, more []string) []string {
	env := []string{
		"PWD=" + dir,
		"TERM=dumb", "NO_COLOR=1",
		"PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat",
		"EDITOR=true", "VISUAL=true", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_MERGE_AUTOEDIT=no",
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "DEBIAN_FRONTEND=noninteractive",
	}
	count := os.Getenv("GIT_CONFIG_COUNT")
	if confined {
		count = "" // the settings of this process can hold a password, and do not pass
	}
	return append(append(env, gitSettings(count)...), more...)
}

// gitSettings are those of commands, after count others that the environment has. git tidies up within the command, as what it leaves
// in the background would be killed, and its lock would stay. It packs no references: programs outside would miss them until the command ends. It takes no directory for a bare repository that --git-dir or
// GIT_DIR does not name: files of a project can look like one, and its settings name programs.
func gitSettings(count string) []string {
	n, _ := strconv.Atoi(count)
	n = max(n, 0)
	var env []string
	for _, set := range [][2]string{{"gc.autoDetach", "false"}, {"maintenance.autoDetach", "false"}, {"gc.packRefs", "false"}, {"safe.bareRepository", "explicit"}} {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, set[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, set[1]))
		n++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// Shell returns the name of the shell that runs commands: bash, sh, pwsh, powershell or cmd.
func Shell() string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(shell("").Path)), ".exe")
}

// shellPath is the first of the names that is installed, and the last otherwise.
func shellPath(names ...string) string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
			return path
		}
	}
	return names[len(names)-1]
}
