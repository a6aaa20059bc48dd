package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tenon-agent/tenon/internal/testkit/modelserver"
)

// everyday is a program that serves on a port, and asks its own server.
const everyday = `package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

func main() {
	switch {
	case len(os.Args) < 2:
		fmt.Println("built")
	case os.Args[1] == "serve":
		l, err := net.Listen("tcp", "127.0.0.1:3000")
		if err != nil {
			panic(err)
		}
		for {
			c, err := l.Accept()
			if err != nil {
				panic(err)
			}
			c.Read(make([]byte, 4096)) // an answer before the request is none
			io.WriteString(c, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nserved by a job\n")
			c.(*net.TCPConn).CloseWrite()
			io.Copy(io.Discard, c)
			c.Close()
		}
	default:
		for {
			if c, err := net.Dial("tcp", "127.0.0.1:3000"); err == nil {
				c.(*net.TCPConn).CloseWrite()
				io.Copy(os.Stdout, c)
				return
			}
		}
	}
}
`

const everydayTest = `package main

import (
	"net"
	"testing"
)

func TestPort(t *testing.T) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
`

// automatic lets a model make calls in mode auto, and returns their results.
func (p *project) automatic(calls ...modelserver.Step) []string {
	p.t.Helper()
	w := wayOf(p.t, "anthropic")
	srv := w.serve(p, modelserver.Steps(append(calls, modelserver.Say("Done."), modelserver.Say("Done."))...))
	if r := p.tenon("run", "--model", w.ref(), "--mode", "auto", "Go."); r.code != 0 {
		p.t.Fatalf("%+v", r)
	}
	var texts []string
	for _, m := range srv.Requests()[len(srv.Requests())-1].Results() {
		texts = append(texts, m.Text())
	}
	return texts
}

// shell is a call of the tool shell.
func shell(line string) modelserver.Step {
	text, _ := json.Marshal(map[string]string{"command": line})
	return modelserver.Call("shell", string(text))
}

// everydayProject is a project for commands with the toolchains of the machine.
func everydayProject(t *testing.T) *project {
	t.Helper()
	p := newProject(t)
	person, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PATH="+os.Getenv("PATH"), "HOME="+person, "XDG_CACHE_HOME="+filepath.Join(filepath.Dir(p.dir), "cache"))
	return p
}

// In mode auto, everyday work needs no approval and no configuration. The compiled standard library is taken from outside, so that the test
// need not wait for it.
func TestEverydayWork(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	t.Parallel()
	p := everydayProject(t)
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(cache))
	p.env = append(p.env, "GOCACHE="+dir)
	p.config(fmt.Sprintf(`{"sandbox": {"writable": [%q]}}`, dir))
	for name, text := range map[string]string{"go.mod": "module example.com/everyday\n\ngo 1.22\n", "main.go": everyday, "main_test.go": everydayTest} {
		p.write(filepath.Join(p.dir, name), text)
	}
	if err := os.MkdirAll(filepath.Join(p.dir, ".husky", "_"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(p.dir, ".husky", "_", "pre-commit"), "#!/bin/sh\necho husky ran\n")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `chmod 755 .husky/_/pre-commit && git init -q -b main && git config user.name me && git config user.email me@example.com &&
		git config core.hooksPath .husky/_ && git add main.go`)
	cmd.Dir = p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	steps := []struct {
		call modelserver.Step
		want string
	}{
		{shell(`echo x > /tmp/n && cat /tmp/n`), "x\n"},
		{shell(`cat /tmp/n`), "x\n"},
		{modelserver.Call("read", `{"path":"/tmp/n"}`), "x"},
		{modelserver.Call("write", `{"path":"/tmp/by/tool","content":"from a tool\n"}`), "/tmp/by/tool"},
		{shell(`cat /tmp/by/tool; rm -rf /tmp/by`), "from a tool"},
		{shell(`go build -o /tmp/app . && /tmp/app`), "built"},
		{modelserver.Call("shell", `{"command":"/tmp/app serve","background":true}`), "job1"},
		{shell(`/tmp/app ask`), "served by a job"},
		{modelserver.Call("fetch", `{"url":"http://localhost:3000/"}`), "served by a job"},
		{modelserver.Call("download", `{"url":"http://127.0.0.1:3000/","path":"/tmp/saved"}`), "saved"},
		{shell(`cat /tmp/saved`), "served by a job"},
		{shell(`go test ./...`), "ok"},
		{shell(`git commit -m one && git log --oneline`), "husky ran"},
	}
	var calls []modelserver.Step
	for _, s := range steps {
		calls = append(calls, s.call)
	}
	results := p.automatic(calls...)
	for i, s := range steps {
		if !strings.Contains(results[i], s.want) {
			t.Errorf("call %d: got %q, want %q", i, results[i], s.want)
		}
	}
	if _, err := os.Lstat("/tmp/saved"); err == nil {
		t.Error("the machine's /tmp has the file")
	}
	id := p.session()
	if found, _ := filepath.Glob(filepath.Join(p.data, "contents", id, "scratch", "saved")); len(found) != 1 {
		t.Errorf("the scratch directory has %q", found)
	}
	p.must("sessions", "delete", "--forever", "--yes", id)
	if left, _ := filepath.Glob(filepath.Join(p.data, "contents", "*")); len(left) > 0 {
		t.Errorf("the deleted session left %q", left)
	}
}

