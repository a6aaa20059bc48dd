package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// has skips a test of a program that this machine lacks.
func has(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// What people and agents do all day works inside.
func TestToolsWork(t *testing.T) {
	t.Parallel()
	for _, tool := range []struct {
		name, script, want string
		needs              []string
	}{
		{"git", `git add file && git commit -qm one && git checkout -qb b && git stash list && git log --oneline | wc -l && git gc -q && git status --short`, "1", nil},
		{"make", "printf 'all:\\n\\tcc -o hello hello.c\\n\\t./hello\\n' >Makefile; printf '#include <stdio.h>\\nint main(){puts(\"built\");}' >hello.c; make", "built", []string{"make", "cc"}},
		{"python", `python3 -c 'import tempfile, multiprocessing as m; f = tempfile.NamedTemporaryFile(); q = m.SimpleQueue(); p = m.Process(target=q.put, args=("put",)); p.start(); print(q.get()); p.join()'`, "put", []string{"python3"}},
		{"node", `node -e 'const s = require("http").createServer((q, r) => r.end("served")); s.listen(0, "127.0.0.1", () => fetch("http://127.0.0.1:" + s.address().port).then(r => r.text()).then(t => { console.log(t); s.close(); }))'`, "served", []string{"node"}},
		{"npm", `npm init -y >/dev/null && npm pkg set scripts.x='echo ran' && npm run -s x`, "ran", []string{"npm"}},
		{"temporary files", `f=$(mktemp) && echo temp >"$f" && cat "$f" && echo x >/tmp/x && echo x >/dev/shm/x && echo x >/dev/null`, "temp", nil},
		{"a pipe of processes", `yes | head -1000 | sort -u | cat <(echo sub) -`, "sub", nil},
		{"the exit code", `(exit 3); echo "got $?"`, "got 3", nil},
	} {
		t.Run(tool.name, func(t *testing.T) {
			t.Parallel()
			has(t, tool.needs...)
			g := newGround(t)
			if got := g.works(tool.script); !strings.Contains(got.out, tool.want) || len(got.blocked) > 0 {
				t.Error(got)
			}
		})
	}
}

// A module is built and tested, with a server of its own on 127.0.0.1, without a network. The compiled standard library
// is taken from outside, so that the test need not wait for it.
func TestGoWorks(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	g.policy.Caches = g.dir + "/caches"
	if err := os.MkdirAll(g.policy.Caches, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir := strings.TrimSpace(string(cache)); os.Geteuid() == 0 {
		if err := os.Symlink(dir, g.policy.Caches+"/go-build"); err != nil {
			t.Fatal(err)
		}
		g.policy.Writable = append(g.policy.Writable, dir)
	}
	g.write("work/go.mod", "module example.com/m\n\ngo 1.22\n")
	g.write("work/m.go", "package main\n\nfunc main() { println(\"built\") }\n")
	g.write("work/m_test.go", `package main

import (
	"net"
	"testing"
)

func TestServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c, _ := l.Accept()
		c.Write([]byte("x"))
		c.Close()
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		t.Fatal(err)
	}
}
`)
	script := `CGO_ENABLED=0 go build -o m . && ./m 2>&1`
	if os.Geteuid() == 0 {
		script += ` && CGO_ENABLED=0 go test -vet=off .`
	}
	if got := g.works(script); !strings.Contains(got.out, "built") {
		t.Error(got)
	}
}

// Worktrees keep their git directory elsewhere; a commit works there too, and hooks of the repository stay as they are.
func TestACommitInAWorktree(t *testing.T) {
	elsewhere := outsideTemporary(t)
	if elsewhere != "" {
		t.Setenv("TMPDIR", elsewhere)
	}
	g := newGround(t)
	g.git("add", "file")
	g.git("commit", "-qm", "one")
	g.git("worktree", "add", "-q", g.dir+"/tree")
	g.policy = &sandbox.Policy{Readable: g.policy.Readable}
	project := sandbox.ForProject(g.dir + "/tree")
	g.policy.Writable, g.policy.Protected, g.policy.Absent = project.Writable, project.Protected, project.Absent
	main := g.work
	g.work = g.dir + "/tree"
	g.works(`echo two >two && git add two && git commit -qm two && git log --oneline | grep two`)
	got := g.run(fmt.Sprintf(`echo x >%[1]s/.git/hooks/pre-commit; echo x >>%[1]s/.git/config; echo "gitdir: $OUT" >.git; echo ../../x >%[1]s/.git/worktrees/tree/commondir`, main))
	if got.exit == 0 || len(got.blocked) < 4 {
		t.Error(got)
	}
	if _, err := os.Lstat(main + "/.git/hooks/pre-commit"); err == nil {
		t.Error("a hook was made")
	}
	if elsewhere == "" {
		t.Log("below /tmp commands can make links in a repository, a known limit: these were not tried")
		return
	}
	for _, script := range []string{"ln -s $OUT %s/.git/refs/heads/x", "ln -sf $OUT %s/.git/logs/HEAD", "mkfifo %s/.git/refs/heads/x", "ln -s x %s/.git/objects/x"} {
		if got := g.run(fmt.Sprintf(script, main)); got.exit == 0 {
			t.Errorf("git outside would follow a link: %s", script)
		}
	}
}

// outsideTemporary returns the directory of this package if it is writable and not below /tmp, or nothing.
func outsideTemporary(t *testing.T) string {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(here, "/tmp/") {
		return ""
	}
	probe, err := os.MkdirTemp(here, "writable-*")
	if err != nil {
		return ""
	}
	if err := os.Remove(probe); err != nil {
		t.Fatal(err)
	}
	return here
}

// A file .git that names a place of its own choice opens nothing.
func TestALinkToAGitDirectoryIsNotBelieved(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"evil/HEAD": "ref: x", "work/.git": "gitdir: " + dir + "/evil\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if p := sandbox.ForProject(dir + "/work"); len(p.Writable) != 1 {
		t.Error(p.Writable)
	}
}

// Temporary files that are kept are the same under both names, and for the next command.
func TestKeptTemporaryFiles(t *testing.T) {
	g := newGround(t)
	g.policy.Temp = t.TempDir()
	g.works(`echo one >/tmp/one; f=$(mktemp); case $f in "$TMPDIR"/*) ;; *) exit 1;; esac`)
	if got := g.works(`cat "$TMPDIR/one"`); got.out != "one\n" {
		t.Error(got)
	}
	if text, err := os.ReadFile(g.policy.Temp + "/one"); string(text) != "one\n" {
		t.Error(err)
	}
}

// In a read-only home, commands still run, with caches of their own. The sandbox reports that.
func TestCachesThatCannotBeMade(t *testing.T) {
	g := newGround(t)
	g.policy.Caches = g.work + "/file/caches"
	if got := g.works(`mkdir -p "$GOCACHE" && echo "$GOCACHE"`); got.out != "/tmp/.caches/go-build\n" {
		t.Error(got)
	}
	cmd := exec.Command("true")
	cmd.Dir = g.work
	c, err := g.policy.Wrap(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if gaps := strings.Join(c.Gaps, "\n"); !strings.Contains(gaps, g.work+"/file") || !strings.Contains(gaps, "XDG_CACHE_HOME") {
		t.Errorf("gaps: %q", gaps)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// A cache that the person lists is used; the others are the sandbox's own.
func TestCachesOfThePerson(t *testing.T) {
	g := newGround(t)
	g.policy.Caches = g.dir + "/caches"
	g.policy.Writable = append(g.policy.Writable, g.home+"/.cache/go-build", g.home+"/linked")
	g.write("home/.cache/go-build/00/object", "built outside")
	g.write("home/store/pip", "kept outside")
	if err := os.Symlink("store", g.home+"/linked"); err != nil {
		t.Fatal(err)
	}
	g.vars = append(g.vars, "XDG_CACHE_HOME=", "GOCACHE=", "GOMODCACHE=", "GOPATH=", "PIP_CACHE_DIR="+g.home+"/linked/pip", "GOPROXY=https://modules.example.com")
	got := g.works(`cat "$GOCACHE/00/object"; echo; echo "$PIP_CACHE_DIR"; echo "$GOMODCACHE $GOPROXY"; touch "$GOCACHE/made"`)
	want := "built outside\n" + g.home + "/linked/pip\n" + g.policy.Caches + "/go-mod file://" + g.home + "/go/pkg/mod/cache/download,https://modules.example.com\n"
	if got.out != want {
		t.Errorf("got %q, want %q", got.out, want)
	}
	g.policy.Writable = append(g.policy.Writable, g.home+"/go/pkg/mod")
	g.write("home/go/pkg/mod/x", "")
	if got := g.works(`echo "$GOMODCACHE $GOPROXY"`); got.out != g.home+"/go/pkg/mod https://modules.example.com\n" {
		t.Error(got)
	}
}

func TestExitCodesAndSignals(t *testing.T) {
	g := newGround(t)
	for script, want := range map[string]int{`exit 7`: 7, `kill -TERM $$`: 128 + 15, `kill -SEGV $$`: 128 + 11, `no-such-program`: 127} {
		if got := g.run(script); got.exit != want || got.closed != nil {
			t.Errorf("%s: %v", script, got)
		}
	}
}

// A program gets each variable once, also one that is not a shell.
func TestOneEnvironment(t *testing.T) {
	has(t, "env")
	g := newGround(t)
	cmd := exec.Command("env")
	cmd.Dir = g.work
	cmd.Env = append(os.Environ(), "GOCACHE=/none", "GOMODCACHE=/none", "npm_config_cache=/none", "XDG_CACHE_HOME=/none", "TMPDIR=/none", "http_proxy=http://127.0.0.1:1", "PATH=/bin:/usr/bin")
	g.policy.Network.Hosts = []string{"example.com"}
	c, err := g.policy.Wrap(cmd)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		name, value, _ := strings.Cut(line, "=")
		if seen[name] || strings.TrimSpace(value) == "/none" {
			t.Errorf("%s is there twice, or not the sandbox's own: %s", name, out)
		}
		seen[name] = true
	}
}

// Mount points that the sandbox made on disk go when the last command has ended, not before.
func TestCoversComeAndGo(t *testing.T) {
	g := newGround(t)
	cover := g.work + "/.tenon"
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd := exec.Command("cat")
	cmd.Dir, cmd.Stdin = g.work, read
	c, err := g.policy.Wrap(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g.works(`[ -d .tenon ]`)
	if _, err := os.Stat(cover); err != nil {
		t.Errorf("the other command lost its cover: %v", err)
	}
	write.Close()
	if err := errors.Join(cmd.Wait(), c.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(cover); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cover is still there: %v", err)
	}
}

// Each of many commands has its walls while others come and go.
func TestCoversOfCommandsSideBySide(t *testing.T) {
	g := newGround(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 6 {
				cmd := exec.CommandContext(t.Context(), "true")
				cmd.Dir = g.work
				c, err := g.policy.Wrap(cmd)
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(cmd.Run(), c.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(g.work + "/.tenon"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cover is still there: %v", err)
	}
}

// The sandbox removes the leftovers of a killed process, but no directory of a person.
func TestCoversThatWereLeft(t *testing.T) {
	for _, d := range []struct {
		mode os.FileMode
		want error
	}{{0o755 | os.ModeSticky, os.ErrNotExist}, {0o755, nil}} {
		g := newGround(t)
		if err := os.Mkdir(g.work+"/.tenon", d.mode); err != nil {
			t.Fatal(err)
		}
		g.works("true")
		if _, err := os.Stat(g.work + "/.tenon"); !errors.Is(err, d.want) {
			t.Errorf("%v: got %v, want %v", d.mode, err, d.want)
		}
	}
}

// Commands run in a folder that cannot be written too, such as one of another user, and make there nothing either.
func TestAFolderThatCannotBeWritten(t *testing.T) {
	g := newGround(t)
	g.work = g.dir + "/closed"
	if err := os.Mkdir(g.work, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		g.work = "/sys" // where root can make nothing
	}
	project := sandbox.ForProject(g.work)
	g.policy.Writable, g.policy.Protected, g.policy.Absent = project.Writable, project.Protected, project.Absent
	g.works(`ls >/dev/null`)
	if got := g.run(`chmod 755 .; mkdir .tenon`); got.exit == 0 || got.closed != nil {
		t.Error(got)
	}
}

func TestLimitsOfACommand(t *testing.T) {
	g := newGround(t)
	g.policy.Limits = sandbox.Limits{Processes: 301, FileSize: 1 << 20, Files: 64, Memory: 200 << 20}
	for name, script := range map[string]string{
		"file size": `head -c 2000000 /dev/zero >big`,
		"files":     `for i in $(seq 10 99); do eval "exec $i</dev/null" || exit 1; done`,
		"core":      `[ "$(ulimit -c)" != 0 ]`,
	} {
		if got := g.run(script); got.exit == 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := exec.LookPath("python3"); err == nil {
		if got := g.run(`python3 -c 'x = bytearray(400 << 20)'`); got.exit == 0 || !strings.Contains(got.out, "MemoryError") {
			t.Error(got)
		}
	}
}

// If the sandbox cannot put up a wall, it reports that and the command does not run.
func TestWithoutAWallNothingRuns(t *testing.T) {
	g := newGround(t)
	marker := g.work + "/ran"
	cmd := exec.Command("touch", marker)
	c, err := g.policy.Wrap(cmd)
	if err != nil {
		t.Fatal(err)
	}
	g.policy.Limits.Processes = 0
	// The working tree is swapped for a link between the look and the walls.
	if err := errors.Join(os.Rename(g.work, g.work+"2"), os.Symlink(g.home, g.work)); err != nil {
		t.Fatal(err)
	}
	err = cmd.Run()
	closed := c.Close()
	if unavailable := (*sandbox.UnavailableError)(nil); err == nil || cmd.ProcessState.ExitCode() == 0 || !errors.As(closed, &unavailable) {
		t.Errorf("%v, %v", err, closed)
	}
	for _, dir := range []string{g.home, g.work + "2"} {
		if _, err := os.Stat(dir + "/ran"); err == nil {
			t.Error("it ran in " + dir)
		}
	}
}

func TestListedHostsAreReached(t *testing.T) {
	has(t, "curl")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "reached") }))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	g := newGround(t)
	g.policy.Network.Hosts = []string{"127.0.0.1:" + port, "*.example.com"}
	for name, flags := range map[string]string{
		"HTTP": `-x "$http_proxy"`, "CONNECT": `-p -x "$HTTPS_PROXY"`, "SOCKS5": `-x "$ALL_PROXY"`,
	} {
		t.Run(name, func(t *testing.T) {
			if got := g.works(fmt.Sprintf(`curl -sS --noproxy '' %s http://127.0.0.1:%s/`, flags, port)); got.out != "reached" || len(got.blocked) > 0 {
				t.Error(got)
			}
			for _, other := range []string{"127.0.0.1:1", "169.254.169.254", "example.com", "10.0.0.1", "[::1]:22", "localhost:" + port, "[::ffff:127.0.0.1]:1"} {
				got := g.run(fmt.Sprintf(`curl -gsSf --noproxy '' %s http://%s/`, flags, other))
				if got.exit == 0 || len(got.blocked) == 0 || got.blocked[0].What != sandbox.Connect || !strings.HasPrefix(other, strings.Trim(got.blocked[0].Host[:5], "[]")) && other[0] != '[' {
					t.Errorf("%s: %v", other, got)
				}
			}
		})
	}
	t.Run("around the proxy", func(t *testing.T) {
		if got := g.run(`curl -sS --noproxy '*' http://192.0.2.1/`); got.exit == 0 || len(got.blocked) == 0 {
			t.Error(got)
		}
	})
}

func TestAnOpenNetwork(t *testing.T) {
	has(t, "curl")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "reached") }))
	t.Cleanup(server.Close)
	g := newGround(t)
	g.policy.Network = sandbox.Network{Open: true, Hosts: []string{"*"}} // as a person lists all hosts
	if got := g.works("curl -sS --noproxy '*' " + server.URL); got.out != "reached" {
		t.Error(got)
	}
	name := "@tenon-open-" + filepath.Base(filepath.Dir(g.dir))
	listen(t, "unix", name)
	if got := g.run(fmt.Sprintf(`ATTEMPT="dial unix" TARGET=%q "$TRY"`, name)); got.exit == 0 && sandbox.Look().Landlock >= 6 {
		t.Error(got)
	}
}

