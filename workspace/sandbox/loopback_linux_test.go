package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tenon-agent/tenon/workspace/sandbox"
)

// newNetwork gives the commands of a ground a network that they share.
func newNetwork(t *testing.T) *ground {
	g := newGround(t)
	if os.Getenv("WAY") == "bubblewrap" {
		t.Skip("through bubblewrap each command has its own network")
	}
	g.policy.Loopback = new(sandbox.Loopback)
	t.Cleanup(func() { g.policy.Loopback.Close() })
	if !g.policy.Shares() {
		t.Fatal("no network is shared")
	}
	return g
}

// serving starts a server in the sandbox, which answers with a text, and returns its port. It runs until the test ends.
func (g *ground) serving(text string) (port string) {
	g.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		g.t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(g.exe)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = g.work, append(os.Environ(), "ATTEMPT=serve", "TARGET="+text), w, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c, err := g.policy.Pass("ATTEMPT", "TARGET").Wrap(cmd)
	if err == nil {
		err = c.Start(cmd)
	}
	w.Close()
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		c.Close()
	})
	buf := make([]byte, 100)
	n, err := r.Read(buf)
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.TrimSpace(string(buf[:n]))
}

// asking is a line of bash that reads from a server.
func asking(port string) string { return fmt.Sprintf(`exec 3<>/dev/tcp/127.0.0.1/%s && cat <&3`, port) }

// dialed returns the text of a server in the network.
func dialed(t *testing.T, l *sandbox.Loopback, address string) (string, error) {
	c, err := l.Dial(t.Context(), "tcp", address)
	if err != nil {
		return "", err
	}
	defer c.Close()
	data, err := io.ReadAll(c)
	return string(data), err
}

// Commands of one network reach each other's servers, and so does this process. Nothing else reaches them, and they reach nothing else.
func TestASharedNetwork(t *testing.T) {
	g := newNetwork(t)
	if _, err := dialed(t, g.policy.Loopback, "127.0.0.1:1"); err == nil {
		t.Error("there is a server in a network that has not begun")
	}
	port := g.serving("hello")
	for range 2 {
		if got := g.works(asking(port)); got.out != "hello" {
			t.Errorf("got %q", got.out)
		}
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if got, err := dialed(t, g.policy.Loopback, host+":"+port); got != "hello" {
			t.Errorf("%s: got %q, %v", host, got, err)
		}
	}
	for _, address := range []string{"127.0.0.1:1", "192.0.2.1:80", "example.com:80", "[::1]:" + port} {
		if got, err := dialed(t, g.policy.Loopback, address); err == nil {
			t.Errorf("%s: got %q", address, got)
		}
	}
	if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
		c.Close()
		t.Error("the machine reaches the server")
	}
	outer := listen(t, "tcp", "127.0.0.1:0")
	if got := g.run(asking(strings.TrimPrefix(outer, "127.0.0.1:"))); !strings.Contains(got.out, "refused") {
		t.Errorf("a command reaches the machine: %q", got.out)
	}
	if _, err := dialed(t, g.policy.Loopback, outer); err == nil {
		t.Error("fetch would reach the machine")
	}
	other := newNetwork(t)
	if got := other.run(asking(port)); !strings.Contains(got.out, "refused") {
		t.Errorf("another session reaches the server: %q", got.out)
	}
}

// A network whose commands reach more hosts than the next one may is left to them. Commands can forward connections for each other.
func TestASharedNetworkWithFewerHosts(t *testing.T) {
	g := newNetwork(t)
	g.policy.Network.Hosts = []string{"example.com"}
	port := g.serving("hello")
	fewer, more := g.policy.Show(), g.policy.Show()
	fewer.Network, more.Network = sandbox.Network{}, sandbox.Network{Hosts: []string{"example.com", "example.org"}}
	g.policy = more
	if got := g.works(asking(port)); got.out != "hello" {
		t.Errorf("with more hosts: %q", got.out)
	}
	g.policy = fewer
	if got := g.run(asking(port)); !strings.Contains(got.out, "refused") {
		t.Errorf("with fewer hosts: %q", got.out)
	}
}

// A command that reaches a host by an approval of its own has a network of its own. Servers of commands, and hosts that are listed anyway, need no
// approval.
func TestASharedNetworkAndApprovedHosts(t *testing.T) {
	g := newNetwork(t)
	g.policy.Network.Hosts = []string{"*.example.com"}
	for host, shares := range map[string]bool{"example.org:443": false, "www.example.com:443": true, "localhost:3000": true, "127.0.0.1:3000": true} {
		if got := g.policy.Reach(host).Shares(); got != shares {
			t.Errorf("%s: shares the network: %v", host, got)
		}
	}
}

// Each command has a proxy of its own, and servers of the machine that are listed belong to the network.
func TestProxiesInASharedNetwork(t *testing.T) {
	g := newNetwork(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	outer := l.Addr().String()
	g.policy.Network.Hosts = []string{outer}
	g.serving("hello")
	if got := g.works(`echo "$http_proxy"`); got.out != "http://127.0.0.1:1022\n" {
		t.Errorf("the proxy of the second command is %q", got.out)
	}
	for range 2 {
		if got := g.works(`exec 3<>/dev/tcp/` + strings.Replace(outer, ":", "/", 1) + ` && echo connected`); got.out != "connected\n" {
			t.Errorf("got %q", got.out)
		}
	}
}

// The keeper of a network cannot be seen or ended by commands. If it ends, the next command gets a new network; if the network is closed, the
// keeper ends.
func TestTheKeeperOfANetwork(t *testing.T) {
	g := newNetwork(t)
	if got := g.works(`ls -d /proc/[0-9]* | wc -l; kill -9 -1; echo alive`); got.exit == 126 {
		t.Errorf("got %+v", got)
	}
	port, pid := g.serving("hello"), g.policy.Loopback.Keeper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := g.run(asking(port)); !strings.Contains(got.out, "refused") {
		t.Errorf("the new network has the old server: %q", got.out)
	}
	port = g.serving("again")
	if got := g.works(asking(port)); got.out != "again" {
		t.Errorf("got %q", got.out)
	}
	fd, err := unix.PidfdOpen(g.policy.Loopback.Keeper(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := g.policy.Loopback.Close(); err != nil {
		t.Error(err)
	}
	if err := unix.PidfdSendSignal(fd, 0, nil, 0); err == nil {
		t.Error("the keeper is still there")
	}
}

// A command that was wrapped for a shared network, and is started as any other, reaches nothing.
func TestASharedNetworkWithoutStart(t *testing.T) {
	g := newNetwork(t)
	port := g.serving("hello")
	cmd := exec.Command("bash", "-c", asking(port))
	cmd.Dir = filepath.Clean(g.work)
	c, err := g.policy.Wrap(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), "hello") {
		t.Errorf("%s, %v", out, err)
	}
}