// Programs of other toolchains work in mode auto without configuration, too.
func TestEverydayToolchains(t *testing.T) {
	for name, test := range map[string]struct{ program, line, want string }{
		"python3": {"python3", `python3 -m venv --without-pip v && v/bin/python -c 'print("in a venv")'`, "in a venv"},
		"npm":     {"npm", `npm test`, "42"},
		"git-lfs": {"git-lfs", `git lfs track --filename big && echo big >big && git add . && git commit -qm big && git lfs ls-files`, "big"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(test.program); err != nil {
				t.Skip("there is no " + test.program)
			}
			t.Parallel()
			p := everydayProject(t)
			p.write(filepath.Join(p.dir, "package.json"), `{"name":"x","version":"1.0.0","scripts":{"test":"node -e \"console.log(6*7)\""}}`)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `git init -q -b main && git config user.name me && git config user.email me@example.com && if which git-lfs; then git lfs install --local; fi`)
			cmd.Dir = p.dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := p.automatic(shell(test.line)); !strings.Contains(got[0], test.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// If Tenon is killed, the commands of the session and its network end.
func TestNothingIsLeftOfAKilledSession(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.env = append(p.env, "PATH="+os.Getenv("PATH"))
	up := filepath.Join(p.dir, "up")
	if err := syscall.Mkfifo(up, 0o600); err != nil {
		t.Fatal(err)
	}
	w := wayOf(t, "anthropic")
	w.serve(p, modelserver.Steps(
		modelserver.Call("shell", `{"command":"setsid sleep 1000 & sleep 1000","background":true}`),
		shell(`echo up >up; sleep 1000`),
	))
	cmd := p.command(t.Context(), "run", "--model", w.ref(), "--mode", "auto", "Go.")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if in, err := os.ReadFile(up); err != nil || string(in) != "up\n" {
		t.Fatalf("%q, %v", in, err)
	}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var left []unix.PollFd
	for _, name := range tasks {
		text, _ := os.ReadFile(name) // a thread may end
		for _, field := range strings.Fields(string(text)) {
			pid, _ := strconv.Atoi(field)
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			left = append(left, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
	}
	if len(left) < 3 { // the keeper of the network, and two helpers
		t.Errorf("there are only %d processes", len(left))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for i := range left {
		for {
			n, err := unix.Poll(left[i:i+1], 60_000)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if n != 1 {
				t.Errorf("a process lives on: %v", err)
			}
			break
		}
	}
}