// Everything that holds for root holds for users without privileges. This test runs the same tests again as another user, except
// TestThroughBubblewrap, which does so itself.
func TestAsNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the tests run as a user without privileges already")
	}
	t.Parallel()
	const nobody = 65534
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(dir+"/test", program, 0o755), os.Mkdir(dir+"/tmp", 0o755), os.Chown(dir+"/tmp", nobody, nobody), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), dir+"/test", "-test.run=^Test", "-test.skip=TestAsNobody|TestThroughBubblewrap|TestGoWorks|TestToolsWork/python|TestLimits", "-test.v", "-test.timeout=5m")
	cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir + "/tmp", "TMPDIR=" + dir + "/tmp"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if i := strings.Index(text, "has no namespaces for us"); i >= 0 {
		t.Skipf("this machine gives people without rights no namespaces: %.300s", text[i:])
	}
	if !strings.Contains(text, "--- PASS: TestNoWayOut/write_by_path") {
		t.Errorf("they did not run:\n%s", text)
	}
}

// BenchmarkWrap is the cost of a confined command that does nothing, and of the same without a sandbox.
func BenchmarkWrap(b *testing.B) {
	path, err := exec.LookPath("true")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command(path).Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	confined := func(b *testing.B, through bool) {
		g := newGround(b)
		person, err := os.UserHomeDir()
		if err != nil {
			b.Fatal(err)
		}
		g.policy.Homes, g.policy.Files = []string{person}, map[string]string{person + "/.gitconfig": "x"}
		g.policy.Readable = append(g.policy.Readable, sandbox.Toolchains(person, os.Getenv)...)
		if through {
			hasBubblewrap(b)
			g.policy = &sandbox.Policy{Writable: g.policy.Writable, Protected: g.policy.Protected, Absent: g.policy.Absent, Hidden: g.policy.Hidden, Readable: g.policy.Readable, Homes: g.policy.Homes, Files: g.policy.Files}
			g.policy.Pretend(sandbox.LookBorrowed())
		}
		for b.Loop() {
			cmd := exec.Command(path)
			cmd.Dir = g.work
			c, err := g.policy.Wrap(cmd)
			if err != nil {
				b.Fatal(err)
			}
			if err := errors.Join(cmd.Run(), c.Close()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("confined", func(b *testing.B) { confined(b, false) })
	b.Run("through bubblewrap", func(b *testing.B) { confined(b, true) })
}
