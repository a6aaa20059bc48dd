package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// ground is a small machine: a project to work in, a directory next to it, a home with secrets, and a process of another user.
// All of it is in one directory that commands can read, so that only the policy keeps them from it.
type ground struct {
	t                         testing.TB
	dir, work, out, home, exe string
	victim                    int // a process outside
	policy                    *sandbox.Policy
	vars                      []string
	look                      *sandbox.Report // that policies are to believe
}

const secretText = "planted secret"

func newGround(t testing.TB) *ground {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g := &ground{t: t, dir: dir, work: dir + "/work", out: dir + "/out", home: dir + "/home", exe: exe}
	for name, text := range map[string]string{
		"out/victim": "whole", "home/.ssh/id": secretText, "home/.aws/credentials": secretText, "home/.npmrc": secretText, "work/file": "mine",
	} {
		g.write(name, text)
	}
	repository, err := emptyRepository()
	if err == nil {
		err = os.CopyFS(g.work+"/.git", repository)
	}
	if err != nil {
		t.Fatal(err)
	}
	project := sandbox.ForProject(g.work)
	g.policy = &sandbox.Policy{
		Writable: project.Writable, Protected: project.Protected, Absent: project.Absent, Hidden: sandbox.DefaultHidden(g.home),
		Readable: []string{dir, filepath.Dir(exe)},
	}
	look := machine()
	if os.Getenv("WAY") == "bubblewrap" {
		borrowed := machineBorrowed()
		g.look = &borrowed
		g.policy.Pretend(borrowed)
	}
	if look.Level() != sandbox.Namespaces {
		if os.Geteuid() == 0 {
			t.Fatalf("root has no namespaces here: %+v", look)
		}
		t.Skipf("this machine has no namespaces for us: %+v", look)
	}
	g.policy.Pretend(look)
	g.victim = g.process()
	return g
}

// machine and machineBorrowed are [sandbox.Look] and [sandbox.LookBorrowed]. The machine stays the same, and each look starts processes.
var (
	machine         = sync.OnceValue(sandbox.Look)
	machineBorrowed = sync.OnceValue(sandbox.LookBorrowed)
)

// emptyRepository returns what git init makes, without the sample hooks. Each ground gets a copy.
var emptyRepository = sync.OnceValues(func() (files fstest.MapFS, err error) {
	dir, err := os.MkdirTemp("", "repository")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"config", "user.name", "T"}, {"config", "user.email", "t@example.com"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	files = fstest.MapFS{}
	git := os.DirFS(dir + "/.git")
	return files, fs.WalkDir(git, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) == ".sample" {
			return err
		}
		file := &fstest.MapFile{Mode: d.Type() | 0o755}
		if !d.IsDir() {
			file.Mode = 0o644
			file.Data, err = fs.ReadFile(git, name)
		}
		files[name] = file
		return err
	})
})

func (g *ground) write(name, text string) {
	g.t.Helper()
	full := filepath.Join(g.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(text), 0o644)); err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) git(args ...string) {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = g.work, append(os.Environ(), "HOME="+g.home, "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// process starts one that is not in the sandbox and waits for its end of input.
func (g *ground) process() int {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			g.t.Errorf("the process outside was hurt: %v", err)
		}
	})
	return cmd.Process.Pid
}

// ran is what came of a command.
type ran struct {
	out     string
	exit    int
	blocked []sandbox.Blocked
	closed  error
}

func (r ran) String() string {
	return fmt.Sprintf("exit %d, %v\n%s\n%v", r.exit, r.closed, r.out, r.blocked)
}

// run runs a script in the sandbox.
func (g *ground) run(script string, files ...*os.File) ran {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.ExtraFiles = g.work, files
	cmd.Env = append(os.Environ(), "HOME="+g.home, "OUT="+g.out, "TRY="+g.exe, "VICTIM="+strconv.Itoa(g.victim), "PLANTED_API_KEY="+secretText)
	cmd.Env = append(cmd.Env, g.vars...)
	for _, v := range append(g.vars, "OUT", "TRY", "VICTIM") {
		name, _, _ := strings.Cut(v, "=")
		g.policy.Keep = append(g.policy.Keep, name)
	}
	if g.look != nil {
		g.policy.Pretend(*g.look) // those that a test made itself
	}
	c, err := g.policy.Wrap(cmd)
	if err != nil {
		g.t.Fatal(err)
	}
	if by := strings.HasPrefix(filepath.Base(cmd.Path), "sh"); by != (os.Getenv("WAY") == "bubblewrap" && c.Level == sandbox.Namespaces) {
		g.t.Fatalf("it runs by %s", cmd.Path)
	}
	out, err := output(c, cmd)
	closed := c.Close()
	if cmd.ProcessState == nil {
		g.t.Fatal(err)
	}
	exit := cmd.ProcessState.ExitCode()
	return ran{string(out), exit, c.Explain(out, exit), closed}
}

// output starts a command and returns its output when it has ended.
func output(c *sandbox.Confined, cmd *exec.Cmd) ([]byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd.Stdout, cmd.Stderr = w, w
	err = c.Start(cmd)
	w.Close()
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(r)
	return out, errors.Join(err, cmd.Wait())
}

// works fails the test unless the script does.
func (g *ground) works(script string) ran {
	g.t.Helper()
	r := g.run(script)
	if r.exit != 0 || r.closed != nil {
		g.t.Fatalf("%s\n%v", script, r)
	}
	return r
}

// whole fails the test when anything outside was changed.
func (g *ground) whole() {
	g.t.Helper()
	for name, want := range map[string]string{"out/victim": "whole", "home/.ssh/id": secretText, "home/.npmrc": secretText} {
		if got, err := os.ReadFile(filepath.Join(g.dir, name)); string(got) != want {
			g.t.Errorf("%s is %q now, %v", name, got, err)
		}
	}
	for name, most := range map[string]int{"out": 1, "home": 3, ".": 3} {
		entries, err := os.ReadDir(filepath.Join(g.dir, name))
		if err != nil || len(entries) > most {
			g.t.Errorf("%s has %v now, %v", name, entries, err)
		}
	}
	for _, name := range []string{"hooks/pre-commit", "commondir", "config.worktree"} {
		if _, err := os.Lstat(filepath.Join(g.work, ".git", name)); err == nil {
			g.t.Errorf(".git/%s was made", name)
		}
	}
	if config, err := os.ReadFile(g.work + "/.git/config"); err != nil || strings.Contains(string(config), "hooksPath") {
		g.t.Errorf("the configuration is %q now, %v", config, err)
	}
}

// listen waits for connections that must not come.
func listen(t testing.TB, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Errorf("a connection reached %s", l.Addr())
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}
